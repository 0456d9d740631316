/* SPDX-License-Identifier: BSD-3-Clause */
/* The images of nvshmem/kernels.cu as bytes, their table, and their registration as a module with device code. */
#include "device/view/image.h"
#include "nvshmem/kernels.h"

#include <stddef.h>

extern struct wsh_device_image wsh_image;

#ifdef WSH_IMAGE_FOLDER /* where nvcc has put them */

/* The assembler takes the bytes as they are. */
#define IMAGE_BYTES(PART)                                                               \
    __asm__(".pushsection .rodata, \"a\"\n.balign 64\nwsh_image_" #PART                 \
            "_bytes:\n.incbin \"" WSH_IMAGE_FOLDER "/" #PART ".fatbin\"\n.popsection"); \
    extern const unsigned char wsh_image_##PART##_bytes[] __attribute__((visibility("hidden")));
WSH_IMAGE_PARTS(IMAGE_BYTES)

#define IMAGE_PART_NUMBER(PART) PART_##PART,
enum { WSH_IMAGE_PARTS(IMAGE_PART_NUMBER) PARTS };

#define IMAGE_PART(PART) {wsh_image_##PART##_bytes, NULL, 0},
static struct wsh_device_part parts[] = {WSH_IMAGE_PARTS(IMAGE_PART)};

#define IMAGE_KERNEL(PART, NAME) {"wsh_image_" #NAME, PART_##PART, NULL},

#else

enum { PARTS = 0 };
static struct wsh_device_part *const parts = NULL;

#define IMAGE_KERNEL(PART, NAME) {"wsh_image_" #NAME, 0, NULL},

#endif

static struct wsh_device_kernel kernels[] = {WSH_IMAGE_KERNELS(IMAGE_KERNEL)};

struct wsh_device_image wsh_image = {"libnvshmem_host", parts, PARTS, kernels, WSH_IMAGE_N, NULL, NULL, NULL};

static int image_fill(const struct wsh_device *state)
{
    return wsh_device_image_fill(&wsh_image, state);
}

static const struct wsh_device_module module = {WSH_DEVICE_ABI, sizeof(struct wsh_device), image_fill,
                                            "libnvshmem_host", NULL};

static void __attribute__((constructor)) image_register(void)
{
    wsh_device_register(&module);
}

static void __attribute__((destructor)) image_unregister(void)
{
    wsh_device_unregister(&module);
}

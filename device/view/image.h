/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels that a library on top of this one has compiled beforehand: images that the driver loads, all of them and
 * every kernel of each when the GPU is attached, because nobody can know later whether a kernel waits, and to load
 * another one would wait for that. Each is launched once then, by one thread and with two blocks in y, by which a
 * kernel knows that it shall do nothing: the driver makes room for what a kernel needs, such as its stack, when it is
 * launched first, and waits for others to end where there is too little. Later launches have one block in y.
 */
#ifndef WSH_DEVICE_IMAGE_H
#define WSH_DEVICE_IMAGE_H

#include "view.h"

#include <stddef.h>

/* A kernel by its C name, and the image that has it. */
struct wsh_device_kernel {
    const char *name;
    unsigned part;
    void *function; /* CUfunction, while it is loaded */
};

struct wsh_device_part {
    const unsigned char *bytes; /* as nvcc -fatbin makes them, of a module with -DSHMEMX_DEVICE_MODULE */
    void *module;
    uint64_t state; /* address of its device state */
};

struct wsh_device_image {
    const char *name; /* for messages */
    struct wsh_device_part *parts;
    unsigned n_parts; /* 0: built without nvcc */
    struct wsh_device_kernel *kernels;
    unsigned n_kernels;
    uint64_t *cell; /* pinned, for a value that a kernel returns */
    void *stream;   /* of its own */
    void *context;  /* in which it is loaded; NULL: it is not */
};

/* A kernel to be put on a stream; args as for cuLaunchKernel. */
struct wsh_device_start {
    unsigned kernel, blocks, threads;
    void *team;   /* of a collective; that of all PEs attaches the GPU */
    void *stream; /* cudaStream_t */
    void **args;
};

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Exported by the library. fill: what a wsh_device_fill_fn does, for all parts of an image, which it loads first; 0 or
 * the driver's status.
 */
int wsh_device_image_fill(struct wsh_device_image *image, const struct wsh_device *state);

/* Starts it. 0 or the driver's status; a job whose images are not loaded ends with one line. */
int wsh_device_image_start(const struct wsh_device_image *image, const struct wsh_device_start *start);

/* Waits until the stream has done everything, and serves peers meanwhile. 0 or the driver's status. */
int wsh_device_stream_wait(const char *routine, void *stream);

/* Whether this is device memory of the job: of its device heap, or a buffer registered by all PEs. */
int wsh_device_holds(const void *ptr);

/* SHMEM_NVIDIA_DEVICE_CODE, once the library has started. */
int wsh_device_nvidia_code(void);

/* Writes this line about a call that is refused. */
void wsh_device_say(const char *line);

/* Ends the job with this line. */
#ifdef __cplusplus
[[noreturn]]
#else
_Noreturn
#endif
void wsh_device_end(const char *line);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What binaries call in which NVIDIA's library of device code is linked: it asks the host's library for structures
 * that this one has not. So that such a binary starts and then says what is wrong, the entries are here; with
 * SHMEM_NVIDIA_DEVICE_CODE they start the library, without those structures. And what programs may have bound of
 * their log.
 */
#include "device/view/image.h"

#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SHARED __attribute__((visibility("default")))

int nvshmemx_init_status(void);
int nvshmemx_hostlib_init_attr(unsigned flags, void *attr);
void nvshmemx_hostlib_finalize(void);

struct version { /* of their library */
    int major, minor, patch;
};

SHARED int nvshmemid_init_status(void);
SHARED int nvshmemid_hostlib_init_attr(int requested, int *provided, unsigned flags, void *attr,
                                       struct version version, void (*state)(void **, void **));
SHARED void nvshmemid_hostlib_finalize(void *state, void *transport);

/* Once the library has started, which reads the setting. */
static void allow(const char *what)
{
    char line[300];

    if (!nvshmemx_init_status() || wsh_device_nvidia_code())
        return;
    snprintf(line, sizeof line,
             "%s: device code of NVIDIA's library is linked in this program; build it again with the headers and "
             "libraries of warpshmem's NVSHMEM_HOME, or set SHMEM_NVIDIA_DEVICE_CODE=1 to do without its kernels",
             what);
    wsh_device_end(line);
}

int nvshmemid_init_status(void)
{
    allow("nvshmemid_init_status");
    return nvshmemx_init_status();
}

/* `state` says where kernels look for theirs: it stays as it is, and what they address is NULL. */
int nvshmemid_hostlib_init_attr(int requested, int *provided, unsigned flags, void *attr, struct version version,
                                void (*state)(void **, void **))
{
    int status = nvshmemx_hostlib_init_attr(flags, attr);

    (void)version, (void)state;
    if (!status)
        allow("nvshmemid_hostlib_init_attr");
    if (provided)
        *provided = requested;
    return status;
}

void nvshmemid_hostlib_finalize(void *state, void *transport)
{
    (void)state, (void)transport;
    allow("nvshmemid_hostlib_finalize");
    nvshmemx_hostlib_finalize();
}

/* A variable of theirs that such binaries read. */
SHARED int nvshmem_selected_device_transport;

/*
 * Variables and the routine of their log, for programs and plug-ins that bind them; the sizes are theirs. What such a
 * program logs is written from the level on that it has set itself.
 */
SHARED int nvshmem_debug_level, nvshmem_options, nvshmem_nvtx_options;
SHARED uint64_t nvshmem_debug_mask;
SHARED pthread_mutex_t nvshmem_debug_output_lock = PTHREAD_MUTEX_INITIALIZER;
SHARED FILE *nvshmem_debug_file;
SHARED void *nvshmem_error;

SHARED __attribute__((format(printf, 5, 6))) void nvshmem_debug_log(int level, unsigned long flags,
                                                                    const char *where, int line,
                                                                    const char *format, ...);

void nvshmem_debug_log(int level, unsigned long flags, const char *where, int line, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    int len;

    (void)flags;
    if (level > nvshmem_debug_level)
        return;
    len = snprintf(text, sizeof text, "%s:%d: ", where ? where : "", line);
    va_start(arguments, format);
    if (len >= 0 && (size_t)len < sizeof text)
        vsnprintf(text + len, sizeof text - (size_t)len, format, arguments);
    va_end(arguments);
    wsh_device_say(text);
}

/* By this libwarpshmem knows which library of the name it has to do with. */
SHARED const int nvshmemx_is_warpshmem = 1;

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What binaries call in which NVIDIA's library of device code is linked: it asks the host's library for structures
 * that this one has not. So that such a binary starts and then says what is wrong, the entries are here. And what
 * programs may have bound of their log.
 */
#include "device/view/image.h"

#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define FOREIGN(NAME)                                                                                       \
    __attribute__((visibility("default"))) int NAME(void);                                                  \
    int NAME(void)                                                                                          \
    {                                                                                                       \
        wsh_device_end(#NAME ": device code of NVIDIA's library is linked in this program; build it again " \
                             "with the headers and libraries of warpshmem's NVSHMEM_HOME");                 \
    }
FOREIGN(nvshmemid_init_status)
FOREIGN(nvshmemid_hostlib_init_attr)
FOREIGN(nvshmemid_hostlib_finalize)

/* A variable of theirs that such binaries read. */
__attribute__((visibility("default"))) int nvshmem_selected_device_transport;

/*
 * Variables and the routine of their log, for programs and plug-ins that bind them; the sizes are theirs. What such a
 * program logs is written from the level on that it has set itself.
 */
#define SHARED __attribute__((visibility("default")))
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
__attribute__((visibility("default"))) const int nvshmemx_is_warpshmem = 1;

/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that attach the GPU where that was not done, and then take device memory. */
#include "runtime/gpu/device_heap.h"

void *wsh_device_malloc(struct wsh_job *job, size_t size, size_t align, const char *routine)
{
    if (!size || wsh_device_attach(job, routine))
        return NULL;
    return wsh_device_heap_malloc(job, size, align, routine);
}

void *wsh_device_calloc(struct wsh_job *job, size_t count, size_t size)
{
    static const char routine[] = "shmemx_calloc_device";
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes) || !bytes || wsh_device_attach(job, routine))
        return NULL;
    return wsh_device_heap_calloc(job, bytes, routine);
}

int wsh_buffer_register(struct wsh_job *job, void *base, size_t len)
{
    static const char routine[] = "shmemx_buffer_register_symmetric";
    int rc = wsh_device_attach(job, routine);

    return rc ? rc : wsh_buffer_add(job, base, len, routine);
}

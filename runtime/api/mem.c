/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the public memory management (section 9.3). */
#include "runtime/api/api.h"

#include <shmemx.h>

#define ALIGN _Alignof(max_align_t)

WSH_SHELL(void *, malloc, (size_t size))
{
    wsh_api_ready("shmem_malloc");
    return wsh_heap_malloc(&wsh_job, size, ALIGN);
}

WSH_SHELL(void *, calloc, (size_t count, size_t size))
{
    wsh_api_ready("shmem_calloc");
    return wsh_heap_calloc(&wsh_job, count, size);
}

WSH_SHELL(void *, align, (size_t alignment, size_t size))
{
    wsh_api_ready("shmem_align");
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)))
        wsh_api_bad("shmem_align", "alignment is not a power of two of at least sizeof(void *)");
    return wsh_heap_malloc(&wsh_job, size, alignment);
}

/* Either memory serves atomics and signals alike: the specification's hints ask for nothing else. */
WSH_SHELL(void *, malloc_with_hints, (size_t size, long hints))
{
    wsh_api_ready("shmem_malloc_with_hints");
    if (hints & ~(SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE | SHMEMX_MALLOC_DEVICE))
        wsh_api_bad("shmem_malloc_with_hints", "hints has bits that are no SHMEM_MALLOC_ constant");
    if (hints & SHMEMX_MALLOC_DEVICE)
        return wsh_device_malloc(&wsh_job, size, 0, "shmem_malloc_with_hints");
    return wsh_heap_malloc(&wsh_job, size, ALIGN);
}

WSH_SHELL(void *, realloc, (void *ptr, size_t size))
{
    wsh_api_ready("shmem_realloc");
    return wsh_heap_realloc(&wsh_job, ptr, size);
}

WSH_SHELL(void, free, (void *ptr))
{
    wsh_api_ready("shmem_free");
    if (ptr)
        wsh_api_check("shmem_free", wsh_heap_free(&wsh_job, ptr));
}

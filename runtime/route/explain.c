/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes routes, or why there is none, for messages. */
#include "runtime/job/job.h"
#include "runtime/route/route.h"

#include <stdio.h>

const char *wsh_route_name(const struct wsh_job *job, int pe)
{
    const struct wsh_rmem *rmem = wsh_route_main(&job->routes, pe, WSH_SEG_HEAP);

    return rmem ? wsh_tp_label(rmem->tp) : "nothing";
}

void wsh_route_explain(const struct wsh_job *job, const void *addr, size_t len, int pe, char *text,
                       size_t size)
{
    size_t off;

    if (!job->n_pes)
        snprintf(text, size, "the library is not initialized; call shmem_init first");
    else if (pe < 0 || pe >= job->n_pes)
        snprintf(text, size, "PE %d is out of range; this job has PEs 0 to %d", pe, job->n_pes - 1);
    else if (!addr)
        snprintf(text, size, "the symmetric address is NULL; check the result of shmem_malloc");
    else if (wsh_heap_find(&job->heap, addr, 1, &off) >= 0 && wsh_heap_find(&job->heap, addr, len, &off) < 0)
        snprintf(text, size,
                 "%zu bytes at %p reach beyond the end of symmetric memory; look at the number of elements%s",
                 len, addr, job->check ? "" : " (SHMEM_DEBUG=check finds the end of each block)");
    else if (wsh_heap_find(&job->heap, addr, len, &off) < 0)
        snprintf(text, size,
                 "%p is not a symmetric address; use memory of shmem_malloc, or a global or static "
                 "variable of the program%s",
                 addr, job->heap.seg[WSH_SEG_STATIC].base ? "" : " (these are off: SHMEM_STATIC)");
    else if (wsh_heap_find(&job->heap, addr, len, &off) >= WSH_SEG_DEVICE && !job->same_host[pe])
        snprintf(
            text, size,
            "%p is device memory, and PE %d is on another host: list stage in SHMEM_TRANSPORTS, or leave the "
            "setting empty",
            addr, pe);
    else if (wsh_route_main(&job->routes, pe, wsh_heap_find(&job->heap, addr, len, &off)))
        snprintf(text, size, "%p is not aligned to its type of %zu bytes", addr, len);
    else
        snprintf(text, size,
                 "PE %d does not have the memory that is %p here; all PEs allocate and register alike", pe,
                 addr);
}

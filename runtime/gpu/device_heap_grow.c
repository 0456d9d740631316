/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds memory to the device heap on all PEs: each piece is a segment, and no allocation lies in two of them. */
#include "runtime/memory/alloc.h"
#include "base/err.h"
#include "base/log.h"
#include "runtime/coll/coll.h"
#include "runtime/gpu/device_heap.h"
#include "runtime/gpu/segments.h"
#include "runtime/job/job.h"

/* A quarter of the present size, so that there are few pieces; less if only that is available. The same on all PEs. */
static size_t len_ahead(const struct wsh_device_heap *heap, size_t len)
{
    size_t left = heap->limit - heap->mem.len, quarter = heap->mem.len / 4;

    if (quarter < len)
        return len;
    return quarter < left ? quarter : left;
}

static void shrink_here(struct wsh_job_device *device)
{
    if (wsh_gpu_enter(&device->gpu))
        return;
    wsh_gpu_mem_shrink(&device->heap.mem);
    wsh_gpu_leave(&device->gpu);
}

/* Memory of at least len bytes on this PE's GPU. */
static int grow_here(struct wsh_job_device *device, size_t len, int *status)
{
    int rc = wsh_gpu_enter(&device->gpu);

    if (rc)
        return rc;
    rc = wsh_gpu_mem_grow(&device->heap.mem, &device->gpu, len, status);
    wsh_gpu_leave(&device->gpu);
    return rc;
}

/* On all PEs or on none. *rc, *status: why this PE has none. */
static bool grow_everywhere(struct wsh_job *job, size_t len, int *rc, int *status)
{
    bool all_ok = false;
    int met;

    *rc = grow_here(&job->device, len, status);
    met = wsh_agree(&job->world, !*rc, &all_ok);
    if (met)
        wsh_coll_end_unless_failed(&job->world, "growth of the device heap", met);
    if ((met || !all_ok) && !*rc)
        shrink_here(&job->device);
    if (met)
        *rc = met;
    return !met && all_ok;
}

/* One line on each PE that has too little; the allocation returns NULL on all. */
static void log_no_memory(const struct wsh_job *job, size_t len, int rc, int status, const char *routine)
{
    const struct wsh_job_device *device = &job->device;
    size_t unused = 0, total = 0;

    if (!rc || wsh_gpu_enter(&device->gpu))
        return;
    wsh_cuda()->mem_info(&unused, &total);
    wsh_gpu_leave(&device->gpu);
    wsh_warn("%s: the device heap of %zu MiB cannot grow by %zu MiB on GPU %d: %s; %zu of %zu MiB are free: "
             "this allocation returns NULL on every PE",
             routine, device->heap.mem.len >> 20, len >> 20, device->gpu.ordinal,
             status ? wsh_cuda_strerror(status) : wsh_strerror(-rc), unused >> 20, total >> 20);
}

/* Transports of NICs take all of the heap or none of it: kernels ask one bit for all pieces. */
static int check_alike(const struct wsh_job *job, int seg, const char *routine)
{
    if (job->routes.local[seg] == job->routes.local[WSH_SEG_DEVICE])
        return 0;
    wsh_error(
        "%s: NICs do not take the memory that the device heap grows by; set SHMEM_DEVICE_SYMMETRIC_SIZE "
        "to what the program needs, or SHMEM_HMEM=off",
        routine);
    return -EIO;
}

static int piece_publish(struct wsh_job *job, int seg, const char *routine)
{
    const struct wsh_gpu_mem *heap = &job->device.heap.mem;
    const struct wsh_gpu_piece *last = &heap->piece[heap->n - 1];
    size_t off = heap->len - last->len;
    const struct wsh_mem mem = {(enum wsh_seg)seg, WSH_MEM_DEVICE,    heap->base + off, last->len,
                                last->fd,          heap->range + off, heap->stride,     0};
    bool all_ok = false;
    int rc = wsh_segment_add(job, &mem, 0, routine);

    if (rc)
        return rc;
    rc = check_alike(job, seg, routine);
    if (wsh_agree(&job->world, !rc, &all_ok))
        wsh_abort(1);
    if (all_ok)
        return 0;
    wsh_segment_withdraw(job, seg);
    return rc ? rc : -EIO;
}

static int wall_put(struct wsh_job *job)
{
    int rc = wsh_alloc_wall(job->device.heap.alloc, job->device.heap.mem.len);

    if (rc) {
        wsh_error("no memory to note a piece of the device heap; leave the host more free memory");
        wsh_abort(1);
    }
    return rc;
}

int wsh_device_grow(struct wsh_job *job, size_t end, const char *routine)
{
    struct wsh_device_heap *heap = &job->device.heap;
    size_t len = end - heap->mem.len, ahead = len_ahead(heap, len);
    int seg = wsh_segment_next(job), rc = 0, status = 0;

    if (wsh_failures_take(job)) {
        if (job->all->my_pe == 0)
            wsh_warn("%s: the device heap of %zu MiB does not grow once a PE has failed; set "
                     "SHMEM_DEVICE_SYMMETRIC_SIZE to what the program needs",
                     routine, heap->mem.len >> 20);
        return -EOWNERDEAD;
    }
    if (seg == WSH_SEGS) {
        if (!job->my_pe)
            wsh_warn("%s: the device heap cannot grow: %d pieces of it and buffers are registered already; "
                     "unregister some, or set SHMEM_DEVICE_SYMMETRIC_SIZE to what the program needs",
                     routine, WSH_SEGS - WSH_SEG_MORE);
        return -ENOSPC;
    }
    if (!grow_everywhere(job, ahead, &rc, &status) &&
        (rc == -EOWNERDEAD || ahead == len || !grow_everywhere(job, len, &rc, &status))) {
        if (rc == -EOWNERDEAD)
            return rc;
        log_no_memory(job, len, rc, status, routine);
        return -ENOMEM;
    }
    rc = piece_publish(job, seg, routine);
    if (rc) {
        shrink_here(&job->device);
        return rc;
    }
    wsh_info(WSH_SUB_MEM, "device heap: %zu MiB more, %zu MiB in all",
             heap->mem.piece[heap->mem.n - 1].len >> 20, heap->mem.len >> 20);
    return wall_put(job);
}

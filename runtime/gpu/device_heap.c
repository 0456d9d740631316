/* SPDX-License-Identifier: BSD-3-Clause */
/* The device heap: its memory, allocations alike on all PEs, and the host memory that kernels may use beside it. */
#include "runtime/gpu/device_heap.h"

#include "runtime/memory/alloc.h"
#include "base/cuda/call.h"
#include "base/err.h"
#include "base/log.h"
#include "runtime/coll/coll.h"
#include "runtime/gpu/host.h"
#include "runtime/job/job.h"
#include "runtime/memory/free_later.h"
#include "runtime/op/rma.h"

#include <stdio.h>
#include <stdlib.h>

static int log_no_memory(const struct wsh_gpu *gpu, size_t len, int status)
{
    size_t unused = 0, total = 0;

    wsh_cuda()->mem_info(&unused, &total);
    wsh_error("no device heap of %zu MiB on GPU %d (%s): %s; %zu of %zu MiB are free: set "
              "SHMEM_DEVICE_SYMMETRIC_SIZE to less",
              len >> 20, gpu->ordinal, gpu->name, wsh_cuda_strerror(status), unused >> 20, total >> 20);
    return -ENOMEM;
}

/* What the heap may grow to. */
static size_t max_len(const struct wsh_job *job)
{
    size_t unused = 0, total = 0;

    if (!job->env.device_max)
        wsh_cuda()->mem_info(&unused, &total);
    return job->env.device_max ? job->env.device_max : total;
}

static void log_heap(const struct wsh_gpu_mem *mem, const struct wsh_gpu *gpu)
{
    char grows[64] = "does not grow";

    if (mem->stride > mem->len)
        snprintf(grows, sizeof grows, "grows to %zu MiB", mem->stride >> 20);
    wsh_info(WSH_SUB_MEM, "device heap of %zu MiB on GPU %d (%s, %s), given to peers %s; it %s",
             mem->len >> 20, gpu->ordinal, gpu->name, gpu->pci, mem->n ? "as descriptors" : "by CUDA IPC",
             grows);
}

static int allocator_open(struct wsh_device_heap *heap)
{
    heap->limit = heap->mem.stride;
    heap->alloc = wsh_alloc_open(heap->limit);
    return heap->alloc ? wsh_alloc_wall(heap->alloc, heap->mem.len) : -ENOMEM;
}

int wsh_device_heap_open(struct wsh_job *job)
{
    struct wsh_job_device *device = &job->device;
    struct wsh_gpu_want want = {job->env.device_size + wsh_sync_areas_len(job), 0, job->local_rank,
                                job->local_size, device->gpu.vmm && !job->env.disable_vmm};
    int status = 0, rc = wsh_gpu_enter(&device->gpu);

    if (rc)
        return rc;
    want.max = max_len(job);
    rc = wsh_gpu_mem_open(&device->heap.mem, &device->gpu, &want, &status);
    if (rc)
        rc = log_no_memory(&device->gpu, want.len, status);
    wsh_gpu_leave(&device->gpu);
    if (!rc)
        rc = allocator_open(&device->heap);
    if (rc)
        return rc;
    job->heap.device = wsh_ranges_open(WSH_SEGS);
    if (!job->heap.device)
        return -ENOMEM;
    job->heap.seg[WSH_SEG_DEVICE] = (struct wsh_segment){device->heap.mem.base, device->heap.mem.len, -1};
    log_heap(&device->heap.mem, &device->gpu);
    return wsh_sync_areas_open(job);
}

void wsh_device_heap_close(struct wsh_job *job)
{
    struct wsh_job_device *device = &job->device;

    wsh_alloc_close(device->heap.alloc);
    if (device->gpu.ctx && !wsh_gpu_enter(&device->gpu)) {
        wsh_gpu_mem_close(&device->heap.mem);
        wsh_gpu_leave(&device->gpu);
    }
    if (device->gpu.ctx)
        wsh_gpu_close(&device->gpu);
    job->heap.seg[WSH_SEG_DEVICE] = (struct wsh_segment){.fd = -1};
    wsh_ranges_close(job->heap.device);
    job->heap.device = NULL;
    device->heap.alloc = NULL;
    device->sync_areas = device->counters = device->nic_counters = NULL;
    device->attached = false;
    device->sharers = 0;
    wsh_job_mark(job, WSH_SPECIAL_DEVICE, false);
}

bool wsh_device_heap_holds(const struct wsh_job_device *device, const void *ptr)
{
    return device->attached && (size_t)((const char *)ptr - device->heap.mem.base) < device->heap.limit;
}

static char *base_of(const struct wsh_job *job)
{
    return job->device.heap.mem.base;
}

/* In addresses that the heap may grow to, on all PEs alike. */
static size_t block_within(struct wsh_device_heap *heap, size_t size, size_t align)
{
    size_t off = align > WSH_GPU_ALIGN ? WSH_ALLOC_NONE : wsh_alloc_get(heap->alloc, size, align);

    if (off == WSH_ALLOC_NONE || off + size <= heap->limit)
        return off;
    wsh_alloc_put(heap->alloc, off);
    return WSH_ALLOC_NONE;
}

/* Before the heap grows, memory that all PEs have released is reused. All PEs decide alike. */
static size_t block_take(struct wsh_job *job, size_t size, size_t align, const char *routine)
{
    struct wsh_device_heap *heap = &job->device.heap;
    size_t off = block_within(heap, size, align);
    int rc;

    if (off != WSH_ALLOC_NONE && off + size <= heap->mem.len)
        return off;
    if (off != WSH_ALLOC_NONE)
        wsh_alloc_put(heap->alloc, off);
    rc = wsh_release_barrier(job, true, NULL, routine);
    if (rc)
        wsh_coll_end_unless_failed(job->all, routine, rc);
    return rc ? WSH_ALLOC_NONE : block_within(heap, size, align);
}

/* A range with memory behind it on every PE, or WSH_ALLOC_NONE on every PE; teams may have some of it. */
static size_t range_get(struct wsh_job *job, size_t size, size_t align, const char *routine)
{
    struct wsh_device_heap *heap = &job->device.heap;
    size_t off = block_take(job, size, align, routine);

    if (off == WSH_ALLOC_NONE) {
        wsh_info(WSH_SUB_MEM,
                 "no room for %zu bytes in the device heap, which has %zu and may grow to %zu; set "
                 "SHMEM_DEVICE_SYMMETRIC_MAX to more",
                 size, heap->mem.len, heap->limit);
    } else if (off + size > heap->mem.len && wsh_device_grow(job, off + size, routine)) {
        wsh_alloc_put(heap->alloc, off);
        return WSH_ALLOC_NONE;
    }
    return off;
}

/*
 * The end of the last range of a team at any PE that meets [off, off + len), or 0 for none. False: a PE has failed, and
 * the others go on.
 */
static bool team_memory_end(struct wsh_job *job, size_t off, size_t len, size_t *end, const char *routine)
{
    int rc = wsh_team_memory_end_anywhere(job, true, off, len, end, routine);

    if (rc)
        wsh_coll_end_unless_failed(job->all, routine, rc);
    return !rc;
}

/*
 * The same where no team has memory. While one is in the way, what was found and the team's range stay taken here, so
 * that the search goes on behind them, on all PEs alike.
 */
static size_t get_everywhere(struct wsh_job *job, size_t size, size_t align, const char *routine)
{
    struct wsh_alloc *alloc = job->device.heap.alloc;
    size_t off = range_get(job, size, align, routine), end, next;

    if (off == WSH_ALLOC_NONE)
        return off;
    if (!team_memory_end(job, off, size, &end, routine)) {
        wsh_alloc_put(alloc, off);
        return WSH_ALLOC_NONE;
    }
    if (!end)
        return off;
    if (end > off + size && wsh_alloc_resize(alloc, off, end - off))
        end = 0;
    next = end ? get_everywhere(job, size, align, routine) : WSH_ALLOC_NONE;
    wsh_alloc_put(alloc, off);
    return next;
}

/* The end of an allocation; survivors of a failure count those of both heaps. */
static void *finished(struct wsh_job *job, size_t off)
{
    if (off == WSH_ALLOC_NONE)
        return NULL;
    job->heap.finished++;
    return base_of(job) + off;
}

void *wsh_device_heap_malloc(struct wsh_job *job, size_t size, size_t align, const char *routine)
{
    size_t off = get_everywhere(job, size, align, routine);
    int rc = off == WSH_ALLOC_NONE ? 0 : wsh_release_barrier(job, true, NULL, routine);

    if (!rc)
        return finished(job, off);
    wsh_coll_end_unless_failed(job->all, routine, rc);
    wsh_alloc_put(job->device.heap.alloc, off);
    return NULL;
}

/* On the stream of the context that the program cannot see; waits for its end. 0 or the driver's status. */
static int memory_clear(const struct wsh_gpu *gpu, char *ptr, size_t len)
{
    wsh_cu_stream stream;
    int status;

    if (wsh_gpu_enter(gpu))
        return -1;
    status = wsh_cuda_call(stream_create, &stream, WSH_CU_STREAM_NON_BLOCKING, 0);
    if (!status) {
        status = wsh_cuda_call(fill, (wsh_cu_ptr)(uintptr_t)ptr, 0, len, stream);
        if (!status)
            status = wsh_cuda_call(stream_sync, stream);
        wsh_cuda_call(stream_destroy, stream);
    }
    wsh_gpu_leave(gpu);
    return status;
}

void *wsh_device_heap_calloc(struct wsh_job *job, size_t bytes, const char *routine)
{
    size_t off = get_everywhere(job, bytes, 0, routine);
    bool all_ok;
    int status, rc;

    if (off == WSH_ALLOC_NONE)
        return NULL;
    status = memory_clear(&job->device.gpu, base_of(job) + off, bytes);
    if (status)
        wsh_error("%s: cannot clear %zu bytes: %s", routine, bytes, wsh_cuda_strerror(status));
    rc = wsh_release_barrier(job, !status, &all_ok, routine); /* before, nobody may put into it */
    if (rc)
        wsh_coll_end_unless_failed(job->all, routine, rc);
    if (!rc && all_ok)
        return finished(job, off);
    wsh_alloc_put(job->device.heap.alloc, off);
    return NULL;
}

static int log_not_live(const char *routine, const void *ptr)
{
    wsh_error(
        "%s: %p is not the start of a live allocation on the device heap; pass what shmemx_malloc_device "
        "returned, once",
        routine, ptr);
    return -EINVAL;
}

/* Moves a block by a put, as the CPU cannot reach the memory. The old block is free when the put is complete. */
static size_t block_move(struct wsh_job *job, size_t from, size_t size)
{
    size_t old = wsh_alloc_size(job->device.heap.alloc, from),
           to = get_everywhere(job, size, 0, "shmem_realloc");
    char *base = base_of(job);
    int rc;

    if (to == WSH_ALLOC_NONE)
        return to;
    if (wsh_put(&job->ctx, base + to, base + from, old < size ? old : size, job->my_pe))
        wsh_abort(1);
    rc = wsh_barrier(job->all, "shmem_realloc");
    if (rc)
        wsh_coll_end_unless_failed(job->all, "shmem_realloc", rc);
    wsh_alloc_put(job->device.heap.alloc, rc ? to : from);
    return rc ? WSH_ALLOC_NONE : to;
}

/* 0; 1: it must move; -EOWNERDEAD: a PE has failed. On all PEs alike, but for failures. */
static int resize_in_place(struct wsh_job *job, size_t off, size_t size)
{
    struct wsh_alloc *alloc = job->device.heap.alloc;
    size_t old = wsh_alloc_size(alloc, off), end;
    bool met;

    if (wsh_alloc_resize(alloc, off, size))
        return 1;
    met = !team_memory_end(job, off, size, &end, "shmem_realloc");
    if (!met && !end)
        return 0;
    wsh_alloc_resize(alloc, off, old);
    return met ? -EOWNERDEAD : 1;
}

/* Where it stays, what is put by others into what is new must find it there. */
static size_t block_resize(struct wsh_job *job, size_t off, size_t size)
{
    int rc = resize_in_place(job, off, size);

    if (rc > 0)
        return block_move(job, off, size);
    if (!rc)
        rc = wsh_barrier(job->all, "shmem_realloc");
    if (rc)
        wsh_coll_end_unless_failed(job->all, "shmem_realloc", rc);
    return rc ? WSH_ALLOC_NONE : off;
}

void *wsh_device_realloc(struct wsh_job *job, void *ptr, size_t size)
{
    size_t off = (size_t)((char *)ptr - base_of(job));
    int rc = wsh_barrier(job->all, "shmem_realloc");

    if (rc) {
        wsh_coll_end_unless_failed(job->all, "shmem_realloc", rc);
        return NULL;
    }
    if (!wsh_alloc_size(job->device.heap.alloc, off)) {
        log_not_live("shmem_realloc", ptr);
        wsh_abort(1);
    }
    return finished(job, block_resize(job, off, size));
}

/* In a broken world too: the world's shrink decides whether it stays free. */
int wsh_device_free(struct wsh_job *job, void *ptr)
{
    size_t off = (size_t)((char *)ptr - base_of(job));
    int rc = wsh_release_barrier(job, true, NULL, "shmemx_free_device");

    if (rc && !wsh_coll_met_failure(job->all, "shmemx_free_device", rc))
        return -EIO;
    if (!ptr)
        return 0;
    if (!job->device.attached || !wsh_alloc_size(job->device.heap.alloc, off))
        return log_not_live("shmemx_free_device", ptr);
    wsh_alloc_put(job->device.heap.alloc, off);
    job->heap.finished += !rc;
    return 0;
}

/* One piece of host memory that is mapped here. False: the driver does not take it. */
static bool pin_piece(struct wsh_job_device *device, char *base, size_t len)
{
    void **pins = realloc(device->pins, (device->n_pins + 1) * sizeof *pins);
    int status = 0, rc = pins ? 0 : -ENOMEM;

    if (!rc) {
        device->pins = pins;
        rc = wsh_gpu_pin(&device->gpu, base, len, &status);
    }
    if (!rc)
        device->pins[device->n_pins++] = base;
    else
        wsh_warn("kernels do not reach symmetric host memory: %s; raise the memlock limit (ulimit -l "
                 "unlimited), or "
                 "use device memory only",
                 status ? wsh_cuda_strerror(status) : wsh_strerror(rc));
    return !rc;
}

/* This PE's own variables may have gaps, which must not be pinned; the mappings of peers' variables have none. */
static bool pin_data(struct wsh_job *job, int pe)
{
    const struct wsh_static_ranges *ranges = pe == job->my_pe ? job->heap.ranges : NULL;
    bool has_data = job->heap.seg[WSH_SEG_STATIC].base;
    const struct wsh_rmem *data = has_data ? wsh_route_main(&job->routes, pe, WSH_SEG_STATIC) : NULL;
    bool done = true;

    if (!data || !data->map)
        return true;
    if (!ranges)
        return pin_piece(&job->device, data->map, data->len);
    for (unsigned i = 0; i < ranges->n && done; i++)
        done = pin_piece(&job->device, (char *)ranges->range[i].begin,
                         ranges->range[i].end - ranges->range[i].begin);
    return done;
}

static bool pin_pe(struct wsh_job *job, int pe, size_t from, size_t to)
{
    char *heap = wsh_route_map(&job->routes, pe, WSH_SEG_HEAP);

    if (!from && !pin_data(job, pe))
        return false;
    return !heap || pin_piece(&job->device, heap + from, to - from);
}

/*
 * Pins committed memory only: the driver allocates all memory that it pins. It refuses copies that cross from one
 * pinned piece into the next, also those of the program, so no allocation crosses; this is the same on every PE, even
 * if one could pin nothing.
 */
void wsh_device_pin(struct wsh_job *job)
{
    struct wsh_job_device *device = &job->device;
    size_t from = device->pinned, to = job->heap.committed;

    if (!device->attached || to <= from)
        return;
    device->pinned = to;
    if (wsh_alloc_wall(job->heap.alloc, to)) {
        wsh_error("no memory to note what of the symmetric heap is pinned; leave the host more free memory");
        wsh_abort(1);
    }
    if (device->pin_refused || wsh_gpu_enter(&device->gpu))
        return;
    for (int pe = 0; pe < job->n_pes && !device->pin_refused; pe++)
        if (job->same_host[pe])
            device->pin_refused = !pin_pe(job, pe, from, to);
    wsh_gpu_leave(&device->gpu);
}

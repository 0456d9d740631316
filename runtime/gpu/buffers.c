/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Device memory of the program's own: symmetric buffers, of which each is a segment, and those that only this PE uses,
 * as source or target of its own transfers.
 */
#include "base/err.h"
#include "base/log.h"
#include "runtime/coll/coll.h"
#include "runtime/gpu/device_heap.h"
#include "runtime/gpu/host.h"
#include "runtime/gpu/segments.h"
#include "runtime/job/job.h"

/* The number of the registered memory that holds the first byte, or all, of [base, base + len); or -1. */
static int overlaps(const struct wsh_job *job, const char *base, size_t len)
{
    size_t off;
    int seg = wsh_heap_find(&job->heap, base, 1, &off);

    if (seg < 0)
        seg = wsh_heap_find(&job->heap, base + len - 1, 1, &off);
    return seg;
}

/* 0 or a logged error. */
static int check_buffer(const struct wsh_job *job, const char *routine, const char *base, size_t len)
{
    if (!base || !len) {
        wsh_error("%s: the buffer is empty; give its address and its bytes", routine);
        return -EINVAL;
    }
    if (overlaps(job, base, len) >= 0 || wsh_ranges_find(job->device.local, base, 1) >= 0) {
        wsh_error(
            "%s: a part of %zu bytes at %p is registered or symmetric already; unregister that first, or "
            "register what is missing",
            routine, len, (const void *)base);
        return -EINVAL;
    }
    return 0;
}

/* The same on all PEs. */
static int check_room(int seg)
{
    if (seg < WSH_SEGS)
        return 0;
    wsh_error("shmemx_buffer_register_symmetric: %d buffers and pieces of the device heap are registered "
              "already; unregister some, or register fewer and larger ones",
              WSH_SEGS - WSH_SEG_MORE);
    return -ENOMEM;
}

int wsh_buffer_add(struct wsh_job *job, void *base, size_t len, const char *routine)
{
    int seg = wsh_segment_next(job), rc = wsh_segments_all_live(job, routine);
    const struct wsh_mem mem = {(enum wsh_seg)seg, WSH_MEM_DEVICE, base, len, -1, NULL, 0, 0};

    if (!rc)
        rc = check_room(seg);
    if (rc)
        return rc;
    rc = wsh_segment_add(job, &mem, check_buffer(job, routine, base, len), routine);
    if (!rc)
        wsh_device_state_buffers(job);
    return rc;
}

int wsh_buffer_unregister(struct wsh_job *job, void *base)
{
    static const char routine[] = "shmemx_buffer_unregister_symmetric";
    size_t off;
    int seg;

    if (wsh_barrier(&job->world, routine))
        wsh_abort(1);
    seg = base ? wsh_heap_find(&job->heap, base, 1, &off) : -1;
    if (seg < WSH_SEG_MORE || off || wsh_device_heap_holds(&job->device, base)) {
        wsh_error("%s: %p is not the start of a registered buffer; pass what was registered, once", routine,
                  base);
        return -EINVAL;
    }
    wsh_segment_withdraw(job, seg);
    wsh_device_state_buffers(job);
    return wsh_barrier(&job->world, routine);
}

/* The number of the next one, from WSH_SEGS on; WSH_SEGS_LOCAL: there is none left. */
static int local_next(const struct wsh_job *job)
{
    int number = WSH_SEGS;

    while (number < WSH_SEGS_LOCAL && job->device.used[number - WSH_SEGS])
        number++;
    return number;
}

static int check_local_room(int number)
{
    if (number < WSH_SEGS_LOCAL)
        return 0;
    wsh_error(
        "shmemx_buffer_register: %d buffers are registered already; register larger ones, or unregister "
        "some",
        WSH_SEGS_LOCAL - WSH_SEGS);
    return -ENOMEM;
}

/* Host memory and symmetric memory may be named too; nothing is recorded for them. */
int wsh_buffer_note(struct wsh_job *job, void *base, size_t len)
{
    static const char routine[] = "shmemx_buffer_register";
    size_t off;
    bool known = base && len && wsh_heap_find(&job->heap, base, len, &off) >= 0;
    int number = local_next(job), rc = known ? 0 : check_buffer(job, routine, base, len);
    const struct wsh_mem mem = {(enum wsh_seg)number, WSH_MEM_DEVICE, base, len, -1, NULL, 0, 0};

    if (rc || known || wsh_cuda_open() || !wsh_gpu_holds(base))
        return rc;
    rc = check_local_room(number);
    if (!rc)
        rc = wsh_ranges_add(job->device.local, base, len, number);
    if (rc)
        return rc;
    job->device.used[number - WSH_SEGS] = true;
    if (job->device.attached) {
        rc = wsh_route_register(job, &mem);
        wsh_device_state_buffers(job);
    }
    return rc;
}

int wsh_buffers_attach(struct wsh_job *job)
{
    const void *base;
    size_t len;
    int number, rc = 0;

    for (unsigned i = 0; !rc && wsh_ranges_at(job->device.local, i, &base, &len, &number); i++) {
        const struct wsh_mem mem = {
            (enum wsh_seg)number, WSH_MEM_DEVICE, (void *)(uintptr_t)base, len, -1, NULL, 0, 0};

        rc = wsh_route_register(job, &mem);
    }
    return rc;
}

static void local_forget(struct wsh_job *job, const void *base)
{
    int number = wsh_ranges_remove(job->device.local, base);

    if (number < 0)
        return;
    wsh_route_release(job, number);
    job->device.used[number - WSH_SEGS] = false;
}

int wsh_buffer_forget(struct wsh_job *job, const void *base)
{
    const void *first = base;
    size_t len;
    int number;

    if (base)
        local_forget(job, base);
    while (!base && wsh_ranges_at(job->device.local, 0, &first, &len, &number))
        local_forget(job, first);
    if (job->device.attached)
        wsh_device_state_buffers(job);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What kernels find at and behind struct wsh_device_root: the tables of registered buffers, queues, and the device
 * heaps of all PEs.
 */
#include "device/view/view.h"

#include "runtime/gpu/host.h"
#include "runtime/gpu/device_heap.h"
#include "runtime/gpu/view/state.h"
#include "base/err.h"
#include "base/log.h"
#include "runtime/job/job.h"
#include "runtime/gpu/proxy/proxy.h"
#include "runtime/gpu/segments.h"

static struct wsh_device_range row_of(struct wsh_device_state *state, const void *base, size_t len,
                                      int number)
{
    struct wsh_device_range row = {.symmetric = number < WSH_SEGS,
                                   .zero_copy = wsh_segment_is_zero_copy(state->job, number)};

    if (row.symmetric)
        row.seg = wsh_device_state_seg(state, number);
    else
        row.seg = (struct wsh_device_seg){(uint64_t)(uintptr_t)base, len, 0, 0};
    return row;
}

/* Rows of symmetric buffers (the heap's own pieces are none), and of this PE's own, in order of their addresses. */
static void fill_rows(struct wsh_device_state *state, struct wsh_device_ranges *ranges)
{
    const struct wsh_job *job = state->job;
    const struct wsh_ranges *from[] = {job->heap.device, job->device.local};
    struct wsh_device_range *rows = (struct wsh_device_range *)(void *)(ranges + 1);
    unsigned at[2] = {0, 0};

    for (;;) {
        const void *base[2];
        size_t len[2];
        int number[2];
        bool more[2], local;

        for (int i = 0; i < 2; i++)
            more[i] = wsh_ranges_at(from[i], at[i], &base[i], &len[i], &number[i]);
        if (!more[0] && !more[1])
            return;
        local = !more[0] || (more[1] && (uintptr_t)base[1] < (uintptr_t)base[0]);
        at[local]++;
        if (!wsh_device_heap_holds(&job->device, base[local]))
            rows[ranges->n++] = row_of(state, base[local], len[local], number[local]);
    }
}

static struct wsh_device_root *root_of(struct wsh_device_state *state)
{
    return (struct wsh_device_root *)(void *)(state->image + state->root);
}

/* *off: the table, and its bytes. */
static size_t fill_ranges(struct wsh_device_state *state, size_t *off)
{
    struct wsh_device_ranges *ranges;
    size_t len;

    if (WSH_DEVICE_STATE_RANGES_ROOM - state->next < WSH_DEVICE_STATE_RANGES_LEN((size_t)WSH_SEGS_LOCAL))
        state->next = 0;
    *off = state->buffers + state->next;
    ranges = (struct wsh_device_ranges *)(void *)(state->image + *off);
    ranges->n = 0;
    fill_rows(state, ranges);
    len = wsh_device_state_lines(WSH_DEVICE_STATE_RANGES_LEN(ranges->n));
    state->next += len;
    root_of(state)->ranges = state->block + *off;
    return len;
}

/* This PE's own heap is at the address that its program knows. */
static void fill_peers(struct wsh_device_state *state)
{
    const struct wsh_job *job = state->job;
    uint64_t *peer = (uint64_t *)(root_of(state) + 1);

    for (int pe = 0; pe < job->n_pes; pe++)
        peer[pe] = (uint64_t)(uintptr_t)wsh_device_state_mapping(job, pe, WSH_SEG_DEVICE);
    peer[job->my_pe] = (uint64_t)(uintptr_t)job->heap.seg[WSH_SEG_DEVICE].base;
}

/* The table before its address. */
void wsh_device_state_buffers(struct wsh_job *job)
{
    struct wsh_device_state *state = job->device.state;
    size_t off, len = fill_ranges(state, &off);
    int status;

    if (wsh_gpu_enter(&job->device.gpu))
        return;
    status = wsh_device_state_upload(state, off, len);
    if (!status)
        status = wsh_device_state_upload(state, state->root, state->teams - state->root);
    wsh_gpu_leave(&job->device.gpu);
    if (status)
        wsh_error("symmetric memory cannot be published to kernels: %s; an earlier kernel may have failed",
                  wsh_cuda_strerror(status));
}

void wsh_device_state_root(struct wsh_job *job)
{
    fill_peers(job->device.state);
    wsh_proxy_rows(job, root_of(job->device.state));
    wsh_device_state_buffers(job);
}

int wsh_device_state_queues(struct wsh_job *job)
{
    struct wsh_device_state *state = job->device.state;
    int status;

    if (wsh_gpu_enter(&job->device.gpu))
        return -EIO;
    wsh_proxy_rows(job, root_of(state));
    status = wsh_device_state_upload(state, state->root, sizeof(struct wsh_device_root));
    wsh_gpu_leave(&job->device.gpu);
    if (status)
        wsh_error("queues cannot be published to kernels: %s; an earlier kernel may have failed",
                  wsh_cuda_strerror(status));
    return status ? -EIO : 0;
}

uint64_t wsh_device_state_peers(const struct wsh_job *job)
{
    return WSH_DEVICE_PEERS(job->device.state->device.ranges);
}

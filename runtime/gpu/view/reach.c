/* SPDX-License-Identifier: BSD-3-Clause */
/* How kernels reach the segments of PEs (device/core/reach.cuh): where this GPU finds each, by table or stride. */
#include "device/view/view.h"

#include "runtime/gpu/view/state.h"
#include "runtime/job/job.h"

static size_t table_of(const struct wsh_device_state *state, int seg)
{
    return state->tables + (size_t)seg * wsh_device_state_lines((size_t)state->n_slots * sizeof(uint64_t));
}

int wsh_device_state_upload(struct wsh_device_state *state, size_t off, size_t len)
{
    const struct wsh_cuda *cu = wsh_cuda();
    int status =
        cu->copy(state->block + off, (wsh_cu_ptr)(uintptr_t)(state->image + off), len, state->stream);

    return status ? status : cu->stream_sync(state->stream);
}

char *wsh_device_state_mapping(const struct wsh_job *job, int pe, int seg)
{
    const struct wsh_rmem *rmem = job->heap.seg[seg].base ? wsh_route_main(&job->routes, pe, seg) : NULL;

    if (!rmem)
        return NULL;
    return seg >= WSH_SEG_DEVICE ? rmem->gpu : job->device.pin_refused ? NULL : rmem->map;
}

/* The slots lie at equal distances, each mapped. */
static bool is_strided(const struct wsh_job *job, int seg)
{
    const struct wsh_gpu_mem *mem = &job->device.heap.mem;
    size_t slot = 0;

    if (seg != WSH_SEG_DEVICE || !mem->range)
        return false;
    for (int pe = 0; pe < job->n_pes; pe++)
        if (job->same_host[pe] && wsh_device_state_mapping(job, pe, seg) != mem->range + mem->stride * slot++)
            return false;
    return true;
}

static void fill_table(struct wsh_device_state *state, int seg)
{
    uint64_t *table = (uint64_t *)(void *)(state->image + table_of(state, seg));
    int slot = 0;

    for (int pe = 0; pe < state->job->n_pes; pe++)
        if (state->job->same_host[pe])
            table[slot++] = (uint64_t)(uintptr_t)wsh_device_state_mapping(state->job, pe, seg);
}

struct wsh_device_seg wsh_device_state_seg(struct wsh_device_state *state, int seg)
{
    const struct wsh_job *job = state->job;
    const struct wsh_segment *own = &job->heap.seg[seg];
    bool reached = own->base && wsh_device_state_mapping(job, job->my_pe, seg);
    struct wsh_device_seg out = {(uint64_t)(uintptr_t)own->base, reached ? own->len : 0,
                                 state->block + table_of(state, seg), 0};

    if (!is_strided(job, seg)) {
        fill_table(state, seg);
        return out;
    }
    out.len = job->device.heap.mem.stride; /* what it may grow to */
    out.where = (uint64_t)(uintptr_t)job->device.heap.mem.range;
    out.stride = job->device.heap.mem.stride;
    return out;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places the pads of teams in the device heap, and publishes the teams to kernels. A team that was split off has its
 * pad on the GPU at the number of its host pad's unit, which its members have agreed on.
 */
#include "runtime/gpu/host.h"
#include "runtime/gpu/view/state.h"
#include "runtime/memory/alloc.h"
#include "base/cuda/mem.h"
#include "base/err.h"
#include "base/log.h"
#include "runtime/coll/choose/state.h"
#include "runtime/job/job.h"

#include <shmem.h>

#include <stdlib.h>
#include <string.h>

/* A team's pad has so many times the bytes of the host's: 192 bytes of cells or more for each pair of members. */
enum { TIMES = 18, GONE = 1 };

/* For each unit of the pool. */
static size_t unit_of(const struct wsh_job *job)
{
    return WSH_DEVICE_PAD_LINES(job->pool.unit * TIMES);
}

/* Bytes of a buffer, for a pair of members and parity, where `room` is for those of all. */
static uint32_t buffer_in(size_t room, int n_pes)
{
    size_t each = room / (2 * (size_t)n_pes) / WSH_DEVICE_PAD_LINE * WSH_DEVICE_PAD_LINE;

    if (each < WSH_DEVICE_PAD_LINE)
        return WSH_DEVICE_PAD_LINE;
    return each < WSH_DEVICE_CELLS ? (uint32_t)each : WSH_DEVICE_CELLS;
}

/* Of a predefined team. */
static size_t whole_pad(const struct wsh_job *job)
{
    size_t n = (size_t)job->n_pes;

    return WSH_DEVICE_PAD_CELLS(job->n_pes) + 2 * n * buffer_in(WSH_DEVICE_CELLS_ALL, job->n_pes);
}

/* Bytes of all pads; the words of counters follow. */
static size_t counters_at(const struct wsh_job *job)
{
    return 2 * whole_pad(job) + (size_t)job->pool.n_units * unit_of(job);
}

/* So that what the program gets begins where the heap's memory does. */
size_t wsh_pads_len(const struct wsh_job *job)
{
    size_t len = counters_at(job) + wsh_counters_len(job) + wsh_nic_counters_len(job);

    return (len + WSH_GPU_ALIGN - 1) / WSH_GPU_ALIGN * WSH_GPU_ALIGN;
}

int wsh_pads_clear(const struct wsh_job *job, char *at, size_t len)
{
    int status;

    if (wsh_gpu_enter(&job->device.gpu))
        return -EIO;
    status = wsh_gpu_clear((wsh_cu_ptr)(uintptr_t)at, len);
    wsh_gpu_leave(&job->device.gpu);
    if (status)
        wsh_error("the GPU's memory for teams cannot be cleared: %s; an earlier kernel may have failed",
                  wsh_cuda_strerror(status));
    return status ? -EIO : 0;
}

int wsh_pads_open(struct wsh_job *job)
{
    size_t off = wsh_alloc_get(job->device.alloc, wsh_pads_len(job), 0);

    if (off == WSH_ALLOC_NONE)
        return -ENOMEM;
    job->device.pads = job->heap.seg[WSH_SEG_DEVICE].base + off;
    job->device.counters = job->device.pads + counters_at(job);
    job->device.nic_counters = job->device.counters + wsh_counters_len(job);
    return wsh_pads_clear(job, job->device.pads, wsh_pads_len(job));
}

/* *len = its bytes. */
static char *pad_of(const struct wsh_team *team, size_t *len)
{
    const struct wsh_job *job = team->job;
    size_t whole = whole_pad(job), unit = job->pool.unit;

    *len = whole;
    if (team == &job->world || team == &job->shared)
        return job->device.pads + (team == &job->shared) * whole;
    *len = (team->coll->pad.len + unit - 1) / unit * unit_of(job);
    return job->device.pads + 2 * whole + (size_t)team->coll->unit * unit_of(job);
}

/* Bytes of such a buffer in a pad of `len` bytes. */
static uint32_t buffer_of(int n_pes, size_t len)
{
    size_t head = WSH_DEVICE_PAD_CELLS(n_pes);

    return buffer_in(len > head ? len - head : 0, n_pes);
}

bool wsh_view_spans_hosts(const struct wsh_team *team)
{
    for (int i = 0; i < team->n_pes; i++)
        if (!team->job->same_host[team->members[i]])
            return true;
    return false;
}

/* The team header and the members, not what peers write. With the GPU's context current. 0 or the driver's status. */
static int team_header_upload(const struct wsh_team *team, struct wsh_view *view)
{
    const struct wsh_cuda *cu = wsh_cuda();
    size_t len, n = (size_t)team->n_pes * sizeof(int32_t);
    char *pad = pad_of(team, &len);
    wsh_cu_ptr at = (wsh_cu_ptr)(uintptr_t)pad;
    struct wsh_device_team_header header = {.epoch = (uint64_t)team->job->env.device_epoch,
                                            .my_pe = team->my_pe,
                                            .n_pes = team->n_pes,
                                            .stage = buffer_of(team->n_pes, len)};
    int status = WSH_DEVICE_PAD_WORDS(team->n_pes) > len;

    if (status)
        return status;
    if (!wsh_view_spans_hosts(team))
        header.cells = header.stage;
    status = cu->copy(at, (wsh_cu_ptr)(uintptr_t)&header, sizeof header, view->stream);
    if (!status)
        status = cu->copy(at + WSH_DEVICE_PAD_MEMBERS, (wsh_cu_ptr)(uintptr_t)team->members, n, view->stream);
    return status ? status : cu->stream_sync(view->stream);
}

static struct wsh_device_team_row *rows_of(struct wsh_view *view)
{
    return (struct wsh_device_team_row *)(void *)(view->image + view->teams);
}

/* The row of `handle`; where there is none the one to take for it, or NULL. */
static struct wsh_device_team_row *find_row(struct wsh_view *view, uint64_t handle)
{
    struct wsh_device_team_row *rows = rows_of(view), *vacant = NULL;
    uint32_t at = WSH_DEVICE_TEAM_HASH(handle);

    for (unsigned i = 0; i < WSH_DEVICE_TEAM_ROWS; i++, at = (at + 1) % WSH_DEVICE_TEAM_ROWS) {
        if (rows[at].handle == handle)
            return &rows[at];
        if (rows[at].handle <= GONE && !vacant)
            vacant = &rows[at];
        if (!rows[at].handle)
            break;
    }
    return vacant;
}

/* Address first, so that a kernel that finds the handle has it. */
static int upload_row(struct wsh_view *view, const struct wsh_device_team_row *row)
{
    size_t off = (size_t)((const char *)row - view->image);
    int status = wsh_view_upload(view, off + sizeof row->handle, sizeof row->pad);

    return status ? status : wsh_view_upload(view, off, sizeof row->handle);
}

/* With the GPU's context current. 0 or the driver's status. */
static int row_add(const struct wsh_team *team, struct wsh_view *view)
{
    uint64_t handle =
        team->number < WSH_TEAM_NUMBERS ? (uint64_t)team->number + 1 : (uint64_t)(uintptr_t)team;
    struct wsh_device_team_row *row = find_row(view, handle);
    size_t len;
    int status = team_header_upload(team, view);

    if (status || !row || team == &team->job->world)
        return status;
    *row = (struct wsh_device_team_row){handle, (uint64_t)(uintptr_t)pad_of(team, &len)};
    return upload_row(view, row);
}

static void log_not_published(int status)
{
    wsh_error("a team cannot be published to kernels: %s; an earlier kernel may have failed",
              wsh_cuda_strerror(status));
}

void wsh_view_team(const struct wsh_team *team)
{
    const struct wsh_job *job = team->job;
    struct wsh_view *view = job->device.view;
    int status;

    if (!view || !job->device.pads || wsh_gpu_enter(&job->device.gpu))
        return;
    status = row_add(team, view);
    wsh_gpu_leave(&job->device.gpu);
    if (status)
        log_not_published(status);
}

/* The members have synchronized: what they wrote here has been awaited. */
void wsh_view_team_gone(const struct wsh_team *team)
{
    const struct wsh_job *job = team->job;
    struct wsh_view *view = job->device.view;
    struct wsh_device_team_row *row = view ? find_row(view, (uint64_t)(uintptr_t)team) : NULL;
    size_t len;
    char *pad;
    int status;

    if (!row || row->handle <= GONE || wsh_gpu_enter(&job->device.gpu))
        return;
    row->handle = GONE;
    status = upload_row(view, row);
    wsh_gpu_leave(&job->device.gpu);
    if (status)
        log_not_published(status);
    pad = pad_of(team, &len);
    wsh_pads_clear(job, pad, len);
}

/* Where the pads of teams with numbers lie. */
static void place_publish(const struct wsh_job *job, struct wsh_view *view)
{
    struct wsh_device_team_row *row = rows_of(view) + WSH_DEVICE_TEAM_ROWS;
    int status;

    if (!job->device.pads || wsh_gpu_enter(&job->device.gpu))
        return;
    *row = (struct wsh_device_team_row){unit_of(job),
                                        (uint64_t)(uintptr_t)(job->device.pads + 2 * whole_pad(job))};
    status = upload_row(view, row);
    wsh_gpu_leave(&job->device.gpu);
    if (status)
        log_not_published(status);
}

static uint32_t lines_from(const struct wsh_segment *seg, const char *at)
{
    return (uint32_t)((size_t)(at - seg->base) / WSH_DEVICE_COUNTERS_ALIGN);
}

void wsh_view_teams(struct wsh_job *job, struct wsh_device *device)
{
    const struct wsh_view *view = job->device.view;

    device->n_counters = (uint32_t)(wsh_counters_len(job) / sizeof(uint64_t));
    device->counters_device = lines_from(&job->heap.seg[WSH_SEG_DEVICE], job->device.counters);
    device->counters_host = lines_from(&job->heap.seg[WSH_SEG_HEAP], job->counters.pool.base);
    device->world = (uint64_t)(uintptr_t)job->device.pads;
    if (!wsh_view_spans_hosts(&job->world))
        device->world_cells = buffer_in(WSH_DEVICE_CELLS_ALL, job->n_pes);
    device->teams = view->block + view->teams;
    place_publish(job, job->device.view);
    wsh_view_team(&job->world);
    wsh_view_team(&job->shared);
    for (const struct wsh_team *team = job->teams; team; team = team->next)
        wsh_view_team(team);
}

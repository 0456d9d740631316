/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places the sync areas of teams in the device heap, and publishes the teams to kernels. A team that was split off has
 * its sync area on the GPU at the number of its host sync area's unit, which its members have agreed on.
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

/*
 * A team's sync area has so many times the bytes of the host's: 192 bytes of LL lines or more for each pair of members.
 */
enum { TIMES = 18, GONE = 1 };

/* For each unit of the pool. */
static size_t unit_of(const struct wsh_job *job)
{
    return WSH_DEVICE_SYNC_AREA_LINES(job->pool.unit * TIMES);
}

/* Bytes of a buffer, for a pair of members and parity, where `room` is for those of all. */
static uint32_t buffer_in(size_t room, int n_pes)
{
    size_t each = room / (2 * (size_t)n_pes) / WSH_DEVICE_SYNC_AREA_LINE * WSH_DEVICE_SYNC_AREA_LINE;

    if (each < WSH_DEVICE_SYNC_AREA_LINE)
        return WSH_DEVICE_SYNC_AREA_LINE;
    return each < WSH_DEVICE_LL_LINES ? (uint32_t)each : WSH_DEVICE_LL_LINES;
}

/* Of a predefined team. */
static size_t whole_area(const struct wsh_job *job)
{
    size_t n = (size_t)job->n_pes;

    return WSH_DEVICE_SYNC_AREA_LL(job->n_pes) + 2 * n * buffer_in(WSH_DEVICE_LL_LINES_ALL, job->n_pes);
}

/* Bytes of all sync areas; the words of counters follow. */
static size_t counters_at(const struct wsh_job *job)
{
    return 2 * whole_area(job) + (size_t)job->pool.n_units * unit_of(job);
}

/* So that what the program gets begins where the heap's memory does. */
size_t wsh_sync_areas_len(const struct wsh_job *job)
{
    size_t len = counters_at(job) + wsh_counters_len(job) + wsh_nic_counters_len(job);

    return (len + WSH_GPU_ALIGN - 1) / WSH_GPU_ALIGN * WSH_GPU_ALIGN;
}

int wsh_sync_areas_clear(const struct wsh_job *job, char *at, size_t len)
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

int wsh_sync_areas_open(struct wsh_job *job)
{
    size_t off = wsh_alloc_get(job->device.heap.alloc, wsh_sync_areas_len(job), 0);

    if (off == WSH_ALLOC_NONE)
        return -ENOMEM;
    job->device.sync_areas = job->heap.seg[WSH_SEG_DEVICE].base + off;
    job->device.counters = job->device.sync_areas + counters_at(job);
    job->device.nic_counters = job->device.counters + wsh_counters_len(job);
    return wsh_sync_areas_clear(job, job->device.sync_areas, wsh_sync_areas_len(job));
}

/* *len = its bytes. */
static char *area_of(const struct wsh_team *team, size_t *len)
{
    const struct wsh_job *job = team->job;
    size_t whole = whole_area(job), unit = job->pool.unit;

    *len = whole;
    if (team == &job->world || team == &job->shared)
        return job->device.sync_areas + (team == &job->shared) * whole;
    *len = (team->coll->area.len + unit - 1) / unit * unit_of(job);
    return job->device.sync_areas + 2 * whole + (size_t)team->coll->unit * unit_of(job);
}

/* Bytes of such a buffer in a sync area of `len` bytes. */
static uint32_t buffer_of(int n_pes, size_t len)
{
    size_t head = WSH_DEVICE_SYNC_AREA_LL(n_pes);

    return buffer_in(len > head ? len - head : 0, n_pes);
}

bool wsh_device_state_spans_hosts(const struct wsh_team *team)
{
    for (int i = 0; i < team->n_pes; i++)
        if (!team->job->same_host[team->members[i]])
            return true;
    return false;
}

/* The team header and the members, not what peers write. With the GPU's context current. 0 or the driver's status. */
static int team_header_upload(const struct wsh_team *team, struct wsh_device_state *state)
{
    const struct wsh_cuda *cu = wsh_cuda();
    size_t len, n = (size_t)team->n_pes * sizeof(int32_t);
    char *area = area_of(team, &len);
    wsh_cu_ptr at = (wsh_cu_ptr)(uintptr_t)area;
    struct wsh_device_team_header header = {.epoch = (uint64_t)team->job->env.device_epoch,
                                            .my_pe = team->my_pe,
                                            .n_pes = team->n_pes,
                                            .stage = buffer_of(team->n_pes, len)};
    int status = WSH_DEVICE_SYNC_AREA_WORDS(team->n_pes) > len;

    if (status)
        return status;
    if (!wsh_device_state_spans_hosts(team))
        header.ll = header.stage;
    status = cu->copy(at, (wsh_cu_ptr)(uintptr_t)&header, sizeof header, state->stream);
    if (!status)
        status = cu->copy(at + WSH_DEVICE_SYNC_AREA_MEMBERS, (wsh_cu_ptr)(uintptr_t)team->members, n,
                          state->stream);
    return status ? status : cu->stream_sync(state->stream);
}

static struct wsh_device_team_row *rows_of(struct wsh_device_state *state)
{
    return (struct wsh_device_team_row *)(void *)(state->image + state->teams);
}

/* The row of `handle`; where there is none the one to take for it, or NULL. */
static struct wsh_device_team_row *find_row(struct wsh_device_state *state, uint64_t handle)
{
    struct wsh_device_team_row *rows = rows_of(state), *vacant = NULL;
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
static int upload_row(struct wsh_device_state *state, const struct wsh_device_team_row *row)
{
    size_t off = (size_t)((const char *)row - state->image);
    int status = wsh_device_state_upload(state, off + sizeof row->handle, sizeof row->area);

    return status ? status : wsh_device_state_upload(state, off, sizeof row->handle);
}

/* With the GPU's context current. 0 or the driver's status. */
static int row_add(const struct wsh_team *team, struct wsh_device_state *state)
{
    uint64_t handle =
        team->number < WSH_TEAM_NUMBERS ? (uint64_t)team->number + 1 : (uint64_t)(uintptr_t)team;
    struct wsh_device_team_row *row = find_row(state, handle);
    size_t len;
    int status = team_header_upload(team, state);

    if (status || !row || team == &team->job->world)
        return status;
    *row = (struct wsh_device_team_row){handle, (uint64_t)(uintptr_t)area_of(team, &len)};
    return upload_row(state, row);
}

static void log_not_published(int status)
{
    wsh_error("a team cannot be published to kernels: %s; an earlier kernel may have failed",
              wsh_cuda_strerror(status));
}

void wsh_device_state_team(const struct wsh_team *team)
{
    const struct wsh_job *job = team->job;
    struct wsh_device_state *state = job->device.state;
    int status;

    if (!state || !job->device.sync_areas || wsh_gpu_enter(&job->device.gpu))
        return;
    status = row_add(team, state);
    wsh_gpu_leave(&job->device.gpu);
    if (status)
        log_not_published(status);
}

/* The members have synchronized: what they wrote here has been awaited. */
void wsh_device_state_team_gone(const struct wsh_team *team)
{
    const struct wsh_job *job = team->job;
    struct wsh_device_state *state = job->device.state;
    struct wsh_device_team_row *row = state ? find_row(state, (uint64_t)(uintptr_t)team) : NULL;
    size_t len;
    char *area;
    int status;

    if (!row || row->handle <= GONE || wsh_gpu_enter(&job->device.gpu))
        return;
    row->handle = GONE;
    status = upload_row(state, row);
    wsh_gpu_leave(&job->device.gpu);
    if (status)
        log_not_published(status);
    area = area_of(team, &len);
    wsh_sync_areas_clear(job, area, len);
}

/* Where the sync areas of teams with numbers lie. */
static void numbered_publish(const struct wsh_job *job, struct wsh_device_state *state)
{
    struct wsh_device_team_row *row = rows_of(state) + WSH_DEVICE_TEAM_ROWS;
    int status;

    if (!job->device.sync_areas || wsh_gpu_enter(&job->device.gpu))
        return;
    *row = (struct wsh_device_team_row){unit_of(job),
                                        (uint64_t)(uintptr_t)(job->device.sync_areas + 2 * whole_area(job))};
    status = upload_row(state, row);
    wsh_gpu_leave(&job->device.gpu);
    if (status)
        log_not_published(status);
}

static uint32_t lines_from(const struct wsh_segment *seg, const char *at)
{
    return (uint32_t)((size_t)(at - seg->base) / WSH_DEVICE_COUNTERS_ALIGN);
}

void wsh_device_state_teams(struct wsh_job *job, struct wsh_device *device)
{
    const struct wsh_device_state *state = job->device.state;

    device->n_counters = (uint32_t)(wsh_counters_len(job) / sizeof(uint64_t));
    device->counters_device = lines_from(&job->heap.seg[WSH_SEG_DEVICE], job->device.counters);
    device->counters_host = lines_from(&job->heap.seg[WSH_SEG_HEAP], job->counters.pool.base);
    device->world = (uint64_t)(uintptr_t)job->device.sync_areas;
    if (!wsh_device_state_spans_hosts(&job->world))
        device->world_ll = buffer_in(WSH_DEVICE_LL_LINES_ALL, job->n_pes);
    device->teams = state->block + state->teams;
    numbered_publish(job, job->device.state);
    wsh_device_state_team(&job->world);
    wsh_device_state_team(&job->shared);
    for (const struct wsh_team *team = job->teams; team; team = team->next)
        wsh_device_state_team(team);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Builds the device state and the tables behind it from the job. The tables that kernels read often are one block of
 * device memory with an image here; what the CPU changes is pinned host memory.
 */
#include "device/view/view.h"

#include "runtime/gpu/host.h"
#include "runtime/gpu/view/registered_modules.h"
#include "runtime/gpu/view/state.h"
#include "base/err.h"
#include "base/log.h"
#include "runtime/job/job.h"
#include "runtime/gpu/proxy/proxy.h"
#include "runtime/gpu/stage/host.h"

#include <shmem.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Polls of a wait, less one, before it looks for what has come from other hosts. */
enum { POLL_OFTEN = 7 };

_Static_assert(sizeof(struct wsh_device_locks) <= WSH_DEVICE_STATE_LINE, "the tables behind it begin there");

/* The device state of the attached GPU, for reports at an exit without shmem_finalize. */
static struct wsh_device_state *present;

static void state_lay_out(struct wsh_device_state *state, int n_pes, int n_local)
{
    state->n_slots = n_local;
    state->root = WSH_DEVICE_STATE_LINE;
    state->slots = state->root + wsh_device_state_lines(WSH_DEVICE_PEERS((size_t)n_pes * sizeof(uint64_t)));
    state->tables = state->slots + wsh_device_state_lines((size_t)n_pes);
    state->teams =
        state->tables + WSH_SEGS * wsh_device_state_lines((size_t)state->n_slots * sizeof(uint64_t));
    state->buffers = state->teams + (WSH_DEVICE_TEAM_ROWS + 1) * sizeof(struct wsh_device_team_row);
    state->size = state->buffers + WSH_DEVICE_STATE_RANGES_ROOM;
}

size_t wsh_device_state_size(int n_pes, int n_local)
{
    struct wsh_device_state state = {0};

    state_lay_out(&state, n_pes, n_local);
    return state.size;
}

int wsh_device_state_write(const struct wsh_job *job, void *at, const void *from, size_t len)
{
    const struct wsh_cuda *cu = wsh_cuda();
    const struct wsh_device_state *state = job->device.state;
    int status;

    if (wsh_gpu_enter(&job->device.gpu))
        return -EIO;
    status = cu->copy((wsh_cu_ptr)(uintptr_t)at, (wsh_cu_ptr)(uintptr_t)from, len, state->stream);
    status = status ? status : cu->stream_sync(state->stream);
    wsh_gpu_leave(&job->device.gpu);
    if (status)
        wsh_error("what kernels know of counters cannot be written: %s; an earlier kernel may have failed",
                  wsh_cuda_strerror(status));
    return status ? -EIO : 0;
}

void wsh_device_state_number(const struct wsh_job *job, uint8_t *slots)
{
    int slot = 0;

    for (int pe = 0; pe < job->n_pes; pe++)
        slots[pe] =
            job->same_host[pe] && slot < (int)WSH_DEVICE_NO_SLOT ? (uint8_t)slot++ : WSH_DEVICE_NO_SLOT;
}

/* Numbers of the PEs of this host, as a run where they are one (view.h says where they shall not be). */
static void fill_slots(struct wsh_device_state *state, bool may_run)
{
    const struct wsh_job *job = state->job;
    int first = -1, last = -1;

    wsh_device_state_number(job, (uint8_t *)state->image + state->slots);
    for (int pe = 0; pe < job->n_pes; pe++) {
        if (!job->same_host[pe])
            continue;
        first = first < 0 ? pe : first;
        last = pe;
    }
    if (may_run && last - first + 1 == state->n_slots) {
        state->device.run_first = first;
        state->device.run_count = state->n_slots;
    } else {
        state->device.slots = state->block + state->slots;
    }
}

static void fill_handles(struct wsh_device_state *state)
{
    const struct wsh_job *job = state->job;
    struct wsh_device_handles *handles = &state->pinned->handles;

    for (int i = 0; i < job->shared.n_pes; i++)
        state->pinned->members[i] = job->shared.members[i];
    handles->team[0] =
        (struct wsh_device_team){(uint64_t)(uintptr_t)SHMEM_TEAM_WORLD, 0, job->my_pe, job->n_pes};
    handles->team[1] = (struct wsh_device_team){(uint64_t)(uintptr_t)SHMEM_TEAM_SHARED,
                                                (uint64_t)(uintptr_t)state->pinned->members,
                                                job->shared.my_pe, job->shared.n_pes};
    for (const struct wsh_ctx *ctx = job->ctxs; ctx; ctx = ctx->next)
        wsh_device_state_ctx(ctx, true);
}

static bool wants_checks(const char *words)
{
    for (; words && *words; words += strcspn(words, ","), words += *words == ',')
        if (!strncasecmp(words, "check", 5) && (!words[5] || words[5] == ','))
            return true;
    return false;
}

/* Reports for a program that ends by itself after a call of its kernel was refused. */
static void poll_at_exit(void)
{
    if (present)
        wsh_device_errors_poll(present->job);
}

static int log_no_tables(int status)
{
    wsh_error(
        "no memory for what kernels need to know: %s; free device memory, or set SHMEM_DEVICE_SYMMETRIC_SIZE "
        "to less",
        wsh_cuda_strerror(status));
    return -ENOMEM;
}

/* With the GPU's context current. 0 or the driver's status. */
static int state_allocate(struct wsh_device_state *state, const struct wsh_job *job)
{
    const struct wsh_cuda *cu = wsh_cuda();
    size_t pinned = sizeof *state->pinned + (size_t)job->n_pes * (sizeof(int32_t) + sizeof(uint8_t));
    int status = cu->mem_alloc(&state->block, state->size);

    if (!status)
        status = cu->host_alloc((void **)&state->pinned, pinned, WSH_CU_HOST_PORTABLE_MAPPED);
    if (!status) {
        memset(state->pinned, 0, pinned);
        state->pinned->report.failures.at = (uint64_t)(uintptr_t)(state->pinned->members + job->n_pes);
        status = cu->stream_create(&state->stream, WSH_CU_STREAM_NON_BLOCKING, 0);
    }
    return status ? status : wsh_device_state_upload(state, 0, state->size);
}

/* 0 or a logged error. */
static int state_build(struct wsh_device_state *state, const struct wsh_job *job)
{
    int status;

    state->job = job;
    state_lay_out(state, job->n_pes, job->local_size);
    state->image = calloc(1, state->size);
    if (!state->image || wsh_gpu_enter(&job->device.gpu))
        return -ENOMEM;
    status = state_allocate(state, job);
    wsh_gpu_leave(&job->device.gpu);
    return status ? log_no_tables(status) : 0;
}

static void state_release(const struct wsh_job *job, struct wsh_device_state *state)
{
    const struct wsh_cuda *cu = wsh_cuda();

    if (!wsh_gpu_enter(&job->device.gpu)) {
        if (state->stream)
            cu->stream_destroy(state->stream);
        if (state->pinned)
            cu->host_free(state->pinned);
        if (state->block)
            cu->mem_free(state->block);
        wsh_gpu_leave(&job->device.gpu);
    }
    free(state->image);
    free(state);
}

/* The job gets the device state only when it is complete, because waiting threads read it. */
int wsh_device_state_open(struct wsh_job *job)
{
    static bool noted;
    int rc = wsh_registered_modules_check();
    struct wsh_device_state *state = rc ? NULL : calloc(1, sizeof *state);

    if (!state)
        return rc ? rc : -ENOMEM;
    rc = state_build(state, job);
    if (rc) {
        state_release(job, state);
        return rc;
    }
    present = state;
    wsh_device_state_set(job, state);
    if (!noted && !atexit(poll_at_exit))
        noted = true;
    return 0;
}

void wsh_device_state_fill(struct wsh_job *job)
{
    struct wsh_device_state *state = job->device.state;
    struct wsh_device *device = &state->device;

    device->abi = WSH_DEVICE_ABI;
    device->size = sizeof *device;
    device->my_pe = job->my_pe;
    device->n_pes = job->n_pes;
    for (int seg = 0; seg < WSH_DEVICE_SEGS; seg++)
        device->seg[seg] = wsh_device_state_seg(state, seg);
    fill_handles(state);
    wsh_device_state_teams(job, device);
    wsh_proxy_device_state(job, device);
    device->locks = state->block;
    device->inbox = job->device.pin_refused ? 0 : (uint64_t)(uintptr_t)wsh_stage_host_inbox(job);
    device->poll_mask = device->inbox ? POLL_OFTEN : WSH_DEVICE_POLL_RARELY;
    device->ranges = state->block + state->root;
    device->handles = (uint64_t)(uintptr_t)&state->pinned->handles;
    device->report = (uint64_t)(uintptr_t)&state->pinned->report;
    device->hang_ns = (uint64_t)(job->env.hang_seconds * 1e9);
    device->flags = (wants_checks(job->env.debug) ? WSH_DEVICE_CHECK : 0) |
                    (job->device.gda ? WSH_DEVICE_GDA : 0) |
                    (wsh_nic_counters_are_there(&job->counters.nic) ? WSH_DEVICE_NICS_COUNT : 0) |
                    (job->failures.failed ? WSH_DEVICE_SURVIVES : 0);
    device->sharers = job->device.sharers > 0 ? (uint32_t)job->device.sharers : 1;
    fill_slots(state, device->seg[WSH_DEVICE_SEG_DEVICE].stride && !(device->flags & WSH_DEVICE_CHECK));
    wsh_device_state_root(job);
    if (wsh_nic_counters_show(job))
        wsh_abort(1);
    wsh_registered_modules_fill(device, &job->device.gpu);
    wsh_modules_fill(job);
}

int wsh_device_state_refill(struct wsh_job *job)
{
    int rc = wsh_registered_modules_check();

    if (!rc)
        wsh_registered_modules_fill(&job->device.state->device, &job->device.gpu);
    return rc;
}

/* The handle last, released: device code that finds it reads the row. Threads open contexts at the same time. */
void wsh_device_state_ctx(const struct wsh_ctx *ctx, bool here)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct wsh_device_state *state = ctx->job->device.state;
    uint64_t handle = (uint64_t)(uintptr_t)ctx, from = here ? 0 : handle;

    if (!state || !state->device.n_pes || !ctx->user ||
        (ctx->team != &ctx->job->world && ctx->team != &ctx->job->shared))
        return;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < WSH_DEVICE_CTXS; i++) {
        struct wsh_device_ctx *row = &state->pinned->handles.ctx[i];

        if (row->handle != from)
            continue;
        row->team = ctx->team == &ctx->job->shared;
        __atomic_store_n(&row->handle, here ? handle : 0, __ATOMIC_RELEASE);
        break;
    }
    pthread_mutex_unlock(&lock);
}

void wsh_device_state_close(struct wsh_job *job)
{
    struct wsh_device_state *state = job->device.state;

    if (!state)
        return;
    wsh_registered_modules_fill(NULL, NULL);
    present = NULL;
    wsh_device_state_set(job, NULL);
    state_release(job, state);
}

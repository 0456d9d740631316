/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Builds the view and the tables behind it from the job. The tables that kernels read often are one block of device
 * memory with an image here; what the CPU changes is pinned host memory.
 */
#include "device/view/view.h"

#include "runtime/gpu/host.h"
#include "runtime/gpu/view/units.h"
#include "runtime/gpu/view/state.h"
#include "base/err.h"
#include "base/log.h"
#include "runtime/job/job.h"
#include "runtime/gpu/proxy/proxy.h"

#include <shmem.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Polls of a wait, less one, before it looks for what has come from other hosts. */
enum { LOOK_OFTEN = 7 };

_Static_assert(sizeof(struct wsh_device_locks) <= WSH_VIEW_LINE, "the tables behind it begin there");

/* The view of the attached GPU, for reports at an exit without shmem_finalize. */
static struct wsh_view *present;

static void view_lay_out(struct wsh_view *view, int n_pes, int n_local)
{
    view->n_slots = n_local;
    view->root = WSH_VIEW_LINE;
    view->slots = view->root + wsh_view_lines(WSH_DEVICE_PEERS((size_t)n_pes * sizeof(uint64_t)));
    view->tables = view->slots + wsh_view_lines((size_t)n_pes);
    view->teams = view->tables + WSH_SEGS * wsh_view_lines((size_t)view->n_slots * sizeof(uint64_t));
    view->buffers = view->teams + (WSH_DEVICE_TEAM_ROWS + 1) * sizeof(struct wsh_device_team_row);
    view->size = view->buffers + WSH_VIEW_RANGES_ROOM;
}

size_t wsh_view_size(int n_pes, int n_local)
{
    struct wsh_view view = {0};

    view_lay_out(&view, n_pes, n_local);
    return view.size;
}

int wsh_view_write(const struct wsh_job *job, void *at, const void *from, size_t len)
{
    const struct wsh_cuda *cu = wsh_cuda();
    const struct wsh_view *view = job->device.view;
    int status;

    if (wsh_gpu_enter(&job->device.gpu))
        return -EIO;
    status = cu->copy((wsh_cu_ptr)(uintptr_t)at, (wsh_cu_ptr)(uintptr_t)from, len, view->stream);
    status = status ? status : cu->stream_sync(view->stream);
    wsh_gpu_leave(&job->device.gpu);
    if (status)
        wsh_error("what kernels know of counters cannot be written: %s; an earlier kernel may have failed",
                  wsh_cuda_strerror(status));
    return status ? -EIO : 0;
}

void wsh_view_number(const struct wsh_job *job, uint8_t *slots)
{
    int slot = 0;

    for (int pe = 0; pe < job->n_pes; pe++)
        slots[pe] =
            job->same_host[pe] && slot < (int)WSH_DEVICE_NO_SLOT ? (uint8_t)slot++ : WSH_DEVICE_NO_SLOT;
}

/* Numbers of the PEs of this host, as a run where they are one (view.h says where they shall not be). */
static void fill_slots(struct wsh_view *view, bool may_run)
{
    const struct wsh_job *job = view->job;
    int first = -1, last = -1;

    wsh_view_number(job, (uint8_t *)view->image + view->slots);
    for (int pe = 0; pe < job->n_pes; pe++) {
        if (!job->same_host[pe])
            continue;
        first = first < 0 ? pe : first;
        last = pe;
    }
    if (may_run && last - first + 1 == view->n_slots) {
        view->device.run_first = first;
        view->device.run_count = view->n_slots;
    } else {
        view->device.slots = view->block + view->slots;
    }
}

static void fill_handles(struct wsh_view *view)
{
    const struct wsh_job *job = view->job;
    struct wsh_device_handles *handles = &view->pinned->handles;

    for (int i = 0; i < job->shared.n_pes; i++)
        view->pinned->members[i] = job->shared.members[i];
    handles->team[0] =
        (struct wsh_device_team){(uint64_t)(uintptr_t)SHMEM_TEAM_WORLD, 0, job->my_pe, job->n_pes};
    handles->team[1] = (struct wsh_device_team){(uint64_t)(uintptr_t)SHMEM_TEAM_SHARED,
                                                (uint64_t)(uintptr_t)view->pinned->members, job->shared.my_pe,
                                                job->shared.n_pes};
    for (const struct wsh_ctx *ctx = job->ctxs; ctx; ctx = ctx->next)
        wsh_view_ctx(ctx, true);
}

static bool wants_checks(const char *words)
{
    for (; words && *words; words += strcspn(words, ","), words += *words == ',')
        if (!strncasecmp(words, "check", 5) && (!words[5] || words[5] == ','))
            return true;
    return false;
}

/* Reports for a program that ends by itself after a call of its kernel was refused. */
static void look_at_exit(void)
{
    if (present)
        wsh_view_look(present->job);
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
static int view_allocate(struct wsh_view *view, const struct wsh_job *job)
{
    const struct wsh_cuda *cu = wsh_cuda();
    size_t pinned = sizeof *view->pinned + (size_t)job->n_pes * sizeof(int32_t);
    int status = cu->mem_alloc(&view->block, view->size);

    if (!status)
        status = cu->host_alloc((void **)&view->pinned, pinned, WSH_CU_HOST_PORTABLE_MAPPED);
    if (!status) {
        memset(view->pinned, 0, pinned);
        status = cu->stream_create(&view->stream, WSH_CU_STREAM_NON_BLOCKING, 0);
    }
    return status ? status : wsh_view_upload(view, 0, view->size);
}

/* 0 or a logged error. */
static int view_build(struct wsh_view *view, const struct wsh_job *job)
{
    int status;

    view->job = job;
    view_lay_out(view, job->n_pes, job->local_size);
    view->image = calloc(1, view->size);
    if (!view->image || wsh_gpu_enter(&job->device.gpu))
        return -ENOMEM;
    status = view_allocate(view, job);
    wsh_gpu_leave(&job->device.gpu);
    return status ? log_no_tables(status) : 0;
}

static void view_release(const struct wsh_job *job, struct wsh_view *view)
{
    const struct wsh_cuda *cu = wsh_cuda();

    if (!wsh_gpu_enter(&job->device.gpu)) {
        if (view->stream)
            cu->stream_destroy(view->stream);
        if (view->pinned)
            cu->host_free(view->pinned);
        if (view->block)
            cu->mem_free(view->block);
        wsh_gpu_leave(&job->device.gpu);
    }
    free(view->image);
    free(view);
}

/* The job gets the view only when it is complete, because waiting threads read it. */
int wsh_view_open(struct wsh_job *job)
{
    static bool noted;
    int rc = wsh_units_check();
    struct wsh_view *view = rc ? NULL : calloc(1, sizeof *view);

    if (!view)
        return rc ? rc : -ENOMEM;
    rc = view_build(view, job);
    if (rc) {
        view_release(job, view);
        return rc;
    }
    present = view;
    wsh_view_set(job, view);
    if (!noted && !atexit(look_at_exit))
        noted = true;
    return 0;
}

void wsh_view_fill(struct wsh_job *job)
{
    struct wsh_view *view = job->device.view;
    struct wsh_device *device = &view->device;

    device->abi = WSH_DEVICE_ABI;
    device->size = sizeof *device;
    device->my_pe = job->my_pe;
    device->n_pes = job->n_pes;
    for (int seg = 0; seg < WSH_DEVICE_SEGS; seg++)
        device->seg[seg] = wsh_view_seg(view, seg);
    fill_handles(view);
    wsh_view_teams(job, device);
    wsh_proxy_view(job, device);
    device->locks = view->block;
    device->inbox = job->device.pin_refused ? 0 : (uint64_t)(uintptr_t)job->carrier.given.inbox;
    device->look_mask = device->inbox ? LOOK_OFTEN : WSH_DEVICE_LOOK_RARELY;
    device->ranges = view->block + view->root;
    device->handles = (uint64_t)(uintptr_t)&view->pinned->handles;
    device->report = (uint64_t)(uintptr_t)&view->pinned->report;
    device->hang_ns = (uint64_t)(job->env.hang_seconds * 1e9);
    device->flags = (wants_checks(job->env.debug) ? WSH_DEVICE_CHECK : 0) |
                    (job->device.gda ? WSH_DEVICE_GDA : 0) |
                    (wsh_nic_counters_are_there(&job->counters.nic) ? WSH_DEVICE_NICS_COUNT : 0);
    device->sharers = job->device.sharers > 0 ? (uint32_t)job->device.sharers : 1;
    fill_slots(view, device->seg[WSH_DEVICE_SEG_DEVICE].stride && !(device->flags & WSH_DEVICE_CHECK));
    wsh_view_root(job);
    if (wsh_nic_counters_show(job))
        wsh_abort(1);
    wsh_units_fill(device, &job->device.gpu);
    wsh_modules_fill(job);
}

int wsh_view_refill(struct wsh_job *job)
{
    int rc = wsh_units_check();

    if (!rc)
        wsh_units_fill(&job->device.view->device, &job->device.gpu);
    return rc;
}

/* The handle last, released: device code that finds it reads the row. Threads open contexts at the same time. */
void wsh_view_ctx(const struct wsh_ctx *ctx, bool here)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct wsh_view *view = ctx->job->device.view;
    uint64_t handle = (uint64_t)(uintptr_t)ctx, from = here ? 0 : handle;

    if (!view || !view->device.n_pes || !ctx->user ||
        (ctx->team != &ctx->job->world && ctx->team != &ctx->job->shared))
        return;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < WSH_DEVICE_CTXS; i++) {
        struct wsh_device_ctx *row = &view->pinned->handles.ctx[i];

        if (row->handle != from)
            continue;
        row->team = ctx->team == &ctx->job->shared;
        __atomic_store_n(&row->handle, here ? handle : 0, __ATOMIC_RELEASE);
        break;
    }
    pthread_mutex_unlock(&lock);
}

void wsh_view_close(struct wsh_job *job)
{
    struct wsh_view *view = job->device.view;

    if (!view)
        return;
    wsh_units_fill(NULL, NULL);
    present = NULL;
    wsh_view_set(job, NULL);
    view_release(job, view);
}

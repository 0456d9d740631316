/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives staging its host memory, its context and the targets that its messages and copies need. */
#include "runtime/gpu/stage/host.h"

#include "device/proxy/inbox.h"
#include "base/cuda/call.h"
#include "base/err.h"
#include "base/log.h"
#include "runtime/route/hosts.h"
#include "runtime/job/job.h"
#include "runtime/op/op.h"
#include "runtime/op/rma.h"
#include "runtime/op/start.h"

#include <shmem.h>

/*
 * The staging context's memory for each PE: SHORT_BYTES while all of it is at most 1/SHORT_PART of the symmetric heap,
 * and up to LONG_BYTES, with longer messages, while it is at most 1/LONG_PART.
 */
#define SHORT_BYTES ((size_t)540 << 10)
#define SHORT_PART 8
#define LONG_BYTES ((size_t)2160 << 10)
#define LONG_PART 32

/* There is one job. */
static struct wsh_stage_host host;

static int target_fill(const struct wsh_rmem *rmem, struct wsh_stage_target *to)
{
    if (!rmem)
        return -EHOSTUNREACH;
    *to = (struct wsh_stage_target){rmem, host.ctx.tctx[rmem->tp->index]};
    return 0;
}

static int context_reach(const struct wsh_stage_context *context, int pe, struct wsh_stage_target *to)
{
    const struct wsh_job *job = context->core;

    return target_fill(wsh_route_main(&job->routes, pe, WSH_SEG_HEAP), to);
}

/* The route of a transfer with device memory here, so that its transport copies host memory too. */
static int context_own(const struct wsh_stage_context *context, enum wsh_seg seg, struct wsh_stage_target *to)
{
    const struct wsh_job *job = context->core;

    return target_fill(wsh_route(&job->routes, job->my_pe, (int)seg, WSH_LOCAL_DEVICE, WSH_ROUTE_TRANSFER),
                       to);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

int wsh_stage_host_reserve(struct wsh_job *job)
{
    const struct wsh_segment *heap = &job->heap.seg[WSH_SEG_HEAP];
    size_t shorter = least(SHORT_BYTES * (size_t)job->n_pes, heap->len / SHORT_PART);
    size_t longer = least(LONG_BYTES * (size_t)job->n_pes, heap->len / LONG_PART);
    size_t len = shorter > longer ? shorter : longer;
    char *base;

    if (!wsh_hosts_are_many(job))
        return 0;
    base = wsh_heap_calloc(job, 1, len);
    if (!base) {
        wsh_error(
            "no %zu KiB of the symmetric heap by which device memory of PEs on other hosts is reached; set "
            "SHMEM_SYMMETRIC_SIZE to more",
            len >> 10);
        return -ENOMEM;
    }
    host.given = (struct wsh_stage_context){.base = base,
                                            .len = len,
                                            .off = (size_t)(base - heap->base),
                                            .gpu = &job->device.gpu,
                                            .reach = context_reach,
                                            .own = context_own,
                                            .core = job};
    job->device.stage = &host;
    return 0;
}

void wsh_stage_host_forget(struct wsh_job *job)
{
    job->device.stage = NULL;
    host = (struct wsh_stage_host){0};
}

void wsh_stage_host_free(struct wsh_job *job)
{
    if (job->device.stage)
        wsh_heap_free(job, host.given.base);
    wsh_stage_host_forget(job);
}

int wsh_stage_host_warm(struct wsh_job *job)
{
    const struct wsh_target own = {wsh_route_main(&job->routes, job->my_pe, WSH_SEG_DEVICE), 0};
    struct wsh_done done = {0};
    char byte;
    int rc = host.has_ctx ? wsh_get_start(&host.ctx, &own, &byte, 1, &done) : 0;

    return rc ? rc : wsh_op_wait(job, &done, "attaching the GPU");
}

static int open_inbox(struct wsh_job *job)
{
    struct wsh_inbox *inbox = NULL;
    int status;

    if (!job->env.device_pull)
        return 0;
    if (wsh_gpu_enter(&job->device.gpu))
        return -ENODEV;
    status = wsh_cuda_call(host_alloc, (void **)&inbox, sizeof *inbox, WSH_CU_HOST_PORTABLE_MAPPED);
    wsh_gpu_leave(&job->device.gpu);
    if (status) {
        wsh_error(
            "no %zu KiB of pinned memory from which kernels pull what comes from other hosts: %s; raise the "
            "memlock limit (ulimit -l), or set SHMEM_DEVICE_PULL=0",
            sizeof *inbox >> 10, wsh_cuda_strerror(status));
        return -ENOMEM;
    }
    memset(inbox, 0, sizeof *inbox);
    host.given.inbox = inbox;
    return 0;
}

static void close_inbox(struct wsh_job *job)
{
    if (!host.given.inbox || wsh_gpu_enter(&job->device.gpu))
        return;
    wsh_cuda_call(host_free, host.given.inbox);
    wsh_gpu_leave(&job->device.gpu);
    host.given.inbox = NULL;
}

int wsh_stage_host_open(struct wsh_job *job)
{
    int rc = job->device.stage ? open_inbox(job) : 0;

    if (!rc && job->device.stage) {
        rc = wsh_ctx_init(&host.ctx, job, &job->world, SHMEM_CTX_SERIALIZED);
        host.has_ctx = !rc;
    }
    return rc;
}

void wsh_stage_host_close(struct wsh_job *job)
{
    if (host.has_ctx)
        wsh_ctx_fini(&host.ctx);
    host.has_ctx = false;
    close_inbox(job);
}

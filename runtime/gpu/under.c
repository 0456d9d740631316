/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how much host memory such a transport gets, and where its ways lead. */
#include "runtime/gpu/under.h"

#include "device/inbox.h"
#include "base/cuda_call.h"
#include "base/err.h"
#include "base/log.h"
#include "runtime/hosts.h"
#include "runtime/job.h"
#include "runtime/op.h"
#include "runtime/rma.h"

#include <shmem.h>

/* Of each PE for each PE, at most; and of the symmetric heap: a part that leaves the program the rest. */
#define UNDER_BYTES ((size_t)540 << 10)
#define UNDER_PART 8

static int find(const struct wsh_tp_under *under, int pe, enum wsh_seg seg, struct wsh_tp_way *way)
{
    struct wsh_job *job = under->core;
    const struct wsh_rmem *rmem = wsh_route_main(&job->routes, pe, seg);

    if (!rmem)
        return -EHOSTUNREACH;
    *way = (struct wsh_tp_way){rmem, job->under.ctx.tctx[rmem->tp->index]};
    return 0;
}

int wsh_under_open(struct wsh_job *job)
{
    const struct wsh_segment *heap = &job->heap.seg[WSH_SEG_HEAP];
    size_t len = UNDER_BYTES * (size_t)job->n_pes;
    char *base;

    if (!wsh_hosts_are_many(job))
        return 0;
    if (len > heap->len / UNDER_PART)
        len = heap->len / UNDER_PART;
    base = wsh_heap_calloc(job, 1, len);
    if (!base) {
        wsh_error(
            "no %zu KiB of the symmetric heap by which device memory of PEs on other hosts is reached; set "
            "SHMEM_SYMMETRIC_SIZE to more",
            len >> 10);
        return -ENOMEM;
    }
    job->under.given = (struct wsh_tp_under){
        .base = base, .len = len, .off = (size_t)(base - heap->base), .find = find, .core = job};
    return 0;
}

void wsh_under_close(struct wsh_job *job)
{
    if (job->under.given.base)
        wsh_heap_free(job, job->under.given.base);
    job->under = (struct wsh_under){0};
}

int wsh_under_warm(struct wsh_job *job)
{
    const struct wsh_target own = {wsh_route_main(&job->routes, job->my_pe, WSH_SEG_DEVICE), 0};
    struct wsh_done done = {0};
    char byte;
    int rc = job->under.has_ctx ? wsh_get_start(&job->under.ctx, &own, &byte, 1, &done) : 0;

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
    job->under.given.inbox = inbox;
    return 0;
}

static void close_inbox(struct wsh_job *job)
{
    if (!job->under.given.inbox || wsh_gpu_enter(&job->device.gpu))
        return;
    wsh_cuda_call(host_free, job->under.given.inbox);
    wsh_gpu_leave(&job->device.gpu);
    job->under.given.inbox = NULL;
}

int wsh_under_open_ctx(struct wsh_job *job)
{
    int rc = job->under.given.base ? open_inbox(job) : 0;

    if (!rc && job->under.given.base) {
        rc = wsh_ctx_init(&job->under.ctx, job, &job->world, SHMEM_CTX_SERIALIZED);
        job->under.has_ctx = !rc;
    }
    return rc;
}

void wsh_under_close_ctx(struct wsh_job *job)
{
    if (job->under.has_ctx)
        wsh_ctx_fini(&job->under.ctx);
    job->under.has_ctx = false;
    close_inbox(job);
}

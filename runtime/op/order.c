/* SPDX-License-Identifier: BSD-3-Clause */
/* Fence and quiet, also for a PE that is reached by several transports. */
#include "runtime/op/order.h"

#include "runtime/op/batch.h"
#include "runtime/job/job.h"
#include "runtime/device_ops.h"
#include "runtime/wait/wait.h"

#include <stdio.h>
#include <string.h>

struct drain {
    struct wsh_ctx *ctx;
    int pe;              /* global, or -1 for all */
    unsigned first, end; /* transports */
    bool sources;        /* only until these may be reused */
    bool polls;          /* nobody waits */
};

static int try_drain(void *arg)
{
    struct drain *drain = arg;

    for (; drain->first < drain->end; drain->first++) {
        struct wsh_tctx *tctx = drain->ctx->tctx[drain->first];
        size_t pending;

        if (drain->ctx->job->limits[drain->first].immediate)
            continue;
        wsh_ctx_lock(drain->ctx);
        pending = drain->sources ? tctx->tp->ops->unread(tctx) : tctx->tp->ops->pending(tctx, drain->pe);
        if (pending && !drain->polls)
            tctx->tp->ops->await(tctx, drain->sources);
        wsh_ctx_unlock(drain->ctx);
        if (pending)
            return -EAGAIN;
    }
    return 0;
}

static void describe_drain(void *arg, char *text, size_t size)
{
    const struct drain *drain = arg;
    struct wsh_tctx *tctx = drain->ctx->tctx[drain->first];

    snprintf(text, size, "operations by %s: ", wsh_tp_label(tctx->tp));
    tctx->tp->ops->describe(tctx, text + strlen(text), size - strlen(text));
}

/* Something is under way to that PE. */
static int drain_needs(void *arg, int pe)
{
    const struct drain *drain = arg;
    struct wsh_tctx *tctx = drain->ctx->tctx[drain->first];
    bool pending;

    if (pe < 0)
        return drain->pe >= 0 ? drain->pe : WSH_WAIT_ASK;
    if ((drain->pe >= 0 && drain->pe != pe) || wsh_failures_has(&drain->ctx->job->failures, pe))
        return false; /* what goes to a PE that has failed ends by itself */
    wsh_ctx_lock(drain->ctx);
    pending = tctx->tp->ops->pending(tctx, pe) > 0;
    wsh_ctx_unlock(drain->ctx);
    return pending;
}

/* What a batch holds has not been seen by a transport. */
static int batch_flush(struct wsh_ctx *ctx)
{
    struct wsh_batch *batch = wsh_ctx_batch(ctx);

    return wsh_unlikely(batch != NULL) ? wsh_batch_flush(batch) : 0;
}

static int ctx_drain(struct drain *drain, const char *routine)
{
    const struct wsh_wait_why why = {routine, describe_drain, drain_needs};
    struct wsh_ctx *ctx = drain->ctx;
    int rc = batch_flush(ctx);

    if (!rc)
        rc = try_drain(drain);
    if (rc != -EAGAIN)
        return rc;
    if (ctx->proxy) /* relaxed: a figure for reports */
        __atomic_store_n(&ctx->drains, ctx->drains + 1, __ATOMIC_RELAXED);
    return wsh_wait(ctx->job, &why, try_drain, drain);
}

bool wsh_order_is_over(struct wsh_ctx *ctx, bool sources, bool awaited)
{
    struct drain all = {ctx, -1, 0, ctx->job->n_tps, sources, !awaited};

    return !try_drain(&all);
}

int wsh_order_drain(struct wsh_ctx *ctx, int pe, unsigned tp, const char *routine)
{
    struct drain one = {ctx, pe, tp, tp + 1, false, false};

    return ctx_drain(&one, routine);
}

_Static_assert(WSH_TP_MAX <= 8, "struct wsh_paths has a bit for each transport");

/*
 * Threads share the record of which transports a context has used; a transport stays in `before` until it is drained.
 */
int wsh_order_paths(struct wsh_ctx *ctx, int pe, unsigned tp)
{
    struct wsh_paths *paths = &ctx->paths[pe];
    unsigned others;
    uint32_t epoch;
    int rc = 0;

    wsh_ctx_lock(ctx);
    epoch = __atomic_load_n(&ctx->epoch, __ATOMIC_RELAXED);
    if (paths->epoch != epoch) {
        paths->before |= paths->used;
        paths->used = 0;
        paths->epoch = epoch;
    }
    paths->used |= (uint8_t)(1u << tp);
    others = paths->before & ~(1u << tp);
    wsh_ctx_unlock(ctx);
    if (!others)
        return 0;
    for (unsigned other = 0; other < ctx->job->n_tps && !rc; other++)
        if (others & (1u << other))
            rc = wsh_order_drain(ctx, pe, other, "shmem_fence");
    wsh_ctx_lock(ctx);
    if (!rc && paths->epoch == epoch)
        paths->before &= (uint8_t)~others;
    wsh_ctx_unlock(ctx);
    return rc;
}

/* Kernels use this context too, through the proxy and its own context: their requests are completed first. */
static bool has_kernels(const struct wsh_ctx *ctx)
{
    return ctx->job->device.proxy && (ctx->user || ctx == &ctx->job->ctx);
}

struct fence {
    struct wsh_ctx *ctx;
    unsigned next; /* transport whose fence is still to be taken */
};

static int try_fence(void *arg)
{
    struct fence *fence = arg;
    int rc = 0;

    wsh_ctx_lock(fence->ctx);
    for (; fence->next < fence->ctx->job->n_tps && !rc; fence->next += rc == 0) {
        struct wsh_tctx *tctx = fence->ctx->tctx[fence->next];

        rc = tctx->tp->ops->fence(tctx);
    }
    wsh_ctx_unlock(fence->ctx);
    return rc;
}

/* Stores through shmem_ptr are the local transport's, whose fence is a full barrier. */
WSH_NO_ARRAYS int wsh_fence(struct wsh_ctx *ctx)
{
    static const struct wsh_wait_why why = {"shmem_fence", NULL};
    struct fence fence = {ctx, 0};
    int rc = batch_flush(ctx);

    if (!rc && wsh_unlikely(has_kernels(ctx)))
        rc = wsh_device_ops()->quiet(ctx->job);
    if (rc)
        return rc;
    if (wsh_unlikely(ctx->paths != NULL)) { /* nothing else reads the epoch */
        wsh_ctx_lock(ctx);
        __atomic_store_n(&ctx->epoch, __atomic_load_n(&ctx->epoch, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
        wsh_ctx_unlock(ctx);
    }
    if (wsh_unlikely(ctx->batching)) {
        rc = wsh_together_end(ctx);
        wsh_together_begin(ctx);
        if (rc)
            return rc;
    }
    rc = try_fence(&fence);
    return rc == -EAGAIN ? wsh_wait(ctx->job, &why, try_fence, &fence) : rc;
}

/*
 * Full: what was stored here or through shmem_ptr is visible before anything later is read. Partner: the same in
 * the other PE's quiet or fence, or the acquire of its wait. Contexts of SHMEM_CTX_NOSTORE need it too: a put into
 * shared memory is a store.
 */
WSH_NO_ARRAYS int wsh_quiet(struct wsh_ctx *ctx)
{
    struct drain all = {ctx, -1, 0, ctx->job->n_tps, false, false};
    int rc = wsh_unlikely(has_kernels(ctx)) ? wsh_device_ops()->quiet(ctx->job) : 0;

    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (wsh_unlikely(__atomic_load_n(&ctx->job->in_flight, __ATOMIC_RELAXED)))
        wsh_wait_progress(ctx->job); /* a program may poll by quiet; of an error the request says more */
    return !rc && ctx->job->network ? ctx_drain(&all, "shmem_quiet") : rc;
}

int wsh_flush(struct wsh_ctx *ctx)
{
    struct drain all = {ctx, -1, 0, ctx->job->n_tps, true, false};

    return ctx->job->network ? ctx_drain(&all, "shmemx_flush") : 0;
}

void wsh_together_begin(struct wsh_ctx *ctx)
{
    for (unsigned tp = 0; tp < ctx->job->n_tps; tp++)
        if (!ctx->job->limits[tp].immediate)
            ctx->tctx[tp]->tp->ops->batch_begin(ctx->tctx[tp]);
}

int wsh_together_end(struct wsh_ctx *ctx)
{
    int rc = 0, err;

    for (unsigned tp = 0; tp < ctx->job->n_tps; tp++)
        if (!ctx->job->limits[tp].immediate && (err = ctx->tctx[tp]->tp->ops->batch_end(ctx->tctx[tp])))
            rc = err;
    return rc;
}

int wsh_pe_quiet(struct wsh_ctx *ctx, const int *pes, size_t n)
{
    int rc = 0;

    if (wsh_unlikely(has_kernels(ctx)))
        rc = wsh_device_ops()->quiet(ctx->job);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (size_t i = 0; i < n && !rc; i++) {
        struct drain one = {ctx, -1, 0, ctx->job->n_tps, false, false};

        if ((unsigned)pes[i] >= (unsigned)ctx->n_pes)
            return -ERANGE;
        one.pe = ctx->team->members[pes[i]];
        rc = ctx_drain(&one, "shmem_pe_quiet");
    }
    return rc;
}

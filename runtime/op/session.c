/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts and ends sessions, and decides which of them need a batch. */
#include "runtime/op/session.h"

#include "runtime/op/batch.h"
#include "runtime/job/job.h"

#include <shmem.h>

#include <errno.h>

/* A batch of one put saves nothing, and neither does one where each put is complete at once. */
static bool wants_batch(const struct wsh_ctx *ctx)
{
    const struct wsh_session *session = &ctx->session;

    return session->started && (session->options & SHMEM_CTX_SESSION_BATCH) && session->total_ops > 1 &&
           ctx->job->network;
}

/*
 * The progress thread sends a batch that has stopped growing, whatever the program promised about its own threads: the
 * context is locked as long as it has a batch. The list's lock excludes that thread while a batch is added or removed.
 */
static void batch_publish(struct wsh_ctx *ctx, struct wsh_batch *batch)
{
    struct wsh_job *job = ctx->job;
    int more = (batch != NULL) - (ctx->batch != NULL);

    pthread_mutex_lock(&job->ctxs_lock);
    if (more > 0)
        wsh_ctx_lock_always(ctx, true);
    __atomic_fetch_add(&job->batches, more, __ATOMIC_RELAXED); /* a hint to look at the list */
    /* Release: the batch is whole; partner: the acquire of wsh_ctx_batch. */
    __atomic_store_n(&ctx->batch, batch, __ATOMIC_RELEASE);
    wsh_job_mark(job, WSH_SPECIAL_BATCH, job->batches > 0);
    if (more < 0)
        wsh_ctx_lock_always(ctx, false);
    pthread_mutex_unlock(&job->ctxs_lock);
}

int wsh_session_start(struct wsh_ctx *ctx, long options, const size_t *total_ops)
{
    struct wsh_session *session = &ctx->session;

    if (!session->started)
        *session = (struct wsh_session){true, 0, SIZE_MAX};
    session->options |= options;
    if (total_ops)
        session->total_ops = *total_ops;
    if (!wants_batch(ctx))
        return 0;
    if (!ctx->kept_batch)
        ctx->kept_batch = wsh_batch_open(ctx);
    if (!ctx->kept_batch)
        return -ENOMEM;
    wsh_batch_expect(ctx->kept_batch, session->total_ops);
    batch_publish(ctx, ctx->kept_batch);
    return 0;
}

/* The batch is kept for the next session: another thread of the program may be using it. */
int wsh_session_stop(struct wsh_ctx *ctx)
{
    int rc = ctx->batch ? wsh_batch_flush(ctx->batch) : 0;

    if (ctx->batch)
        batch_publish(ctx, NULL);
    ctx->session = (struct wsh_session){0};
    return rc;
}

void wsh_session_fini(struct wsh_ctx *ctx)
{
    wsh_session_stop(ctx);
    wsh_batch_close(ctx->kept_batch);
    ctx->kept_batch = NULL;
}

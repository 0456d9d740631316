/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts a context together from each transport's part, and decides who must lock it. */
#include "runtime/op/ctx.h"

#include "runtime/device_ops.h"
#include "base/log.h"
#include "runtime/job/job.h"
#include "runtime/op/order.h"
#include "runtime/memory/slots.h"

#include <shmem.h>

#include <stdlib.h>

/* A program may still hold the handle of a context that it has destroyed. */
static struct wsh_slots slots = WSH_SLOTS_OF(struct wsh_ctx);

static void close_parts_from(struct wsh_ctx *ctx, unsigned tp)
{
    for (; tp < WSH_TP_MAX; tp++) {
        if (ctx->tctx[tp])
            ctx->tctx[tp]->tp->ops->ctx_close(ctx->tctx[tp]);
        ctx->tctx[tp] = NULL;
    }
}

static void close_parts(struct wsh_ctx *ctx)
{
    close_parts_from(ctx, 0);
    free(ctx->paths);
    ctx->paths = NULL;
}

static int open_parts_from(struct wsh_ctx *ctx, unsigned tp)
{
    struct wsh_job *job = ctx->job;
    int rc = 0;

    for (; tp < job->n_tps && !rc; tp++) {
        rc = job->tp[tp]->ops->ctx_open(job->tp[tp], &ctx->tctx[tp]);
        if (!rc)
            ctx->tctx[tp]->tp = job->tp[tp];
    }
    if (!rc && job->mixed && !ctx->paths) {
        ctx->paths = calloc((size_t)job->n_pes, sizeof *ctx->paths);
        rc = ctx->paths ? 0 : -ENOMEM;
    }
    return rc;
}

static int open_parts(struct wsh_ctx *ctx)
{
    int rc = open_parts_from(ctx, 0);

    if (rc)
        close_parts(ctx);
    return rc;
}

static bool is_identity(const struct wsh_team *team)
{
    for (int pe = 0; pe < team->n_pes; pe++)
        if (team->members[pe] != pe)
            return false;
    return true;
}

int wsh_ctx_init(struct wsh_ctx *ctx, struct wsh_job *job, struct wsh_team *team, long options)
{
    int rc;

    *ctx = (struct wsh_ctx){.job = job, .team = team, .options = options, .n_pes = team->n_pes};
    ctx->owner = pthread_self();
    ctx->world = is_identity(team);
    ctx->locked = wsh_ctx_needs_lock(ctx);
    pthread_mutex_init(&ctx->lock, NULL);
    rc = open_parts(ctx);
    if (rc) {
        pthread_mutex_destroy(&ctx->lock);
        return rc;
    }
    pthread_mutex_lock(&job->ctxs_lock);
    ctx->next = job->ctxs;
    ctx->link = &job->ctxs;
    if (ctx->next)
        ctx->next->link = &ctx->next;
    job->ctxs = ctx;
    pthread_mutex_unlock(&job->ctxs_lock);
    return 0;
}

void wsh_ctx_fini(struct wsh_ctx *ctx)
{
    struct wsh_job *job = ctx->job;

    wsh_quiet(ctx);
    if (ctx->batching)
        (void)wsh_together_end(ctx); /* all was given before the quiet ended */
    ctx->batching = false;
    wsh_session_fini(ctx);
    wsh_device_ops()->ctx_here(ctx, false);
    pthread_mutex_lock(&job->ctxs_lock);
    *ctx->link = ctx->next;
    if (ctx->next)
        ctx->next->link = ctx->link;
    pthread_mutex_unlock(&job->ctxs_lock);
    close_parts(ctx);
    pthread_mutex_destroy(&ctx->lock);
    ctx->n_pes = 0;
    ctx->user = ctx->locked = false;
}

int wsh_ctx_extend(struct wsh_job *job, unsigned first_tp)
{
    int rc = 0;

    pthread_mutex_lock(&job->ctxs_lock);
    for (struct wsh_ctx *ctx = job->ctxs; ctx && !rc; ctx = ctx->next) {
        rc = open_parts_from(ctx, first_tp);
        wsh_ctx_lock_always(ctx, ctx->batch != NULL);
    }
    pthread_mutex_unlock(&job->ctxs_lock);
    return rc;
}

void wsh_ctx_shrink(struct wsh_job *job, unsigned first_tp)
{
    pthread_mutex_lock(&job->ctxs_lock);
    for (struct wsh_ctx *ctx = job->ctxs; ctx; ctx = ctx->next)
        close_parts_from(ctx, first_tp);
    pthread_mutex_unlock(&job->ctxs_lock);
}

int wsh_ctx_open(struct wsh_job *job, struct wsh_team *team, long options, struct wsh_ctx **ctx)
{
    struct wsh_ctx *fresh = wsh_slots_take(&slots);
    int rc = fresh ? wsh_ctx_init(fresh, job, team, options) : -ENOMEM;

    if (rc) {
        if (rc != -ENOSPC) /* whose transport has said it, once */
            wsh_warn("no context: %s", rc == -ENOMEM ? "out of memory" : "a transport refused it");
        wsh_slots_give(&slots, fresh);
        return rc;
    }
    fresh->user = true;
    wsh_device_ops()->ctx_here(fresh, true);
    *ctx = fresh;
    return 0;
}

void wsh_ctx_close(struct wsh_ctx *ctx)
{
    wsh_ctx_fini(ctx);
    wsh_slots_give(&slots, ctx);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Gathers small puts in a batch, and sends it when it is full, when a put does not follow, or at an order point. */
#include "runtime/op/batch.h"

#include "runtime/job/job.h"
#include "runtime/op/start.h"
#include "runtime/wait/wait.h"

#include <stdlib.h>
#include <string.h>

struct wsh_batch {
    pthread_mutex_t lock; /* the program's threads and the progress thread take turns */
    struct wsh_ctx *ctx;
    struct wsh_target to;   /* where the first byte goes */
    size_t len;             /* bytes gathered */
    size_t left;            /* puts still to come; SIZE_MAX = not known */
    unsigned puts, seen;    /* puts taken so far; taken when progress last looked */
    struct wsh_done flight; /* the bytes are the transport's until it is done */
    char bytes[WSH_BATCH_BYTES];
};

struct wsh_batch *wsh_batch_open(struct wsh_ctx *ctx)
{
    struct wsh_batch *batch = calloc(1, sizeof *batch);

    if (!batch)
        return NULL;
    batch->ctx = ctx;
    pthread_mutex_init(&batch->lock, NULL);
    return batch;
}

void wsh_batch_close(struct wsh_batch *batch)
{
    if (!batch)
        return;
    pthread_mutex_destroy(&batch->lock);
    free(batch);
}

void wsh_batch_expect(struct wsh_batch *batch, size_t puts)
{
    pthread_mutex_lock(&batch->lock);
    batch->left = puts;
    pthread_mutex_unlock(&batch->lock);
}

bool wsh_batch_takes(const struct wsh_batch *batch, const struct wsh_target *to, size_t len)
{
    const struct wsh_job *job = batch->ctx->job;

    return len <= WSH_BATCH_PUT && !job->limits[to->rmem->tp->index].immediate && !job->device.attached;
}

/* All that follows is called with the lock held. */

static int try_send(void *arg)
{
    struct wsh_batch *batch = arg;
    int rc = batch->len ? wsh_put_start(batch->ctx, &batch->to, batch->bytes, batch->len, &batch->flight) : 0;

    if (!rc)
        batch->len = 0;
    return rc;
}

static int try_land(void *arg)
{
    return wsh_done_is(&((struct wsh_batch *)arg)->flight) ? 0 : -EAGAIN;
}

static int batch_send(struct wsh_batch *batch)
{
    static const struct wsh_wait_why why = {"shmem_put in a session", NULL};

    return wsh_wait(batch->ctx->job, &why, try_send, batch);
}

/* A new block begins when the bytes of the last one are ours again. */
static int block_begin(struct wsh_batch *batch, const struct wsh_target *to)
{
    static const struct wsh_wait_why why = {"shmem_put in a session", NULL};
    int rc = batch_send(batch);

    batch->to = *to;
    return rc ? rc : wsh_wait(batch->ctx->job, &why, try_land, batch);
}

static bool put_follows(const struct wsh_batch *batch, const struct wsh_target *to, size_t len)
{
    return batch->len && batch->to.rmem == to->rmem && batch->to.off + batch->len == to->off &&
           batch->len + len <= sizeof batch->bytes;
}

static int put_gather(struct wsh_batch *batch, const struct wsh_target *to, const void *src, size_t len)
{
    int rc = put_follows(batch, to, len) ? 0 : block_begin(batch, to);

    if (rc)
        return rc;
    memcpy(batch->bytes + batch->len, src, len);
    batch->len += len;
    batch->puts++;
    batch->left -= batch->left && batch->left != SIZE_MAX;
    return batch->left && batch->len < sizeof batch->bytes ? 0 : batch_send(batch);
}

int wsh_batch_put(struct wsh_batch *batch, const struct wsh_target *to, const void *src, size_t len)
{
    int rc;

    pthread_mutex_lock(&batch->lock);
    rc = put_gather(batch, to, src, len);
    pthread_mutex_unlock(&batch->lock);
    return rc;
}

int wsh_batch_flush(struct wsh_batch *batch)
{
    int rc;

    pthread_mutex_lock(&batch->lock);
    rc = batch_send(batch);
    pthread_mutex_unlock(&batch->lock);
    return rc;
}

/* A thread that waits while it holds the batch's lock calls progress: a locked batch is therefore skipped. */
static int batch_check(struct wsh_batch *batch)
{
    int rc = 0;

    if (pthread_mutex_trylock(&batch->lock))
        return 0;
    if (batch->len && batch->seen == batch->puts)
        rc = try_send(batch);
    batch->seen = batch->puts;
    pthread_mutex_unlock(&batch->lock);
    return rc == -EAGAIN ? 0 : rc;
}

int wsh_batch_progress(struct wsh_job *job)
{
    int rc = 0;

    if (pthread_mutex_trylock(&job->ctxs_lock))
        return 0;
    for (struct wsh_ctx *ctx = job->ctxs; ctx && !rc; ctx = ctx->next)
        if (ctx->batch)
            rc = batch_check(ctx->batch);
    pthread_mutex_unlock(&job->ctxs_lock);
    return rc;
}

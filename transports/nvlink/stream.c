/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers the operations on a context's stream and detects their completion. */
#include "transports/nvlink/stream.h"

#include "base/cuda/call.h"
#include "base/err.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>

#define QUERY_EVERY \
    4096 /* polls without a completion before the driver is asked whether the stream has failed */

static int stream_fail(int status)
{
    wsh_error(
        "the GPU failed while memory was copied: %s; an earlier kernel of the program may have left a bad "
        "address: see compute-sanitizer",
        wsh_cuda_strerror(status));
    return -EIO;
}

static int ctx_get_words(struct nvlink_ctx *ctx)
{
    struct nvlink *nv = ctx->nv;

    pthread_mutex_lock(&nv->lock);
    ctx->words = nv->spare;
    if (ctx->words)
        nv->spare = ctx->words->next;
    pthread_mutex_unlock(&nv->lock);
    if (ctx->words)
        return 0;
    return wsh_cuda_call(host_alloc, (void **)&ctx->words, sizeof *ctx->words, WSH_CU_HOST_PORTABLE_MAPPED);
}

void nvlink_stream_free_spare(struct nvlink *nv)
{
    struct nvlink_words *next;

    for (struct nvlink_words *words = nv->spare; words; words = next) {
        next = words->next;
        wsh_cuda_call(host_free, words);
    }
    nv->spare = NULL;
}

/* Opens a non-blocking stream of the highest priority, and takes the pinned words that report its completions. */
static int stream_open(struct nvlink_ctx *ctx)
{
    int status = ctx->words ? 0 : ctx_get_words(ctx);

    if (!status)
        ctx->words->complete = 0;
    if (!status)
        status = wsh_cuda_call(stream_create, &ctx->stream, WSH_CU_STREAM_NON_BLOCKING, ctx->nv->priority);
    if (!status)
        return 0;
    wsh_error("no CUDA stream for a context: %s; close contexts, or free device memory",
              wsh_cuda_strerror(status));
    return -EIO;
}

int nvlink_ctx_open(struct wsh_tp *tp, struct wsh_tctx **tctx)
{
    struct nvlink *nv = (struct nvlink *)tp;
    struct nvlink_ctx *ctx = calloc(1, sizeof *ctx);
    uint32_t *pending = calloc((size_t)nv->n_pes, sizeof *pending);

    if (!ctx || !pending) {
        free(ctx);
        free(pending);
        return -ENOMEM;
    }
    ctx->tctx.tp = tp;
    ctx->nv = nv;
    ctx->pending = pending;
    pthread_mutex_init(&ctx->lock, NULL);
    pthread_mutex_lock(&nv->lock);
    ctx->next = nv->ctxs;
    ctx->link = &nv->ctxs;
    if (ctx->next)
        ctx->next->link = &ctx->next;
    nv->ctxs = ctx;
    pthread_mutex_unlock(&nv->lock);
    *tctx = &ctx->tctx;
    return 0;
}

static void stream_close(struct nvlink_ctx *ctx)
{
    if (ctx->stream && !wsh_gpu_enter(ctx->nv->gpu)) {
        wsh_cuda_call(stream_destroy, ctx->stream);
        wsh_gpu_leave(ctx->nv->gpu);
    }
    if (!ctx->words)
        return;
    pthread_mutex_lock(&ctx->nv->lock);
    ctx->words->next = ctx->nv->spare;
    ctx->nv->spare = ctx->words;
    pthread_mutex_unlock(&ctx->nv->lock);
}

void nvlink_ctx_close(struct wsh_tctx *tctx)
{
    struct nvlink_ctx *ctx = (struct nvlink_ctx *)tctx;

    pthread_mutex_lock(&ctx->nv->lock);
    *ctx->link = ctx->next;
    if (ctx->next)
        ctx->next->link = ctx->link;
    pthread_mutex_unlock(&ctx->nv->lock);
    stream_close(ctx);
    pthread_mutex_destroy(&ctx->lock);
    free(ctx->pending);
    free(ctx);
}

/* Asks the GPU to write the number of the last operation once all up to it are complete. The driver's status. */
static int flag_write(struct nvlink_ctx *ctx)
{
    int status = 0;

    if (ctx->flagged != ctx->issued)
        status = wsh_cuda_call(stream_write64, ctx->stream, (wsh_cu_ptr)(uintptr_t)&ctx->words->complete,
                               ctx->issued, 0);
    if (!status)
        ctx->flagged = ctx->issued;
    return status;
}

static int flag_request(struct nvlink_ctx *ctx)
{
    int status = flag_write(ctx);

    return status ? stream_fail(status) : 0;
}

static void op_retire(struct nvlink_ctx *ctx, const struct nvlink_op *op, size_t index)
{
    ctx->pending[op->pe]--;
    if (op->result)
        wsh_amo_store_result(op->result, op->width, ctx->words->old[index]);
    if (op->done)
        __atomic_fetch_sub(&op->done->left, 1, __ATOMIC_RELEASE); /* partner: wsh_done_is */
}

/* Retires the operations that the GPU has reported complete; returns their number. Called with the lock held. */
static int ctx_retire_ended(struct nvlink_ctx *ctx)
{
    /* Acquire: what the stream has written to this host's memory is here. Partner: the GPU's store of the number. */
    uint64_t complete = ctx->words ? __atomic_load_n(&ctx->words->complete, __ATOMIC_ACQUIRE) : 0;
    int n = 0;

    for (; ctx->retired < complete; n++) {
        size_t index = ++ctx->retired % NVLINK_STREAM_OPS;

        op_retire(ctx, &ctx->ops[index], index);
    }
    return n;
}

int nvlink_stream_begin(struct nvlink_ctx *ctx)
{
    int rc = 0;

    pthread_mutex_lock(&ctx->lock);
    if (ctx->issued - ctx->retired == NVLINK_STREAM_OPS && !ctx_retire_ended(ctx))
        rc = -EAGAIN;
    if (wsh_gpu_enter(ctx->nv->gpu)) {
        pthread_mutex_unlock(&ctx->lock);
        return stream_fail(0);
    }
    if (rc)
        rc = flag_request(ctx) ?: rc;
    else if (!ctx->stream)
        rc = stream_open(ctx);
    if (!rc)
        return 0;
    wsh_gpu_leave(ctx->nv->gpu);
    pthread_mutex_unlock(&ctx->lock);
    return rc;
}

int nvlink_stream_end(struct nvlink_ctx *ctx, const struct nvlink_op *op, int status)
{
    int rc = status ? stream_fail(status) : 0;

    if (!rc) {
        ctx->ops[++ctx->issued % NVLINK_STREAM_OPS] = *op;
        ctx->pending[op->pe]++;
        if (op->done) {
            __atomic_fetch_add(&op->done->left, 1, __ATOMIC_RELAXED);
            rc = flag_request(ctx);
        }
    }
    wsh_gpu_leave(ctx->nv->gpu);
    pthread_mutex_unlock(&ctx->lock);
    return rc;
}

/* Also asks the GPU to report all that was started, since the caller waits for it. nvlink_progress reports an error. */
size_t nvlink_pending(struct wsh_tctx *tctx, int pe)
{
    struct nvlink_ctx *ctx = (struct nvlink_ctx *)tctx;
    size_t n;

    pthread_mutex_lock(&ctx->lock);
    ctx_retire_ended(ctx);
    n = pe < 0 ? (size_t)(ctx->issued - ctx->retired) : ctx->pending[pe];
    if (n && ctx->flagged != ctx->issued && !wsh_gpu_enter(ctx->nv->gpu)) {
        ctx->failed = flag_write(ctx);
        wsh_gpu_leave(ctx->nv->gpu);
    }
    pthread_mutex_unlock(&ctx->lock);
    return n;
}

/* Asks the driver whether the stream has failed, so that the number will never come. Called with the lock held. */
static int stream_check(struct nvlink_ctx *ctx)
{
    int status;

    ctx->idle = 0;
    if (wsh_gpu_enter(ctx->nv->gpu))
        return stream_fail(0);
    status = wsh_cuda_call(stream_query, ctx->stream);
    wsh_gpu_leave(ctx->nv->gpu);
    return status && status != WSH_CU_NOT_READY ? stream_fail(status) : 0;
}

static int ctx_progress(struct nvlink_ctx *ctx)
{
    int rc = ctx->failed ? stream_fail(ctx->failed) : ctx_retire_ended(ctx);

    if (rc || ctx->retired == ctx->issued)
        ctx->idle = 0;
    else if (++ctx->idle >= QUERY_EVERY)
        rc = stream_check(ctx);
    return rc;
}

/* Skips contexts whose lock is taken: the thread that uses one polls it itself. */
int nvlink_progress(struct wsh_tp *tp)
{
    struct nvlink *nv = (struct nvlink *)tp;
    int moved = 0;

    pthread_mutex_lock(&nv->lock);
    for (struct nvlink_ctx *ctx = nv->ctxs; ctx && moved >= 0; ctx = ctx->next) {
        int rc;

        if (pthread_mutex_trylock(&ctx->lock))
            continue;
        rc = ctx_progress(ctx);
        moved = rc < 0 ? rc : moved | rc;
        pthread_mutex_unlock(&ctx->lock);
    }
    pthread_mutex_unlock(&nv->lock);
    return moved;
}

static void text_append(char *text, size_t size, const char *separator, unsigned n, const char *what)
{
    size_t used = strlen(text);

    if (n && used < size)
        snprintf(text + used, size - used, "%s%u %s%s", separator, n, what, n > 1 ? "s" : "");
}

static void pe_describe(const struct nvlink_ctx *ctx, int pe, char *text, size_t size)
{
    static const char *const words[NVLINK_KINDS] = {"put", "get", "atomic", "put with signal"};
    unsigned n[NVLINK_KINDS] = {0};
    const char *separator = "";
    size_t used = strlen(text);

    for (uint64_t i = ctx->retired + 1; i <= ctx->issued; i++)
        if (ctx->ops[i % NVLINK_STREAM_OPS].pe == pe)
            n[ctx->ops[i % NVLINK_STREAM_OPS].kind]++;
    if (used < size)
        snprintf(text + used, size - used, "%sPE %d: ", used && text[used - 1] != ' ' ? "; " : "", pe);
    for (int kind = 0; kind < NVLINK_KINDS; kind++) {
        text_append(text, size, separator, n[kind], words[kind]);
        separator = n[kind] ? ", " : separator;
    }
}

void nvlink_describe(struct wsh_tctx *tctx, char *text, size_t size)
{
    struct nvlink_ctx *ctx = (struct nvlink_ctx *)tctx;

    pthread_mutex_lock(&ctx->lock);
    ctx_retire_ended(ctx);
    for (int pe = 0; pe < ctx->nv->n_pes; pe++)
        if (ctx->pending[pe])
            pe_describe(ctx, pe, text, size);
    pthread_mutex_unlock(&ctx->lock);
}

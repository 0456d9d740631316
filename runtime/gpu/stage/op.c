/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How an operation becomes messages. One for which there is no room is deferred, at most one per PE: later ones to that
 * PE get -EAGAIN until all of it has been sent.
 */
#include "runtime/gpu/stage/state.h"

#include "base/cuda/mem.h"

#include <stdio.h>
#include <stdlib.h>

static size_t part_max(const struct wsh_stage *stage)
{
    unsigned slots = stage->slots / 4 < WSH_STAGE_MESSAGE_MAX ? stage->slots / 4 : WSH_STAGE_MESSAGE_MAX;

    return (size_t)slots * WSH_STAGE_SLOT - sizeof(struct wsh_stage_head);
}

/* Adds as much as there is room for. 0: all of it; -EAGAIN: not all. */
static int request_push(struct wsh_stage *stage, struct wsh_stage_peer *peer,
                        struct wsh_stage_request *request)
{
    while (request->at < request->len) {
        size_t left = request->len - request->at, len = left < part_max(stage) ? left : part_max(stage);
        int rc = wsh_stage_out_add(stage, peer, request, len);

        if (rc)
            return rc;
        request->at += len;
    }
    return 0;
}

static void request_defer(struct wsh_stage_peer *peer, const struct wsh_stage_request *request)
{
    peer->deferred = *request;
    peer->is_deferred = true;
    wsh_stage_owe(request->done);
    request->ctx->n++;
    request->ctx->unread++;
    request->ctx->to[peer->pe].pending++;
}

/* Makes messages of the deferred operation, as far as there is room. */
static int request_retry(struct wsh_stage *stage, struct wsh_stage_peer *peer)
{
    struct wsh_stage_request *request = &peer->deferred;
    size_t before = request->at;
    int rc = request_push(stage, peer, request);

    if (rc)
        return rc == -EAGAIN ? request->at != before : rc;
    peer->is_deferred = false;
    request->ctx->unread--;
    wsh_stage_done(request->done);
    wsh_stage_settle(request->ctx, peer->pe);
    return 1;
}

int wsh_stage_op_progress(struct wsh_stage *stage, struct wsh_stage_peer *peer)
{
    int moved, rc;

    if (peer->head == peer->tail && !peer->is_deferred)
        return 0;
    rc = wsh_stage_out_progress(stage, peer);
    if (rc < 0 || !peer->is_deferred)
        return rc;
    moved = rc;
    rc = request_retry(stage, peer);
    if (rc > 0)
        rc = wsh_stage_out_send(stage, peer);
    return rc < 0 ? rc : rc | moved;
}

static int request_begin(struct wsh_stage *stage, struct wsh_stage_peer *peer,
                         struct wsh_stage_request *request)
{
    int rc;

    if (!peer->out)
        peer->out = calloc(stage->slots, sizeof *peer->out);
    if (!peer->out)
        return -ENOMEM;
    rc = peer->is_deferred ? -EAGAIN : request_push(stage, peer, request);
    if (rc == -EAGAIN && request->at) {
        request_defer(peer, request);
        rc = 0;
    }
    return rc;
}

/* Sends at once what was built; this also frees slots, which a later try may need. */
static int request_start(const struct wsh_rmem *rmem, struct wsh_stage_request *request)
{
    struct wsh_stage *stage = request->ctx->stage;
    struct wsh_stage_peer *peer = &stage->peers[rmem->pe];
    int rc, moved;

    pthread_mutex_lock(&stage->lock);
    rc = request_begin(stage, peer, request);
    moved = !rc || rc == -EAGAIN ? wsh_stage_op_progress(stage, peer) : 0;
    pthread_mutex_unlock(&stage->lock);
    if (!rc)
        request->ctx->to[rmem->pe].fences = request->ctx->fences;
    return moved < 0 ? moved : rc;
}

/* Messages keep their order; a kernel that applies them must know where others may look at it. */
int wsh_stage_fence(struct wsh_tctx *tctx)
{
    ((struct wsh_stage_ctx *)tctx)->fences++;
    return 0;
}

/* Memory that the program has allocated on the GPU itself counts too. */
static bool is_on_gpu(struct wsh_tctx *tctx, const void *local)
{
    return wsh_gpu_may_hold(((struct wsh_stage_ctx *)tctx)->stage->context->gpu, local);
}

static struct wsh_stage_request request_for(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off,
                                            enum wsh_stage_kind kind, struct wsh_done *done)
{
    struct wsh_stage_ctx *ctx = (struct wsh_stage_ctx *)tctx;

    return (struct wsh_stage_request){.kind = kind,
                                      .ctx = ctx,
                                      .done = done,
                                      .fenced = ctx->to[rmem->pe].fences != ctx->fences,
                                      .seg = rmem->seg,
                                      .off = off};
}

int wsh_stage_put(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src, size_t len,
                  struct wsh_done *done)
{
    struct wsh_stage_request request = request_for(tctx, rmem, off, WSH_STAGE_PUT, done);

    request.local = (char *)src;
    request.len = len;
    request.on_gpu = len && is_on_gpu(tctx, src);
    return len ? request_start(rmem, &request) : 0;
}

int wsh_stage_get(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, void *dst, size_t len,
                  struct wsh_done *done)
{
    struct wsh_stage_request request = request_for(tctx, rmem, off, WSH_STAGE_GET, done);

    request.local = dst;
    request.len = len;
    request.on_gpu = len && is_on_gpu(tctx, dst);
    return len ? request_start(rmem, &request) : 0;
}

int wsh_stage_amo(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const struct wsh_amo *amo,
                  void *result, struct wsh_done *done)
{
    struct wsh_stage_request request =
        request_for(tctx, rmem, off, result ? WSH_STAGE_FETCH : WSH_STAGE_AMO, result ? done : NULL);

    request.local = result;
    request.len = request.width = (uint8_t)amo->width;
    request.op = (uint8_t)amo->op;
    request.value = amo->operand;
    request.compare = amo->compare;
    return request_start(rmem, &request);
}

int wsh_stage_put_signal(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                         size_t len, const struct wsh_sig *sig, struct wsh_done *done)
{
    struct wsh_stage_request request = request_for(tctx, rmem, off, WSH_STAGE_SIGNAL, done);
    const struct wsh_amo amo = {sig->op, 8, sig->value, 0};

    if (!len)
        return wsh_stage_amo(tctx, sig->rmem, sig->off, &amo, NULL, NULL);
    request.local = (char *)src;
    request.len = len;
    request.on_gpu = is_on_gpu(tctx, src);
    request.op = (uint8_t)sig->op;
    request.value = sig->value;
    request.signal_seg = sig->rmem->seg;
    request.signal_off = sig->off;
    return request_start(rmem, &request);
}

int wsh_stage_signal_hold(struct wsh_tctx *tctx, const struct wsh_sig *sig, struct wsh_done *done,
                          struct wsh_done **hold)
{
    struct wsh_stage_request request = request_for(tctx, sig->rmem, sig->off, WSH_STAGE_AMO, NULL);
    struct wsh_stage *stage = request.ctx->stage;
    struct wsh_stage_peer *peer = &stage->peers[sig->rmem->pe];
    int rc, moved;

    request.len = request.width = 8;
    request.op = (uint8_t)sig->op;
    request.value = sig->value;
    pthread_mutex_lock(&stage->lock);
    rc = request_begin(stage, peer, &request);
    moved = rc == -EAGAIN ? wsh_stage_op_progress(stage, peer) : 0;
    if (!rc)
        *hold = wsh_stage_out_hold(stage, peer, done);
    pthread_mutex_unlock(&stage->lock);
    return moved < 0 ? moved : rc;
}

void wsh_stage_signal_release(struct wsh_tctx *tctx, const struct wsh_sig *sig, struct wsh_done *hold,
                              bool started)
{
    struct wsh_stage *stage = ((struct wsh_stage_ctx *)tctx)->stage;

    pthread_mutex_lock(&stage->lock);
    if (!started)
        wsh_stage_out_drop(stage, &stage->peers[sig->rmem->pe], hold);
    wsh_stage_done(hold);
    pthread_mutex_unlock(&stage->lock);
}

size_t wsh_stage_pending(struct wsh_tctx *tctx, int pe)
{
    struct wsh_stage_ctx *ctx = (struct wsh_stage_ctx *)tctx;
    size_t n;

    pthread_mutex_lock(&ctx->stage->lock);
    n = pe < 0 ? ctx->n : ctx->to[pe].pending;
    pthread_mutex_unlock(&ctx->stage->lock);
    return n;
}

size_t wsh_stage_unread(struct wsh_tctx *tctx)
{
    struct wsh_stage_ctx *ctx = (struct wsh_stage_ctx *)tctx;
    size_t n;

    pthread_mutex_lock(&ctx->stage->lock);
    n = ctx->unread;
    pthread_mutex_unlock(&ctx->stage->lock);
    return n;
}

static void messages_count(const struct wsh_stage *stage, const struct wsh_stage_peer *peer,
                           const struct wsh_stage_ctx *ctx, unsigned *n)
{
    const char *slots = peer->box + wsh_stage_box_out(stage->slots);

    for (uint64_t pos = peer->tail; peer->out && pos != peer->head;) {
        size_t index = (size_t)(pos % stage->slots);
        struct wsh_stage_head head;

        memcpy(&head, slots + index * WSH_STAGE_SLOT, sizeof head);
        if (peer->out[index].ctx == ctx && head.kind < WSH_STAGE_KINDS)
            n[head.kind]++;
        pos += peer->out[index].slots;
    }
    if (peer->is_deferred && peer->deferred.ctx == ctx)
        n[peer->deferred.kind]++;
}

static void describe_peer(const struct wsh_stage *stage, const struct wsh_stage_peer *peer,
                          const struct wsh_stage_ctx *ctx, char *text, size_t size)
{
    static const char *const names[WSH_STAGE_KINDS] = {[WSH_STAGE_PUT] = "put",
                                                       [WSH_STAGE_SIGNAL] = "put with signal",
                                                       [WSH_STAGE_GET] = "get",
                                                       [WSH_STAGE_AMO] = "atomic",
                                                       [WSH_STAGE_FETCH] = "fetching atomic"};
    unsigned n[WSH_STAGE_KINDS] = {0};
    size_t used = strlen(text);
    const char *separator = "";

    messages_count(stage, peer, ctx, n);
    if (used < size)
        snprintf(text + used, size - used, "%sPE %d: ", used && text[used - 1] != ' ' ? "; " : "", peer->pe);
    for (int kind = WSH_STAGE_PUT; kind < WSH_STAGE_KINDS; kind++) {
        used = strlen(text);
        if (!n[kind] || used >= size)
            continue;
        snprintf(text + used, size - used, "%s%u %s%s", separator, n[kind], names[kind],
                 n[kind] > 1 ? "s" : "");
        separator = ", ";
    }
}

void wsh_stage_describe(struct wsh_tctx *tctx, char *text, size_t size)
{
    struct wsh_stage_ctx *ctx = (struct wsh_stage_ctx *)tctx;
    struct wsh_stage *stage = ctx->stage;

    pthread_mutex_lock(&stage->lock);
    for (int pe = 0; pe < stage->n_pes; pe++)
        if (ctx->to[pe].pending)
            describe_peer(stage, &stage->peers[pe], ctx, text, size);
    pthread_mutex_unlock(&stage->lock);
}

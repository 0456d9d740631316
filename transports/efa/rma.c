/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how puts and gets go to the provider: the hot path of the network. */
#include "transports/efa/rma.h"

#include <string.h>

/* One request that is an operation of its own. In line for the same reason as wsh_efa_post. */
static inline __attribute__((always_inline)) int post_whole(struct wsh_efa_tp *tp, struct wsh_efa_ctx *ctx,
                                                            struct wsh_efa_req *req,
                                                            const struct wsh_efa_span *span,
                                                            struct wsh_done *done, uint64_t flags)
{
    int rc;

    if (!req)
        return -EAGAIN;
    rc = wsh_efa_post(tp, req, span, flags);
    if (rc) {
        wsh_efa_req_put(req);
        return rc;
    }
    req->ctx = ctx;
    req->done = done;
    wsh_efa_done_add(done);
    wsh_efa_begin(ctx, req->pe, req->kind == EFA_REQ_WRITE ? EFA_WRITE : EFA_READ);
    return 0;
}

/* The source is reusable at once: the provider injects it, or a buffer of ours holds it. */
static int put_copied(struct wsh_efa_tp *tp, struct wsh_efa_ctx *ctx, int pe, struct wsh_efa_span *span)
{
    struct wsh_efa_req *req;

    if (span->len <= tp->inject_max)
        return post_whole(tp, ctx, wsh_efa_req_get(&tp->plain, EFA_REQ_WRITE, pe), span, NULL, FI_INJECT);
    req = wsh_efa_req_get(&tp->small, EFA_REQ_WRITE, pe);
    if (!req)
        return -EAGAIN;
    memcpy(req->buf, span->local, span->len);
    span->local = req->buf;
    span->desc = req->desc;
    return post_whole(tp, ctx, req, span, NULL, 0);
}

/*
 * A small put may go as a message: behind an atomic or signal, where a write would have to wait for that to be
 * applied, and always where the provider gives writes no order but messages have ours.
 */
static int put_message(struct wsh_efa_tp *tp, struct wsh_efa_ctx *ctx, const struct wsh_rmem *rmem,
                       size_t off, const void *src, size_t len)
{
    struct wsh_efa_place place = {.seg = (uint8_t)rmem->seg, .off = off};

    if (!wsh_efa_order_may(&ctx->peer[rmem->pe], ctx->epoch, &tp->native, EFA_MSG))
        return -EAGAIN;
    return wsh_efa_msg_put(tp, ctx, rmem->pe, &place, src, len);
}

static bool by_message(const struct wsh_efa_tp *tp)
{
    return wsh_unlikely(tp->put != EFA_PUT_WRITES) && (tp->put == EFA_PUT_MESSAGES || tp->n_writes);
}

static bool fits_message(const struct wsh_efa_tp *tp, int pe, size_t len)
{
    return sizeof(struct wsh_efa_put_msg) + len <= tp->peers[pe].msg_max;
}

static int start_op(struct wsh_efa_tp *tp, struct wsh_efa_ctx *ctx, int pe, enum wsh_efa_kind kind,
                    const struct wsh_efa_span *span, struct wsh_done *done)
{
    struct wsh_efa_op op = {.ctx = ctx,
                            .done = done,
                            .local = span->local,
                            .addr = span->addr,
                            .key = span->key,
                            .left = span->len,
                            .pe = pe,
                            .kind = kind};

    return wsh_efa_op_start(tp, &op);
}

static int put_locked(struct wsh_efa_tp *tp, struct wsh_efa_ctx *ctx, const struct wsh_rmem *rmem, size_t off,
                      const void *src, size_t len, struct wsh_done *done)
{
    struct wsh_efa_span span = {(void *)src, NULL, len, rmem->base + off, rmem->key};
    int pe = rmem->pe;

    if (wsh_unlikely(tp->failed))
        return tp->failed;
    if (by_message(tp) && fits_message(tp, pe, len))
        return put_message(tp, ctx, rmem, off, src, len);
    if (wsh_unlikely(!wsh_efa_order_may(&ctx->peer[pe], ctx->epoch, &tp->native, EFA_WRITE)))
        return fits_message(tp, pe, len) ? put_message(tp, ctx, rmem, off, src, len) : -EAGAIN;
    if (len <= tp->copy_always || (done && len <= tp->small.buf_size))
        return put_copied(tp, ctx, pe, &span);
    if (len <= tp->part_max && wsh_efa_mem_desc(tp, src, len, &span.desc))
        return post_whole(tp, ctx, wsh_efa_req_get(&tp->plain, EFA_REQ_WRITE, pe), &span, done, 0);
    return start_op(tp, ctx, pe, EFA_WRITE, &span, done);
}

int wsh_efa_put(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src, size_t len,
                struct wsh_done *done)
{
    struct wsh_efa_tp *tp = wsh_efa_tp_of(tctx->tp);
    int rc;

    if (wsh_unlikely(!len))
        return 0;
    if (wsh_unlikely(rmem->map)) {
        memmove(rmem->map + off, src, len);
        return 0;
    }
    wsh_efa_lock(tp);
    rc = put_locked(tp, (struct wsh_efa_ctx *)tctx, rmem, off, src, len, done);
    wsh_efa_unlock(tp);
    return rc;
}

/* A nonblocking get (nobody waits for `done`) is not ordered by fences. */
static int get_locked(struct wsh_efa_tp *tp, struct wsh_efa_ctx *ctx, const struct wsh_rmem *rmem, size_t off,
                      void *dst, size_t len, struct wsh_done *done)
{
    struct wsh_efa_span span = {dst, NULL, len, rmem->base + off, rmem->key};
    int pe = rmem->pe;

    if (wsh_unlikely(tp->failed))
        return tp->failed;
    if (done && !wsh_efa_order_may(&ctx->peer[pe], ctx->epoch, &tp->native, EFA_READ))
        return -EAGAIN;
    if (len <= tp->part_max && wsh_efa_mem_desc(tp, dst, len, &span.desc))
        return post_whole(tp, ctx, wsh_efa_req_get(&tp->plain, EFA_REQ_READ, pe), &span, done, 0);
    return start_op(tp, ctx, pe, EFA_READ, &span, done);
}

int wsh_efa_get(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, void *dst, size_t len,
                struct wsh_done *done)
{
    struct wsh_efa_tp *tp = wsh_efa_tp_of(tctx->tp);
    int rc;

    if (wsh_unlikely(!len))
        return 0;
    if (wsh_unlikely(rmem->map)) {
        memmove(dst, rmem->map + off, len);
        return 0;
    }
    wsh_efa_lock(tp);
    rc = get_locked(tp, (struct wsh_efa_ctx *)tctx, rmem, off, dst, len, done);
    wsh_efa_unlock(tp);
    return rc;
}

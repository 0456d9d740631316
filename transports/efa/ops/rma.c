/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts and gets: the hot path of the network. */
#include "transports/efa/ops/rma.h"

#include "transports/efa/set/set.h"
#include "transports/efa/ops/fetch.h"
#include "transports/efa/set/memory.h"
#include "transports/efa/wire/msg.h"
#include "transports/efa/ops/op.h"
#include "transports/efa/ops/slots.h"

#include <string.h>

/* The source is reusable at once: the provider injects it, or a buffer of ours holds it. */
static inline __attribute__((always_inline)) int
put_copied(struct wsh_efa_set *set, struct wsh_efa_flow *flow, struct wsh_efa_span *span)
{
    struct wsh_efa_req *req;

    if (span->len <= set->limits.inject_max)
        return wsh_efa_rma_start(set, flow, wsh_efa_req_get(&set->plain, WSH_EFA_REQ_WRITE, flow->pe), span,
                                 NULL, FI_INJECT, 0);
    req = wsh_efa_req_get(&set->small, WSH_EFA_REQ_WRITE, flow->pe);
    if (!req)
        return -EAGAIN;
    memcpy(req->buf, span->local, span->len);
    span->local = req->buf;
    span->desc = req->desc;
    return wsh_efa_rma_start(set, flow, req, span, NULL, 0, 0);
}

static int put_message(struct wsh_efa_set *set, struct wsh_efa_flow *flow, const struct wsh_rmem *rmem,
                       size_t off, const void *src, size_t len)
{
    struct wsh_efa_req *req =
        wsh_efa_msg_new(set, flow, WSH_EFA_WIRE_PUT, sizeof(struct wsh_efa_put_msg) + len);
    struct wsh_efa_put_msg *msg;

    if (!req)
        return -EAGAIN;
    msg = (struct wsh_efa_put_msg *)req->buf;
    msg->data = (struct wsh_efa_target){.seg = (uint8_t)rmem->seg, .off = off};
    memcpy(msg->bytes, src, len);
    return wsh_efa_op_message(set, flow, req, WSH_EFA_PUTS);
}

static bool fits_message(const struct wsh_efa_set *set, int pe, size_t len)
{
    return sizeof(struct wsh_efa_put_msg) + len <= set->peers[pe].msg_max;
}

static int submit_op(struct wsh_efa_set *set, struct wsh_efa_flow *flow, enum wsh_srd_kind kind,
                     const struct wsh_efa_span *span, struct wsh_done *done)
{
    struct wsh_efa_op *op =
        wsh_efa_op_new(set, flow, kind, kind == WSH_SRD_GET ? WSH_EFA_GETS : WSH_EFA_PUTS);

    if (!op)
        return -EAGAIN;
    wsh_efa_op_data(set, op, span->local, span->len, span->addr, span->key);
    op->srd.counted = kind == WSH_SRD_PUT && wsh_srd_wants_counts(&flow->srd);
    op->srd.unordered = kind == WSH_SRD_GET && !done;
    return wsh_efa_op_submit(set, op, done);
}

/* A put of copied bytes that the target is to count, or that waits here. */
static int put_kept(struct wsh_efa_set *set, struct wsh_efa_flow *flow, const struct wsh_efa_span *span)
{
    struct wsh_efa_req *req = wsh_efa_req_get(&set->small, WSH_EFA_REQ_WRITE, flow->pe);
    struct wsh_efa_op *op = req ? wsh_efa_op_new(set, flow, WSH_SRD_PUT, WSH_EFA_PUTS) : NULL;

    if (!op) {
        if (req)
            wsh_efa_req_put(req);
        return -EAGAIN;
    }
    memcpy(req->buf, span->local, span->len);
    op->msg = req;
    op->len = op->part = span->len;
    op->addr = span->addr;
    op->key = span->key;
    op->srd.segments = 1;
    op->srd.counted = wsh_srd_wants_counts(&flow->srd);
    return wsh_efa_op_submit(set, op, NULL);
}

/* True: one write may start now, and counts as started. */
static inline __attribute__((always_inline)) bool put_begin(const struct wsh_efa_set *set,
                                                            struct wsh_efa_flow *flow)
{
    if (set->native) {
        if (!wsh_efa_flow_is_open(flow))
            return false;
        wsh_efa_flow_begin(flow, WSH_EFA_REQ_WRITE);
        return true;
    }
    return wsh_srd_put_fast(&flow->ctx->srd, &flow->srd);
}

static inline void put_refused(const struct wsh_efa_set *set, struct wsh_efa_flow *flow)
{
    if (set->native)
        wsh_efa_flow_end(flow, WSH_EFA_REQ_WRITE);
    else
        wsh_srd_put_refused(&flow->ctx->srd, &flow->srd);
}

/* What has ended meanwhile may open the writes of this epoch. */
static bool put_opens(const struct wsh_efa_set *set, struct wsh_efa_flow *flow)
{
    return wsh_srd_put_kind(&flow->ctx->srd, &flow->srd, true) == WSH_SRD_PUT && put_begin(set, flow);
}

static __attribute__((noinline)) int put_later(struct wsh_efa_set *set, struct wsh_efa_flow *flow,
                                               const struct wsh_rmem *rmem, const struct wsh_efa_span *span,
                                               bool copied, bool by_cpus, struct wsh_done *done)
{
    if (by_cpus && fits_message(set, rmem->pe, span->len) && !wsh_efa_flow_is_open(flow))
        return put_message(set, flow, rmem, span->addr - rmem->base, span->local, span->len);
    return copied ? put_kept(set, flow, span) : submit_op(set, flow, WSH_SRD_PUT, span, done);
}

/*
 * by_cpus: both ends are host memory, so that the bytes may go in a message; else the source too is device memory
 * where `readable` is not set, and nothing may copy from it.
 */
static inline __attribute__((always_inline)) int
put_locked(struct wsh_efa_set *set, struct wsh_efa_ctx *ctx, const struct wsh_rmem *rmem, size_t off,
           const void *src, size_t len, struct wsh_done *done, bool by_cpus, bool readable)
{
    struct wsh_efa_span span = {(void *)src, NULL, len, rmem->base + off, wsh_efa_rmem_key(set, rmem)};
    struct wsh_efa_flow *flow = wsh_efa_flow_of(ctx, rmem->pe);
    bool copied = readable && (len <= set->limits.copy_always || (done && len <= set->limits.copy_max));
    int rc;

    if (wsh_unlikely(set->failed || !flow))
        return flow ? set->failed : -ENOMEM;
    if (by_cpus && wsh_efa_set_prefers_messages(set) && fits_message(set, rmem->pe, len))
        return put_message(set, flow, rmem, off, src, len);
    if ((!copied && (len > set->limits.whole_max || !wsh_efa_mem_desc(set, src, len, &span.desc))) ||
        (wsh_unlikely(!put_begin(set, flow)) && !put_opens(set, flow)))
        return put_later(set, flow, rmem, &span, copied, by_cpus, done);
    if (copied)
        rc = put_copied(set, flow, &span);
    else
        rc = wsh_efa_rma_start(set, flow, wsh_efa_req_get(&set->plain, WSH_EFA_REQ_WRITE, rmem->pe), &span,
                               done, 0, 0);
    if (wsh_unlikely(rc))
        put_refused(set, flow);
    return rc;
}

static __attribute__((noinline)) int put_maybe_device(struct wsh_efa_set *set, struct wsh_efa_ctx *ctx,
                                                      const struct wsh_rmem *rmem, size_t off,
                                                      const void *src, size_t len, struct wsh_done *done)
{
    bool readable = !wsh_efa_mem_is_device(set, src);

    return put_locked(set, ctx, rmem, off, src, len, done, readable && rmem->seg < WSH_SEG_DEVICE, readable);
}

int wsh_efa_put(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src, size_t len,
                struct wsh_done *done)
{
    struct wsh_efa_set *set = wsh_efa_set_of(tctx);
    int rc;

    if (wsh_unlikely(!len))
        return 0;
    if (wsh_unlikely(rmem->map)) {
        memmove(rmem->map + off, src, len);
        return 0;
    }
    wsh_efa_set_lock(set);
    if (wsh_unlikely(set->n_device || rmem->seg >= WSH_SEG_DEVICE))
        rc = put_maybe_device(set, (struct wsh_efa_ctx *)tctx, rmem, off, src, len, done);
    else
        rc = put_locked(set, (struct wsh_efa_ctx *)tctx, rmem, off, src, len, done, true, true);
    wsh_efa_set_unlock(set);
    return rc;
}

/* Natively reads wait for writes here where the provider does not keep them behind. */
static bool native_read_may(const struct wsh_efa_set *set, struct wsh_efa_flow *flow)
{
    uint64_t epoch = flow->ctx->srd.epoch;

    if (set->native && !set->native_reads && flow->read_epoch != epoch) {
        if (flow->direct[WSH_EFA_REQ_WRITE])
            return false;
        flow->read_epoch = epoch;
    }
    return true;
}

/* A nonblocking get (nobody waits for `done`) is not ordered by fences. */
static int get_locked(struct wsh_efa_set *set, struct wsh_efa_ctx *ctx, const struct wsh_rmem *rmem,
                      size_t off, void *dst, size_t len, struct wsh_done *done)
{
    struct wsh_efa_span span = {dst, NULL, len, rmem->base + off, wsh_efa_rmem_key(set, rmem)};
    const struct wsh_efa_target target = {.seg = (uint8_t)rmem->seg, .off = off};
    struct wsh_efa_flow *flow = wsh_efa_flow_of(ctx, rmem->pe);
    bool open, by_cpus = wsh_efa_mem_is_host(set, rmem, dst),
               small = by_cpus && len <= WSH_EFA_GET_MAX &&
                       sizeof(struct wsh_efa_reply_msg) + len <= set->limits.msg_max;
    int rc;

    if (wsh_unlikely(set->failed || !flow))
        return flow ? set->failed : -ENOMEM;
    if (done && !native_read_may(set, flow))
        return -EAGAIN;
    open =
        !done || wsh_efa_flow_is_open(flow) || wsh_srd_put_kind(&ctx->srd, &flow->srd, true) == WSH_SRD_PUT;
    if ((!open || set->gets_by_message) && small)
        return wsh_efa_fetch_get(set, flow, &target, dst, len, done);
    if (!open || len > set->limits.whole_max || !wsh_efa_mem_desc(set, dst, len, &span.desc))
        return submit_op(set, flow, WSH_SRD_GET, &span, done);
    rc = wsh_efa_rma_start(set, flow, wsh_efa_req_get(&set->plain, WSH_EFA_REQ_READ, rmem->pe), &span, done,
                           0, 0);
    if (!rc)
        wsh_efa_flow_begin(flow, WSH_EFA_REQ_READ);
    return rc;
}

int wsh_efa_get(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, void *dst, size_t len,
                struct wsh_done *done)
{
    struct wsh_efa_set *set = wsh_efa_set_of(tctx);
    int rc;

    if (wsh_unlikely(!len))
        return 0;
    if (wsh_unlikely(rmem->map)) {
        memmove(dst, rmem->map + off, len);
        return 0;
    }
    wsh_efa_set_lock(set);
    rc = get_locked(set, (struct wsh_efa_ctx *)tctx, rmem, off, dst, len, done);
    wsh_efa_set_unlock(set);
    return rc;
}

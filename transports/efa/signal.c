/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how data and its signal travel together: in one message if small, else the signal behind the data. */
#include "transports/efa/efa.h"

#include <string.h>

int wsh_efa_signal_send(struct wsh_efa_tp *tp, struct wsh_efa_ctx *ctx, int pe,
                        const struct wsh_efa_place *data, const void *src, size_t len,
                        const struct wsh_efa_place *signal, uint64_t value)
{
    const struct wsh_efa_sent sent = {.owner = ctx, .type = EFA_WIRE_SIGNAL};
    struct wsh_efa_req *req = wsh_efa_msg_new(tp, pe);
    struct wsh_efa_signal_msg *msg;

    if (!req)
        return -EAGAIN;
    msg = (struct wsh_efa_signal_msg *)req->buf;
    msg->data = *data;
    msg->signal = *signal;
    msg->value = value;
    if (len)
        memcpy(msg->bytes, src, len);
    return wsh_efa_msg_send(tp, req, EFA_WIRE_SIGNAL, sizeof *msg + len, &sent);
}

static int put_signal_locked(struct wsh_efa_tp *tp, struct wsh_efa_ctx *ctx, const struct wsh_rmem *rmem,
                             size_t off, const void *src, size_t len, const struct wsh_sig *sig,
                             struct wsh_done *done)
{
    const struct wsh_efa_place data = {.seg = (uint8_t)rmem->seg, .off = off};
    const struct wsh_efa_place signal = {
        .seg = (uint8_t)sig->rmem->seg, .op = (uint8_t)sig->op, .width = 8, .off = sig->off};
    struct wsh_efa_op op = {.ctx = ctx,
                            .done = done,
                            .local = (char *)src,
                            .addr = rmem->base + off,
                            .key = rmem->key,
                            .left = len,
                            .pe = rmem->pe,
                            .kind = EFA_WRITE,
                            .signals = true,
                            .signal = signal,
                            .value = sig->value};
    struct wsh_efa_order *order = &ctx->peer[rmem->pe];

    if (wsh_unlikely(tp->failed))
        return tp->failed;
    if (!wsh_efa_order_may(order, ctx->epoch, &tp->native, EFA_MSG))
        return -EAGAIN;
    if (sizeof(struct wsh_efa_signal_msg) + len <= tp->peers[rmem->pe].msg_max)
        return wsh_efa_signal_send(tp, ctx, rmem->pe, &data, src, len, &signal, sig->value);
    if (!wsh_efa_order_may(order, ctx->epoch, &tp->native, EFA_WRITE))
        return -EAGAIN;
    return wsh_efa_op_start(tp, &op);
}

int wsh_efa_put_signal(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                       size_t len, const struct wsh_sig *sig, struct wsh_done *done)
{
    struct wsh_efa_tp *tp = wsh_efa_tp_of(tctx->tp);
    int rc;

    if (rmem->map) {
        if (len)
            memmove(rmem->map + off, src, len);
        wsh_amo_apply64(sig->rmem->map + sig->off, sig->op, sig->value, 0);
        return 0;
    }
    wsh_efa_lock(tp);
    rc = put_signal_locked(tp, (struct wsh_efa_ctx *)tctx, rmem, off, src, len, sig, done);
    wsh_efa_unlock(tp);
    return rc;
}

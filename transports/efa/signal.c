/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts with a signal: data and signal in one message if small, else the signal behind the data. */
#include "transports/efa/signal.h"

#include "transports/efa/endpoints.h"
#include "transports/efa/mem.h"
#include "transports/efa/msg.h"
#include "transports/efa/op.h"
#include "transports/efa/slots.h"
#include "transports/efa/tally.h"

#include <string.h>

struct wsh_efa_req *wsh_efa_signal_message(struct wsh_efa_eps *eps, struct wsh_efa_flow *flow,
                                           const struct wsh_efa_place *data, const void *src, size_t len,
                                           const struct wsh_efa_place *signal, uint64_t value)
{
    struct wsh_efa_req *req =
        wsh_efa_msg_new(eps, flow, EFA_WIRE_SIGNAL, sizeof(struct wsh_efa_signal_msg) + len);
    struct wsh_efa_signal_msg *msg;

    if (!req)
        return NULL;
    msg = (struct wsh_efa_signal_msg *)req->buf;
    msg->data = *data;
    msg->signal = *signal;
    msg->value = value;
    if (len)
        memcpy(msg->bytes, src, len);
    return req;
}

/* A write whose immediate data name the counter; -ENOTSUP: it takes more than that. */
static int put_tallied(struct wsh_efa_eps *eps, struct wsh_efa_flow *flow, struct wsh_efa_op *op,
                       const struct wsh_sig *sig, struct wsh_done *done)
{
    if (op->srd.segments != 1 || !wsh_efa_tally_fits(eps, flow->pe, wsh_sig_counter(sig)))
        return -ENOTSUP;
    op->srd.kind = WSH_SRD_PUT;
    op->srd.tally = true;
    op->what = EFA_PUTS;
    op->counter = wsh_sig_counter(sig);
    op->generation = wsh_sig_generation(sig);
    return wsh_efa_op_submit(eps, op, done);
}

static int put_signal_locked(struct wsh_efa_eps *eps, struct wsh_efa_ctx *ctx, const struct wsh_rmem *rmem,
                             size_t off, const void *src, size_t len, const struct wsh_sig *sig,
                             struct wsh_done *done)
{
    const struct wsh_efa_place data = {.seg = (uint8_t)rmem->seg, .off = off};
    const struct wsh_efa_place signal = {
        .seg = (uint8_t)sig->rmem->seg, .op = (uint8_t)sig->op, .width = 8, .off = sig->off};
    struct wsh_efa_flow *flow = wsh_efa_flow_of(ctx, rmem->pe);
    bool by_cpus = wsh_efa_mem_is_host(eps, rmem, src);
    struct wsh_efa_op *op;
    struct wsh_efa_req *req;
    int rc;

    if (wsh_unlikely(eps->failed || !flow))
        return flow ? eps->failed : -ENOMEM;
    if (!len || (by_cpus && !(sig->counter && wsh_efa_tally_fits(eps, rmem->pe, wsh_sig_counter(sig))) &&
                 sizeof(struct wsh_efa_signal_msg) + len <= eps->peers[rmem->pe].msg_max)) {
        req = wsh_efa_signal_message(eps, flow, &data, src, len, &signal, sig->value);
        if (!req)
            return -EAGAIN;
        return sig->counter ? wsh_efa_msg_submit_counted(eps, flow, req)
                            : wsh_efa_msg_submit(eps, flow, req, EFA_SIGNALS);
    }
    op = wsh_efa_op_new(eps, flow, WSH_SRD_SIGNAL, EFA_SIGNALS);
    if (!op)
        return -EAGAIN;
    wsh_efa_op_data(eps, op, src, len, rmem->base + off, wsh_efa_key(eps, rmem));
    rc = sig->counter ? put_tallied(eps, flow, op, sig, done) : -ENOTSUP;
    if (rc != -ENOTSUP)
        return rc;
    op->signal = signal;
    op->value = sig->value;
    op->counts = sig->counter;
    return wsh_efa_op_submit(eps, op, done);
}

int wsh_efa_put_signal(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                       size_t len, const struct wsh_sig *sig, struct wsh_done *done)
{
    struct wsh_efa_eps *eps = wsh_efa_eps_of(tctx);
    int rc;

    if (rmem->map) {
        if (len)
            memmove(rmem->map + off, src, len);
        wsh_amo_apply64(sig->rmem->map + sig->off, sig->op, sig->value, 0);
        return 0;
    }
    wsh_efa_lock(eps);
    rc = put_signal_locked(eps, (struct wsh_efa_ctx *)tctx, rmem, off, src, len, sig, done);
    wsh_efa_unlock(eps);
    return rc;
}

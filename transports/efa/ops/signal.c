/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts with a signal: data and signal in one message if small, else the signal behind the data. */
#include "transports/efa/ops/signal.h"

#include "transports/efa/gda/counters.h"
#include "transports/efa/set/set.h"
#include "transports/efa/set/memory.h"
#include "transports/efa/wire/msg.h"
#include "transports/efa/ops/op.h"
#include "transports/efa/ops/rma.h"
#include "transports/efa/ops/slots.h"
#include "transports/efa/ops/tally.h"

#include <string.h>

/* A write whose immediate data name the counter; -ENOTSUP: it takes more than that. */
static int put_tallied(struct wsh_efa_set *set, struct wsh_efa_flow *flow, struct wsh_efa_op *op,
                       const struct wsh_sig *sig, struct wsh_done *done)
{
    if (op->srd.segments != 1 || !wsh_efa_tally_fits(set, flow->pe, wsh_sig_counter(sig)))
        return -ENOTSUP;
    op->srd.kind = WSH_SRD_PUT;
    op->srd.tally = true;
    op->what = EFA_PUTS;
    op->counter = wsh_sig_counter(sig);
    op->generation = wsh_sig_generation(sig);
    return wsh_efa_op_submit(set, op, done);
}

/* A put with signal as an operation of the engine takes: what and where, and by which flow. */
struct signal_put {
    struct wsh_efa_set *set;
    struct wsh_efa_flow *flow;
    const struct wsh_rmem *rmem;
    size_t off, len;
    const void *src;
    const struct wsh_sig *sig;
    struct wsh_efa_place place; /* of the signal */
};

static int put_by_message(const struct signal_put *put)
{
    const struct wsh_efa_place data = {.seg = (uint8_t)put->rmem->seg, .off = put->off};
    struct wsh_efa_req *req =
        wsh_efa_msg_signal(put->set, put->flow, &data, put->src, put->len, &put->place, put->sig->value);

    if (!req)
        return -EAGAIN;
    return put->sig->counter ? wsh_efa_op_message_counted(put->set, put->flow, req)
                             : wsh_efa_op_message(put->set, put->flow, req, EFA_SIGNALS);
}

/* The usual case of a counted put: one write, which may start now; the NIC or the CPU counts. -ENOTSUP: it is not. */
static int put_tallied_fast(const struct signal_put *put, struct wsh_done *done)
{
    struct wsh_efa_set *set = put->set;
    struct wsh_efa_flow *flow = put->flow;
    struct wsh_efa_span span = {(void *)put->src, NULL, put->len, put->rmem->base + put->off,
                                wsh_efa_key(set, put->rmem)};
    uint32_t counter = wsh_sig_counter(put->sig);
    int rc;

    if (put->len > set->limits.whole_max || !wsh_efa_mem_desc(set, put->src, put->len, &span.desc))
        return -ENOTSUP;
    rc = wsh_efa_counter_put(set, flow, &span, wsh_efa_first_keys(set, put->rmem), counter, done);
    if (rc != -ENOTSUP || !wsh_efa_tally_fits(set, flow->pe, counter) ||
        !wsh_srd_tally_fast(&flow->ctx->srd, &flow->srd))
        return rc;
    rc = wsh_efa_post_whole(set, flow, wsh_efa_req_get(&set->plain, EFA_REQ_WRITE, flow->pe), &span, done,
                            FI_REMOTE_CQ_DATA,
                            wsh_srd_imm_tally((uint32_t)set->my_pe, counter, wsh_sig_generation(put->sig)));
    if (rc)
        wsh_srd_tally_refused(&flow->ctx->srd, &flow->srd);
    else
        wsh_efa_tally_started(set, flow);
    return rc;
}

static int put_by_writes(const struct signal_put *put, struct wsh_done *done)
{
    struct wsh_efa_op *op;
    int rc = put->sig->counter ? put_tallied_fast(put, done) : -ENOTSUP;

    if (rc != -ENOTSUP)
        return rc;
    op = wsh_efa_op_new(put->set, put->flow, WSH_SRD_SIGNAL, EFA_SIGNALS);
    if (!op)
        return -EAGAIN;
    wsh_efa_op_data(put->set, op, put->src, put->len, put->rmem->base + put->off,
                    wsh_efa_key(put->set, put->rmem));
    rc = put->sig->counter ? put_tallied(put->set, put->flow, op, put->sig, done) : -ENOTSUP;
    if (rc != -ENOTSUP)
        return rc;
    op->signal = put->place;
    op->value = put->sig->value;
    op->counts = put->sig->counter;
    return wsh_efa_op_submit(put->set, op, done);
}

/* Host memory at both ends, and few bytes; a counted put is a write where those are as fast. */
static bool fits_message(const struct signal_put *put)
{
    const struct wsh_efa_set *set = put->set;
    const struct wsh_sig *sig = put->sig;
    int pe = put->rmem->pe;

    if (sizeof(struct wsh_efa_signal_msg) + put->len > set->peers[pe].msg_max ||
        !wsh_efa_mem_is_host(set, put->rmem, put->src))
        return false;
    return !sig->counter ||
           (!wsh_efa_counter_is_kept(set, pe, wsh_sig_counter(sig)) &&
            (wsh_efa_prefers_messages(set) || !wsh_efa_tally_fits(set, pe, wsh_sig_counter(sig))));
}

static int put_signal_locked(struct wsh_efa_set *set, struct wsh_efa_ctx *ctx, const struct wsh_rmem *rmem,
                             size_t off, const void *src, size_t len, const struct wsh_sig *sig,
                             struct wsh_done *done)
{
    const struct signal_put put = {set, wsh_efa_flow_of(ctx, rmem->pe), rmem, off, len, src,
                                   sig, wsh_efa_signal_place(sig)};

    if (wsh_unlikely(set->failed || !put.flow))
        return put.flow ? set->failed : -ENOMEM;
    return !len || fits_message(&put) ? put_by_message(&put) : put_by_writes(&put, done);
}

int wsh_efa_put_signal(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                       size_t len, const struct wsh_sig *sig, struct wsh_done *done)
{
    struct wsh_efa_set *set = wsh_efa_set_of(tctx);
    int rc;

    if (rmem->map) {
        if (len)
            memmove(rmem->map + off, src, len);
        wsh_amo_apply64(sig->rmem->map + sig->off, sig->op, sig->value, 0);
        return 0;
    }
    wsh_efa_lock(set);
    rc = put_signal_locked(set, (struct wsh_efa_ctx *)tctx, rmem, off, src, len, sig, done);
    wsh_efa_unlock(set);
    return rc;
}

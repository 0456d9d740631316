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
#include "transports/efa/ops/imm_count.h"

#include <string.h>

/* A put with signal as an operation of the engine takes: what and where, and by which flow. */
struct signal_put {
    struct wsh_efa_set *set;
    struct wsh_efa_flow *flow;
    const struct wsh_rmem *rmem;
    size_t off, len;
    const void *src;
    const struct wsh_sig *sig;
    struct wsh_efa_target target; /* of the signal */
};

static int by_message(const struct signal_put *put, bool counted)
{
    const struct wsh_efa_target data = {.seg = (uint8_t)put->rmem->seg, .off = put->off};
    struct wsh_efa_req *req =
        wsh_efa_msg_signal(put->set, put->flow, &data, put->src, put->len, &put->target, put->sig->value);

    if (!req)
        return -EAGAIN;
    return counted ? wsh_efa_op_message_counted(put->set, put->flow, req)
                   : wsh_efa_op_message(put->set, put->flow, req, WSH_EFA_SIGNALS);
}

/* Of a counted put: one for each NIC that would have nothing to do. */
static uint32_t pieces_of(const struct signal_put *put)
{
    const struct wsh_efa_set *set = put->set;
    int pe = put->flow->pe;
    uint32_t counter = wsh_sig_counter(put->sig), n = 1;

    if (set->n_rails > 1)
        n = wsh_efa_choice_pieces(&set->choice, (uint32_t)__builtin_popcount(set->peers[pe].paths), pe,
                                  put->len);
    return wsh_efa_imm_count_fits(set, pe, counter) && !wsh_efa_imm_count_takes(set, pe, counter, n) ? 1 : n;
}

static struct wsh_efa_op *op_of_writes(const struct signal_put *put)
{
    struct wsh_efa_op *op = wsh_efa_op_new(put->set, put->flow, WSH_SRD_SIGNAL, WSH_EFA_SIGNALS);

    if (!op)
        return NULL;
    wsh_efa_op_data(put->set, op, put->src, put->len, put->rmem->base + put->off,
                    wsh_efa_rmem_key(put->set, put->rmem));
    if (put->sig->counter)
        wsh_efa_op_cut(put->set, op, pieces_of(put));
    return op;
}

static int submit_writes(const struct signal_put *put, struct wsh_efa_op *op, struct wsh_done *done)
{
    op->signal = put->target;
    op->value = put->sig->value;
    op->counts = put->sig->counter;
    return wsh_efa_op_submit(put->set, op, done);
}

static int by_writes(const struct signal_put *put, struct wsh_done *done)
{
    struct wsh_efa_op *op = op_of_writes(put);

    return op ? submit_writes(put, op, done) : -EAGAIN;
}

static int submit_counted(const struct signal_put *put, struct wsh_efa_op *op, struct wsh_done *done)
{
    struct wsh_efa_imm_count *count = &put->set->peers[put->flow->pe].imm_count;
    bool in_pieces = op->srd.segments > 1;
    int rc;

    op->srd.kind = WSH_SRD_PUT;
    op->srd.by_counter = true;
    op->what = WSH_EFA_PUTS;
    op->counter = wsh_sig_counter(put->sig);
    op->generation = wsh_sig_generation(put->sig);
    count->in_pieces |= in_pieces;
    rc = wsh_efa_op_submit(put->set, op, done);
    if (rc && in_pieces)
        count->in_pieces = false;
    return rc;
}

/* In its turn: writes whose immediate data name the counter or, where it takes more than these, as any other. */
static int by_counted_op(const struct signal_put *put, struct wsh_done *done)
{
    struct wsh_efa_op *op = op_of_writes(put);

    if (!op)
        return -EAGAIN;
    return wsh_efa_imm_count_takes(put->set, put->flow->pe, wsh_sig_counter(put->sig), op->srd.segments)
               ? submit_counted(put, op, done)
               : submit_writes(put, op, done);
}

/* A write that counts as started. */
static int post_counted(const struct signal_put *put, const struct wsh_efa_span *span, struct wsh_done *done)
{
    struct wsh_efa_set *set = put->set;
    struct wsh_efa_flow *flow = put->flow;
    uint64_t imm =
        wsh_srd_imm_counter((uint32_t)set->my_pe, wsh_sig_counter(put->sig), wsh_sig_generation(put->sig));
    int rc = wsh_efa_rma_start(set, flow, wsh_efa_req_get(&set->plain, WSH_EFA_REQ_WRITE, flow->pe), span,
                               done, FI_REMOTE_CQ_DATA, imm);

    if (rc)
        wsh_srd_counter_refused(&flow->ctx->srd, &flow->srd);
    else
        wsh_efa_imm_count_started(set, flow);
    return rc;
}

/* To a counter that the peer's NICs keep. */
static int by_nic(const struct signal_put *put, const struct wsh_efa_span *span, struct wsh_done *done)
{
    struct wsh_efa_set *set = put->set;
    struct wsh_efa_flow *flow = put->flow;
    uint32_t counter = wsh_sig_counter(put->sig);
    int rc = wsh_efa_counter_enter(set, flow->pe, counter);

    if (rc)
        return rc;
    return wsh_efa_counter_begin(flow)
               ? wsh_efa_counter_put(set, flow, span, wsh_efa_rmem_first_keys(set, put->rmem), counter, done)
               : -ENOTSUP;
}

/*
 * The usual case: one write, which may start now; the NIC or the CPU counts. A long one may have to wait for room, and
 * its caller shall not.
 */
static int by_counted_write(const struct signal_put *put, struct wsh_done *done)
{
    struct wsh_efa_set *set = put->set;
    struct wsh_efa_flow *flow = put->flow;
    struct wsh_efa_span span = {(void *)put->src, NULL, put->len, put->rmem->base + put->off,
                                wsh_efa_rmem_key(set, put->rmem)};
    uint32_t counter = wsh_sig_counter(put->sig);
    bool is_long = put->len > set->limits.whole_max;

    if (!wsh_efa_mem_desc(set, put->src, put->len, &span.desc) ||
        (is_long && (put->len > set->limits.part_max || pieces_of(put) > 1)))
        return by_counted_op(put, done);
    if (wsh_efa_counter_is_kept(set, flow->pe, counter)) {
        int rc = by_nic(put, &span, done);

        if (rc != -ENOTSUP && (rc != -EAGAIN || !is_long))
            return rc;
    }
    if (!is_long && wsh_efa_imm_count_fits(set, flow->pe, counter) &&
        wsh_srd_counter_fast(&flow->ctx->srd, &flow->srd))
        return post_counted(put, &span, done);
    return by_counted_op(put, done);
}

/* One message takes it: host memory at both ends, and few bytes. */
static bool fits_message(const struct signal_put *put)
{
    return !put->len ||
           (sizeof(struct wsh_efa_signal_msg) + put->len <= put->set->peers[put->flow->pe].msg_max &&
            wsh_efa_mem_is_host(put->set, put->rmem, put->src));
}

/* Of one that fits a message: a write is as fast. */
static bool is_better_written(const struct signal_put *put)
{
    const struct wsh_efa_set *set = put->set;
    uint32_t counter = wsh_sig_counter(put->sig);

    return put->len &&
           (wsh_efa_counter_is_kept(set, put->flow->pe, counter) ||
            (!wsh_efa_set_prefers_messages(set) && wsh_efa_imm_count_fits(set, put->flow->pe, counter)));
}

static int start(const struct signal_put *put, struct wsh_done *done)
{
    switch (put->flow->signal_forms[put->sig->counter != 0][fits_message(put)]) {
    case WSH_EFA_SIGNAL_MESSAGE: return by_message(put, false);
    case WSH_EFA_SIGNAL_WRITES: return by_writes(put, done);
    case WSH_EFA_SIGNAL_COUNTED_SHORT:
        return is_better_written(put) ? by_counted_write(put, done) : by_message(put, true);
    case WSH_EFA_SIGNAL_COUNTED_MESSAGE: return by_message(put, true);
    default: return by_counted_write(put, done);
    }
}

static int put_signal_locked(struct wsh_efa_set *set, struct wsh_efa_ctx *ctx, const struct wsh_rmem *rmem,
                             size_t off, const void *src, size_t len, const struct wsh_sig *sig,
                             struct wsh_done *done)
{
    const struct signal_put put = {set, wsh_efa_flow_of(ctx, rmem->pe), rmem, off, len, src,
                                   sig, wsh_efa_signal_target(sig)};
    int rc;

    if (wsh_unlikely(set->failed || !put.flow))
        return put.flow ? set->failed : -ENOMEM;
    rc = start(&put, done);
    if (!rc && sig->counter && set->n_rails > 1)
        wsh_efa_choice_note(&set->choice, rmem->pe, len);
    return rc;
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
    wsh_efa_set_lock(set);
    rc = put_signal_locked(set, (struct wsh_efa_ctx *)tctx, rmem, off, src, len, sig, done);
    wsh_efa_set_unlock(set);
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations that go through the ordering engine: messages, ordered operations, those of several segments. */
#include "transports/efa/ops/op.h"

#include "base/invariant.h"
#include "transports/efa/set/set.h"
#include "transports/efa/set/memory.h"
#include "transports/efa/wire/msg.h"
#include "transports/efa/ops/rma.h"
#include "transports/efa/ops/imm_count.h"

#include <stdlib.h>
#include <string.h>

#define WSH_EFA_OPS_MAX 1024 /* under way at a time; beyond, callers wait */

static void op_free(struct wsh_efa_set *set, struct wsh_efa_op *op)
{
    op->next = set->ops.free;
    set->ops.free = op;
    set->ops.n_free++;
    WSH_INVARIANT(set->ops.n_free <= WSH_EFA_OPS_MAX);
}

static struct wsh_efa_op *op_of(struct wsh_srd_op *srd)
{
    return (struct wsh_efa_op *)srd;
}

struct wsh_efa_op *wsh_efa_op_new(struct wsh_efa_set *set, struct wsh_efa_flow *flow, enum wsh_srd_kind kind,
                                  enum wsh_efa_what what)
{
    struct wsh_efa_op *op = set->ops.free;

    if (!op)
        return NULL;
    set->ops.free = op->next;
    set->ops.n_free--;
    op->srd = (struct wsh_srd_op){.kind = (uint8_t)kind};
    op->flow = flow;
    op->done = NULL;
    op->len = 0;
    op->what = (uint8_t)what;
    op->in_flight = op->reported = 0;
    op->noted = op->counts = false;
    op->msg = NULL;
    return op;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void set_part(const struct wsh_efa_set *set, struct wsh_efa_op *op, size_t part)
{
    op->part = op->bounce ? least(part, set->large.buf_size) : part;
    op->srd.segments = (uint32_t)((op->len + op->part - 1) / op->part);
}

void wsh_efa_op_cut(struct wsh_efa_set *set, struct wsh_efa_op *op, uint32_t pieces)
{
    set_part(set, op, wsh_efa_choice_piece(op->len, pieces, set->limits.part_max));
}

void wsh_efa_op_data(struct wsh_efa_set *set, struct wsh_efa_op *op, const void *local, size_t len,
                     uint64_t addr, uint64_t key)
{
    op->local = (char *)local;
    op->len = len;
    op->addr = addr;
    op->key = key;
    op->bounce = !wsh_efa_mem_desc(set, local, len, &op->desc);
    set_part(set, op,
             set->n_rails > 1 ? wsh_efa_choice_part(&set->choice, len, set->limits.part_max)
                              : set->limits.part_max);
}

/* The next segment's memory: the user's where the provider can use it, else a buffer of ours (no message has one). */
static struct wsh_efa_req *segment_new(struct wsh_efa_set *set, const struct wsh_efa_op *op,
                                       enum wsh_efa_req_kind kind, struct wsh_efa_span *span)
{
    size_t off = op->srd.started * op->part;
    struct wsh_efa_req *req = op->msg;

    if (req) { /* the data are in its buffer */
        *span = (struct wsh_efa_span){req->buf, req->desc, op->len, op->addr, op->key};
        return req;
    }
    req = wsh_efa_req_get(op->bounce ? &set->large : &set->plain, kind, op->flow->pe);
    if (!req)
        return NULL;
    *span = (struct wsh_efa_span){op->local + off, op->desc, least(op->part, op->len - off), op->addr + off,
                                  op->key};
    if (!op->bounce)
        return req;
    if (kind == WSH_EFA_REQ_WRITE)
        memcpy(req->buf, span->local, span->len);
    else
        req->copy_to = span->local;
    req->len = (uint32_t)span->len;
    span->local = req->buf;
    span->desc = req->desc;
    return req;
}

/* The engine is still at work with the op: what this brings about is settled when it returns (settle_noted). */
static void note_op(struct wsh_efa_set *set, struct wsh_efa_op *op)
{
    set->ops.given++;
    if (op->noted)
        return;
    op->noted = true;
    op->next = set->ops.noted;
    set->ops.noted = op;
}

/* That of a write with immediate data. */
static uint64_t segment_imm(const struct wsh_efa_set *set, const struct wsh_efa_op *op)
{
    if (op->srd.by_counter && op->srd.segments > 1)
        return wsh_srd_imm_piece((uint32_t)set->my_pe, op->counter, op->generation, op->srd.segments);
    if (op->srd.by_counter)
        return wsh_srd_imm_counter((uint32_t)set->my_pe, op->counter, op->generation);
    return wsh_srd_imm_pack((uint32_t)set->my_pe, op->flow->ctx->number, op->srd.group);
}

/*
 * Natively the message of a put with signal, on the same connection, is applied only behind its writes, so that its
 * acknowledgement is theirs too: one for each write would be a packet more, for which the source waits.
 */
static uint64_t segment_flags(const struct wsh_efa_set *set, const struct wsh_efa_op *op)
{
    if (op->srd.grouped || op->srd.by_counter)
        return FI_REMOTE_CQ_DATA;
    return set->native && set->n_rails == 1 && op->srd.kind == WSH_SRD_SIGNAL ? FI_INJECT_COMPLETE : 0;
}

static int post_segment(struct wsh_efa_set *set, struct wsh_efa_op *op, enum wsh_efa_req_kind kind)
{
    struct wsh_efa_span span;
    struct wsh_efa_req *req = segment_new(set, op, kind, &span);
    uint64_t flags = segment_flags(set, op);
    int rc;

    if (!req) {
        set->starved = true;
        return -EAGAIN;
    }
    rc = wsh_efa_rma_post(set, req, &span, flags, flags & FI_REMOTE_CQ_DATA ? segment_imm(set, op) : 0);
    if (rc) {
        set->starved = true;
        if (req != op->msg)
            wsh_efa_req_put(req);
        return rc;
    }
    op->msg = NULL;
    req->op = op;
    op->in_flight++;
    note_op(set, op);
    if (op->srd.by_counter)
        wsh_efa_imm_count_started(set, op->flow);
    if (set->native && kind == WSH_EFA_REQ_WRITE)
        wsh_efa_flow_begin(op->flow, WSH_EFA_REQ_WRITE);
    return 0;
}

static int io_write(void *arg, struct wsh_srd_op *srd)
{
    return post_segment(arg, op_of(srd), WSH_EFA_REQ_WRITE);
}

static int io_read(void *arg, struct wsh_srd_op *srd)
{
    return post_segment(arg, op_of(srd), WSH_EFA_REQ_READ);
}

static int io_send(void *arg, struct wsh_srd_op *srd, struct wsh_srd_stamp *stamp)
{
    static const struct wsh_efa_target none;
    struct wsh_efa_set *set = arg;
    struct wsh_efa_op *op = op_of(srd);
    struct wsh_efa_flow *flow = op->flow;
    bool lazy;
    int rc;

    if (!op->msg)
        op->msg = wsh_efa_msg_signal(set, flow, &none, NULL, 0, &op->signal, op->value);
    if (!op->msg) {
        set->starved = true;
        return -EAGAIN;
    }
    lazy = wsh_efa_lazy_fits(set, flow, op->len, op->counts);
    ((struct wsh_efa_head *)op->msg->buf)->lazy = lazy;
    rc = wsh_efa_msg_send(set, op->msg, stamp);
    if (rc) {
        set->starved = true;
        return rc;
    }
    op->msg = NULL;
    flow->type[flow->srd.sent & (flow->srd.window - 1)] = (uint8_t)(op->what | (lazy ? WSH_EFA_LAZY : 0));
    wsh_efa_lazy_sent(set, flow, lazy);
    note_op(set, op);
    return 0;
}

int wsh_efa_op_init(struct wsh_efa_set *set)
{
    set->ops.io = (struct wsh_srd_io){io_write, io_read, io_send, set};
    set->ops.slab = calloc(WSH_EFA_OPS_MAX, sizeof *set->ops.slab);
    if (!set->ops.slab)
        return -ENOMEM;
    for (size_t i = WSH_EFA_OPS_MAX; i--;)
        op_free(set, &set->ops.slab[i]);
    return 0;
}

void wsh_efa_op_wait(struct wsh_efa_set *set, struct wsh_efa_flow *flow)
{
    if (flow->waiting || !wsh_srd_flow_deferred(&flow->srd))
        return;
    flow->waiting = true;
    flow->next = set->waiting;
    set->waiting = flow;
}

static void free_if_over(struct wsh_efa_set *set, struct wsh_efa_op *op)
{
    if (!op->in_flight && !op->noted && wsh_srd_op_over(&op->srd))
        op_free(set, op);
}

/* Natively what is given to the provider is in order, which is all that the engine wants to know of its end. */
static int report_ended(struct wsh_efa_set *set, struct wsh_efa_op *op)
{
    struct wsh_efa_flow *flow = op->flow;

    if (!set->native || op->srd.kind == WSH_SRD_GET || op->reported == op->srd.started)
        return 0;
    for (; op->reported < op->srd.started; op->reported++)
        wsh_srd_op_ended(&flow->ctx->srd, &flow->srd, &op->srd);
    return wsh_srd_flow_deferred(&flow->srd) ? wsh_srd_pump(&flow->srd, &set->ops.io) : 0;
}

static int settle_noted(struct wsh_efa_set *set)
{
    int rc = 0;

    while (set->ops.noted) {
        struct wsh_efa_op *op = set->ops.noted;
        int err;

        set->ops.noted = op->next;
        op->noted = false;
        err = report_ended(set, op);
        rc = rc ? rc : err;
        wsh_efa_op_wait(set, op->flow);
        free_if_over(set, op);
    }
    return rc;
}

void wsh_efa_op_refuse(struct wsh_efa_set *set, struct wsh_efa_op *op)
{
    if (op->msg)
        wsh_efa_req_put(op->msg);
    if (!op->in_flight)
        op_free(set, op);
}

/* Something is deferred only while others find room too; beyond, callers wait. */
static bool may_defer(const struct wsh_efa_set *set, const struct wsh_efa_op *op)
{
    return set->ops.n_free > WSH_EFA_OPS_MAX / 4 && (!op->msg || set->small.n_free > set->small.n / 4);
}

int wsh_efa_op_submit(struct wsh_efa_set *set, struct wsh_efa_op *op, struct wsh_done *done)
{
    struct wsh_efa_flow *flow = op->flow;
    unsigned what = op->what;
    int rc;

    op->srd.keep = may_defer(set, op);
    rc = wsh_srd_submit(&flow->ctx->srd, &flow->srd, &op->srd, &set->ops.io);
    if (rc) {
        wsh_efa_op_refuse(set, op);
        return rc;
    }
    if (what < WSH_EFA_WHATS)
        wsh_efa_count_add(&flow->what[what]);
    if (op->srd.segments) {
        op->done = done;
        wsh_efa_done_add(done);
    }
    wsh_efa_op_wait(set, flow);
    return settle_noted(set);
}

static int submit_message(struct wsh_efa_set *set, struct wsh_efa_flow *flow, struct wsh_efa_req *req,
                          enum wsh_efa_what what, bool counts)
{
    struct wsh_efa_op *op = wsh_efa_op_new(set, flow, WSH_SRD_MSG, what);

    if (!op) {
        wsh_efa_req_put(req);
        return -EAGAIN;
    }
    op->msg = req;
    op->counts = counts;
    return wsh_efa_op_submit(set, op, NULL);
}

int wsh_efa_op_message(struct wsh_efa_set *set, struct wsh_efa_flow *flow, struct wsh_efa_req *req,
                       enum wsh_efa_what what)
{
    return submit_message(set, flow, req, what, false);
}

int wsh_efa_op_message_counted(struct wsh_efa_set *set, struct wsh_efa_flow *flow, struct wsh_efa_req *req)
{
    return submit_message(set, flow, req, WSH_EFA_SIGNALS, true);
}

static void data_done(struct wsh_efa_set *set, struct wsh_efa_op *op)
{
    struct wsh_done *done = op->done;

    op->done = NULL;
    if (op->srd.by_counter && op->srd.segments > 1)
        set->peers[op->flow->pe].imm_count.in_pieces = false;
    if (op->srd.kind != WSH_SRD_SIGNAL)
        wsh_efa_count_sub(&op->flow->what[op->what]);
    wsh_efa_done_sub(done);
}

void wsh_efa_op_part_done(struct wsh_efa_set *set, struct wsh_efa_op *op)
{
    struct wsh_efa_flow *flow = op->flow;

    WSH_INVARIANT(op->in_flight);
    op->in_flight--;
    if (!op->in_flight && op->srd.started == op->srd.segments)
        data_done(set, op);
    if (set->native && op->srd.kind != WSH_SRD_GET) {
        wsh_efa_flow_end(flow, WSH_EFA_REQ_WRITE);
    } else {
        wsh_srd_op_ended(&flow->ctx->srd, &flow->srd, &op->srd);
        wsh_efa_op_wait(set, flow);
    }
    free_if_over(set, op);
}

int wsh_efa_op_progress(struct wsh_efa_set *set)
{
    struct wsh_efa_flow *flow = set->waiting;
    uint64_t given = set->ops.given;
    int rc = 0;

    set->waiting = NULL;
    set->starved = false;
    while (flow) {
        struct wsh_efa_flow *next = flow->next;

        flow->waiting = false;
        if (!rc)
            rc = wsh_srd_pump(&flow->srd, &set->ops.io);
        wsh_efa_op_wait(set, flow);
        if (!rc)
            rc = settle_noted(set);
        flow = next;
    }
    return rc ? rc : (int)(set->ops.given - given);
}

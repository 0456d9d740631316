/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows operations that need several requests: large ones, through buffers of ours, and data before a signal. */
#include "transports/efa/rma.h"

#include <stdlib.h>
#include <string.h>

#define EFA_OPS_MAX 512 /* under way at a time; beyond, callers wait */

static void op_free(struct wsh_efa_tp *tp, struct wsh_efa_op *op)
{
    op->next = tp->free_ops;
    tp->free_ops = op;
}

int wsh_efa_op_init(struct wsh_efa_tp *tp)
{
    tp->op_slab = calloc(EFA_OPS_MAX, sizeof *tp->op_slab);
    if (!tp->op_slab)
        return -ENOMEM;
    for (size_t i = EFA_OPS_MAX; i--;)
        op_free(tp, &tp->op_slab[i]);
    tp->ops_end = &tp->ops;
    return 0;
}

static struct wsh_efa_op *op_new(struct wsh_efa_tp *tp, const struct wsh_efa_op *from)
{
    struct wsh_efa_op *op = tp->free_ops;

    if (!op)
        return NULL;
    tp->free_ops = op->next;
    *op = *from;
    op->next = NULL;
    return op;
}

static void op_queue(struct wsh_efa_tp *tp, struct wsh_efa_op *op)
{
    op->next = NULL;
    *tp->ops_end = op;
    tp->ops_end = &op->next;
}

static void op_set_parked(struct wsh_efa_op *op, bool parked)
{
    uint32_t *count = &op->ctx->peer[op->pe].out[EFA_PARKED];

    if (op->kind != EFA_WRITE || op->parked == parked)
        return;
    op->parked = parked;
    if (parked)
        wsh_efa_count_add(count);
    else
        wsh_efa_count_sub(count);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The next part's memory: the user's where the provider can use it, else a buffer of ours. */
static struct wsh_efa_req *part_new(struct wsh_efa_tp *tp, const struct wsh_efa_op *op,
                                    struct wsh_efa_span *span)
{
    enum wsh_efa_req_kind kind = op->kind == EFA_WRITE ? EFA_REQ_WRITE : EFA_REQ_READ;
    struct wsh_efa_req *req;

    if (wsh_efa_mem_desc(tp, op->local, op->left, &span->desc)) {
        span->len = least(op->left, tp->part_max);
        span->local = op->local;
        return wsh_efa_req_get(&tp->plain, kind, op->pe);
    }
    req = wsh_efa_req_get(&tp->large, kind, op->pe);
    if (!req)
        return NULL;
    span->len = least(least(op->left, tp->part_max), tp->large.buf_size);
    span->local = req->buf;
    span->desc = req->desc;
    if (kind == EFA_REQ_WRITE)
        memcpy(req->buf, op->local, span->len);
    else
        req->copy_to = op->local;
    return req;
}

static int post_part(struct wsh_efa_tp *tp, struct wsh_efa_op *op)
{
    struct wsh_efa_span span = {.addr = op->addr, .key = op->key};
    struct wsh_efa_req *req = part_new(tp, op, &span);
    int rc;

    if (!req)
        return -EAGAIN;
    rc = wsh_efa_post(tp, req, &span, 0);
    if (rc) {
        wsh_efa_req_put(req);
        return rc;
    }
    req->op = op;
    req->len = (uint32_t)span.len;
    op->in_flight++;
    op->local += span.len;
    op->addr += span.len;
    op->left -= span.len;
    return 0;
}

/*
 * A signal must not overtake its data: it is sent when every part is delivered, or, where the provider keeps
 * messages behind writes, when every part has been given to it.
 */
static bool signal_may_go(const struct wsh_efa_tp *tp, const struct wsh_efa_op *op)
{
    return op->signals && !op->left && (!op->in_flight || tp->native.after[EFA_MSG] & 1 << EFA_WRITE);
}

static int send_signal(struct wsh_efa_tp *tp, struct wsh_efa_op *op)
{
    const struct wsh_efa_place none = {0};
    int rc = wsh_efa_signal_send(tp, op->ctx, op->pe, &none, NULL, 0, &op->signal, op->value);

    if (!rc) {
        op->signals = false;
        op_set_parked(op, false);
    }
    return rc;
}

/* Gives the provider what it takes. -EAGAIN: something is left to give. */
static int op_push(struct wsh_efa_tp *tp, struct wsh_efa_op *op)
{
    int rc = 0;

    while (op->left && !rc)
        rc = post_part(tp, op);
    if (!rc && signal_may_go(tp, op))
        rc = send_signal(tp, op);
    if (!rc && !op->signals)
        op_set_parked(op, false);
    return rc;
}

static void data_done(struct wsh_efa_op *op)
{
    struct wsh_done *done = op->done;

    op->done = NULL;
    wsh_efa_end(op->ctx, op->pe, op->kind);
    wsh_efa_done_sub(done);
}

int wsh_efa_op_start(struct wsh_efa_tp *tp, const struct wsh_efa_op *from)
{
    struct wsh_efa_op *op = op_new(tp, from);
    int rc;

    if (!op)
        return -EAGAIN;
    wsh_efa_begin(op->ctx, op->pe, op->kind);
    op_set_parked(op, true);
    rc = op_push(tp, op);
    if (rc == -EAGAIN && op->in_flight) {
        op_queue(tp, op);
        rc = 0;
    }
    if (rc == -EAGAIN) {
        op_set_parked(op, false);
        wsh_efa_end(op->ctx, op->pe, op->kind);
        op_free(tp, op);
    }
    if (!rc)
        wsh_efa_done_add(op->done);
    return rc;
}

void wsh_efa_op_part_done(struct wsh_efa_tp *tp, struct wsh_efa_op *op)
{
    if (--op->in_flight || op->left)
        return;
    data_done(op);
    if (!op->signals)
        op_free(tp, op);
    else if (!(tp->native.after[EFA_MSG] & 1 << EFA_WRITE))
        op_queue(tp, op);
}

int wsh_efa_op_progress(struct wsh_efa_tp *tp)
{
    struct wsh_efa_op *op = tp->ops;
    int moved = 0;

    tp->ops = NULL;
    tp->ops_end = &tp->ops;
    while (op) {
        struct wsh_efa_op *next = op->next;
        size_t left = op->left;
        int rc = op_push(tp, op);

        if (rc < 0 && rc != -EAGAIN)
            return rc;
        moved += rc == 0 || op->left != left;
        if (rc == -EAGAIN)
            op_queue(tp, op);
        else if (!op->in_flight && !op->left && !op->signals)
            op_free(tp, op);
        op = next;
    }
    return moved;
}

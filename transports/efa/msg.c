/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how messages are sent and received, and how peers are told what has been applied. */
#include "transports/efa/mem.h"
#include "transports/efa/rails.h"
#include "transports/efa/run.h"

#include <stdlib.h>
#include <string.h>

static void head_fill(const struct wsh_efa_tp *tp, struct wsh_efa_req *req, enum wsh_efa_wire type,
                      size_t len, uint16_t ctx)
{
    struct wsh_efa_head *head = (struct wsh_efa_head *)req->buf;

    wsh_efa_wire_head(head, type, len, tp->my_pe, ctx);
    head->tag = tp->peers[req->pe].tag_out;
}

struct wsh_efa_req *wsh_efa_msg_new(struct wsh_efa_tp *tp, const struct wsh_efa_flow *flow,
                                    enum wsh_efa_wire type, size_t len)
{
    struct wsh_efa_req *req = wsh_efa_req_get(&tp->small, EFA_REQ_SEND, flow->pe);

    if (!req)
        return NULL;
    head_fill(tp, req, type, len, flow->ctx->number);
    req->len = (uint32_t)len;
    return req;
}

/* A receive that is not posted counts as in use: its credit is not given back. */
static void stamp_told(const struct wsh_efa_tp *tp, const struct wsh_efa_inlet *inlet,
                       struct wsh_srd_stamp *stamp)
{
    bool late = tp->unposted;

    stamp->applied = late ? inlet->srd.told_applied : inlet->srd.applied;
    stamp->counted = late ? inlet->srd.told_counted : inlet->srd.counted;
}

static int send_one(struct wsh_efa_tp *tp, struct wsh_efa_req *req)
{
    struct wsh_efa_peer *peer = &tp->peers[req->pe];
    ssize_t rc;

    if (wsh_unlikely(tp->aside))
        return tp->n_rails > 1 ? wsh_efa_rails_send(tp, req) : wsh_efa_run_send(tp, req);
    rc = fi_send(tp->rail[0].ep, req->buf, req->len, req->desc, peer->addr, req);
    if (wsh_unlikely(rc))
        return wsh_efa_posted(tp, 0, req->pe, "message", rc);
    wsh_efa_took(tp, req);
    return 0;
}

int wsh_efa_msg_send(struct wsh_efa_tp *tp, struct wsh_efa_req *req, const struct wsh_srd_stamp *stamp)
{
    struct wsh_efa_head *head = (struct wsh_efa_head *)req->buf;
    struct wsh_efa_inlet *inlet = wsh_efa_inlet_find(tp, req->pe, head->ctx);
    int rc;

    if (stamp)
        head->stamp = *stamp;
    if (inlet)
        stamp_told(tp, inlet, &head->stamp);
    wsh_order_leaves(); /* what was applied is told */
    rc = send_one(tp, req);
    if (rc)
        return rc;
    if (inlet && !tp->unposted)
        wsh_srd_inlet_told(&inlet->srd);
    return 0;
}

int wsh_efa_msg_submit(struct wsh_efa_tp *tp, struct wsh_efa_flow *flow, struct wsh_efa_req *req,
                       enum wsh_efa_what what)
{
    struct wsh_efa_op *op = wsh_efa_op_new(tp, flow, WSH_SRD_MSG, what);

    if (!op) {
        wsh_efa_req_put(req);
        return -EAGAIN;
    }
    op->msg = req;
    return wsh_efa_op_submit(tp, op, NULL);
}

/* Messages without a number, which no flow keeps waiting. */
static int send_free(struct wsh_efa_tp *tp, int pe, uint16_t ctx, enum wsh_efa_wire type, const void *body,
                     size_t len)
{
    struct wsh_efa_req *req = wsh_efa_req_get(&tp->answer, EFA_REQ_SEND, pe);
    int rc;

    if (!req)
        return -EAGAIN;
    head_fill(tp, req, type, sizeof(struct wsh_efa_head) + len, ctx);
    memcpy(req->buf + sizeof(struct wsh_efa_head), body, len);
    req->len = (uint32_t)(sizeof(struct wsh_efa_head) + len);
    rc = wsh_efa_msg_send(tp, req, NULL);
    if (rc)
        wsh_efa_req_put(req);
    return rc;
}

static int send_answer(struct wsh_efa_tp *tp, const struct wsh_efa_answer *answer)
{
    return send_free(tp, answer->pe, answer->ctx, EFA_WIRE_REPLY, answer->body, EFA_REPLY_ROOM + answer->len);
}

/* At most a peer's fetches wait here, because each holds a credit there. */
static int queue_answer(struct wsh_efa_tp *tp, const struct wsh_efa_answer *from)
{
    struct wsh_efa_answer *answer = malloc(sizeof *answer);

    if (!answer)
        return wsh_efa_fail(tp, -ENOMEM, "no memory to answer PE %d", from->pe);
    *answer = *from;
    answer->next = NULL;
    *tp->answers_end = answer;
    tp->answers_end = &answer->next;
    return 0;
}

int wsh_efa_msg_answer(struct wsh_efa_tp *tp, int pe, uint16_t ctx, uint32_t cookie, const void *bytes,
                       size_t len)
{
    struct wsh_efa_answer answer;
    int rc;

    answer.pe = pe;
    answer.ctx = ctx;
    answer.len = len;
    memset(answer.body, 0, EFA_REPLY_ROOM);
    memcpy(answer.body, &cookie, sizeof cookie);
    memcpy(answer.body + EFA_REPLY_ROOM, bytes, len);
    rc = tp->answers ? -EAGAIN : send_answer(tp, &answer);
    return rc == -EAGAIN ? queue_answer(tp, &answer) : rc;
}

static int send_answers(struct wsh_efa_tp *tp)
{
    int sent = 0;

    while (tp->answers) {
        struct wsh_efa_answer *answer = tp->answers;
        int rc = send_answer(tp, answer);

        if (rc)
            return rc == -EAGAIN ? sent : rc;
        tp->answers = answer->next;
        if (!tp->answers)
            tp->answers_end = &tp->answers;
        free(answer);
        sent++;
    }
    return sent;
}

void wsh_efa_msg_owe(struct wsh_efa_tp *tp, struct wsh_efa_inlet *inlet)
{
    if (inlet->owing || !wsh_srd_inlet_owes(&inlet->srd))
        return;
    inlet->owing = true;
    inlet->next = tp->owing;
    tp->owing = inlet;
}

static int tell(struct wsh_efa_tp *tp, int pe, uint16_t ctx)
{
    return send_free(tp, pe, ctx, EFA_WIRE_TELL, "", 0);
}

/* A telling waits for a message to ride on, or until there is nothing better to do, or until much is owed. */
static int send_tellings(struct wsh_efa_tp *tp, bool idle)
{
    struct wsh_efa_inlet *inlet = tp->owing;
    int sent = 0, final = 0;

    tp->owing = NULL;
    while (inlet) {
        struct wsh_efa_inlet *next = inlet->next;
        int rc = 0;

        inlet->owing = false;
        if (!final && !tp->unposted && wsh_srd_inlet_owes(&inlet->srd) &&
            (idle || wsh_srd_inlet_urgent(&inlet->srd))) {
            rc = tell(tp, inlet->pe, inlet->ctx);
            sent += !rc;
        }
        if (rc < 0 && rc != -EAGAIN)
            final = rc;
        wsh_efa_msg_owe(tp, inlet);
        inlet = next;
    }
    return final ? final : sent;
}

int wsh_efa_msg_probe(struct wsh_efa_tp *tp, int pe)
{
    return tell(tp, pe, tp->own->number);
}

static int post_receives(struct wsh_efa_tp *tp)
{
    struct wsh_efa_req *req = tp->unposted;
    int rc = 0;

    tp->unposted = NULL;
    while (req) {
        struct wsh_efa_req *next = req->next;
        int err = wsh_efa_msg_post(tp, req);

        rc = rc ? rc : err;
        req = next;
    }
    return rc;
}

int wsh_efa_msg_post(struct wsh_efa_tp *tp, struct wsh_efa_req *req)
{
    ssize_t rc = fi_recv(tp->rail[req->way.rail].ep, req->buf, tp->rx.buf_size,
                         wsh_efa_desc(tp, req->desc, req->way.rail), FI_ADDR_UNSPEC, req);

    if (wsh_likely(!rc))
        return 0;
    rc = wsh_efa_refusal(tp, req->way.rail, rc);
    if (rc != -FI_EAGAIN)
        rc = wsh_efa_posted(tp, req->way.rail, tp->my_pe, "receive", rc);
    if (rc != -EAGAIN)
        return (int)rc;
    req->next = tp->unposted;
    tp->unposted = req;
    return 0;
}

int wsh_efa_msg_progress(struct wsh_efa_tp *tp, bool idle)
{
    int moved = 0, rc;

    if (wsh_unlikely(tp->unposted) && (rc = post_receives(tp)))
        return rc;
    if (wsh_unlikely(tp->answers)) {
        moved = send_answers(tp);
        if (moved < 0)
            return moved;
    }
    if (tp->owing) {
        rc = send_tellings(tp, idle);
        if (rc < 0)
            return rc;
        moved += rc;
    }
    if (idle && !moved && (rc = wsh_efa_look_after(tp)))
        return rc;
    return moved;
}

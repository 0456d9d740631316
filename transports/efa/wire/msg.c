/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends and receives messages, and acknowledges to peers what has been applied. */
#include "transports/efa/wire/msg.h"

#include "transports/efa/wire/batch.h"
#include "transports/efa/set/set.h"
#include "transports/efa/set/memory.h"
#include "transports/efa/set/peers.h"
#include "transports/efa/set/errors.h"
#include "transports/efa/wire/rails.h"

#include <stdlib.h>
#include <string.h>

static void head_fill(const struct wsh_efa_set *set, struct wsh_efa_req *req, enum wsh_efa_wire type,
                      size_t len, uint16_t ctx)
{
    struct wsh_efa_head *head = (struct wsh_efa_head *)req->buf;

    wsh_efa_wire_head(head, type, len, set->my_pe, ctx);
    head->tag = set->peers[req->pe].tag_out;
}

struct wsh_efa_req *wsh_efa_msg_new(struct wsh_efa_set *set, const struct wsh_efa_flow *flow,
                                    enum wsh_efa_wire type, size_t len)
{
    struct wsh_efa_req *req = wsh_efa_req_get(&set->small, WSH_EFA_REQ_SEND, flow->pe);

    if (!req)
        return NULL;
    head_fill(set, req, type, len, flow->ctx->number);
    req->len = (uint32_t)len;
    return req;
}

struct wsh_efa_req *wsh_efa_msg_signal(struct wsh_efa_set *set, const struct wsh_efa_flow *flow,
                                       const struct wsh_efa_target *data, const void *src, size_t len,
                                       const struct wsh_efa_target *signal, uint64_t value)
{
    struct wsh_efa_req *req =
        wsh_efa_msg_new(set, flow, WSH_EFA_WIRE_SIGNAL, sizeof(struct wsh_efa_signal_msg) + len);
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

/* A receive that is not posted counts as in use: its credit is not given back. */
static void stamp_acks(const struct wsh_efa_set *set, const struct wsh_efa_rx_flow *rx_flow,
                       struct wsh_srd_stamp *stamp)
{
    bool late = set->msgs.unposted;

    stamp->applied = late ? rx_flow->srd.acked_applied : rx_flow->srd.applied;
    stamp->counted = late ? rx_flow->srd.acked_counted : rx_flow->srd.counted;
}

static int send_req(struct wsh_efa_set *set, struct wsh_efa_req *req)
{
    struct wsh_efa_peer *peer = &set->peers[req->pe];
    ssize_t rc;

    if (wsh_unlikely(set->aside))
        return set->n_rails > 1 ? wsh_efa_rails_send(set, req) : wsh_efa_batch_send(set, req);
    rc = fi_send(set->rail[0].ep, req->buf, req->len, req->desc, peer->addr, req);
    if (wsh_unlikely(rc))
        return wsh_efa_post_check(set, 0, req->pe, "message", rc);
    wsh_efa_req_begin(set, req, req->len);
    return 0;
}

int wsh_efa_msg_send(struct wsh_efa_set *set, struct wsh_efa_req *req, const struct wsh_srd_stamp *stamp)
{
    struct wsh_efa_head *head = (struct wsh_efa_head *)req->buf;
    struct wsh_efa_rx_flow *rx_flow = wsh_efa_rx_flow_find(set, req->pe, head->ctx);
    int rc;

    if (stamp)
        head->stamp = *stamp;
    if (rx_flow)
        stamp_acks(set, rx_flow, &head->stamp);
    wsh_order_leaves(); /* what was applied is told */
    rc = send_req(set, req);
    if (rc)
        return rc;
    if (rx_flow && !set->msgs.unposted)
        wsh_srd_rx_flow_acked(&rx_flow->srd);
    return 0;
}

/* Messages without a number, which no flow keeps waiting. */
static int send_free(struct wsh_efa_set *set, int pe, uint16_t ctx, enum wsh_efa_wire type, const void *body,
                     size_t len)
{
    struct wsh_efa_req *req = wsh_efa_req_get(&set->answer, WSH_EFA_REQ_SEND, pe);
    int rc;

    if (!req)
        return -EAGAIN;
    head_fill(set, req, type, sizeof(struct wsh_efa_head) + len, ctx);
    memcpy(req->buf + sizeof(struct wsh_efa_head), body, len);
    req->len = (uint32_t)(sizeof(struct wsh_efa_head) + len);
    rc = wsh_efa_msg_send(set, req, NULL);
    if (rc)
        wsh_efa_req_put(req);
    return rc;
}

static int send_answer(struct wsh_efa_set *set, const struct wsh_efa_answer *answer)
{
    return send_free(set, answer->pe, answer->ctx, WSH_EFA_WIRE_REPLY, answer->body,
                     WSH_EFA_REPLY_ROOM + answer->len);
}

/* At most a peer's fetches wait here, because each holds a credit there. */
static int queue_answer(struct wsh_efa_set *set, const struct wsh_efa_answer *from)
{
    struct wsh_efa_answer *answer = malloc(sizeof *answer);

    if (!answer)
        return wsh_efa_set_fail(set, -ENOMEM, "no memory to answer PE %d", from->pe);
    *answer = *from;
    answer->next = NULL;
    *set->msgs.answers_end = answer;
    set->msgs.answers_end = &answer->next;
    return 0;
}

int wsh_efa_msg_answer(struct wsh_efa_set *set, int pe, uint16_t ctx, uint32_t cookie, const void *bytes,
                       size_t len)
{
    struct wsh_efa_answer answer;
    int rc;

    answer.pe = pe;
    answer.ctx = ctx;
    answer.len = len;
    memset(answer.body, 0, WSH_EFA_REPLY_ROOM);
    memcpy(answer.body, &cookie, sizeof cookie);
    memcpy(answer.body + WSH_EFA_REPLY_ROOM, bytes, len);
    rc = set->msgs.answers ? -EAGAIN : send_answer(set, &answer);
    return rc == -EAGAIN ? queue_answer(set, &answer) : rc;
}

int wsh_efa_msg_answers(struct wsh_efa_set *set)
{
    int sent = 0;

    while (set->msgs.answers) {
        struct wsh_efa_answer *answer = set->msgs.answers;
        int rc = send_answer(set, answer);

        if (rc)
            return rc == -EAGAIN ? sent : rc;
        set->msgs.answers = answer->next;
        if (!set->msgs.answers)
            set->msgs.answers_end = &set->msgs.answers;
        free(answer);
        sent++;
    }
    return sent;
}

/* The source may wait for it: more than lazy messages have come. */
static bool is_awaited(const struct wsh_efa_rx_flow *rx_flow)
{
    const struct wsh_srd_rx_flow *srd = &rx_flow->srd;

    return srd->counted != srd->acked_counted || wsh_srd_before(srd->acked_applied, rx_flow->prompt_end) ||
           wsh_srd_rx_flow_urgent(srd);
}

void wsh_efa_msg_ack_later(struct wsh_efa_set *set, struct wsh_efa_rx_flow *rx_flow)
{
    if (rx_flow->ack_pending || !wsh_srd_rx_flow_has_ack(&rx_flow->srd) || !is_awaited(rx_flow))
        return;
    rx_flow->ack_pending = true;
    rx_flow->next = set->msgs.ack_pending;
    set->msgs.ack_pending = rx_flow;
}

int wsh_efa_msg_counted(struct wsh_efa_set *set, int pe, uint32_t counted)
{
    const struct wsh_efa_count_msg msg = {.counter_writes = counted};

    return send_free(set, pe, set->own->number, WSH_EFA_WIRE_COUNTED, &msg.counter_writes,
                     sizeof msg - sizeof msg.head);
}

static int send_ack(struct wsh_efa_set *set, int pe, uint16_t ctx)
{
    return send_free(set, pe, ctx, WSH_EFA_WIRE_ACK, "", 0);
}

/* An ack waits for a message to ride on, or until there is nothing better to do, or until much is owed. */
int wsh_efa_msg_acks(struct wsh_efa_set *set, bool idle)
{
    struct wsh_efa_rx_flow *rx_flow = set->msgs.ack_pending;
    int sent = 0, final = 0;

    set->msgs.ack_pending = NULL;
    while (rx_flow) {
        struct wsh_efa_rx_flow *next = rx_flow->next;
        int rc = 0;

        rx_flow->ack_pending = false;
        if (!final && !set->msgs.unposted && wsh_srd_rx_flow_has_ack(&rx_flow->srd) &&
            (idle || wsh_srd_rx_flow_urgent(&rx_flow->srd))) {
            rc = send_ack(set, rx_flow->pe, rx_flow->ctx);
            sent += !rc;
        }
        if (rc < 0 && rc != -EAGAIN)
            final = rc;
        wsh_efa_msg_ack_later(set, rx_flow);
        rx_flow = next;
    }
    return final ? final : sent;
}

int wsh_efa_msg_probe(struct wsh_efa_set *set, int pe)
{
    return send_ack(set, pe, set->own->number);
}

int wsh_efa_msg_receives(struct wsh_efa_set *set)
{
    struct wsh_efa_req *req = set->msgs.unposted;
    int rc = 0;

    set->msgs.unposted = NULL;
    while (req) {
        struct wsh_efa_req *next = req->next;
        int err = wsh_efa_msg_post(set, req);

        rc = rc ? rc : err;
        req = next;
    }
    return rc;
}

int wsh_efa_msg_post(struct wsh_efa_set *set, struct wsh_efa_req *req)
{
    ssize_t rc = fi_recv(set->rail[req->wr.rail].ep, req->buf, set->rx.buf_size,
                         wsh_efa_mr_desc(set, req->desc, req->wr.rail), FI_ADDR_UNSPEC, req);

    if (wsh_likely(!rc))
        return 0;
    rc = wsh_efa_rail_error(set, req->wr.rail, rc);
    if (rc != -FI_EAGAIN)
        rc = wsh_efa_post_check(set, req->wr.rail, set->my_pe, "receive", rc);
    if (rc != -EAGAIN)
        return (int)rc;
    req->next = set->msgs.unposted;
    set->msgs.unposted = req;
    return 0;
}

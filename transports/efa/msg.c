/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how messages are sent, received and acknowledged. */
#include "transports/efa/efa.h"

#include <stdlib.h>
#include <string.h>

struct wsh_efa_req *wsh_efa_msg_new(struct wsh_efa_tp *tp, int pe)
{
    if (!wsh_efa_chan_may_send(&tp->peers[pe].chan))
        return NULL;
    return wsh_efa_req_get(&tp->small, EFA_REQ_SEND, pe);
}

/* Gives the message in req->buf, whose body is filled, to the provider; takes req back if that fails. */
static int post_send(struct wsh_efa_tp *tp, struct wsh_efa_req *req, enum wsh_efa_wire type, size_t len,
                     uint32_t seq)
{
    struct wsh_efa_peer *peer = &tp->peers[req->pe];
    int rc;

    wsh_efa_wire_head((struct wsh_efa_head *)req->buf, type, len, tp->my_pe, seq, peer->chan.applied);
    req->len = type;
    rc = wsh_efa_posted(tp, req->pe, "message",
                        fi_send(tp->rail.ep, req->buf, len, req->desc, peer->addr, req));
    if (rc) {
        wsh_efa_req_put(req);
        return rc;
    }
    wsh_efa_took(peer);
    peer->chan.told = peer->chan.applied;
    return 0;
}

int wsh_efa_msg_send(struct wsh_efa_tp *tp, struct wsh_efa_req *req, enum wsh_efa_wire type, size_t len,
                     const struct wsh_efa_sent *sent)
{
    struct wsh_efa_chan *chan = &tp->peers[req->pe].chan;
    int pe = req->pe, rc = post_send(tp, req, type, len, chan->sent);

    if (rc)
        return rc;
    wsh_efa_chan_send(chan, sent);
    tp->n_unanswered++;
    wsh_efa_begin(sent->owner, pe, EFA_MSG);
    return 0;
}

int wsh_efa_msg_put(struct wsh_efa_tp *tp, struct wsh_efa_ctx *ctx, int pe, const struct wsh_efa_place *data,
                    const void *src, size_t len)
{
    const struct wsh_efa_sent sent = {.owner = ctx, .type = EFA_WIRE_PUT};
    struct wsh_efa_req *req = wsh_efa_msg_new(tp, pe);
    struct wsh_efa_put_msg *msg;

    if (!req)
        return -EAGAIN;
    msg = (struct wsh_efa_put_msg *)req->buf;
    msg->data = *data;
    memcpy(msg->bytes, src, len);
    return wsh_efa_msg_send(tp, req, EFA_WIRE_PUT, sizeof *msg + len, &sent);
}

static int send_answer(struct wsh_efa_tp *tp, int pe, uint32_t seq, uint64_t value)
{
    struct wsh_efa_req *req = wsh_efa_req_get(&tp->small, EFA_REQ_SEND, pe);

    if (!req)
        return -EAGAIN;
    ((struct wsh_efa_reply_msg *)req->buf)->value = value;
    return post_send(tp, req, EFA_WIRE_REPLY, sizeof(struct wsh_efa_reply_msg), seq);
}

/* At most a peer's window of answers waits, because a fetch without its answer holds a credit there. */
static int queue_answer(struct wsh_efa_tp *tp, int pe, uint32_t seq, uint64_t value)
{
    struct wsh_efa_answer *answer = malloc(sizeof *answer);

    if (!answer)
        return wsh_efa_fail(tp, -ENOMEM, "no memory to answer an atomic of PE %d", pe);
    *answer = (struct wsh_efa_answer){.value = value, .seq = seq, .pe = pe};
    *tp->answers_end = answer;
    tp->answers_end = &answer->next;
    return 0;
}

int wsh_efa_msg_answer(struct wsh_efa_tp *tp, int pe, uint32_t seq, uint64_t value)
{
    int rc = tp->answers ? -EAGAIN : send_answer(tp, pe, seq, value);

    return rc == -EAGAIN ? queue_answer(tp, pe, seq, value) : rc;
}

static int send_answers(struct wsh_efa_tp *tp)
{
    int sent = 0;

    while (tp->answers) {
        struct wsh_efa_answer *answer = tp->answers;
        int rc = send_answer(tp, answer->pe, answer->seq, answer->value);

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

void wsh_efa_msg_owe(struct wsh_efa_tp *tp, int pe)
{
    struct wsh_efa_peer *peer = &tp->peers[pe];

    if (peer->owed)
        return;
    peer->owed = true;
    tp->owing[tp->n_owing++] = pe;
}

static int send_ack(struct wsh_efa_tp *tp, int pe)
{
    struct wsh_efa_req *req = wsh_efa_req_get(&tp->small, EFA_REQ_SEND, pe);

    return req ? post_send(tp, req, EFA_WIRE_ACK, sizeof(struct wsh_efa_head), 0) : -EAGAIN;
}

/*
 * An acknowledgement waits for a message to ride on, or until there is nothing better to do, or until the peer
 * could run out of credits.
 */
static int send_acks(struct wsh_efa_tp *tp, bool idle)
{
    int kept = 0, sent = 0, final = 0;

    for (int i = 0; i < tp->n_owing; i++) {
        int pe = tp->owing[i];
        struct wsh_efa_peer *peer = &tp->peers[pe];
        uint32_t owed = wsh_efa_chan_owed(&peer->chan);
        int rc = 0;

        if (owed && !final && (idle || owed >= tp->window / 2)) {
            rc = send_ack(tp, pe);
            sent += !rc;
        }
        if (rc < 0 && rc != -EAGAIN)
            final = rc;
        peer->owed = wsh_efa_chan_owed(&peer->chan);
        if (peer->owed)
            tp->owing[kept++] = pe;
    }
    tp->n_owing = kept;
    return final ? final : sent;
}

int wsh_efa_msg_probe(struct wsh_efa_tp *tp, int pe)
{
    return send_ack(tp, pe);
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
    ssize_t rc = fi_recv(tp->rail.ep, req->buf, tp->rx.buf_size, req->desc, FI_ADDR_UNSPEC, req);

    if (rc == -FI_EAGAIN) {
        req->next = tp->unposted;
        tp->unposted = req;
        return 0;
    }
    return rc ? wsh_efa_posted(tp, tp->my_pe, "receive", rc) : 0;
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
    if (tp->n_owing) {
        rc = send_acks(tp, idle);
        if (rc < 0)
            return rc;
        moved += rc;
    }
    if (idle && !moved && tp->n_unanswered && (rc = wsh_efa_look_after(tp)))
        return rc;
    return moved;
}

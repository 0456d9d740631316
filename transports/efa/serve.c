/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows what a target does with the messages of its peers. */
#include "transports/efa/efa.h"

#include <string.h>

static int refuse(struct wsh_efa_tp *tp, const union wsh_efa_msg *msg, size_t len, const char *why)
{
    bool headed = len >= sizeof msg->head;

    return wsh_efa_fail(tp, -EPROTO,
                        "bad message over %s: %s (%zu bytes, version %d, type %d, from PE %d); all PEs must "
                        "run the same build",
                        tp->rail.name, why, len, headed ? msg->head.version : -1,
                        headed ? msg->head.type : -1, headed ? (int)msg->head.src : -1);
}

/*
 * Stores a message's bytes. A single word is stored whole, with release order (partner: the acquire load of the
 * program's wait on it); other data is only read after a later message's word has been seen.
 */
static void store(void *dst, const void *src, size_t len)
{
    wsh_order_returns();
    if (len == 8 && !((uintptr_t)dst & 7)) {
        uint64_t word;

        memcpy(&word, src, 8);
        __atomic_store_n((uint64_t *)dst, word, __ATOMIC_RELEASE);
    } else if (len == 4 && !((uintptr_t)dst & 3)) {
        uint32_t word;

        memcpy(&word, src, 4);
        __atomic_store_n((uint32_t *)dst, word, __ATOMIC_RELEASE);
    } else {
        __atomic_thread_fence(__ATOMIC_RELEASE); /* same partner, for shorter flags */
        memcpy(dst, src, len);
    }
}

static int apply_data(struct wsh_efa_tp *tp, const union wsh_efa_msg *msg, const struct wsh_efa_place *place,
                      const void *src, size_t len)
{
    void *dst = wsh_efa_wire_resolve(place, len, tp->seg_base, tp->seg_len);

    if (!dst)
        return refuse(tp, msg, msg->head.len, "data outside of the symmetric memory");
    store(dst, src, len);
    return 0;
}

static int apply_amo(struct wsh_efa_tp *tp, const union wsh_efa_msg *msg, const struct wsh_efa_place *place,
                     uint64_t operand, uint64_t compare, uint64_t *old)
{
    void *word = wsh_efa_wire_resolve(place, place->width, tp->seg_base, tp->seg_len);

    if (!word)
        return refuse(tp, msg, msg->head.len, "atomic outside of the symmetric memory");
    *old = wsh_amo_apply(word, place->op, place->width, operand, compare);
    return 0;
}

static int apply_signal(struct wsh_efa_tp *tp, const union wsh_efa_msg *msg)
{
    const struct wsh_efa_signal_msg *signal = &msg->signal;
    size_t len = signal->head.len - sizeof *signal;
    uint64_t old;
    int rc = len ? apply_data(tp, msg, &signal->data, signal->bytes, len) : 0;

    return rc ? rc : apply_amo(tp, msg, &signal->signal, signal->value, 0, &old);
}

/* The answer counts the fetch as applied, so it is written after the channel has moved on. */
static int apply(struct wsh_efa_tp *tp, const union wsh_efa_msg *msg, uint64_t *old)
{
    const struct wsh_efa_amo_msg *amo = &msg->amo;

    switch (msg->head.type) {
    case EFA_WIRE_HELLO: tp->hellos++; return 0;
    case EFA_WIRE_PUT:
        return apply_data(tp, msg, &msg->put.data, msg->put.bytes, msg->head.len - sizeof msg->put);
    case EFA_WIRE_SIGNAL: return apply_signal(tp, msg);
    default: return apply_amo(tp, msg, &amo->word, amo->operand, amo->compare, old);
    }
}

/* Applies the message in req and those held behind it; gives their receives back to the provider. */
static int apply_from(struct wsh_efa_tp *tp, struct wsh_efa_peer *peer, struct wsh_efa_req *req)
{
    while (req) {
        union wsh_efa_msg *msg = (union wsh_efa_msg *)req->buf;
        struct wsh_efa_req *next;
        struct wsh_efa_head head = msg->head;
        uint64_t old = 0;
        int rc = apply(tp, msg, &old);

        if (rc || (rc = wsh_efa_msg_post(tp, req)))
            return rc;
        next = wsh_efa_chan_applied(&peer->chan);
        if (head.type == EFA_WIRE_FETCH)
            rc = wsh_efa_msg_answer(tp, (int)head.src, head.seq, old);
        else
            wsh_efa_msg_owe(tp, (int)head.src);
        if (rc)
            return rc;
        req = next;
    }
    return 0;
}

static int serve_numbered(struct wsh_efa_tp *tp, struct wsh_efa_peer *peer, struct wsh_efa_req *req)
{
    const union wsh_efa_msg *msg = (const union wsh_efa_msg *)req->buf;

    switch (wsh_efa_chan_arrive(&peer->chan, msg->head.seq, req)) {
    case EFA_APPLY: return apply_from(tp, peer, req);
    case EFA_HELD: return 0;
    default: return refuse(tp, msg, msg->head.len, "number out of the window");
    }
}

struct answer {
    struct wsh_efa_tp *tp;
    int pe;
};

static void sent_complete(void *arg, const struct wsh_efa_sent *sent)
{
    const struct answer *answer = arg;

    answer->tp->n_unanswered--;
    wsh_efa_end(sent->owner, answer->pe, EFA_MSG);
}

static int serve_reply(struct wsh_efa_tp *tp, struct wsh_efa_peer *peer, const struct wsh_efa_reply_msg *msg)
{
    struct wsh_efa_sent sent;

    if (wsh_efa_chan_reply(&peer->chan, msg->head.seq, &sent))
        return refuse(tp, (const union wsh_efa_msg *)msg, msg->head.len, "answer to no question");
    tp->n_unanswered--;
    wsh_amo_store_result(sent.result, sent.width, msg->value);
    wsh_efa_end(sent.owner, (int)msg->head.src, EFA_MSG);
    wsh_efa_done_sub(sent.done);
    return 0;
}

int wsh_efa_serve(struct wsh_efa_tp *tp, struct wsh_efa_req *req, size_t len)
{
    const union wsh_efa_msg *msg = (const union wsh_efa_msg *)req->buf;
    const char *why = wsh_efa_wire_check(msg, len, tp->n_pes);
    struct answer answer = {tp, 0};
    struct wsh_efa_peer *peer;
    int rc = 0;

    if (why)
        return refuse(tp, msg, len, why);
    answer.pe = (int)msg->head.src;
    peer = &tp->peers[answer.pe];
    if (!peer->connected)
        return refuse(tp, msg, len, "from a PE that has not joined");
    peer->heard = true;
    if (wsh_efa_chan_ack(&peer->chan, msg->head.ack, sent_complete, &answer))
        return refuse(tp, msg, len, "acknowledges more than was sent");
    if (msg->head.type == EFA_WIRE_REPLY)
        rc = serve_reply(tp, peer, &msg->reply);
    else if (msg->head.type != EFA_WIRE_ACK)
        return serve_numbered(tp, peer, req);
    return rc ? rc : wsh_efa_msg_post(tp, req);
}

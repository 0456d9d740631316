/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the messages that come from a PE: given to this PE's GPU in their order, answered, and freed. */
#include "transports/relay/relay.h"

#include "base/log.h"

#include <stdlib.h>

static size_t index_of(const struct relay *relay, uint64_t pos)
{
    return (size_t)(pos % relay->places);
}

static char *place_of(const struct relay *relay, const struct relay_peer *peer, uint64_t pos)
{
    return peer->box + relay_in(relay->places) + index_of(relay, pos) * RELAY_PLACE;
}

static bool is_inside(const struct relay *relay, unsigned seg, uint64_t off, uint64_t len)
{
    return seg < WSH_SEGS && off <= relay->lens[seg] && len <= relay->lens[seg] - off;
}

static bool is_word(const struct relay_head *head)
{
    return head->seg >= WSH_SEG_DEVICE && (head->width == 4 || head->width == 8) &&
           head->len == head->width && head->off % head->width == 0 && head->op < WSH_AMO_OPS;
}

static bool is_sound(const struct relay *relay, const struct relay_head *head, uint64_t pos)
{
    size_t room = (size_t)head->places * RELAY_PLACE;

    if (!head->places || index_of(relay, pos) + head->places > relay->places)
        return false;
    if (head->kind == RELAY_PAD)
        return true;
    if (!is_inside(relay, head->seg, head->off, head->len) || sizeof *head + head->len > room)
        return false;
    switch (head->kind) {
    case RELAY_PUT:
    case RELAY_GET: return head->len > 0;
    case RELAY_SIGNAL:
        return head->len > 0 && head->signal_seg >= WSH_SEG_DEVICE &&
               is_inside(relay, head->signal_seg, head->signal_off, 8) && head->signal_off % 8 == 0 &&
               (head->signal_op == WSH_AMO_SET || head->signal_op == WSH_AMO_ADD);
    case RELAY_AMO:
    case RELAY_FETCH: return is_word(head);
    default: return false;
    }
}

static int say_damaged(const struct relay_peer *peer, const struct relay_head *head)
{
    wsh_error("a message of PE %d about device memory of this PE is damaged (kind %d, %u bytes): a program "
              "may have "
              "written into symmetric memory that it has not allocated",
              peer->pe, head->kind, (unsigned)head->len);
    return -EPROTO;
}

/* This PE's own segment, as its GPU reaches it: host memory too, since copies of it keep the order of the others. */
static const struct wsh_rmem *own(const struct relay *relay, unsigned seg)
{
    struct wsh_tp_way way;

    return relay->under->find(relay->under, relay->my_pe, (enum wsh_seg)seg, &way) ? NULL : way.rmem;
}

static int apply_signal(struct relay *relay, const struct wsh_rmem *to, const struct relay_head *head,
                        const char *payload)
{
    const struct wsh_sig signal = {own(relay, head->signal_seg), head->signal_off,
                                   (enum wsh_amo_op)head->signal_op, head->value};

    if (!signal.rmem)
        return -EHOSTUNREACH;
    return relay->gpu->tp->ops->put_signal(relay->gpu, to, head->off, payload, head->len, &signal, NULL);
}

static int apply(struct relay *relay, const struct relay_head *head, char *payload)
{
    const struct wsh_rmem *to = own(relay, head->seg);
    const struct wsh_tp_ops *ops = relay->gpu->tp->ops;
    const struct wsh_amo amo = {(enum wsh_amo_op)head->op, head->width, head->value, head->compare};

    if (!to)
        return -EHOSTUNREACH;
    switch (head->kind) {
    case RELAY_PUT: return ops->put(relay->gpu, to, head->off, payload, head->len, NULL);
    case RELAY_GET: return ops->get(relay->gpu, to, head->off, payload, head->len, NULL);
    case RELAY_SIGNAL: return apply_signal(relay, to, head, payload);
    default:
        return ops->amo(relay->gpu, to, head->off, &amo, head->kind == RELAY_FETCH ? payload : NULL, NULL);
    }
}

int relay_in_apply(struct relay *relay, struct relay_peer *peer, uint64_t pos)
{
    char *place = place_of(relay, peer, pos);
    struct relay_taken *taken = &peer->in[index_of(relay, pos)];
    struct relay_head head;
    int rc;

    memcpy(&head, place, sizeof head);
    rc = apply(relay, &head, place + sizeof head);
    if (rc)
        return rc;
    taken->number = relay->in_issued = ++relay->issued;
    taken->by_kernel = false;
    relay->in_applied++;
    return 0;
}

static int hand(struct relay *relay, struct relay_peer *peer, const struct relay_head *head, char *payload)
{
    const struct wsh_rmem *to = own(relay, head->seg);
    const struct wsh_rmem *signal = head->kind == RELAY_SIGNAL ? own(relay, head->signal_seg) : to;

    if (!to || !signal)
        return -EHOSTUNREACH;
    relay_inbox_hand(relay, peer, head, to, signal, payload);
    peer->in[index_of(relay, peer->taken)].number = relay->inbox.handed;
    peer->in[index_of(relay, peer->taken)].by_kernel = true;
    return 0;
}

/* By whom it is carried out, and that it is. 0, -EAGAIN: not now, or a final error. */
static int give(struct relay *relay, struct relay_peer *peer, const struct relay_head *head, char *payload)
{
    int rc = relay_gpu(relay);

    if (rc)
        return rc;
    relay_gpu_look(relay);
    switch (relay_inbox_way(relay, head)) {
    case RELAY_BY_STREAM: return relay_in_apply(relay, peer, peer->taken);
    case RELAY_BY_KERNEL: return hand(relay, peer, head, payload);
    default: return -EAGAIN;
    }
}

/* 1: took a message; 0: there is none, or nobody takes it now. */
static int take_one(struct relay *relay, struct relay_peer *peer)
{
    uint64_t pos = peer->taken;
    size_t index = index_of(relay, pos);
    char *place = place_of(relay, peer, pos);
    struct relay_head head;
    int rc = 0;

    if (relay_load(peer->box + RELAY_ARRIVED + index * 8) != pos + 1)
        return 0;
    memcpy(&head, place, sizeof head);
    if (!is_sound(relay, &head, pos))
        return say_damaged(peer, &head);
    if (!peer->in)
        peer->in = calloc(relay->places, sizeof *peer->in);
    if (!peer->in)
        return -ENOMEM;
    peer->in[index] = (struct relay_taken){
        .answer = head.kind == RELAY_GET || head.kind == RELAY_FETCH ? head.len : 0, .places = head.places};
    if (head.kind != RELAY_PAD)
        rc = give(relay, peer, &head, place + sizeof head);
    if (rc)
        return rc == -EAGAIN ? 0 : rc;
    peer->taken += head.places;
    return 1;
}

static bool is_done(const struct relay *relay, const struct relay_taken *taken)
{
    return taken->number <= (taken->by_kernel ? relay->inbox.pulled : relay->landed);
}

static int answer(struct relay *relay, struct relay_peer *peer, uint64_t pos, struct relay_taken *taken)
{
    size_t index = index_of(relay, pos), payload = sizeof(struct relay_head);
    const struct wsh_sig answered = {peer->way.rmem, peer->there + relay_answered(relay->places) + index * 8,
                                     WSH_AMO_SET, pos + 1};
    size_t to = peer->there + relay_out(relay->places) + index * RELAY_PLACE + payload;

    wsh_order_leaves();
    return peer->way.tctx->tp->ops->put_signal(peer->way.tctx, peer->way.rmem, to,
                                               place_of(relay, peer, pos) + payload, taken->answer, &answered,
                                               &taken->answered);
}

/* What the GPU has completed is answered. */
static int answer_ready(struct relay *relay, struct relay_peer *peer)
{
    int moved = 0;

    while (peer->replied != peer->taken) {
        struct relay_taken *taken = &peer->in[index_of(relay, peer->replied)];
        int rc = 0;

        if (!is_done(relay, taken))
            break;
        if (taken->answer)
            rc = answer(relay, peer, peer->replied, taken);
        if (rc)
            return rc == -EAGAIN ? moved : rc;
        peer->replied += taken->places;
        moved = 1;
    }
    return moved;
}

/* And freed, once nobody reads the answer here any more. */
static int free_places(struct relay *relay, struct relay_peer *peer)
{
    struct wsh_amo add = {WSH_AMO_ADD, 8, 0, 0};
    int rc;

    while (peer->freed != peer->replied) {
        const struct relay_taken *taken = &peer->in[index_of(relay, peer->freed)];

        if (!wsh_done_is(&taken->answered))
            break;
        peer->freed += taken->places;
    }
    add.operand = peer->freed - peer->credited;
    if (!add.operand)
        return 0;
    wsh_order_leaves();
    rc = peer->way.tctx->tp->ops->amo(peer->way.tctx, peer->way.rmem, peer->there + RELAY_CREDIT, &add, NULL,
                                      NULL);
    if (rc)
        return rc == -EAGAIN ? 0 : rc;
    peer->credited = peer->freed;
    return 1;
}

int relay_in_progress(struct relay *relay, struct relay_peer *peer)
{
    int moved = 0, rc;

    while ((rc = take_one(relay, peer)) > 0)
        moved = 1;
    if (rc >= 0 && peer->replied != peer->taken) {
        relay_gpu_look(relay);
        rc = answer_ready(relay, peer);
    }
    if (rc < 0)
        return rc;
    moved |= rc;
    rc = peer->credited != peer->replied ? free_places(relay, peer) : 0;
    return rc < 0 ? rc : moved | rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the messages that go to a PE: built, sent, answered, and their places free again. */
#include "transports/relay/relay.h"

#include <stdlib.h>

static unsigned index_of(const struct relay *relay, uint64_t pos)
{
    return (unsigned)(pos % relay->places);
}

static char *place_of(const struct relay *relay, const struct relay_peer *peer, uint64_t pos)
{
    return peer->box + relay_out(relay->places) + (size_t)index_of(relay, pos) * RELAY_PLACE;
}

static char *answer_of(const struct relay *relay, const struct relay_peer *peer, uint64_t pos)
{
    return place_of(relay, peer, pos) + sizeof(struct relay_head);
}

static unsigned places_for(size_t len)
{
    return (unsigned)((sizeof(struct relay_head) + len + RELAY_PLACE - 1) / RELAY_PLACE);
}

/* So that the next message does not cross the end. */
static void pad(struct relay *relay, struct relay_peer *peer, unsigned n)
{
    struct relay_head head = {.kind = RELAY_PAD, .places = (uint16_t)n};

    memcpy(place_of(relay, peer, peer->head), &head, sizeof head);
    peer->out[index_of(relay, peer->head)] = (struct relay_sent){.places = (uint16_t)n};
    peer->head += n;
}

static bool make_room(struct relay *relay, struct relay_peer *peer, unsigned n)
{
    unsigned room = relay->places - (unsigned)(peer->head - peer->tail);
    unsigned to_end = relay->places - index_of(relay, peer->head);

    if (n > to_end && room >= n + to_end)
        pad(relay, peer, to_end);
    return n <= to_end ? room >= n : room >= n + to_end;
}

static bool has_payload(enum relay_kind kind)
{
    return kind == RELAY_PUT || kind == RELAY_SIGNAL;
}

/* The signal goes with the last part. */
static void build_head(char *place, const struct relay_ask *ask, size_t len, unsigned places)
{
    bool last = ask->at + len == ask->len;
    struct relay_head head = {.kind = (uint8_t)(ask->kind == RELAY_SIGNAL && !last ? RELAY_PUT : ask->kind),
                              .op = ask->op,
                              .width = ask->width,
                              .seg = (uint8_t)ask->seg,
                              .signal_op = ask->op,
                              .signal_seg = (uint8_t)ask->signal_seg,
                              .places = (uint16_t)places,
                              .len = (uint32_t)len,
                              .off = ask->off + ask->at,
                              .value = ask->value,
                              .compare = ask->compare,
                              .signal_off = ask->signal_off};

    memcpy(place, &head, sizeof head);
}

/* Between the payload of a message and device memory of this PE. */
static int copy_by_gpu(struct relay *relay, const char *place, char *local, size_t len, bool from_gpu,
                       struct wsh_done *done)
{
    size_t off = (size_t)(place - relay->under->base);
    int rc = relay_gpu(relay);

    if (!rc && from_gpu)
        rc = relay->gpu->tp->ops->put(relay->gpu, &relay->here, off, local, len, done);
    else if (!rc)
        rc = relay->gpu->tp->ops->get(relay->gpu, &relay->here, off, local, len, done);
    relay->issued += !rc;
    return rc;
}

static int fill_payload(struct relay *relay, char *payload, struct relay_sent *sent,
                        const struct relay_ask *ask, size_t len)
{
    char *from = ask->local + ask->at;

    if (ask->on_gpu)
        return copy_by_gpu(relay, payload, from, len, true, &sent->copied);
    memcpy(payload, from, len);
    return 0;
}

int relay_out_add(struct relay *relay, struct relay_peer *peer, const struct relay_ask *ask, size_t len)
{
    size_t follows = ask->kind == RELAY_AMO ? 0 : len;
    unsigned n = places_for(follows);
    struct relay_sent *sent;
    int rc = 0;

    if (!make_room(relay, peer, n))
        return -EAGAIN;
    sent = &peer->out[index_of(relay, peer->head)];
    *sent = (struct relay_sent){.ctx = ask->ctx, .places = (uint16_t)n};
    build_head(place_of(relay, peer, peer->head), ask, len, n);
    if (has_payload(ask->kind)) {
        sent->len = (uint32_t)len;
        rc = fill_payload(relay, answer_of(relay, peer, peer->head), sent, ask, len);
        sent->done = ask->on_gpu ? ask->done : NULL;
    } else if (ask->kind != RELAY_AMO) {
        sent->into = ask->local + ask->at;
        sent->on_gpu = ask->on_gpu;
        sent->done = ask->done;
    }
    if (rc)
        return rc;
    relay_owe(sent->done);
    ask->ctx->n++;
    ask->ctx->pending[peer->pe]++;
    peer->head += n;
    return 0;
}

struct wsh_done *relay_out_hold(struct relay *relay, struct relay_peer *peer, struct wsh_done *done)
{
    struct relay_sent *sent = &peer->out[index_of(relay, peer->head - 1)];

    sent->copied.left = 1;
    sent->done = done;
    relay_owe(done);
    return &sent->copied;
}

/* As if it had never been; but where others came behind it, it becomes padding. */
void relay_out_drop(struct relay *relay, struct relay_peer *peer, struct wsh_done *held)
{
    struct relay_sent *sent =
        (struct relay_sent *)(void *)((char *)held - offsetof(struct relay_sent, copied));
    struct relay_head head = {.kind = RELAY_PAD, .places = 1};
    size_t index = (size_t)(sent - peer->out);

    relay_done(sent->done);
    relay_settle(sent->ctx, peer->pe);
    *sent = (struct relay_sent){.copied = sent->copied, .places = 1};
    memcpy(peer->box + relay_out(relay->places) + index * RELAY_PLACE, &head, sizeof head);
    if (index == index_of(relay, peer->head - 1))
        peer->head--;
}

static int send_one(struct relay *relay, struct relay_peer *peer, uint64_t pos, struct relay_sent *sent)
{
    size_t index = index_of(relay, pos);
    const struct wsh_sig arrived = {peer->way.rmem, peer->there + RELAY_ARRIVED + index * 8, WSH_AMO_SET,
                                    pos + 1};

    wsh_order_leaves();
    return peer->way.tctx->tp->ops->put_signal(
        peer->way.tctx, peer->way.rmem, peer->there + relay_in(relay->places) + index * RELAY_PLACE,
        place_of(relay, peer, pos), sizeof(struct relay_head) + sent->len, &arrived, &sent->carried);
}

/* Each when it is whole: the one that reads them takes them in this order anyway. */
static int send_ready(struct relay *relay, struct relay_peer *peer)
{
    int moved = 0;

    while (peer->sent != peer->head) {
        struct relay_sent *sent = &peer->out[index_of(relay, peer->sent)];
        int rc;

        if (!sent->into && !wsh_done_is(&sent->copied))
            break;
        rc = send_one(relay, peer, peer->sent, sent);
        if (rc)
            return rc == -EAGAIN ? moved : rc;
        if (!sent->into) {
            relay_done(sent->done);
            sent->done = NULL;
        }
        peer->sent += sent->places;
        moved = 1;
    }
    return moved;
}

/* The answer to where it belongs. The length lies in the head, which is this PE's own. */
static int take_answer(struct relay *relay, struct relay_peer *peer, uint64_t pos, struct relay_sent *sent)
{
    char *from = answer_of(relay, peer, pos);
    struct relay_head head;

    memcpy(&head, place_of(relay, peer, pos), sizeof head);
    if (sent->on_gpu)
        return copy_by_gpu(relay, from, sent->into, head.len, false, &sent->copied);
    memcpy(sent->into, from, head.len);
    relay_done(sent->done);
    sent->done = NULL;
    return 0;
}

static int take_answers(struct relay *relay, struct relay_peer *peer)
{
    const char *words = peer->box + relay_answered(relay->places);
    int moved = 0;

    while (peer->answered != peer->sent) {
        uint64_t pos = peer->answered;
        struct relay_sent *sent = &peer->out[index_of(relay, pos)];
        int rc = 0;

        if (sent->into && relay_load(words + (size_t)index_of(relay, pos) * 8) != pos + 1)
            break;
        if (sent->into)
            rc = take_answer(relay, peer, pos, sent);
        if (rc)
            return rc == -EAGAIN ? moved : rc;
        peer->answered += sent->places;
        moved = 1;
    }
    return moved;
}

/* What is freed by the PE is complete there; what nobody here touches any more is free here. */
static int retire(struct relay *relay, struct relay_peer *peer)
{
    uint64_t credit = relay_load(peer->box + RELAY_CREDIT);
    int moved = 0;

    while (peer->tail != peer->answered) {
        struct relay_sent *sent = &peer->out[index_of(relay, peer->tail)];

        if (credit < peer->tail + sent->places || !wsh_done_is(&sent->carried) || !wsh_done_is(&sent->copied))
            break;
        relay_done(sent->done);
        if (sent->ctx)
            relay_settle(sent->ctx, peer->pe);
        peer->tail += sent->places;
        moved = 1;
    }
    return moved;
}

int relay_out_progress(struct relay *relay, struct relay_peer *peer)
{
    int moved = 0, rc;

    if (peer->head == peer->tail && !peer->is_parked)
        return 0;
    rc = send_ready(relay, peer);
    if (rc >= 0) {
        moved |= rc;
        rc = take_answers(relay, peer);
    }
    if (rc >= 0)
        rc = moved | rc | retire(relay, peer);
    if (rc >= 0 && peer->is_parked) {
        moved = rc;
        rc = relay_unpark(relay, peer);
        if (rc > 0)
            rc = send_ready(relay, peer);
        rc = rc < 0 ? rc : rc | moved;
    }
    return rc;
}

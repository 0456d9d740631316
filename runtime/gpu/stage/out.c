/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that go to a PE: built, sent, answered, and their slots free again. */
#include "runtime/gpu/stage/state.h"

#include <stdlib.h>

static unsigned index_of(const struct wsh_stage *stage, uint64_t pos)
{
    return (unsigned)(pos % stage->slots);
}

static char *slot_of(const struct wsh_stage *stage, const struct wsh_stage_peer *peer, uint64_t pos)
{
    return peer->box + wsh_stage_box_out(stage->slots) + (size_t)index_of(stage, pos) * WSH_STAGE_SLOT;
}

static char *answer_of(const struct wsh_stage *stage, const struct wsh_stage_peer *peer, uint64_t pos)
{
    return slot_of(stage, peer, pos) + sizeof(struct wsh_stage_head);
}

static unsigned slots_for(size_t len)
{
    return (unsigned)((sizeof(struct wsh_stage_head) + len + WSH_STAGE_SLOT - 1) / WSH_STAGE_SLOT);
}

/* So that the next message does not cross the end. */
static void slots_pad(struct wsh_stage *stage, struct wsh_stage_peer *peer, unsigned n)
{
    struct wsh_stage_head head = {.kind = WSH_STAGE_PAD, .slots = (uint16_t)n};

    memcpy(slot_of(stage, peer, peer->head), &head, sizeof head);
    peer->out[index_of(stage, peer->head)] = (struct wsh_stage_sent){.slots = (uint16_t)n};
    peer->head += n;
}

static bool make_room(struct wsh_stage *stage, struct wsh_stage_peer *peer, unsigned n)
{
    unsigned room = stage->slots - (unsigned)(peer->head - peer->tail);
    unsigned to_end = stage->slots - index_of(stage, peer->head);

    if (n > to_end && room >= n + to_end)
        slots_pad(stage, peer, to_end);
    return n <= to_end ? room >= n : room >= n + to_end;
}

static bool has_payload(enum wsh_stage_kind kind)
{
    return kind == WSH_STAGE_PUT || kind == WSH_STAGE_SIGNAL;
}

/* The signal goes with the last part. */
static void build_head(char *slot, const struct wsh_stage_request *request, size_t len, unsigned slots)
{
    bool last = request->at + len == request->len;
    struct wsh_stage_head head = {
        .kind = (uint8_t)(request->kind == WSH_STAGE_SIGNAL && !last ? WSH_STAGE_PUT : request->kind),
        .op = request->op,
        .width = request->width,
        .seg = (uint16_t)request->seg,
        .signal_op = request->op,
        .signal_seg = (uint16_t)request->signal_seg,
        .slots = (uint16_t)slots,
        .fenced = request->fenced,
        .len = (uint32_t)len,
        .off = request->off + request->at,
        .value = request->value,
        .compare = request->compare,
        .signal_off = request->signal_off};

    memcpy(slot, &head, sizeof head);
}

/* Copies between the payload of a message and device memory of this PE. */
static int copy_by_gpu(struct wsh_stage *stage, const char *slot, char *local, size_t len, bool from_gpu,
                       struct wsh_done *done)
{
    size_t off = stage->context->off + (size_t)(slot - stage->context->base);
    int rc = wsh_stage_gpu(stage);

    if (!rc && from_gpu)
        rc = stage->gpu->tp->ops->put(stage->gpu, stage->here.rmem, off, local, len, done);
    else if (!rc)
        rc = stage->gpu->tp->ops->get(stage->gpu, stage->here.rmem, off, local, len, done);
    stage->issued += !rc;
    return rc;
}

static int fill_payload(struct wsh_stage *stage, char *payload, struct wsh_stage_sent *sent,
                        const struct wsh_stage_request *request, size_t len)
{
    char *from = request->local + request->at;

    if (request->on_gpu)
        return copy_by_gpu(stage, payload, from, len, true, &sent->copied);
    memcpy(payload, from, len);
    return 0;
}

int wsh_stage_out_add(struct wsh_stage *stage, struct wsh_stage_peer *peer,
                      const struct wsh_stage_request *request, size_t len)
{
    size_t follows = request->kind == WSH_STAGE_AMO ? 0 : len;
    unsigned n = slots_for(follows);
    struct wsh_stage_sent *sent;
    int rc = 0;

    if (!make_room(stage, peer, n))
        return -EAGAIN;
    sent = &peer->out[index_of(stage, peer->head)];
    *sent = (struct wsh_stage_sent){.ctx = request->ctx, .slots = (uint16_t)n};
    build_head(slot_of(stage, peer, peer->head), request, len, n);
    if (has_payload(request->kind)) {
        sent->len = (uint32_t)len;
        rc = fill_payload(stage, answer_of(stage, peer, peer->head), sent, request, len);
        sent->done = request->on_gpu ? request->done : NULL;
    } else if (request->kind != WSH_STAGE_AMO) {
        sent->into = request->local + request->at;
        sent->on_gpu = request->on_gpu;
        sent->done = request->done;
    }
    if (rc)
        return rc;
    sent->unread = sent->into || (has_payload(request->kind) && request->on_gpu);
    wsh_stage_owe(sent->done);
    request->ctx->n++;
    request->ctx->unread += sent->unread;
    request->ctx->to[peer->pe].pending++;
    peer->head += n;
    return 0;
}

struct wsh_done *wsh_stage_out_hold(struct wsh_stage *stage, struct wsh_stage_peer *peer,
                                    struct wsh_done *done)
{
    struct wsh_stage_sent *sent = &peer->out[index_of(stage, peer->head - 1)];

    sent->copied.left = 1;
    sent->done = done;
    wsh_stage_owe(done);
    return &sent->copied;
}

/* Takes the message back; if others follow it, it becomes padding. */
void wsh_stage_out_drop(struct wsh_stage *stage, struct wsh_stage_peer *peer, struct wsh_done *held)
{
    struct wsh_stage_sent *sent =
        (struct wsh_stage_sent *)(void *)((char *)held - offsetof(struct wsh_stage_sent, copied));
    struct wsh_stage_head head = {.kind = WSH_STAGE_PAD, .slots = 1};
    size_t index = (size_t)(sent - peer->out);

    wsh_stage_done(sent->done);
    wsh_stage_settle(sent->ctx, peer->pe);
    *sent = (struct wsh_stage_sent){.copied = sent->copied, .slots = 1};
    memcpy(peer->box + wsh_stage_box_out(stage->slots) + index * WSH_STAGE_SLOT, &head, sizeof head);
    if (index == index_of(stage, peer->head - 1))
        peer->head--;
}

static int send_message(struct wsh_stage *stage, struct wsh_stage_peer *peer, uint64_t pos,
                        struct wsh_stage_sent *sent)
{
    size_t index = index_of(stage, pos);
    const struct wsh_sig arrived = {peer->host.rmem, peer->there + WSH_STAGE_ARRIVED + index * 8, WSH_AMO_SET,
                                    pos + 1};

    wsh_order_leaves();
    return peer->host.tctx->tp->ops->put_signal(
        peer->host.tctx, peer->host.rmem,
        peer->there + wsh_stage_box_in(stage->slots) + index * WSH_STAGE_SLOT, slot_of(stage, peer, pos),
        sizeof(struct wsh_stage_head) + sent->len, &arrived, &sent->carried);
}

/* Its source may be written again; or what it brings is here. */
static void note_read(struct wsh_stage_sent *sent)
{
    if (sent->unread)
        sent->ctx->unread--;
    sent->unread = false;
}

/* Sends each message when it is complete, in order: the reader takes them in this order anyway. */
int wsh_stage_out_send(struct wsh_stage *stage, struct wsh_stage_peer *peer)
{
    int moved = 0;

    while (peer->sent != peer->head) {
        struct wsh_stage_sent *sent = &peer->out[index_of(stage, peer->sent)];
        int rc;

        if (!sent->into && !wsh_done_is(&sent->copied))
            break;
        rc = peer->gone ? 0 : send_message(stage, peer, peer->sent, sent);
        if (rc)
            return rc == -EAGAIN ? moved : rc;
        if (!sent->into) {
            note_read(sent);
            wsh_stage_done(sent->done);
            sent->done = NULL;
        }
        peer->sent += sent->slots;
        moved = 1;
    }
    return moved;
}

/* Copies the answer to its destination. The length is read from the message head, which this PE wrote. */
static int take_answer(struct wsh_stage *stage, struct wsh_stage_peer *peer, uint64_t pos,
                       struct wsh_stage_sent *sent)
{
    char *from = answer_of(stage, peer, pos);
    struct wsh_stage_head head;

    memcpy(&head, slot_of(stage, peer, pos), sizeof head);
    if (sent->on_gpu)
        return copy_by_gpu(stage, from, sent->into, head.len, false, &sent->copied);
    memcpy(sent->into, from, head.len);
    wsh_stage_done(sent->done);
    sent->done = NULL;
    return 0;
}

/* Of a PE that has failed: a get leaves its destination, and what was fetched is 0 where the host wrote it. */
static void drop_answer(const struct wsh_stage *stage, const struct wsh_stage_peer *peer, uint64_t pos,
                        struct wsh_stage_sent *sent)
{
    struct wsh_stage_head head;

    memcpy(&head, slot_of(stage, peer, pos), sizeof head);
    if (head.kind == WSH_STAGE_FETCH && !sent->on_gpu)
        memset(sent->into, 0, head.len);
    wsh_stage_done(sent->done);
    sent->done = NULL;
}

static bool is_answered(const struct wsh_stage *stage, const struct wsh_stage_peer *peer, uint64_t pos)
{
    const char *words = peer->box + wsh_stage_box_answered(stage->slots);

    return wsh_stage_load(words + (size_t)index_of(stage, pos) * 8) == pos + 1;
}

static int take_answers(struct wsh_stage *stage, struct wsh_stage_peer *peer)
{
    int moved = 0;

    while (peer->answered != peer->sent) {
        uint64_t pos = peer->answered;
        struct wsh_stage_sent *sent = &peer->out[index_of(stage, pos)];
        int rc = 0;

        if (sent->into && !is_answered(stage, peer, pos)) {
            if (!peer->gone)
                break;
            drop_answer(stage, peer, pos, sent);
        } else if (sent->into) {
            rc = take_answer(stage, peer, pos, sent);
        }
        if (rc)
            return rc == -EAGAIN ? moved : rc;
        peer->answered += sent->slots;
        moved = 1;
    }
    return moved;
}

/* Frees slots: those that the PE has freed are complete there; those that nobody here uses any more are free here. */
static int slots_retire(struct wsh_stage *stage, struct wsh_stage_peer *peer)
{
    uint64_t credit = wsh_stage_load(peer->box + WSH_STAGE_CREDIT);
    int moved = 0;

    while (peer->tail != peer->answered) {
        struct wsh_stage_sent *sent = &peer->out[index_of(stage, peer->tail)];

        if ((credit < peer->tail + sent->slots && !peer->gone) || !wsh_done_is(&sent->carried) ||
            !wsh_done_is(&sent->copied))
            break;
        note_read(sent);
        wsh_stage_done(sent->done);
        if (sent->ctx)
            wsh_stage_settle(sent->ctx, peer->pe);
        peer->tail += sent->slots;
        moved = 1;
    }
    return moved;
}

int wsh_stage_out_progress(struct wsh_stage *stage, struct wsh_stage_peer *peer)
{
    int moved, rc = wsh_stage_out_send(stage, peer);

    if (rc < 0)
        return rc;
    moved = rc;
    rc = take_answers(stage, peer);
    return rc < 0 ? rc : moved | rc | slots_retire(stage, peer);
}

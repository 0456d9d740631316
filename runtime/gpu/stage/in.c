/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that come from a PE: given to this PE's GPU in their order, answered, and freed. */
#include "runtime/gpu/stage/state.h"

#include "base/log.h"

#include <stdlib.h>

static size_t index_of(const struct wsh_stage *stage, uint64_t pos)
{
    return (size_t)(pos % stage->slots);
}

static char *slot_of(const struct wsh_stage *stage, const struct wsh_stage_peer *peer, uint64_t pos)
{
    return peer->box + wsh_stage_box_in(stage->slots) + index_of(stage, pos) * WSH_STAGE_SLOT;
}

static bool is_inside(const struct wsh_stage *stage, unsigned seg, uint64_t off, uint64_t len)
{
    return seg < WSH_SEGS && off <= stage->lens[seg] && len <= stage->lens[seg] - off;
}

static bool is_word(const struct wsh_stage_head *head)
{
    return head->seg >= WSH_SEG_DEVICE && (head->width == 4 || head->width == 8) &&
           head->len == head->width && head->off % head->width == 0 && head->op < WSH_AMO_OPS;
}

static bool is_sound(const struct wsh_stage *stage, const struct wsh_stage_head *head, uint64_t pos)
{
    size_t room = (size_t)head->slots * WSH_STAGE_SLOT;

    if (!head->slots || index_of(stage, pos) + head->slots > stage->slots)
        return false;
    if (head->kind == WSH_STAGE_PAD)
        return true;
    if (!is_inside(stage, head->seg, head->off, head->len) || sizeof *head + head->len > room)
        return false;
    switch (head->kind) {
    case WSH_STAGE_PUT:
    case WSH_STAGE_GET: return head->len > 0;
    case WSH_STAGE_SIGNAL:
        return head->len > 0 && head->signal_seg >= WSH_SEG_DEVICE &&
               is_inside(stage, head->signal_seg, head->signal_off, 8) && head->signal_off % 8 == 0 &&
               (head->signal_op == WSH_AMO_SET || head->signal_op == WSH_AMO_ADD);
    case WSH_STAGE_AMO:
    case WSH_STAGE_FETCH: return is_word(head);
    default: return false;
    }
}

static int log_damaged(const struct wsh_stage_peer *peer, const struct wsh_stage_head *head)
{
    wsh_error("a message of PE %d about device memory of this PE is damaged (kind %d, %u bytes): a program "
              "may have "
              "written into symmetric memory that it has not allocated",
              peer->pe, head->kind, (unsigned)head->len);
    return -EPROTO;
}

/* This PE's own segment for the stream: host memory too, since its copies keep the order of the others. */
static const struct wsh_rmem *own_segment(const struct wsh_stage *stage, unsigned seg)
{
    struct wsh_stage_target to;

    return stage->context->own(stage->context, (enum wsh_seg)seg, &to) ? NULL : to.rmem;
}

static int apply_signal(struct wsh_stage *stage, const struct wsh_rmem *to, const struct wsh_stage_head *head,
                        const char *payload)
{
    const struct wsh_sig signal = {own_segment(stage, head->signal_seg), head->signal_off,
                                   (enum wsh_amo_op)head->signal_op, head->value};

    if (!signal.rmem)
        return -EHOSTUNREACH;
    return stage->gpu->tp->ops->put_signal(stage->gpu, to, head->off, payload, head->len, &signal, NULL);
}

static int message_apply(struct wsh_stage *stage, const struct wsh_stage_head *head, char *payload)
{
    const struct wsh_rmem *to = own_segment(stage, head->seg);
    const struct wsh_tp_ops *ops = stage->gpu->tp->ops;
    const struct wsh_amo amo = {(enum wsh_amo_op)head->op, head->width, head->value, head->compare};

    if (!to)
        return -EHOSTUNREACH;
    switch (head->kind) {
    case WSH_STAGE_PUT: return ops->put(stage->gpu, to, head->off, payload, head->len, NULL);
    case WSH_STAGE_GET: return ops->get(stage->gpu, to, head->off, payload, head->len, NULL);
    case WSH_STAGE_SIGNAL: return apply_signal(stage, to, head, payload);
    default:
        return ops->amo(stage->gpu, to, head->off, &amo, head->kind == WSH_STAGE_FETCH ? payload : NULL,
                        NULL);
    }
}

/* By a head that has been checked. */
static int apply_checked(struct wsh_stage *stage, struct wsh_stage_peer *peer, uint64_t pos,
                         const struct wsh_stage_head *head)
{
    struct wsh_stage_taken *taken = &peer->in[index_of(stage, pos)];
    int rc = message_apply(stage, head, slot_of(stage, peer, pos) + sizeof *head);

    if (rc)
        return rc;
    taken->number = stage->in_issued = ++stage->issued;
    taken->by_kernel = false;
    stage->in_applied++;
    return 0;
}

/* Reads the head again from memory that peers write: this copy is the one that is checked and used. */
int wsh_stage_in_apply(struct wsh_stage *stage, struct wsh_stage_peer *peer, uint64_t pos)
{
    struct wsh_stage_head head;

    memcpy(&head, slot_of(stage, peer, pos), sizeof head);
    if (head.kind == WSH_STAGE_PAD || !is_sound(stage, &head, pos))
        return log_damaged(peer, &head);
    return apply_checked(stage, peer, pos, &head);
}

static int message_queue_item(struct wsh_stage *stage, struct wsh_stage_peer *peer,
                              const struct wsh_stage_head *head, char *payload)
{
    const struct wsh_rmem *to = own_segment(stage, head->seg);
    const struct wsh_rmem *signal =
        head->kind == WSH_STAGE_SIGNAL ? own_segment(stage, head->signal_seg) : to;

    if (!to || !signal)
        return -EHOSTUNREACH;
    wsh_stage_inbox_queue(stage, peer, head, to, signal, payload);
    peer->in[index_of(stage, peer->taken)].number = stage->inbox.handed;
    peer->in[index_of(stage, peer->taken)].by_kernel = true;
    return 0;
}

/* Dispatches the message to a kernel or to the stream. 0, -EAGAIN: not now, or a final error. */
static int message_dispatch(struct wsh_stage *stage, struct wsh_stage_peer *peer,
                            const struct wsh_stage_head *head, char *payload)
{
    int rc = wsh_stage_gpu(stage);

    if (rc)
        return rc;
    wsh_stage_gpu_poll(stage);
    switch (wsh_stage_inbox_dispatch(stage, head)) {
    case WSH_STAGE_BY_STREAM: return apply_checked(stage, peer, peer->taken, head);
    case WSH_STAGE_BY_KERNEL: return message_queue_item(stage, peer, head, payload);
    default: return -EAGAIN;
    }
}

/* 1: took a message; 0: there is none, or nobody takes it now. */
static int message_take(struct wsh_stage *stage, struct wsh_stage_peer *peer)
{
    uint64_t pos = peer->taken;
    size_t index = index_of(stage, pos);
    char *slot = slot_of(stage, peer, pos);
    struct wsh_stage_head head;
    int rc = 0;

    if (wsh_stage_load(peer->box + WSH_STAGE_ARRIVED + index * 8) != pos + 1)
        return 0;
    memcpy(&head, slot, sizeof head);
    if (!is_sound(stage, &head, pos))
        return log_damaged(peer, &head);
    if (!peer->in)
        peer->in = calloc(stage->slots, sizeof *peer->in);
    if (!peer->in)
        return -ENOMEM;
    peer->in[index] = (struct wsh_stage_taken){
        .answer = head.kind == WSH_STAGE_GET || head.kind == WSH_STAGE_FETCH ? head.len : 0,
        .slots = head.slots};
    if (head.kind != WSH_STAGE_PAD)
        rc = message_dispatch(stage, peer, &head, slot + sizeof head);
    if (rc)
        return rc == -EAGAIN ? 0 : rc;
    peer->taken += head.slots;
    return 1;
}

static bool is_done(const struct wsh_stage *stage, const struct wsh_stage_taken *taken)
{
    return taken->number <= (taken->by_kernel ? stage->inbox.pulled : stage->landed);
}

static int message_answer(struct wsh_stage *stage, struct wsh_stage_peer *peer, uint64_t pos,
                          struct wsh_stage_taken *taken)
{
    size_t index = index_of(stage, pos), payload = sizeof(struct wsh_stage_head);
    const struct wsh_sig answered = {peer->host.rmem,
                                     peer->there + wsh_stage_box_answered(stage->slots) + index * 8,
                                     WSH_AMO_SET, pos + 1};
    size_t to = peer->there + wsh_stage_box_out(stage->slots) + index * WSH_STAGE_SLOT + payload;

    wsh_order_leaves();
    return peer->host.tctx->tp->ops->put_signal(peer->host.tctx, peer->host.rmem, to,
                                                slot_of(stage, peer, pos) + payload, taken->answer, &answered,
                                                &taken->answered);
}

/* What the GPU has completed is answered. */
static int answer_ready(struct wsh_stage *stage, struct wsh_stage_peer *peer)
{
    int moved = 0;

    while (peer->replied != peer->taken) {
        struct wsh_stage_taken *taken = &peer->in[index_of(stage, peer->replied)];
        int rc = 0;

        if (!is_done(stage, taken))
            break;
        if (taken->answer)
            rc = message_answer(stage, peer, peer->replied, taken);
        if (rc)
            return rc == -EAGAIN ? moved : rc;
        peer->replied += taken->slots;
        moved = 1;
    }
    return moved;
}

/* And freed, once nobody reads the answer here any more. */
static int free_slots(struct wsh_stage *stage, struct wsh_stage_peer *peer)
{
    struct wsh_amo add = {WSH_AMO_ADD, 8, 0, 0};
    int rc;

    while (peer->freed != peer->replied) {
        const struct wsh_stage_taken *taken = &peer->in[index_of(stage, peer->freed)];

        if (!wsh_done_is(&taken->answered))
            break;
        peer->freed += taken->slots;
    }
    add.operand = peer->freed - peer->credited;
    if (!add.operand)
        return 0;
    wsh_order_leaves();
    rc = peer->host.tctx->tp->ops->amo(peer->host.tctx, peer->host.rmem, peer->there + WSH_STAGE_CREDIT, &add,
                                       NULL, NULL);
    if (rc)
        return rc == -EAGAIN ? 0 : rc;
    peer->credited = peer->freed;
    return 1;
}

int wsh_stage_in_progress(struct wsh_stage *stage, struct wsh_stage_peer *peer)
{
    int moved = 0, rc;

    while ((rc = message_take(stage, peer)) > 0)
        moved = 1;
    if (rc >= 0 && peer->replied != peer->taken) {
        wsh_stage_gpu_poll(stage);
        rc = answer_ready(stage, peer);
    }
    if (rc < 0)
        return rc;
    moved |= rc;
    rc = peer->credited != peer->replied ? free_slots(stage, peer) : 0;
    return rc < 0 ? rc : moved | rc;
}

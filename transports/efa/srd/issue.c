/* SPDX-License-Identifier: BSD-3-Clause */
/* At the source: decides when an operation may start, and starts it. */
#include "transports/efa/srd/queue.h"

#include "base/invariant.h"

#include <errno.h>

#define COUNTING 64 /* counted puts in a row that were of no use before they are given up again */

/* Something of an epoch before this one is deferred. */
static bool deferred_before(const struct wsh_srd_flow *flow, uint64_t epoch)
{
    return (flow->writes.head && flow->writes.head->epoch < epoch) ||
           (flow->msgs.head && flow->msgs.head->epoch < epoch);
}

static uint32_t plain_out(const struct wsh_srd_flow *flow)
{
    return __atomic_load_n(&flow->puts_begun, __ATOMIC_RELAXED) - flow->puts_ended + flow->out[WSH_SRD_PLAIN];
}

static bool has_message(const struct wsh_srd_op *op)
{
    return op->kind >= WSH_SRD_SIGNAL;
}

/* The signal of these writes stays here until they are complete. */
static bool waits_for_writes(const struct wsh_srd_op *op)
{
    return op->kind == WSH_SRD_SIGNAL && !op->grouped && op->ended < op->segments;
}

static uint32_t parts_of(const struct wsh_srd_op *op)
{
    return op->segments + has_message(op) + (op->kind == WSH_SRD_FETCH);
}

/*
 * Order 2. A complete write is waited for even where a message applied behind it has shown that it arrived, because
 * only its completion says that the device will not send it again.
 */
static bool writes_open(struct wsh_srd_flow *flow, uint64_t epoch)
{
    uint32_t after = flow->msg_epoch == epoch ? flow->condition.after : flow->sent;

    if (flow->write_epoch == epoch)
        return true;
    if (deferred_before(flow, epoch) || flow->late)
        return false;
    if (plain_out(flow) || flow->out[WSH_SRD_COUNTED] || flow->out[WSH_SRD_OWN])
        return false;
    if (wsh_srd_before(flow->acked, after))
        return false;
    WSH_INVARIANT(flow->write_epoch < epoch);
    __atomic_store_n(&flow->write_epoch, epoch, __ATOMIC_RELEASE);
    return true;
}

/* Order 3. The condition of a message of this epoch; it becomes the flow's when the message has gone. */
static bool condition_for(struct wsh_srd_flow *flow, uint64_t epoch, struct wsh_srd_condition *condition)
{
    *condition = flow->condition;
    if (flow->msg_epoch == epoch)
        return true;
    if (deferred_before(flow, epoch))
        return false;
    condition->after = flow->sent;
    condition->count = 0;
    if (flow->write_epoch == epoch)
        return true;
    if (plain_out(flow) && flow->imm)
        __atomic_store_n(&flow->counting, COUNTING, __ATOMIC_RELAXED);
    if (flow->late || plain_out(flow))
        return false;
    if (!flow->out[WSH_SRD_COUNTED] && flow->sent == flow->acked)
        return true;
    condition->number++;
    if (flow->out[WSH_SRD_COUNTED]) {
        condition->count = (uint16_t)flow->open_count;
        condition->group = flow->open_group;
    }
    return true;
}

static bool credit_for(const struct wsh_srd_flow *flow, const struct wsh_srd_op *op)
{
    const struct wsh_srd_link *link = flow->link;

    return link->msgs < link->msgs_max && flow->sent - flow->acked < flow->window &&
           (op->kind != WSH_SRD_FETCH || link->fetches < link->fetches_max);
}

static uint8_t slot_take(struct wsh_srd_flow *flow)
{
    uint32_t slot = (uint32_t)__builtin_ctzll(flow->free_slots);

    WSH_INVARIANT(flow->free_slots);
    flow->free_slots &= flow->free_slots - 1;
    return wsh_srd_group_name(slot, flow->generation[slot]);
}

static bool may_count(const struct wsh_srd_flow *flow, const struct wsh_srd_op *op)
{
    const struct wsh_srd_link *link = flow->link;

    if (!flow->imm || link->imms + op->segments > link->imms_max)
        return false;
    if (op->kind == WSH_SRD_SIGNAL)
        return !op->late && flow->free_slots && op->segments <= WSH_SRD_GROUP_MAX;
    return op->counted && (flow->open_count || flow->free_slots) &&
           flow->open_count + op->segments <= WSH_SRD_GROUP_MAX;
}

static void join_group(struct wsh_srd_flow *flow, struct wsh_srd_op *op)
{
    op->grouped = true;
    flow->link->imms += op->segments;
    flow->imms += op->segments;
    if (op->kind == WSH_SRD_SIGNAL) {
        op->group = slot_take(flow);
        return;
    }
    if (!flow->open_count)
        flow->open_group = slot_take(flow);
    op->group = flow->open_group;
    op->class = WSH_SRD_COUNTED;
    flow->open_count += op->segments;
    if (flow->counting)
        __atomic_store_n(&flow->counting, flow->counting - 1, __ATOMIC_RELAXED);
}

static bool may_name_counter(const struct wsh_srd_flow *flow, uint32_t n)
{
    return flow->link->imms + n <= flow->link->imms_max;
}

static void take_counter(struct wsh_srd_flow *flow, uint32_t n)
{
    flow->link->imms += n;
    flow->link->counter_writes += n;
}

/* Once and for all segments, so that a group's count is known before the first of them goes. */
static void decide_class(struct wsh_srd_flow *flow, struct wsh_srd_op *op)
{
    static const uint8_t class[] = {
        [WSH_SRD_PUT] = WSH_SRD_PLAIN, [WSH_SRD_GET] = WSH_SRD_READS, [WSH_SRD_SIGNAL] = WSH_SRD_OWN};

    if (op->decided)
        return;
    op->decided = true;
    op->class = class[op->kind];
    if (op->by_counter)
        take_counter(flow, op->segments);
    else if (op->kind != WSH_SRD_GET && may_count(flow, op))
        join_group(flow, op);
    flow->out[op->class] += op->segments;
}

/* None of the segments was started, and the operation is refused. */
static void undecide_class(struct wsh_srd_flow *flow, struct wsh_srd_op *op)
{
    if (!op->decided)
        return;
    flow->out[op->class] -= op->segments;
    if (op->by_counter)
        take_counter(flow, 0 - op->segments);
    if (!op->grouped)
        return;
    flow->link->imms -= op->segments;
    flow->imms -= op->segments;
    if (op->class == WSH_SRD_COUNTED)
        flow->open_count -= op->segments;
    if (op->class == WSH_SRD_OWN || !flow->open_count)
        flow->free_slots |= (uint64_t)1 << wsh_srd_group_slot(op->group);
}

static int start_segments(struct wsh_srd_flow *flow, struct wsh_srd_op *op, const struct wsh_srd_io *io)
{
    int rc = 0;

    if (op->started == op->segments)
        return 0;
    if (!op->unordered && !writes_open(flow, op->epoch))
        return -EAGAIN;
    if (op->by_counter && !op->decided && !may_name_counter(flow, op->segments))
        return -EAGAIN;
    WSH_INVARIANT(op->unordered || flow->write_epoch == op->epoch);
    decide_class(flow, op);
    while (op->started < op->segments && !rc) {
        rc = op->kind == WSH_SRD_GET ? io->read(io->arg, op) : io->write(io->arg, op);
        op->started += !rc;
    }
    return rc;
}

/* The message has gone: what it named first is free when it is applied. */
static void message_gone(struct wsh_srd_flow *flow, struct wsh_srd_op *op,
                         const struct wsh_srd_condition *condition)
{
    struct wsh_srd_names *names = &flow->named[flow->sent & (flow->window - 1)];
    bool closes = condition->number != flow->condition.number && condition->count;

    WSH_INVARIANT(flow->sent - flow->acked < flow->window);
    WSH_INVARIANT(flow->link->msgs < flow->link->msgs_max);
    WSH_INVARIANT(op->epoch >= flow->msg_epoch);
    WSH_INVARIANT(op->epoch != flow->msg_epoch || condition->number == flow->condition.number);
    WSH_INVARIANT(!closes || (condition->group == flow->open_group && condition->count == flow->open_count));
    names->condition = closes ? (uint8_t)wsh_srd_group_slot(condition->group) : WSH_SRD_NO_SLOT;
    names->own = op->grouped ? (uint8_t)wsh_srd_group_slot(op->group) : WSH_SRD_NO_SLOT;
    if (closes) {
        flow->open_count = 0;
        __atomic_store_n(&flow->counting, COUNTING, __ATOMIC_RELAXED);
    }
    flow->condition = *condition;
    flow->msg_epoch = op->epoch;
    flow->sent++;
    flow->link->msgs++;
    flow->link->fetches += op->kind == WSH_SRD_FETCH;
    flow->fetches += op->kind == WSH_SRD_FETCH;
    op->sent = true;
}

static int send_message(struct wsh_srd_flow *flow, struct wsh_srd_op *op, const struct wsh_srd_io *io)
{
    struct wsh_srd_stamp stamp = {.seq = (uint16_t)flow->sent};
    struct wsh_srd_condition condition;
    uint32_t after;
    int rc;

    if (!condition_for(flow, op->epoch, &condition))
        return -EAGAIN;
    if (!credit_for(flow, op)) {
        flow->link->stalls++;
        return -EAGAIN;
    }
    after = wsh_srd_before(condition.after, flow->acked) ? flow->acked : condition.after;
    stamp.condition = condition.number;
    stamp.after = (uint16_t)after;
    stamp.condition_count = condition.count;
    stamp.condition_group = condition.group;
    stamp.own_count = op->grouped ? (uint16_t)op->segments : 0;
    stamp.own_group = op->group;
    rc = io->send(io->arg, op, &stamp);
    if (!rc)
        message_gone(flow, op, &condition);
    return rc;
}

/* Of its own class, an operation stays behind what is deferred; of the other it may pass what is of its epoch. */
static int start_op(struct wsh_srd_flow *flow, struct wsh_srd_op *op, const struct wsh_srd_io *io)
{
    int rc = 0;

    if (op->segments)
        rc = flow->writes.head && !op->unordered ? -EAGAIN : start_segments(flow, op, io);
    if (rc || !has_message(op))
        return rc;
    return flow->msgs.head || waits_for_writes(op) ? -EAGAIN : send_message(flow, op, io);
}

static void defer_op(struct wsh_srd_flow *flow, struct wsh_srd_op *op)
{
    if (op->started < op->segments)
        wsh_srd_queue_append(&flow->writes, op);
    else if (waits_for_writes(op))
        flow->late++;
    else
        wsh_srd_queue_insert(&flow->msgs, op);
}

int wsh_srd_submit(struct wsh_srd_ctx *ctx, struct wsh_srd_flow *flow, struct wsh_srd_op *op,
                   const struct wsh_srd_io *io)
{
    int rc;

    op->decided = op->sent = op->grouped = false;
    op->started = op->ended = 0;
    op->group = 0;
    op->epoch = ctx->epoch;
    if (flow->failed)
        return -ECONNRESET;
    rc = start_op(flow, op, io);
    if (rc == -EAGAIN && !op->keep && !op->started) {
        undecide_class(flow, op);
        return rc;
    }
    if (rc && rc != -EAGAIN)
        return rc;
    flow->begun += parts_of(op);
    flow->messages += has_message(op);
    ctx->messages += has_message(op);
    ctx->begun += parts_of(op);
    if (rc)
        defer_op(flow, op);
    return 0;
}

int wsh_srd_pump(struct wsh_srd_flow *flow, const struct wsh_srd_io *io)
{
    struct wsh_srd_op *op;
    int rc = 0;

    while ((op = flow->writes.head) && !(rc = start_segments(flow, op, io))) {
        wsh_srd_queue_pop(&flow->writes);
        if (has_message(op))
            defer_op(flow, op);
    }
    if (rc && rc != -EAGAIN)
        return rc;
    for (rc = 0; (op = flow->msgs.head) && !(rc = send_message(flow, op, io));)
        wsh_srd_queue_pop(&flow->msgs);
    return rc == -EAGAIN ? 0 : rc;
}

enum wsh_srd_kind wsh_srd_put_kind(const struct wsh_srd_ctx *ctx, struct wsh_srd_flow *flow, bool small)
{
    if (!small || (!flow->writes.head && writes_open(flow, ctx->epoch)))
        return WSH_SRD_PUT;
    return WSH_SRD_MSG;
}

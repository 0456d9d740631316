/* SPDX-License-Identifier: BSD-3-Clause */
/* At the source: what the completion of an operation releases, and what is pending. */
#include "transports/efa/srd/flow.h"

#include "base/invariant.h"
#include "transports/efa/srd/queue.h"

#include <errno.h>
#include <string.h>

void wsh_srd_flow_init(struct wsh_srd_flow *flow, struct wsh_srd_link *link, uint32_t window, uint32_t slots,
                       bool imm, struct wsh_srd_names *named)
{
    memset(flow, 0, sizeof *flow);
    memset(named, WSH_SRD_NO_SLOT, window * sizeof *named);
    flow->link = link;
    flow->window = window;
    flow->imm = imm && slots;
    flow->free_slots = slots >= WSH_SRD_SLOTS ? ~(uint64_t)0 : ((uint64_t)1 << slots) - 1;
    flow->named = named;
}

static void end_parts(struct wsh_srd_ctx *ctx, struct wsh_srd_flow *flow, uint32_t n)
{
    WSH_INVARIANT(flow->failed || !wsh_srd_before(flow->begun, flow->ended + n));
    __atomic_store_n(&flow->ended, flow->ended + n, __ATOMIC_RELEASE);
    __atomic_fetch_add(&ctx->ended, n, __ATOMIC_RELEASE);
}

/* The same of messages: `applied` rises first, as wsh_srd_ctx_unread reads them. */
static void end_messages(struct wsh_srd_ctx *ctx, struct wsh_srd_flow *flow, uint32_t n)
{
    __atomic_fetch_add(&ctx->applied, n, __ATOMIC_RELAXED);
    end_parts(ctx, flow, n);
}

/* The target has retired the group. */
static void slot_free(struct wsh_srd_flow *flow, uint8_t slot)
{
    if (slot == WSH_SRD_NO_SLOT)
        return;
    WSH_INVARIANT(!(flow->free_slots >> slot & 1));
    flow->generation[slot]++;
    flow->free_slots |= (uint64_t)1 << slot;
}

void wsh_srd_put_ended(struct wsh_srd_ctx *ctx, struct wsh_srd_flow *flow, uint32_t n)
{
    if (flow->failed)
        return;
    WSH_INVARIANT(n <= __atomic_load_n(&flow->puts_begun, __ATOMIC_RELAXED) - flow->puts_ended);
    __atomic_store_n(&flow->puts_ended, flow->puts_ended + n, __ATOMIC_RELEASE);
    __atomic_fetch_add(&ctx->ended, n, __ATOMIC_RELEASE);
}

void wsh_srd_op_ended(struct wsh_srd_ctx *ctx, struct wsh_srd_flow *flow, struct wsh_srd_op *op)
{
    op->ended++;
    WSH_INVARIANT(op->ended <= op->started);
    if (flow->failed)
        return;
    WSH_INVARIANT(flow->out[op->class]);
    flow->out[op->class]--;
    end_parts(ctx, flow, 1);
    if (op->kind == WSH_SRD_SIGNAL && !op->grouped && op->ended == op->segments) {
        WSH_INVARIANT(flow->late);
        flow->late--;
        wsh_srd_queue_insert(&flow->msgs, op);
    }
}

int wsh_srd_flow_replied(struct wsh_srd_ctx *ctx, struct wsh_srd_flow *flow)
{
    if (flow->failed)
        return 0;
    if (!flow->fetches)
        return -EPROTO;
    WSH_INVARIANT(flow->link->fetches >= flow->fetches);
    flow->fetches--;
    flow->link->fetches--;
    end_parts(ctx, flow, 1);
    return 0;
}

static void messages_applied(struct wsh_srd_ctx *ctx, struct wsh_srd_flow *flow, uint32_t n)
{
    WSH_INVARIANT(flow->link->msgs >= n);
    end_messages(ctx, flow, n);
    flow->link->msgs -= n;
    while (n--) {
        const struct wsh_srd_names *names = &flow->named[flow->acked++ & (flow->window - 1)];

        slot_free(flow, names->own);
        slot_free(flow, names->condition);
    }
}

int wsh_srd_flow_acked(struct wsh_srd_ctx *ctx, struct wsh_srd_flow *flow, uint32_t applied, uint32_t counted)
{
    bool more_applied = wsh_srd_before(flow->acked, applied);
    bool more_counted = wsh_srd_before(flow->imms_acked, counted);

    if (flow->failed)
        return 0;
    if (wsh_srd_before(flow->sent, applied) || wsh_srd_before(flow->imms, counted))
        return -EPROTO;
    if (more_applied)
        messages_applied(ctx, flow, applied - flow->acked);
    if (more_counted) {
        WSH_INVARIANT(flow->link->imms >= counted - flow->imms_acked);
        flow->link->imms -= counted - flow->imms_acked;
        flow->imms_acked = counted;
    }
    return more_applied || more_counted;
}

int wsh_srd_link_counted(struct wsh_srd_link *link, uint32_t counted)
{
    if (wsh_srd_before(link->counter_writes, counted))
        return -EPROTO;
    if (!wsh_srd_before(link->counter_counted, counted))
        return 0;
    WSH_INVARIANT(link->imms >= counted - link->counter_counted);
    link->imms -= counted - link->counter_counted;
    link->counter_counted = counted;
    return 1;
}

static void queue_drop(struct wsh_srd_queue *queue, void (*drop)(void *arg, struct wsh_srd_op *op), void *arg)
{
    while (queue->head) {
        struct wsh_srd_op *op = queue->head;

        wsh_srd_queue_pop(queue);
        drop(arg, op);
    }
}

void wsh_srd_flow_fail(struct wsh_srd_ctx *ctx, struct wsh_srd_flow *flow,
                       void (*drop)(void *arg, struct wsh_srd_op *op), void *arg)
{
    if (flow->failed)
        return;
    flow->failed = true;
    __atomic_store_n(&flow->write_epoch, UINT64_MAX, __ATOMIC_RELEASE);
    end_messages(ctx, flow, flow->messages - flow->acked);
    end_parts(ctx, flow, wsh_srd_flow_pending(flow));
    queue_drop(&flow->writes, drop, arg);
    queue_drop(&flow->msgs, drop, arg);
}

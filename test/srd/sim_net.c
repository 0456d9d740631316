/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated network, and what the two ends do with what it delivers. */
#include "test/srd/sim.h"

#include <errno.h>
#include <stdio.h>

static struct sim_op *op_of(const struct event *event)
{
    return &sim.flow[event->flow].op[event->op];
}

void sim_fly(const struct event *event)
{
    struct sim_pool *pool = &sim.net[sim_random(RAILS)];

    if (pool->n == FLYING)
        abort();
    pool->event[pool->n++] = *event;
}

static void fly_op(uint8_t kind, const struct sim_op *op, uint32_t segment)
{
    struct event event = {
        .kind = kind, .flow = op->flow, .op = op->index, .segment = (uint8_t)segment, .group = op->op.group};

    sim_fly(&event);
}

static int io_write(void *arg, struct wsh_srd_op *sop)
{
    struct sim_op *op = (struct sim_op *)sop;

    (void)arg;
    if (sim_chance(sim.set.refuse))
        return -EAGAIN;
    op->cell[sop->started] = ~op->token;
    fly_op(EV_WRITE, op, sop->started);
    sim.messages++;
    return 0;
}

static int io_read(void *arg, struct wsh_srd_op *sop)
{
    (void)arg;
    if (sim_chance(sim.set.refuse))
        return -EAGAIN;
    fly_op(EV_READ, (struct sim_op *)sop, sop->started);
    sim.messages++;
    return 0;
}

static int io_send(void *arg, struct wsh_srd_op *sop, struct wsh_srd_stamp *stamp)
{
    struct sim_op *op = (struct sim_op *)sop;

    (void)arg;
    if (sim_chance(sim.set.refuse))
        return -EAGAIN;
    op->stamp = *stamp;
    fly_op(EV_MESSAGE, op, 0);
    sim.at_target[op->flow / CTXS]++;
    sim.messages++;
    return 0;
}

const struct wsh_srd_io sim_io = {io_write, io_read, io_send, NULL};

void sim_pump(int pe)
{
    for (int i = pe * CTXS; i < (pe + 1) * CTXS; i++) {
        if (wsh_srd_flow_deferred(&sim.flow[i].flow) && wsh_srd_pump(&sim.flow[i].flow, &sim_io))
            sim.wrong++;
    }
}

void sim_release(struct sim_flow *flow, struct sim_op *op)
{
    bool over = op->fast ? op->landed == 1 : wsh_srd_op_over(&op->op);

    if (op->op.kind >= WSH_SRD_SIGNAL)
        over = over && op->applied;
    if (op->op.kind == WSH_SRD_FETCH)
        over = over && op->replied;
    if (!over || !op->used)
        return;
    op->used = false;
    flow->free_op[flow->n_free++] = op->index;
}

static bool data_there(const struct sim_op *op)
{
    for (uint32_t i = 0; i < op->op.segments; i++) {
        if (op->cell[i] != op->token)
            return false;
    }
    return true;
}

/* The bytes land, and both ends will hear of it. */
static void land(struct sim_op *op, const struct event *event, int rail)
{
    struct sim_flow *flow = &sim.flow[op->flow];
    struct event end = *event;

    sim_effect(flow, op);
    op->cell[event->segment] = op->token;
    if (op->op.grouped && !op->fast) {
        end.kind = EV_COUNT;
        sim.cq[rail][sim.cq_tail[rail]++ % FLYING] = end;
    }
    if (++op->landed == op->op.segments && op->op.kind == WSH_SRD_PUT)
        sim_there(flow, op);
    end.kind = EV_END;
    sim_fly(&end);
}

static void end(struct sim_op *op)
{
    struct sim_flow *flow = &sim.flow[op->flow];

    if (op->op.kind == WSH_SRD_GET && op->op.ended + 1 == op->op.segments)
        flow->n_awaited--;
    if (op->fast)
        wsh_srd_put_ended(&flow->ctx, &flow->flow, 1);
    else
        wsh_srd_op_ended(&flow->ctx, &flow->flow, &op->op);
    sim_release(flow, op);
    sim_pump(op->flow / CTXS);
}

static void flow_ack(struct sim_flow *flow, int pe, const struct event *event)
{
    int rc = wsh_srd_flow_acked(&flow->ctx, &flow->flow, event->applied, event->counted);

    if (rc < 0)
        sim.wrong++;
    if (rc > 0)
        sim_pump(pe);
}

static void reply(struct sim_op *op, const struct event *event)
{
    struct sim_flow *flow = &sim.flow[op->flow];

    op->replied = true;
    flow->n_awaited--;
    if (wsh_srd_flow_replied(&flow->ctx, &flow->flow))
        sim.wrong++;
    flow_ack(flow, op->flow / CTXS, event);
    sim_release(flow, op);
    sim_pump(op->flow / CTXS);
}

static void arrive(const struct event *event, int rail)
{
    struct sim_op *op = op_of(event);

    switch (event->kind) {
    case EV_WRITE: land(op, event, rail); break;
    case EV_READ:
        sim_effect(&sim.flow[op->flow], op);
        fly_op(EV_END, op, event->segment);
        break;
    case EV_MESSAGE: sim.cq[rail][sim.cq_tail[rail]++ % FLYING] = *event; break;
    case EV_END: end(op); break;
    case EV_REPLY: reply(op, event); break;
    default:
        wsh_srd_rx_flow_ack_write(&sim.flow[event->flow].rx_flow, false);
        flow_ack(&sim.flow[event->flow], event->flow / CTXS, event);
    }
}

bool sim_step_net(void)
{
    int rail = (int)sim_random(RAILS);
    struct sim_pool *pool = &sim.net[sim.net[rail].n ? rail : 1 - rail];
    uint32_t reach = pool->n < sim.set.reach ? pool->n : sim.set.reach, at;
    struct event event;

    if (!pool->n)
        return false;
    at = sim_random(reach);
    event = pool->event[at];
    pool->event[at] = pool->event[--pool->n];
    arrive(&event, pool == &sim.net[1]);
    return true;
}

static int apply(void *arg, void *msg)
{
    struct sim_flow *flow = arg;
    struct sim_op *op = msg;
    struct event event = {.kind = EV_REPLY, .flow = op->flow, .op = op->index};

    if (!op->held || op->applied)
        sim.doubled++;
    op->applied = true;
    sim_effect(flow, op);
    if (op->op.kind == WSH_SRD_SIGNAL)
        sim.early += !data_there(op);
    sim.signals += op->op.kind == WSH_SRD_SIGNAL;
    sim_there(flow, op);
    sim.at_target[op->flow / CTXS]--;
    if (op->op.kind == WSH_SRD_FETCH) {
        event.applied = flow->rx_flow.applied;
        event.counted = flow->rx_flow.counted;
        wsh_srd_rx_flow_acked(&flow->rx_flow);
        sim_fly(&event);
        sim.messages++;
    }
    sim_release(flow, op);
    return 0;
}

static void serve(const struct event *event)
{
    struct sim_flow *flow = &sim.flow[event->flow];
    const struct wsh_srd_sink sink = {apply, flow};
    struct sim_op *op = op_of(event);
    struct wsh_srd_imm imm = wsh_srd_imm_unpack(
        wsh_srd_imm_pack(event->flow / CTXS, (uint16_t)(event->flow % CTXS), event->group));
    int rc;

    if (event->kind == EV_MESSAGE) {
        op->held = true;
        rc = wsh_srd_rx_flow_message(&flow->rx_flow, &op->stamp, op, &sink);
    } else {
        flow = &sim.flow[imm.pe * CTXS + imm.ctx];
        rc = wsh_srd_rx_flow_write(&flow->rx_flow, imm.group, &sink);
    }
    if (rc)
        sim.wrong++;
}

/* Written into the source's memory one at a time; or messages, of which a newer one may come first. */
static bool fly_ack(uint8_t number)
{
    struct wsh_srd_rx_flow *rx_flow = &sim.flow[number].rx_flow;
    struct event event = {
        .kind = EV_ACK, .flow = number, .applied = rx_flow->applied, .counted = rx_flow->counted};

    if (!wsh_srd_rx_flow_may_ack(rx_flow) || (!wsh_srd_rx_flow_urgent(rx_flow) && sim_chance(sim.set.lazy)))
        return false;
    if (sim.set.ack_messages)
        wsh_srd_rx_flow_acked(rx_flow);
    else
        wsh_srd_rx_flow_ack_write(rx_flow, true);
    sim_fly(&event);
    return true;
}

bool sim_step_target(void)
{
    bool busy = false;

    if (sim.stalled) {
        sim.stalled--;
        return true;
    }
    if (sim_chance(sim.set.stall) && sim_chance(8))
        sim.stalled = 1 + sim_random(2000);
    for (int rail = 0; rail < RAILS; rail++) {
        for (int i = 0; i < 8 && sim.cq_head[rail] != sim.cq_tail[rail]; i++, busy = true)
            serve(&sim.cq[rail][sim.cq_head[rail]++ % FLYING]);
    }
    for (uint8_t i = 0; i < FLOWS; i++)
        busy = fly_ack(i) || busy;
    return busy || sim.cq_head[0] != sim.cq_tail[0] || sim.cq_head[1] != sim.cq_tail[1];
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What must be true of every effect in the simulator, kept apart from the engine's own counters. */
#include "test/srd/sim.h"

static bool is_get(const struct sim_op *op)
{
    return op->op.kind == WSH_SRD_GET;
}

/* Gets order nothing behind them: a blocking one is complete when it returns, a nonblocking one promises nothing. */
void sim_begun(struct sim_flow *flow, struct sim_op *op)
{
    op->epoch = flow->epoch;
    op->landed = 0;
    op->held = op->applied = op->replied = op->there = false;
    if (is_get(op) || op->op.kind == WSH_SRD_FETCH)
        flow->n_awaited++;
    if (is_get(op))
        return;
    flow->missing[flow->epoch % EPOCHS]++;
    flow->n_missing++;
}

void sim_effect(struct sim_flow *flow, const struct sim_op *op)
{
    while (flow->oldest < flow->epoch && !flow->missing[flow->oldest % EPOCHS])
        flow->oldest++;
    if (op->ordered && flow->oldest < op->epoch)
        sim.early++;
}

void sim_there(struct sim_flow *flow, struct sim_op *op)
{
    if (is_get(op))
        return;
    if (op->there)
        sim.doubled++;
    op->there = true;
    flow->missing[op->epoch % EPOCHS]--;
    flow->n_missing--;
}

void sim_check_quiet(struct sim_flow *flow)
{
    if (!wsh_srd_flow_pending(&flow->flow) && (flow->n_missing || flow->n_awaited))
        sim.wrong++;
}

void sim_check_credits(void)
{
    for (int pe = 0; pe < PES; pe++) {
        const struct wsh_srd_link *link = &sim.link[pe];

        if (link->msgs > link->msgs_max || link->imms > link->imms_max || link->fetches > link->fetches_max ||
            sim.at_target[pe] > link->msgs_max)
            sim.wrong++;
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The halves of calls of low latency. A call has no barrier of all workers. */
#ifndef WSH_EP_LOW_CALLS_H
#define WSH_EP_LOW_CALLS_H

#include "ep/low/sum.h"

/* By one lane, at the end. */
EP_STEP void ep_low_received(const struct ep_run *run, const struct ep_low_call *call)
{
    run->state->received = call->number;
    if (ep_low_far(run))
        run->state->come[call->parity]++;
}

EP_STEP void ep_low_dispatch(const struct ep_run *run, const shmemx_ep_dispatch_t *args, int halves)
{
    int sends = halves & SHMEMX_EP_SEND, receives = halves & SHMEMX_EP_RECEIVE;
    struct ep_state *state = run->state;
    struct ep_low_call call =
        ep_low_call(run, sends ? state->dispatches : state->received, args->handle, args->tokens);

    ep_low_masks_begin(run, &call, halves);
    EP_CLOCK(run, 0);
    if (sends)
        ep_low_send(run, &call, args);
    EP_CLOCK(run, 3);
    if (receives)
        ep_low_receive(run, &call, args);
    EP_CLOCK(run, 6);
    if (!ep_low_dispatched(run, args, &call, receives))
        return;
    if (sends)
        state->dispatches = call.number;
    if (receives)
        ep_low_received(run, &call);
}

/* By one lane, at the end. */
EP_STEP void ep_low_combined(const struct ep_run *run, const struct ep_low_call *call)
{
    run->state->combined = call->number;
    if (ep_low_far(run))
        run->state->back[call->parity]++;
}

EP_STEP void ep_low_combine(const struct ep_run *run, const shmemx_ep_combine_t *args, int halves)
{
    int sends = halves & SHMEMX_EP_SEND, receives = halves & SHMEMX_EP_RECEIVE;
    struct ep_state *state = run->state;
    int tokens = ep_low_kept(run, args->handle)->tokens;
    struct ep_low_call call = ep_low_call(run, sends ? state->combines : state->combined, args->handle,
                                          tokens < 0 ? 0 : ep_low_least(tokens, run->shape.tokens));

    ep_low_masks_begin(run, &call, halves);
    EP_CLOCK(run, 8);
    if (sends)
        ep_low_combine_send(run, &call, args);
    EP_CLOCK(run, 10);
    if (receives)
        ep_low_combine_receive(run, &call, args);
    EP_CLOCK(run, 12);
    if (!ep_low_combined_by_last(run, args, &call, receives))
        return;
    if (sends)
        state->combines = call.number;
    if (sends && ep_low_far(run) && args->weights)
        state->weighed++;
    if (receives)
        ep_low_combined(run, &call);
}

#endif

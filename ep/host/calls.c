/* SPDX-License-Identifier: BSD-3-Clause */
/* Halves of calls on the host: the steps, run by the calling thread. */
#include "ep/low/calls.h"
#include "ep/steps/combine.h"

int ep_host_workers(void)
{
    return 1;
}

static struct ep_run host_run(struct shmemx_ep *ep)
{
    struct ep_run run = {ep->shape, ep->arena, ep->near_arena, ep->pes,   ep->counters, ep->state,
                         ep->phase, ep->ctx,   ep->group,      ep->masks, NULL};

    return run;
}

static void phase_call(struct shmemx_ep *ep, uint64_t before)
{
    __atomic_store_n(&ep->phase->call, (int64_t)before + 1, __ATOMIC_RELAXED);
}

void ep_host_dispatch_send(struct shmemx_ep *ep, const shmemx_ep_dispatch_t *call)
{
    struct ep_run run = host_run(ep);

    phase_call(ep, ep->state->dispatches);
    ep_dispatch_send(&run, call);
}

void ep_host_dispatch_receive(struct shmemx_ep *ep, const shmemx_ep_dispatch_t *call)
{
    struct ep_run run = host_run(ep);

    phase_call(ep, ep->state->received);
    ep_dispatch_receive(&run, call);
}

void ep_host_combine_send(struct shmemx_ep *ep, const shmemx_ep_combine_t *call)
{
    struct ep_run run = host_run(ep);

    phase_call(ep, ep->state->combines);
    ep_combine_send(&run, call);
}

void ep_host_combine_receive(struct shmemx_ep *ep, const shmemx_ep_combine_t *call)
{
    struct ep_run run = host_run(ep);

    phase_call(ep, ep->state->combined);
    ep_combine_receive(&run, call);
}

void ep_host_pull_dispatch(struct shmemx_ep *ep, const shmemx_ep_dispatch_t *call)
{
    struct ep_run run = host_run(ep);

    run.expanded = call->expanded;
    phase_call(ep, call->halves & SHMEMX_EP_SEND ? ep->state->dispatches : ep->state->received);
    ep_pull_dispatch(&run, call, call->halves);
}

void ep_host_pull_combine(struct shmemx_ep *ep, const shmemx_ep_combine_t *call)
{
    struct ep_run run = host_run(ep);

    phase_call(ep, call->halves & SHMEMX_EP_SEND ? ep->state->combines : ep->state->combined);
    ep_add_combine(&run, call, call->halves);
}

void ep_host_low_dispatch(struct shmemx_ep *ep, const shmemx_ep_dispatch_t *call)
{
    struct ep_run run = host_run(ep);
    shmemx_ep_dispatch_t copy;

    if (ep->masks && call->halves & SHMEMX_EP_SEND) {
        ep_masks_look(ep);
        call = ep_absent_choices(&run, call, &copy);
    }
    phase_call(ep, call->halves & SHMEMX_EP_SEND ? ep->state->dispatches : ep->state->received);
    ep_low_dispatch(&run, call, call->halves);
}

void ep_host_low_combine(struct shmemx_ep *ep, const shmemx_ep_combine_t *call)
{
    struct ep_run run = host_run(ep);
    int halves = call->halves;

    if (ep->masks && halves & SHMEMX_EP_SEND)
        ep_masks_look(ep);
    phase_call(ep, halves & SHMEMX_EP_SEND ? ep->state->combines : ep->state->combined);
    if (halves & SHMEMX_EP_SEND && !ep->shape.far && (call->signals || (call->waits && call->weights))) {
        ep_host_send_watched(&run, call);
        halves &= ~SHMEMX_EP_SEND;
    }
    if (halves)
        ep_low_combine(&run, call, halves);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Halves of calls by lanes, in place of ep/host: a library with these runs on CPUs what kernels run. */
#include "test/ep/lanes/lanes.cuh"

#undef shmemx_counter_wait_until
#undef shmemx_counter_wait_until_timeout
#undef shmemx_counter_fetch
#include "ep/low/calls.h"
#ifdef EP_LOW_MASKS
#include "ep/device/masks/ends.cuh"
#endif
#include "ep/steps/combine.h"

#include <sched.h>

static struct shmemx_ep *instance;
const shmemx_ep_rows_expanded_t *lanes_expanded;

extern "C" int ep_host_workers(void)
{
    return EP_LOW_WORKERS;
}

/* A mutant does not tell other hosts that it declines a call. */
static void tell_less(const void *source, size_t len)
{
    struct ep_header *header = (struct ep_header *)(uintptr_t)source;

    if (lanes_mutant("quiet_decline") && len && header->agreed == SHMEMX_EP_DECLINES)
        header->agreed = SHMEMX_EP_AGREES;
}

void lanes_put(void *dest, const void *source, size_t len, shmemx_counter_t counter, int pe)
{
    lanes_ballot(true);
    if (threadIdx.x % 32 == 0)
        tell_less(source, len);
    if (threadIdx.x % 32 == 0)
        shmemx_ctx_putmem_counted_nbi(instance->ctx, dest, source, len, counter, pe);
    lanes_ballot(true);
}

void lanes_flush(void)
{
    if (threadIdx.x % 32 == 0)
        shmemx_ctx_flush(instance->ctx);
    lanes_ballot(true);
}

/* Others run meanwhile; a poll of some word of the host serves peers. */
int lanes_look(shmemx_counter_t counter, uint64_t value)
{
    if (shmemx_counter_fetch(counter) >= value)
        return SHMEMX_WAIT_SATISFIED;
    shmem_uint64_test((uint64_t *)instance->arena, SHMEM_CMP_EQ, 1);
    lanes_poll();
    return SHMEMX_WAIT_TIMEOUT;
}

/* A mutant takes every put of another host to have come. */
uint64_t lanes_fetch(shmemx_counter_t counter)
{
    return lanes_mutant("early_images") ? UINT64_MAX : shmemx_counter_fetch(counter);
}

/*
 * Others may have to run before; a poll of some word of the host serves peers. When all others have had many turns,
 * only other hosts can help: a program that sees the library's waits sees this one.
 */
void lanes_wait(shmemx_counter_t counter, uint64_t value)
{
    for (int turns = 0; shmemx_counter_fetch(counter) < value; turns++) {
        if (turns == 2000)
            shmemx_counter_wait_until(counter, value);
        shmem_uint64_test((uint64_t *)instance->arena, SHMEM_CMP_EQ, 1);
        sched_yield();
        lanes_yield();
    }
}

struct half {
    struct ep_run run;
    const void *call;
};

static void run(struct shmemx_ep *ep, void (*body)(void *), const void *call)
{
    struct half half = {{ep->shape, ep->arena, ep->near_arena, ep->pes, ep->counters, ep->state, ep_live_of(&ep->shape, ep->state),
                         ep->phase, {}, 0},
                        call};

    for (int near = 0; near < ep->shape.near && near < EP_NEAR_FEW; near++)
        half.run.near_few[near] = ep->near_arena[near];
    half.run.alone = ep->shape.me % 2; /* peers may differ in it */
    lanes_share(ep->shape.group);
    instance = ep;
    lanes_run(body, &half);
}

/* A mutant: PE 0, where it has no tokens, takes all PEs to be in the combine. */
static void begin_pulled(struct shmemx_ep *ep, const shmemx_ep_combine_t *call)
{
    uint64_t number = (call->halves & SHMEMX_EP_SEND ? ep->state->combines : ep->state->combined) + 1;

    for (int near = 0; near < ep->shape.near && !ep->shape.me && lanes_mutant("run_ahead_high"); near++)
        ((uint64_t *)(ep->arena + ep->shape.near_begun[number % 2]))[near] = number % 0xffffffffu + 1;
}

#define HALF(name, step, type)                                                      \
    static void name##_body(void *arg)                                              \
    {                                                                               \
        struct half *half = (struct half *)arg;                                     \
        step(&half->run, (const type *)half->call);                                 \
    }                                                                               \
    extern "C" void ep_host_##name(struct shmemx_ep *ep, const type *call)          \
    {                                                                               \
        run(ep, name##_body, call);                                                 \
    }
HALF(dispatch_send, ep_dispatch_send, shmemx_ep_dispatch_t)
HALF(begun_combine_send, ep_combine_send, shmemx_ep_combine_t)
HALF(begun_combine_receive, ep_combine_receive, shmemx_ep_combine_t)

extern "C" void ep_host_combine_send(struct shmemx_ep *ep, const shmemx_ep_combine_t *call)
{
    begin_pulled(ep, call);
    ep_host_begun_combine_send(ep, call);
}

extern "C" void ep_host_combine_receive(struct shmemx_ep *ep, const shmemx_ep_combine_t *call)
{
    begin_pulled(ep, call);
    ep_host_begun_combine_receive(ep, call);
}

static void dispatch_receive_body(void *arg)
{
    struct half *half = (struct half *)arg;

    ep_dispatch_receive(&half->run, (const shmemx_ep_dispatch_t *)half->call);
}

/* A mutant forwards again where the receiving half comes again. */
extern "C" void ep_host_dispatch_receive(struct shmemx_ep *ep, const shmemx_ep_dispatch_t *call)
{
    if (lanes_mutant("forwards_twice"))
        ep->state->forwarded = 0;
    run(ep, dispatch_receive_body, call);
}

static void pull_dispatch_body(void *arg)
{
    struct half *half = (struct half *)arg;
    const shmemx_ep_dispatch_t *call = (const shmemx_ep_dispatch_t *)half->call;

    ep_pull_dispatch(&half->run, call, call->halves);
}

/* Mutants do not write padding, or have experts begin elsewhere. */
extern "C" void ep_host_pull_dispatch(struct shmemx_ep *ep, const shmemx_ep_dispatch_t *call)
{
    shmemx_ep_rows_expanded_t expanded;

    if (call->expanded) {
        expanded = *call->expanded;
        expanded.zero &= !lanes_mutant("no_padding");
        expanded.alignment += lanes_mutant("wrong_places");
        lanes_expanded = &expanded;
    }
    run(ep, pull_dispatch_body, call);
    lanes_expanded = NULL;
}

static void pull_combine_body(void *arg)
{
    struct half *half = (struct half *)arg;
    const shmemx_ep_combine_t *call = (const shmemx_ep_combine_t *)half->call;

    ep_add_combine(&half->run, call, call->halves);
}

extern "C" void ep_host_pull_combine(struct shmemx_ep *ep, const shmemx_ep_combine_t *call)
{
    begin_pulled(ep, call);
    run(ep, pull_combine_body, call);
}

/* As launches do (ep/device/masks/host.cuh): kernels have masks of their own. */
#ifdef EP_LOW_MASKS
static void masks_before(struct shmemx_ep *ep, int halves)
{
    instance = ep;
    if (halves & SHMEMX_EP_SEND)
        ep_masks_look(ep);
    ep_masks_to_live(ep);
    ep->masks->live->met = ep->masks->live->blanks = ep->masks->live->passed = 0;
    memcpy(ep_live_of(&ep->shape, ep->state), ep->masks->live, ep_live_bytes(&ep->shape));
}

static void masks_after(struct shmemx_ep *ep)
{
    memcpy(ep->masks->live, ep_live_of(&ep->shape, ep->state), ep_live_bytes(&ep->shape));
    memcpy(ep->masks->state, ep->state, sizeof *ep->state); /* as for kernels: it has room for it */
    ep_masks_from_live(ep);
}
#else
static void masks_before(struct shmemx_ep *, int)
{
}

static void masks_after(struct shmemx_ep *)
{
}
#endif

static void low_dispatch_body(void *arg)
{
    struct half *half = (struct half *)arg;
    const shmemx_ep_dispatch_t *call = (const shmemx_ep_dispatch_t *)half->call;

    ep_low_dispatch(&half->run, call, call->halves);
}

extern "C" void ep_host_low_dispatch(struct shmemx_ep *ep, const shmemx_ep_dispatch_t *call)
{
    masks_before(ep, call->halves);
    run(ep, low_dispatch_body, call);
    masks_after(ep);
}

static void low_combine_body(void *arg)
{
    struct half *half = (struct half *)arg;
    const shmemx_ep_combine_t *call = (const shmemx_ep_combine_t *)half->call;

    ep_low_combine(&half->run, call, call->halves);
}

/* A mutant takes all PEs to be in the combine: it waits for none that brings nothing. */
static void begin_all(struct shmemx_ep *ep, const shmemx_ep_combine_t *call)
{
    uint64_t number = (call->halves & SHMEMX_EP_SEND ? ep->state->combines : ep->state->combined) + 1;

    for (int near = 0; near < ep->shape.near && lanes_mutant("run_ahead"); near++)
        ((uint64_t *)(ep->arena + ep->shape.low_begun[number % 2]))[near] = number % 0xffffffffu + 1;
}

extern "C" void ep_host_low_combine(struct shmemx_ep *ep, const shmemx_ep_combine_t *call)
{
    begin_all(ep, call);
    masks_before(ep, call->halves);
    run(ep, low_combine_body, call);
    masks_after(ep);
}

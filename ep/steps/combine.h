/* SPDX-License-Identifier: BSD-3-Clause */
/* The halves of a combine, with parts in rounds as in a dispatch. */
#ifndef WSH_EP_STEPS_COMBINE_H
#define WSH_EP_STEPS_COMBINE_H

#include "ep/steps/dispatch.h"
#include "ep/steps/results.h"

/*
 * This PE's rows to where near PEs fetch them: those of tokens of other hosts, which these answer, first. Others' own
 * hosts come from the next one on.
 */
EP_LOOP void ep_store_back(const struct ep_run *run, const struct ep_call *call,
                           const shmemx_ep_combine_t *args)
{
    const struct ep_shape *shape = &run->shape;
    int hosts = shape->one_copy ? shape->n / shape->near : 1, others = shape->near - 1, rows = 0, begin;

    for (int pe = 0; pe < shape->n; pe++)
        rows = ep_most(rows, ep_rows_for(run, call, pe, &begin));
    rows = (rows + EP_CHUNK - 1) / EP_CHUNK;
    for (int i = ep_worker(run); i < hosts * rows * others; i += ep_workers(run)) {
        int host = (shape->host + 1 + i / (rows * others)) % hosts,
            l = (shape->local + 1 + i % others) % shape->near;

        ep_add_store(run, call, args, i / others % rows,
                     (shape->one_copy ? host : shape->host) * shape->near + l);
    }
}

EP_STEP void ep_combine_send(const struct ep_run *run, const shmemx_ep_combine_t *args)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_call call = ep_combine_call(run, args, run->state->combines);
    struct ep_began began = ep_begins_with(run, &call, args);

    ep_begin_combine(run, &call, began);
    if (began.flagged)
        ep_store_back(run, &call, args);
    ep_add_begun(run, &call, args, !shape->one_copy);
    for (int part = 0, rounds = ep_result_rounds(run, &call); part < rounds && part < shape->slots; part++)
        ep_results(run, &call, part);
    if (ep_worker(run) == 0)
        ep_combine_sent(run, &call);
}

/* By counter [far][slots]. */
EP_STEP uint64_t ep_value_result(const struct ep_run *run, const void *arg, int i)
{
    const struct ep_part *part = (const struct ep_part *)arg;
    uint64_t number = part->call->base + part->part, slots = (uint64_t)run->shape.slots;

    return part->part < part->call->parts && number % slots == i % slots ? number / slots + 1 : 0;
}

/* The tokens of one part. */
EP_STEP void ep_sum_tokens(const struct ep_run *run, const struct ep_part *part,
                           const shmemx_ep_combine_t *args)
{
    const struct ep_shape *shape = &run->shape;
    int from = part->part * shape->window, tokens = ep_least(part->call->tokens - from, shape->window);
    int chunks = (tokens + EP_CHUNK - 1) / EP_CHUNK, pieces = ep_pieces(run, chunks);
    size_t slot = ep_slot_result(shape, shape->result_in, 0, part->call->base + part->part);
    const struct ep_adds adds = {0, -1, run->arena + slot, shape->slots * shape->result_image};

    for (int i = ep_worker(run); i < chunks * pieces; i += ep_workers(run)) {
        int token = i / pieces * EP_CHUNK;

        ep_add_tokens(run, part->call, args, from + token, ep_least(EP_CHUNK, tokens - token), i % pieces,
                      pieces, &adds);
    }
}

/* Far peers may put results to the slot again. All workers, after a barrier. */
EP_STEP void ep_give_results_back(const struct ep_run *run)
{
    const struct ep_shape *shape = &run->shape;

    for (int i = ep_worker(run); i < shape->far; i += ep_workers(run)) {
        int pe = ep_far_pe(shape, ep_far_turn(shape, i));

        ep_put(run, run->arena, run->arena, 0, shape->c_result_credit + ep_far_me(shape, pe), pe);
    }
    if (ep_worker(run) == 0 && ep_leads(run))
        run->state->network_puts += shape->far;
}

/* One round: the tokens of part `number`, and then sums for one more of the far peers' parts. */
EP_STEP void ep_combine_round(const struct ep_run *run, const struct ep_call *call,
                              const shmemx_ep_combine_t *args, int number)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_part part = {call, number};

    ep_await(run, EP_PHASE_RESULT, shape->c_result, shape->far * shape->slots, ep_value_result, &part);
    if (number < call->parts)
        ep_sum_tokens(run, &part, args);
    ep_sync(run);
    if (number < call->parts)
        ep_give_results_back(run);
    if (number + shape->slots < ep_result_rounds(run, call))
        ep_results(run, call, number + shape->slots);
}

/* By the last group, when all have read the state. */
EP_STEP void ep_combine_received(const struct ep_run *run, const struct ep_call *call)
{
    EP_BY_GROUP(run, f, run->shape.far)
    {
        *ep_results_sent(run, f) += (uint64_t)ep_ints(run, ep_kept_far_parts(&run->shape, call->handle))[f];
    }
    if (ep_group_worker(run) == 0 && ep_leads(run)) {
        run->state->combined = (uint64_t)call->number;
        run->state->results += (uint64_t)call->parts;
    }
}

EP_STEP void ep_combine_receive(const struct ep_run *run, const shmemx_ep_combine_t *args)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_call call = ep_combine_call(run, args, run->state->combined);
    int rounds = call.parts;

    ep_add_begun(run, &call, args, 0);
    rounds = ep_most(rounds, ep_result_rounds(run, &call) - shape->slots);
    for (int round = 0; round < rounds; round++)
        ep_combine_round(run, &call, args, round);
    if (ep_last(run))
        ep_combine_received(run, &call);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The halves of a combine, with parts in rounds as in a dispatch. */
#ifndef WSH_EP_STEPS_COMBINE_H
#define WSH_EP_STEPS_COMBINE_H

#include "ep/steps/results.h"

/* By one worker, when all have read the state. */
EP_STEP void ep_combine_sent(const struct ep_run *run, const struct ep_call *call)
{
    run->state->combines = (uint64_t)call->number;
    run->state->y_turn = (uint32_t)call->turn;
}

EP_STEP void ep_combine_send(const struct ep_run *run, const shmemx_ep_combine_t *args)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_call call = ep_combine_call(run, args, run->state->combines);

    ep_store_y(run, &call, args);
    if (ep_worker(run) == 0)
        ep_store_y_header(run, &call, args);
    if (ep_worker(run) == 0)
        ep_flush(run);
    ep_sync(run);
    ep_signal_near(run, shape->c_y, ep_worker(run), ep_workers(run));
    if (ep_worker(run) == 0)
        ep_combine_sent(run, &call);
    if (shape->one_copy)
        ep_await(run, EP_PHASE_Y, shape->c_y, shape->near, ep_value_number, &call);
    ep_gather_near(run, &call, args, 1 + shape->far, shape->one_copy ? -1 : shape->local);
    for (int part = 0, rounds = ep_result_rounds(run, &call); part < rounds && part < shape->slots; part++)
        ep_results(run, &call, part);
}

/* By counter [far][slots]. */
EP_STEP uint64_t ep_value_result(const struct ep_run *run, const void *arg, int i)
{
    const struct ep_part *part = (const struct ep_part *)arg;
    uint64_t number = part->call->base + part->part, slots = (uint64_t)run->shape.slots;

    return part->part < part->call->parts && number % slots == i % slots ? number / slots + 1 : 0;
}

/* The tokens of one part. */
EP_LOOP void ep_sum_tokens(const struct ep_run *run, const struct ep_part *part,
                           const shmemx_ep_combine_t *args)
{
    const struct ep_shape *shape = &run->shape;
    char *metas = (char *)ep_at(run, ep_kept_metas(shape, part->call->handle));
    int from = part->part * shape->window, tokens = ep_least(part->call->tokens - from, shape->window);
    int pieces = ep_pieces(run, tokens);
    struct ep_sum_of sum;

    sum.first = ep_ints(run, shape->near_first);
    sum.results = run->arena + ep_slot_result(shape, shape->result_in, 0, part->call->base + part->part);
    sum.each = shape->slots * shape->result_image;
    sum.only = -1;
    for (int i = ep_worker(run); i < tokens * pieces; i += ep_workers(run)) {
        int token = from + i / pieces;

        sum.meta = ep_meta_at(run, metas, token);
        ep_sum(run, (char *)args->out + token * (size_t)shape->hidden * 2, i % pieces, pieces, shape->topk,
               ep_sum_term, &sum);
        if (args->out_weights && i % pieces == 0)
            ep_sum_weights(run, &sum, args->out_weights + token * (size_t)shape->topk);
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

    ep_await(run, EP_PHASE_Y, shape->c_y, shape->near, ep_value_number, &call);
    ep_gather_near(run, &call, args, 1, -1);
    rounds = ep_most(rounds, ep_result_rounds(run, &call) - shape->slots);
    for (int round = 0; round < rounds; round++)
        ep_combine_round(run, &call, args, round);
    if (ep_last(run))
        ep_combine_received(run, &call);
}

#endif

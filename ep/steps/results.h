/* SPDX-License-Identifier: BSD-3-Clause */
/* Combine's sending side: sums for far peers. */
#ifndef WSH_EP_STEPS_RESULTS_H
#define WSH_EP_STEPS_RESULTS_H

#include "ep/steps/add.h"

/* Records of a part that a far peer had here, the first one among all of its; none where it has no such part. */
EP_STEP int ep_far_part(const struct ep_run *run, const struct ep_call *call, int far, int part, int *first)
{
    const struct ep_shape *shape = &run->shape;
    const int32_t *before =
        ep_ints(run, ep_kept_far_rows(shape, call->handle)) + far * (ep_parts(shape, shape->tokens) + 1);

    if (part >= ep_ints(run, ep_kept_far_parts(shape, call->handle))[far])
        return -1;
    *first = ep_within(before[part], shape->tokens);
    return ep_within(before[part + 1] - *first, ep_least(shape->window, shape->tokens - *first));
}

/* How many rounds of results the sending side has. */
EP_STEP int ep_result_rounds(const struct ep_run *run, const struct ep_call *call)
{
    const int32_t *parts = ep_ints(run, ep_kept_far_parts(&run->shape, call->handle));
    int rounds = 0;

    for (int f = 0; f < run->shape.far; f++)
        rounds = ep_most(rounds, parts[f]);
    return ep_within(rounds, ep_parts(&run->shape, run->shape.tokens));
}

/* A piece of the columns of a far peer's record, when the rows are there. */
EP_LOOP void ep_sum_record(const struct ep_run *run, const struct ep_call *call, char *to, int far,
                           int record, int piece, int pieces)
{
    const struct ep_shape *shape = &run->shape;
    const struct ep_adds adds = {1 + far, shape->one_copy ? -1 : shape->local, NULL, 0};
    struct ep_chunk chunk = {ep_far_pe(shape, far), record, 1,
                             run->arena + ep_kept_far_metas(shape, call->handle, far), 0};
    struct ep_chunk_terms terms = ep_terms_of(run, call, &chunk, &adds);
    struct ep_sum_of sum = {ep_meta_at(run, chunk.metas, record), &adds};

    ep_sum_chunk(run, to, piece, pieces, &terms, 1);
    if (piece == 0)
        ep_sum_weights(run, &sum, (float *)(to + (size_t)shape->hidden * 2));
}

EP_STEP void ep_sum_far(const struct ep_run *run, const struct ep_call *call, int part)
{
    const struct ep_shape *shape = &run->shape;
    int pieces = ep_pieces(run, shape->far * shape->window);

    for (int i = ep_worker(run); i < shape->far * shape->window * pieces; i += ep_workers(run)) {
        int f = i / pieces % shape->far, record = i / pieces / shape->far, first = 0;
        size_t slot = ep_slot_result(shape, shape->result_send, f, *ep_results_sent(run, f) + part);

        if (record < ep_far_part(run, call, f, part, &first))
            ep_sum_record(run, call, run->arena + slot + record * shape->result, f, first + record,
                          i % pieces, pieces);
    }
}

EP_LOOP void ep_put_results(const struct ep_run *run, const struct ep_call *call, int part)
{
    const struct ep_shape *shape = &run->shape;
    int first;

    for (int i = ep_worker(run); i < shape->far; i += ep_workers(run)) {
        int f = ep_far_turn(shape, i), pe = ep_far_pe(shape, f), me = ep_far_me(shape, pe),
            rows = ep_far_part(run, call, f, part, &first);
        uint64_t number = *ep_results_sent(run, f) + part;

        if (rows >= 0)
            ep_put(run, run->arena + ep_slot_result(shape, shape->result_in, me, number),
                   run->arena + ep_slot_result(shape, shape->result_send, f, number), rows * shape->result,
                   shape->c_result + me * shape->slots + (int)(number % shape->slots), pe);
    }
    if (ep_worker(run) != 0 || !ep_leads(run))
        return;
    for (int f = 0; f < shape->far; f++) {
        int rows = ep_far_part(run, call, f, part, &first);

        run->state->network_rows += ep_most(rows, 0);
        run->state->network_puts += rows >= 0;
    }
}

EP_STEP uint64_t ep_value_result_credit(const struct ep_run *run, const void *arg, int i)
{
    const struct ep_part *part = (const struct ep_part *)arg;
    uint64_t number = *ep_results_sent(run, i) + part->part, slots = (uint64_t)run->shape.slots;
    int first, rows = ep_far_part(run, part->call, i, part->part, &first);

    return rows >= 0 && number >= slots ? number - slots + 1 : 0;
}

/* Sums for part `number` of each far peer that has one, to it. As ep_pack; slots are free when the wait is over. */
EP_STEP void ep_results(const struct ep_run *run, const struct ep_call *call, int number)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_part part = {call, number};

    if (ep_worker(run) == 0 && (number == 0 || number >= shape->slots))
        ep_flush(run);
    ep_await(run, EP_PHASE_RESULT_CREDIT, shape->c_result_credit, shape->far, ep_value_result_credit, &part);
    ep_sum_far(run, call, number);
    ep_sync(run);
    ep_put_results(run, call, number);
}

#endif

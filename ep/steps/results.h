/* SPDX-License-Identifier: BSD-3-Clause */
/* Combine's sending side: Y for near PEs, sums for far ones. */
#ifndef WSH_EP_STEPS_RESULTS_H
#define WSH_EP_STEPS_RESULTS_H

#include "ep/steps/sums.h"

EP_STEP struct ep_call ep_combine_call(const struct ep_run *run, const shmemx_ep_combine_t *args,
                                       uint64_t before)
{
    const struct ep_kept *kept = ep_kept(run, args->handle);
    struct ep_call call;

    call.number = (int64_t)before + 1;
    call.parity = (int)(call.number % 2);
    call.handle = args->handle;
    call.tokens = ep_within(kept->tokens, run->shape.tokens);
    call.parts = ep_within(kept->parts, ep_parts(&run->shape, run->shape.tokens));
    call.turn = 1 - (int)run->state->y_turn;
    for (int turn = 0; turn < 2; turn++)
        if (args->y == run->arena + run->shape.y[turn])
            call.turn = turn;
    call.base = run->state->results;
    return call;
}

EP_STEP void ep_store_y_piece(const struct ep_run *run, const struct ep_call *call,
                              const shmemx_ep_combine_t *args, int64_t row, int piece, int pieces)
{
    const struct ep_shape *shape = &run->shape;
    int first, columns = ep_piece_columns(run, piece, pieces, &first);
    int64_t at = (row * shape->hidden + first) * 2, weights = row * shape->topk * (int64_t)sizeof(float);
    char *y = run->arena + shape->y[call->turn];

    if (columns && args->y != y)
        ep_copy(y + at, (const char *)args->y + at, (size_t)columns * 2);
    if (args->y_weights && piece == 0)
        ep_copy(run->arena + shape->y_weights[call->parity] + weights,
                (const char *)args->y_weights + weights, shape->topk * sizeof(float));
}

/* Rows that are copied: `n` in all but `own` of them, from `begin` on, which this PE alone reads. */
struct ep_y_rows {
    int n, begin, own;
};

EP_STEP struct ep_y_rows ep_y_rows(const struct ep_run *run, const struct ep_call *call)
{
    const struct ep_shape *shape = &run->shape;
    const int32_t *first = ep_ints(run, ep_kept_first(shape, call->handle));
    int stored = ep_most(ep_least(first[shape->n * shape->counted], shape->capacity), 0);
    int begin = ep_most(ep_least(first[shape->me * shape->counted], stored), 0);
    int own = ep_most(ep_least(first[(shape->me + 1) * shape->counted], stored) - begin, 0);
    struct ep_y_rows rows = {stored - own, begin, own};

    return rows;
}

EP_LOOP void ep_store_y(const struct ep_run *run, const struct ep_call *call, const shmemx_ep_combine_t *args)
{
    struct ep_y_rows rows = ep_y_rows(run, call);
    int pieces = ep_copy_pieces(run, rows.n);

    if (args->y == run->arena + run->shape.y[call->turn] && !args->y_weights)
        return;
    for (int i = ep_worker(run); i < rows.n * pieces; i += ep_workers(run)) {
        int row = i / pieces + (i / pieces >= rows.begin ? rows.own : 0);

        ep_store_y_piece(run, call, args, row, i % pieces, pieces);
    }
}

EP_STEP void ep_store_y_header(const struct ep_run *run, const struct ep_call *call,
                               const shmemx_ep_combine_t *args)
{
    struct ep_header *header = (struct ep_header *)ep_at(run, run->shape.y_header[call->parity]);

    header->call = call->number;
    header->x = (int64_t)run->shape.y[call->turn];
    header->weighs = args->y_weights != NULL;
}

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

EP_LOOP void ep_sum_far(const struct ep_run *run, const struct ep_call *call, int part)
{
    const struct ep_shape *shape = &run->shape;
    int pieces = ep_pieces(run, shape->far * shape->window);

    for (int i = ep_worker(run); i < shape->far * shape->window * pieces; i += ep_workers(run)) {
        int f = i / pieces % shape->far, record = i / pieces / shape->far, first = 0;
        struct ep_sum_of sum;
        char *to;

        if (record >= ep_far_part(run, call, f, part, &first))
            continue;
        to = run->arena + ep_slot_result(shape, shape->result_send, f, *ep_results_sent(run, f) + part) +
             record * shape->result;
        sum.meta = ep_meta_at(run, run->arena + ep_kept_far_metas(shape, call->handle, f), first + record);
        sum.first = ep_ints(run, shape->near_first) + (size_t)(1 + f) * shape->near;
        sum.results = NULL;
        sum.each = 0;
        sum.only = shape->one_copy ? -1 : shape->local;
        ep_sum(run, to, i % pieces, pieces, shape->topk, ep_sum_term, &sum);
        if (i % pieces == 0)
            ep_sum_weights(run, &sum, (float *)(to + (size_t)shape->hidden * 2));
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

/* Sums for part `number` of each far peer that has one, to it. As ep_pack. */
EP_STEP void ep_results(const struct ep_run *run, const struct ep_call *call, int number)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_part part = {call, number};

    ep_await(run, EP_PHASE_RESULT_CREDIT, shape->c_result_credit, shape->far, ep_value_result_credit, &part);
    if (number >= shape->slots) {
        if (ep_worker(run) == 0)
            ep_flush(run);
        ep_sync(run);
    }
    ep_sum_far(run, call, number);
    ep_sync(run);
    ep_put_results(run, call, number);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Combine with far peers. A far peer's rows are answered by the PE that it has put them to: with one copy near PEs push
 * what they have of a record to that PE, which adds in the order of PEs (exact: of the top-k), rounds and puts; direct
 * it has all of them itself. One counted put to each far peer, also without rows: it says that this PE is in the call.
 */
#ifndef WSH_EP_LOW_ANSWER_H
#define WSH_EP_LOW_ANSWER_H

#include "ep/low/results.h"

/* Weights that the combine is given, to all far peers, for the rows that they add up. */
EP_STEP void ep_low_put_weights(const struct ep_run *run, const struct ep_low_call *call,
                                const shmemx_ep_combine_t *args)
{
    const struct ep_shape *shape = &run->shape;
    float *from = (float *)(run->arena + shape->weights_send[call->parity]);
    int topk = shape->topk, columns = args->columns ? args->columns : topk;

    for (int i = 0; i < call->tokens * columns; i++)
        from[i / columns * topk + i % columns] = args->weights[i];
    for (int i = 0; i < shape->far; i++) {
        int pe = ep_far_pe(shape, ep_far_turn(shape, i)), me = ep_far_me(shape, pe);

        ep_put(run, run->arena + ep_weights_in(shape, me), from, (size_t)call->tokens * topk * sizeof(float),
               shape->c_weights + me, pe);
    }
    run->state->network_puts += (uint64_t)shape->far;
}

/* How many records of a far peer the handle has. */
EP_STEP int ep_low_kept_count(const struct ep_run *run, int handle, int far)
{
    int records = ep_low_records(run, handle)[far];

    return records < 0 ? 0 : ep_low_least(records, run->shape.tokens);
}

/* The weight that a far peer has put for choice k of a record. */
EP_STEP float ep_low_far_weight(const struct ep_run *run, int far, const struct ep_low_meta *meta, int k)
{
    const float *weights = (const float *)(run->arena + ep_weights_in(&run->shape, far));
    int token = ep_low_least(meta->token & INT32_MAX, run->shape.tokens - 1);

    return weights[(size_t)token * run->shape.topk + k];
}

/* As words to the PEs that have the experts. */
EP_STEP void ep_low_hand_weights(const struct ep_run *run, const struct ep_low_call *call, int far)
{
    const struct ep_shape *shape = &run->shape;
    int source = ep_low_far_source(run, ep_far_pe(shape, far)), first, behind = ep_low_behind(run, &first);

    for (int i = 0; i < ep_low_kept_count(run, call->handle, far) * shape->topk; i++) {
        const struct ep_low_meta *meta = ep_low_far_meta(run, call->handle, far, i / shape->topk);
        int k = i % shape->topk, of = ep_low_behind_of(run, meta, k);
        int token = ep_low_least(meta->token & INT32_MAX, shape->tokens - 1);

        if (of < 0 || of >= behind)
            continue;
        ep_word_store(ep_low_weight(run, ep_near_base(run, first + of), call->parity, source, token, k),
                      (uint64_t)wsh_ep_bits(ep_low_far_weight(run, far, meta, k)) << 32 | call->word);
    }
}

/* Near PEs need them where they reduce: not where rows are pushed one by one to who answers. */
EP_STEP void ep_low_pass_weights(const struct ep_run *run, const struct ep_low_call *call)
{
    const struct ep_shape *shape = &run->shape;
    uint64_t weighed = run->state->weighed + 1;

    for (int i = 0; i < shape->far; i++) {
        int far = ep_far_turn(shape, i);

        ep_await_one(run, EP_PHASE_WEIGHTS, shape->c_weights, far, weighed);
        if (!shape->exact || !shape->one_copy)
            ep_low_hand_weights(run, call, far);
    }
    run->state->weighed = weighed;
}

/* A record that is answered. */
struct ep_low_answered {
    const struct ep_low_call *call;
    const struct ep_low_meta *meta;
    int far, record, piece, weighed;
    int n;                   /* of the rows that are added */
    int choice[EP_TOPK_MAX]; /* what each is: a near PE, or exact a choice */
};

/* Which rows there are: of PEs in their order, or of choices in theirs. */
EP_STEP void ep_low_record_rows(const struct ep_run *run, struct ep_low_answered *record)
{
    const struct ep_shape *shape = &run->shape;
    int last = -1;

    record->n = 0;
    for (int k = 0; k < shape->topk && shape->exact; k++)
        if (ep_low_behind_of(run, record->meta, k) >= 0)
            record->choice[record->n++] = k;
    while (!shape->exact) {
        int next = shape->near;

        for (int k = 0; k < shape->topk; k++) {
            int of = ep_low_behind_of(run, record->meta, k);

            next = of > last && of < next ? of : next;
        }
        if (next == shape->near)
            return;
        record->choice[record->n++] = last = next;
    }
}

/* Row i of them, among those that near PEs push here. */
EP_STEP int ep_low_record_at(const struct ep_run *run, const struct ep_low_answered *record, int i)
{
    const struct ep_shape *shape = &run->shape;
    int first = (int)(shape->low_results * (1 + (size_t)record->far));

    if (shape->exact)
        return first + record->record * shape->topk + record->choice[i];
    return first + record->choice[i] * shape->tokens + record->record;
}

EP_STEP const uint64_t *ep_low_record_flag(const struct ep_run *run, const void *arg, int i, int *near)
{
    const struct ep_low_answered *record = (const struct ep_low_answered *)arg;

    *near = run->shape.exact ? ep_low_behind_of(run, record->meta, record->choice[i]) : record->choice[i];
    return ep_low_result_flag(run, run->arena, record->call->parity, ep_low_record_at(run, record, i),
                              record->piece);
}

EP_STEP struct ep_term ep_low_record_term(const struct ep_run *run, const void *arg, int i)
{
    const struct ep_low_answered *record = (const struct ep_low_answered *)arg;
    struct ep_term term = {
        ep_low_result(run, run->arena, record->call->parity, ep_low_record_at(run, record, i)), 1.0f};

    if (run->shape.exact)
        term.weight = record->weighed ? ep_low_far_weight(run, record->far, record->meta, record->choice[i])
                                      : record->meta->entry[record->choice[i]].weight;
    return term;
}

/* What near PEs have pushed for the records of a far peer, added up in the order in which they are put. */
EP_STEP void ep_low_add_records(const struct ep_run *run, struct ep_low_answered *record, char *to)
{
    const struct ep_shape *shape = &run->shape;
    int source = ep_low_far_source(run, ep_far_pe(shape, record->far)), handle = record->call->handle;
    int shift = ep_low_numbers_of(run).shift[source], each = ep_low_each(shape, shift);

    for (record->record = 0; record->record < ep_low_kept_count(run, handle, record->far); record->record++) {
        record->meta = ep_low_far_meta(run, handle, record->far, record->record);
        ep_low_record_rows(run, record);
        for (record->piece = 0; record->piece < 1 << shift; record->piece++) {
            int first, columns = ep_low_columns(run, record->piece, each, &first);

            if (columns <= 0)
                continue;
            ep_flags_await(run, EP_PHASE_RESULTS, record->n, ep_low_record_flag, record,
                           record->call->number);
            ep_low_add(run, to + (size_t)record->record * shape->result, first, columns, record->n,
                       ep_low_record_term, record);
        }
    }
}

/* Direct: this PE has all rows of a record. */
EP_STEP void ep_low_reduce_records(const struct ep_run *run, const struct ep_low_answered *record,
                                   const shmemx_ep_combine_t *args, char *to)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_low_result result = {
        record->call, NULL, (const char *)args->y, 0, 0, 0, record->weighed, 0, 0, 0, 0, 0};

    result.source = ep_low_far_source(run, ep_far_pe(shape, record->far));
    for (; result.slot < ep_low_kept_count(run, record->call->handle, record->far); result.slot++) {
        result.meta = ep_low_in(run, record->call->handle, result.source, result.slot);
        ep_low_address(run, &result);
        ep_low_add(run, to + (size_t)result.offset * shape->result, 0, shape->hidden, shape->topk,
                   ep_low_result_term, &result);
    }
}

EP_STEP void ep_low_answer(const struct ep_run *run, const struct ep_low_call *call,
                           const shmemx_ep_combine_t *args)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_low_answered record = {call, NULL, 0, 0, 0, args->weights != NULL, 0, {0}};

    for (int i = 0; i < shape->far; i++) {
        int far = ep_far_turn(shape, i), pe = ep_far_pe(shape, far), me = ep_far_me(shape, pe);
        char *to = run->arena + ep_slot_result(shape, shape->result_send, far, call->parity);
        int records = ep_low_kept_count(run, call->handle, far);

        record.far = far;
        if (shape->one_copy)
            ep_low_add_records(run, &record, to);
        else
            ep_low_reduce_records(run, &record, args, to);
        ep_put(run, run->arena + ep_slot_result(shape, shape->result_in, me, call->parity), to,
               (size_t)records * shape->result, shape->c_result + me * shape->slots + call->parity, pe);
        run->state->network_rows += (uint64_t)records;
    }
    run->state->network_puts += (uint64_t)shape->far;
}

/* Rows for far peers are pushed first, for others wait for them longest. */
EP_STEP void ep_low_send_far(const struct ep_run *run, const struct ep_low_call *call,
                             const shmemx_ep_combine_t *args)
{
    const struct ep_shape *shape = &run->shape;
    enum ep_low_form form = shape->exact ? EP_LOW_PUSHED : args->weights ? EP_LOW_WEIGHED : EP_LOW_REDUCED;

    if (shape->one_copy)
        ep_low_send_results(run, call, args, form, shape->near, shape->n);
}

/* All far peers' answers. */
EP_STEP void ep_low_await_answers(const struct ep_run *run, const struct ep_low_call *call)
{
    const struct ep_shape *shape = &run->shape;

    for (int far = 0; far < shape->far; far++)
        ep_await_one(run, EP_PHASE_RESULT, shape->c_result, far * shape->slots + call->parity,
                     run->state->back[call->parity] + 1);
}

EP_STEP void ep_low_combine_send(const struct ep_run *run, const struct ep_low_call *call,
                                 const shmemx_ep_combine_t *args)
{
    enum ep_low_form form = ep_low_form(run, args);

    ep_low_begin(run, call);
    if (ep_low_far(run))
        ep_flush(run);
    if (ep_low_far(run) && args->weights)
        ep_low_put_weights(run, call, args);
    if (form == EP_LOW_WEIGHED)
        ep_low_give_weights(run, call, args);
    ep_low_recall(run, call);
    EP_CLOCK(run, 9);
    if (ep_low_far(run) && !args->weights)
        ep_low_send_far(run, call, args);
    ep_low_send_results(run, call, args, form, 0, run->shape.near);
    if (!ep_low_far(run))
        return;
    if (args->weights) {
        ep_low_pass_weights(run, call);
        ep_low_send_far(run, call, args);
    }
    ep_low_answer(run, call, args);
}

#endif

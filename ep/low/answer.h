/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Combine with far peers. A far peer's rows are answered by the PE that it has put them to: with one copy near PEs push
 * what they have of a record to that PE, which adds in the order of PEs (exact: of the top-k), rounds and puts; direct
 * it has all of them itself. One counted put to each far peer, also without rows: it says that this PE is in the call.
 */
#ifndef WSH_EP_LOW_ANSWER_H
#define WSH_EP_LOW_ANSWER_H

#include "ep/low/results.h"
#ifdef EP_LOW_SIGNALS
#include "ep/device/signals.cuh"
#endif

/* Weights that the combine is given, to all far peers, for the rows that they add up. By one group. */
EP_STEP void ep_low_put_weights(const struct ep_run *run, const struct ep_low_call *call,
                                const shmemx_ep_combine_t *args)
{
    const struct ep_shape *shape = &run->shape;
    float *from = (float *)(run->arena + shape->weights_send[call->parity]);
    int topk = shape->topk, columns = args->columns ? args->columns : topk;

    EP_BY_GROUP(run, i, call->tokens * columns)
    {
        from[i / columns * topk + i % columns] = args->weights[i];
    }
    ep_sync_group(run);
    for (int i = ep_group_worker(run); i < shape->far; i += ep_group_workers(run)) {
        int pe = ep_far_pe(shape, ep_far_turn(shape, i)), me = ep_far_me(shape, pe);

        if (ep_masked(run, pe))
            continue;
        ep_put(run, run->arena + ep_weights_in(shape, me), from, (size_t)call->tokens * topk * sizeof(float),
               shape->c_weights + me, pe);
        ep_note_put(run, shape->c_weights + me, pe);
        ep_tally(run, &run->state->network_puts, 1);
    }
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

/* As words to the PEs that have the experts; by member of `members` workers. */
EP_STEP void ep_low_hand_weights(const struct ep_run *run, const struct ep_low_call *call, int far,
                                 int member, int members)
{
    const struct ep_shape *shape = &run->shape;
    int source = ep_low_far_source(run, ep_far_pe(shape, far)), first, behind = ep_low_behind(run, &first);
    int choices = ep_low_kept_count(run, call->handle, far) * shape->topk;

    for (int i = member * EP_LANES + (int)ep_lane(); i < choices; i += members * EP_LANES) {
        const struct ep_low_meta *meta = ep_low_far_meta(run, call->handle, far, i / shape->topk);
        int k = i % shape->topk, of = ep_low_behind_of(run, meta, k);
        int token = ep_low_least(meta->token & INT32_MAX, shape->tokens - 1);

        if (of < 0 || of >= behind)
            continue;
        ep_word_store(ep_low_weight(run, ep_near_base(run, first + of), call->parity, source, token, k),
                      (uint64_t)wsh_ep_bits(ep_low_far_weight(run, far, meta, k)) << 32 | call->word);
    }
}

EP_STEP void ep_low_await_weights(const struct ep_run *run, int far, int64_t *waits)
{
    ep_low_await_far(run, EP_PHASE_WEIGHTS, run->shape.c_weights, far, run->state->weighed + 1,
                     ep_low_waited(waits, ep_far_pe(&run->shape, far)));
    ep_acquire(run);
}

/* Near PEs need them where they reduce: not where rows are pushed one by one to who answers. */
EP_LOOP void ep_low_pass_weights(const struct ep_run *run, const struct ep_low_call *call, int64_t *waits)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_low_share share = ep_low_share(ep_worker(run), ep_workers(run), shape->far);

    ep_low_watch(run, EP_PHASE_WEIGHTS, shape->c_weights, 0, 1, run->state->weighed + 1, waits);
    for (int turn = share.first; turn < shape->far; turn += share.step) {
        int far = ep_far_turn(shape, turn);

        ep_low_await_weights(run, far, waits);
        if ((!shape->exact || !shape->one_copy) && !ep_masked(run, ep_far_pe(shape, far)))
            ep_low_hand_weights(run, call, far, ep_low_member(&share), ep_low_members(&share, turn));
    }
}

/* A record that is answered. */
struct ep_low_answered {
    const struct ep_low_call *call;
    const struct ep_low_meta *meta;
    int far, record, piece, weighed;
    int given_up;            /* its weights have not come: nothing is added */
    int pieces;              /* of a row that have columns */
    int n;                   /* of the rows that are added */
    int choice[EP_TOPK_MAX]; /* what each is: a near PE, or exact a choice */
};

/* PEs from `base` on, 64 of them, in their order. */
EP_STEP void ep_low_record_pes(const struct ep_run *run, struct ep_low_answered *record, int base)
{
    uint64_t there = 0;

    for (int k = 0; k < run->shape.topk; k++) {
        int of = ep_low_behind_of(run, record->meta, k) - base;

        if (of >= 0 && of < 64)
            there |= (uint64_t)1 << of;
    }
    for (; there; there &= there - 1)
        record->choice[record->n++] = base + ep_lowest(there);
}

/* Which rows there are: of PEs in their order, or of choices in theirs. */
EP_STEP void ep_low_record_rows(const struct ep_run *run, struct ep_low_answered *record)
{
    const struct ep_shape *shape = &run->shape;

    record->n = 0;
    for (int k = 0; k < shape->topk && shape->exact; k++)
        if (ep_low_behind_of(run, record->meta, k) >= 0)
            record->choice[record->n++] = k;
    for (int base = 0; base < shape->near && !shape->exact; base += 64)
        ep_low_record_pes(run, record, base);
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

/* What near PEs have pushed for a record, added up. */
EP_STEP void ep_low_add_record(const struct ep_run *run, struct ep_low_answered *record, char *to, int first,
                               int columns)
{
    record->meta = ep_low_far_meta(run, record->call->handle, record->far, record->record);
    ep_low_record_rows(run, record);
    if (run->shape.exact && record->weighed)
        ep_low_await_weights(run, record->far, NULL);
    ep_flags_await(run, EP_PHASE_RESULTS, record->n, ep_low_record_flag, record, record->call->number);
    ep_low_add(run, to, first, columns, record->n, ep_low_record_term, record);
}

/* Direct: this PE has all rows of a record. */
EP_STEP void ep_low_reduce_record(const struct ep_run *run, const struct ep_low_answered *record,
                                  const shmemx_ep_combine_t *args, char *to, int first, int columns)
{
    struct ep_low_result result = {
        record->call, NULL, (const char *)args->y, 0, 0, 0, record->weighed, 0, 0, 0, 0, 0, 0};

    result.source = ep_low_far_source(run, ep_far_pe(&run->shape, record->far));
    result.meta = ep_low_in(run, record->call->handle, result.source, record->record);
    ep_low_address(run, &result);
    ep_low_add(run, to, first, columns, run->shape.topk, ep_low_result_term, &result);
}

/* In the order of records, to the far peer that has put them. By one worker, when all of them are stored. */
EP_STEP void ep_low_put_answer(const struct ep_run *run, const struct ep_low_call *call, int far)
{
    const struct ep_shape *shape = &run->shape;
    int pe = ep_far_pe(shape, far), me = ep_far_me(shape, pe);
    int records = ep_low_kept_count(run, call->handle, far);

    if (ep_masked(run, pe))
        return;
    ep_put(run, run->arena + ep_slot_result(shape, shape->result_in, me, call->parity),
           run->arena + ep_slot_result(shape, shape->result_send, far, call->parity),
           (size_t)records * shape->result, shape->c_result + me * shape->slots + call->parity, pe);
    ep_note_put(run, shape->c_result + me * shape->slots + call->parity, pe);
    ep_tally(run, &run->state->network_rows, (uint64_t)records);
    ep_tally(run, &run->state->network_puts, 1);
}

EP_STEP uint64_t *ep_low_answered(const struct ep_run *run, const void *arg, int k, uint64_t *total)
{
    const struct ep_low_answered *record = (const struct ep_low_answered *)arg;

    (void)k;
    *total = (uint64_t)ep_low_kept_count(run, record->call->handle, record->far) * (uint64_t)record->pieces;
    return ep_low_stored(run, record->far);
}

EP_STEP void ep_low_answer_piece(const struct ep_run *run, struct ep_low_answered *record,
                                 const shmemx_ep_combine_t *args, int each)
{
    const struct ep_shape *shape = &run->shape;
    char *to = run->arena + ep_slot_result(shape, shape->result_send, record->far, record->call->parity) +
               (size_t)record->record * shape->result;
    int first, columns = ep_low_columns(run, record->piece, each, &first);

    if (columns <= 0)
        return;
    if (shape->one_copy)
        ep_low_add_record(run, record, to, first, columns);
    else if (!record->given_up)
        ep_low_reduce_record(run, record, args, to, first, columns);
    if (ep_count_up(run, 1, ep_low_answered, record))
        ep_low_put_answer(run, record->call, record->far);
}

/* Pieces of the records of all far peers, one after the other; whoever has none gets an answer too. */
EP_LOOP void ep_low_answer(const struct ep_run *run, const struct ep_low_call *call,
                           const shmemx_ep_combine_t *args)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_low_answered record = {call, NULL, 0, 0, 0, args->weights != NULL, 0, 0, 0, {0}};
    int item = ep_worker(run);

    for (int i = 0; i < shape->far; i++) {
        int far = ep_far_turn(shape, i), source = ep_low_far_source(run, ep_far_pe(shape, far));
        int shift = ep_low_numbers_of(run).shift[source], each = ep_low_each(shape, shift);
        int items = ep_low_kept_count(run, call->handle, far) << shift, count = items ? items : 1;

        if (ep_masked_before(run, call, ep_far_pe(shape, far)))
            continue;
        record.far = far;
        record.given_up = ep_low_gives_up(run, args, far);
        record.pieces = (shape->hidden + each - 1) / each;
        for (; item < count; item += ep_workers(run)) {
            record.record = item >> shift;
            record.piece = item - (record.record << shift);
            if (items)
                ep_low_answer_piece(run, &record, args, each);
            else
                ep_low_put_answer(run, call, far);
        }
        item -= count;
    }
}

/* Rows for far peers are pushed first, for others wait for them longest. */
EP_LOOP void ep_low_send_far(const struct ep_run *run, const struct ep_low_call *call,
                             const shmemx_ep_combine_t *args)
{
    const struct ep_shape *shape = &run->shape;
    enum ep_low_form form = shape->exact ? EP_LOW_PUSHED : args->weights ? EP_LOW_WEIGHED : EP_LOW_REDUCED;

    if (shape->one_copy)
        ep_low_send_results(run, call, args, form, shape->near, shape->n);
}

/* All far peers' answers. */
EP_STEP void ep_low_await_answers(const struct ep_run *run, const struct ep_low_call *call, int64_t *waits)
{
    const struct ep_shape *shape = &run->shape;
    uint64_t number = run->state->back[call->parity] + 1;

    ep_low_watch(run, EP_PHASE_RESULT, shape->c_result, call->parity, shape->slots, number, waits);
    EP_BY_LANES(run, far, shape->far)
    {
        ep_low_await_far(run, EP_PHASE_RESULT, shape->c_result, far * shape->slots + call->parity, number,
                         ep_low_waited(waits, ep_far_pe(shape, far)));
    }
    ep_acquire(run);
}

EP_STEP void ep_low_combine_send(const struct ep_run *run, const struct ep_low_call *call,
                                 const shmemx_ep_combine_t *args)
{
    enum ep_low_form form = ep_low_form(run, args);

    ep_low_begin(run, call);
    if (ep_low_far(run))
        ep_low_settle(run);
    if (ep_low_far(run) && args->weights && ep_group_of(run) == ep_watching_group(run))
        ep_low_put_weights(run, call, args);
    if (form == EP_LOW_WEIGHED || form == EP_LOW_EITHER)
        ep_low_give_weights(run, call, args);
    if (ep_low_far(run) && form == EP_LOW_WEIGHED && args->waits)
        ep_low_await_begun(run, call, args->waits); /* whoever is there gives its weights next */
    ep_low_recall(run, call);
    EP_CLOCK(run, 9);
    if (ep_low_far(run) && !args->weights)
        ep_low_send_far(run, call, args);
    if (ep_low_signalled(args))
        ep_low_send_signalled(run, call, args, form);
    else
        ep_low_send_results(run, call, args, form, 0, run->shape.near);
    if (!ep_low_far(run))
        return;
    if (args->weights)
        ep_low_pass_weights(run, call, args->waits);
    if (args->waits && run->shape.one_copy)
        ep_low_await_begun(run, call, args->waits); /* who hands weights on, and whose rows are answered */
    if (args->weights)
        ep_low_send_far(run, call, args);
    ep_low_answer(run, call, args);
}

#endif

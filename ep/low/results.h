/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Combine's sending side. Reduced: this PE adds up its experts' rows of a token and pushes one row to the token's home.
 * Pushed one by one: each row to the home, which adds them up. Either: a sum where the home's weights have come, else
 * the rows. What is for a far peer's token is pushed to the near PE that answers that far peer (answer.h).
 */
#ifndef WSH_EP_LOW_RESULTS_H
#define WSH_EP_LOW_RESULTS_H

#include "ep/low/expand.h"

/*
 * How results come to the home. Weights that the combine is given are known at the home alone, which sends them ahead.
 * A call of both halves waits for them. A sending half waits for nobody: it leaves the sums to the home whose weights
 * are not there yet.
 */
enum ep_low_form { EP_LOW_REDUCED, EP_LOW_WEIGHED, EP_LOW_PUSHED, EP_LOW_EITHER };

EP_STEP enum ep_low_form ep_low_form(const struct ep_run *run, const shmemx_ep_combine_t *args)
{
    if (run->shape.exact)
        return EP_LOW_PUSHED;
    if (!args->weights)
        return EP_LOW_REDUCED;
    if (args->halves == SHMEMX_EP_BOTH)
        return EP_LOW_WEIGHED;
    return ep_low_sums_early(run) ? EP_LOW_EITHER : EP_LOW_PUSHED;
}

/* To each near PE: this PE is in the call. */
EP_STEP void ep_low_begin(const struct ep_run *run, const struct ep_low_call *call)
{
    const struct ep_shape *shape = &run->shape;

    EP_BY_LAST(run, near, shape->near)
    {
        uint64_t *to = (uint64_t *)(ep_near_base(run, near) + shape->low_begun[call->parity]) + shape->local;

        if (!ep_masked_before(run, call, ep_low_world(run, near)))
            ep_word_store(to, call->word);
    }
}

/*
 * A PE that nothing comes to waits for the words of all as well: else it would write to slots that others still read.
 * By one worker, which has nothing else to do with few tokens.
 */
EP_STEP void ep_low_await_begun(const struct ep_run *run, const struct ep_low_call *call, int64_t *waits)
{
    const struct ep_shape *shape = &run->shape;
    const uint64_t *words = (const uint64_t *)(run->arena + shape->low_begun[call->parity]);

    if (ep_worker(run) != ep_workers(run) / 2)
        return;
    EP_BY_LANES(run, near, shape->near)
    {
        ep_low_await(run, EP_PHASE_BEGUN, near, words + near, call->word,
                     ep_low_waited(waits, ep_low_world(run, near)));
    }
}

/* To the PEs that have the experts. */
EP_STEP void ep_low_give_weights(const struct ep_run *run, const struct ep_low_call *call,
                                 const shmemx_ep_combine_t *args)
{
    const struct ep_shape *shape = &run->shape;
    int columns = args->columns ? args->columns : shape->topk;

    EP_BY_LAST(run, i, call->tokens * columns)
    {
        int token = i / columns, k = i % columns;
        int expert = ep_low_own(run, call->handle, token).experts[k];
        int target = (uint32_t)expert < (uint32_t)shape->experts ? ep_low_target(run, expert) : shape->near;

        if (target < shape->near)
            ep_word_store(ep_low_weight(run, ep_near_base(run, target), call->parity, shape->local, token, k),
                          (uint64_t)wsh_ep_bits(args->weights[i]) << 32 | call->word);
    }
}

/* A row for a source's token. */
struct ep_low_result {
    const struct ep_low_call *call;
    const struct ep_low_meta *meta; /* kept */
    const char *y;
    int source, slot, piece, weighed, token;
    int home;          /* the near PE that it is pushed to */
    int offset, first; /* of the token there, or of its record; where rows for such begin */
    int at;            /* the row there */
    uint64_t mark;     /* in its flag: EP_LOW_SUMMED, or 0 */
};

EP_STEP struct ep_low_result ep_low_result_of(const struct ep_low_call *call, const shmemx_ep_combine_t *args,
                                              enum ep_low_form form)
{
    struct ep_low_result result = {
        call, NULL, (const char *)args->y, 0, 0, 0, form != EP_LOW_REDUCED, 0, 0, 0, 0, 0, 0};

    return result;
}

EP_STEP struct ep_term ep_low_result_term(const struct ep_run *run, const void *arg, int k)
{
    const struct ep_low_result *result = (const struct ep_low_result *)arg;
    int32_t row = result->meta->entry[k].at;
    struct ep_term term = {NULL, result->meta->entry[k].weight};

    if (row < 0 || row >= run->shape.y_rows)
        return term;
    term.row = result->y + (size_t)row * run->shape.hidden * 2;
    if (result->weighed)
        term.weight = wsh_ep_float(ep_word_await(
            run, EP_PHASE_WEIGHT, ep_low_from(run, result->source),
            ep_low_weight(run, run->arena, result->call->parity, result->source, result->token, k),
            result->call->word));
    return term;
}

/* Whether choice k of the token is of this PE. */
EP_STEP int ep_low_is_here(const struct ep_run *run, const struct ep_low_result *result, int k)
{
    int32_t row = result->meta->entry[k].at;

    return row >= EP_LOW_BEYOND && row != -1 && row < run->shape.y_rows;
}

/* Where its row lies at the home. */
EP_STEP int ep_low_pushed_to(const struct ep_run *run, const struct ep_low_result *result, int k)
{
    const struct ep_shape *shape = &run->shape;
    int at = result->first + result->offset * shape->topk + k;

    if (ep_lie_apart(run)) /* what one that is late still stores is no other's */
        at += shape->local * shape->tokens * shape->topk;
    return at;
}

/* A flag of `at`; of a sum in place of rows those of all of them. */
EP_STEP uint64_t *ep_low_result_raised(const struct ep_run *run, const void *arg, int k)
{
    const struct ep_low_result *result = (const struct ep_low_result *)arg;
    int at = result->at;

    if (ep_low_sums_early(run) && result->mark) {
        if (!ep_low_is_here(run, result, k))
            return NULL;
        at = ep_low_pushed_to(run, result, k);
    }
    return ep_low_result_flag(run, ep_near_base(run, result->home), result->call->parity, at, result->piece);
}

/* The rows of a token one by one, zeros for those beyond the capacity. */
EP_STEP void ep_low_push_piece(const struct ep_run *run, struct ep_low_result *result, int first, int columns)
{
    const struct ep_shape *shape = &run->shape;

    for (int k = 0; k < shape->topk; k++) {
        int32_t row = result->meta->entry[k].at;
        char *to;

        if (!ep_low_is_here(run, result, k))
            continue;
        result->at = ep_low_pushed_to(run, result, k);
        to = ep_low_result(run, ep_near_base(run, result->home), result->call->parity, result->at);
        if (row == EP_LOW_BEYOND)
            ep_zero(to + (size_t)first * 2, (size_t)columns * 2);
        else
            ep_copy(to + (size_t)first * 2, result->y + ((size_t)row * shape->hidden + first) * 2,
                    (size_t)columns * 2);
        ep_raise(run, 1, ep_low_result_raised, result, result->call->number);
    }
}

/* Their sum, to result->at. */
EP_STEP void ep_low_reduce_piece(const struct ep_run *run, struct ep_low_result *result, int first,
                                 int columns)
{
    const struct ep_shape *shape = &run->shape;

    if (!ep_low_sums_early(run) || !result->mark)
        result->at = result->first + shape->local * shape->tokens + result->offset;
    ep_low_add(run, ep_low_result(run, ep_near_base(run, result->home), result->call->parity, result->at),
               first, columns, shape->topk, ep_low_result_term, result);
    if (ep_low_sums_early(run))
        ep_raise(run, result->mark ? shape->topk : 1, ep_low_result_raised, result,
                 result->call->number | result->mark);
    else
        ep_raise(run, 1, ep_low_result_raised, result, result->call->number);
}

/* Of a choice of this PE with a row, the word of its weight; else NULL. */
EP_STEP const uint64_t *ep_low_weight_of(const struct ep_run *run, const void *arg, int k)
{
    const struct ep_low_result *result = (const struct ep_low_result *)arg;

    if (!ep_low_is_here(run, result, k) || result->meta->entry[k].at < 0)
        return NULL;
    return ep_low_weight(run, run->arena, result->call->parity, result->source, result->token, k);
}

/*
 * Whether the sum of a token's rows goes to its home, and where: in a row of its own, or in place of that of the first
 * choice here, where the weights have come and there is more than one. *patience: looks in vain that are left.
 */
EP_STEP int ep_low_sums(const struct ep_run *run, struct ep_low_result *result, enum ep_low_form form,
                        int *patience)
{
    const struct ep_shape *shape = &run->shape;
    int least = shape->topk, rows = 0;

    if (!ep_low_sums_early(run) || form < EP_LOW_PUSHED)
        return form < EP_LOW_PUSHED;
    result->mark = 0;
    for (int k = shape->topk - 1; k >= 0 && form == EP_LOW_EITHER; k--)
        if (ep_low_is_here(run, result, k)) {
            least = k;
            rows++;
        }
    if (rows < 2 || !ep_words_soon(run, shape->topk, ep_low_weight_of, result, result->call->word, patience))
        return 0;
    result->mark = EP_LOW_SUMMED;
    result->at = ep_low_pushed_to(run, result, least);
    return 1;
}

/* The numbers of a dispatch, as far as its rows are brought back; all workers of a group. */
EP_STEP void ep_low_recall(const struct ep_run *run, const struct ep_low_call *call)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_low_numbers numbers = ep_low_numbers_of(run);
    const struct ep_low_source *sources = ep_low_sources(run, call->handle);

    EP_BY_GROUP(run, i, shape->n)
    {
        int tokens = ep_low_least(sources[i].tokens, shape->tokens), rows = sources[i].rows;

        tokens = tokens < 0 || ep_masked_before(run, call, ep_low_source_pe(run, i)) ? 0 : tokens;
        ep_low_note_source(run, &numbers, i, tokens, rows < 0 ? 0 : ep_low_least(rows, tokens));
    }
    ep_sync_group(run);
}

/* Who gets it, and where it is there. */
EP_STEP void ep_low_address(const struct ep_run *run, struct ep_low_result *result)
{
    const struct ep_shape *shape = &run->shape;

    result->token = result->offset = ep_low_least(result->meta->token & INT32_MAX, shape->tokens - 1);
    result->home = ep_low_from(run, result->source);
    result->first = 0;
    if (!ep_low_far(run) || result->source < shape->near)
        return;
    result->offset = ep_low_least(result->meta->record & INT32_MAX, shape->tokens - 1);
    result->first =
        (int)(shape->low_results * (1 + (size_t)ep_far_of(shape, ep_low_source_pe(run, result->source))));
}

/* For the tokens of sources from `from` to `end` - 1. */
EP_STEP void ep_low_send_results(const struct ep_run *run, const struct ep_low_call *call,
                                 const shmemx_ep_combine_t *args, enum ep_low_form form, int from, int end)
{
    struct ep_low_numbers numbers = ep_low_numbers_of(run);
    int items = ep_low_items(&numbers, from, end);
    struct ep_low_result result = ep_low_result_of(call, args, form);
    int patience = EP_LOW_PATIENCE;

    for (int i = ep_worker(run); i < items; i += ep_workers(run)) {
        int first, columns;

        ep_low_find(&numbers, i, from, &result.source, &result.slot, &result.piece);
        columns = ep_low_columns(run, result.piece, numbers.each[result.source], &first);
        if (columns <= 0)
            continue;
        result.meta = ep_low_in(run, call->handle, result.source, result.slot);
        ep_low_address(run, &result);
        if (ep_low_sums(run, &result, form, &patience))
            ep_low_reduce_piece(run, &result, first, columns);
        else
            ep_low_push_piece(run, &result, first, columns);
    }
}

#endif

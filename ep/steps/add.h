/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A combine of high throughput in one host. Each PE copies its rows, in chunks with flags, to where the PEs of their
 * tokens fetch them, and adds up its own tokens' rows; both at the same time.
 */
#ifndef WSH_EP_STEPS_ADD_H
#define WSH_EP_STEPS_ADD_H

#include "ep/steps/pull.h"

/* With which a PE begins: which Y its rows are in, whether with weights, and how many have a flag together, 0: none. */
struct ep_began {
    int turn, weighs, flagged;
};

EP_STEP uint64_t *ep_begun_word(const struct ep_run *run, char *arena, int parity, int from)
{
    return (uint64_t *)(arena + run->shape.near_begun[parity]) + from;
}

EP_STEP uint64_t *ep_raised_begun(const struct ep_run *run, const void *arg, int k)
{
    return ep_begun_word(run, ep_near_base(run, k), *(const int *)arg, run->shape.local);
}

/* Covers what was stored before the call: rows that lie in Y already. */
EP_STEP void ep_begin_combine(const struct ep_run *run, const struct ep_call *call, struct ep_began began)
{
    uint32_t number = (uint32_t)began.turn << 4 | (uint32_t)began.weighs << 3 | (uint32_t)began.flagged;

    if (ep_worker(run) == 0)
        ep_raise(run, run->shape.near, ep_raised_begun, &call->parity, ep_word_of(call, number));
}

/* Rows here of PE `l`, those beyond the capacity apart, and the first. */
EP_STEP int ep_rows_for(const struct ep_run *run, const struct ep_call *call, int l, int *begin)
{
    const struct ep_shape *shape = &run->shape;
    const int32_t *first = ep_ints(run, ep_kept_first(shape, call->handle)) + l * shape->counted;

    *begin = ep_within(first[0], shape->capacity);
    return ep_within(ep_least(first[shape->counted], shape->capacity) - *begin, shape->tokens);
}

/* Chunks of the PE with most. This one's rows are read where the program has them, but expanded ones added up first. */
EP_STEP int ep_chunks_back(const struct ep_run *run,
                           const struct ep_call *call EP_EXPANDING(, const shmemx_ep_combine_t *args))
{
    int rows = 0, begin;

    for (int l = 0; l < run->shape.near; l++)
        if (l != run->shape.local EP_EXPANDING(|| ep_places(args)))
            rows = ep_most(rows, ep_rows_for(run, call, l, &begin));
    return (rows + EP_CHUNK - 1) / EP_CHUNK;
}

#ifdef EP_EXPANDS
/*
 * Rows of a chunk for a near PE: the sums of expanded ones, and weights, to where they are fetched, and their flag
 * there. Several times as much is read for a row as elsewhere, so they go one by one, and peers need not wait for four;
 * where PEs share a GPU's memory that, and more loads at once, took longer.
 */
EP_STEP int ep_fold_each(const struct ep_run *run)
{
    return ep_alone(run) ? 1 : EP_CHUNK;
}

EP_LOOP void ep_add_fold(const struct ep_run *run, const struct ep_call *call,
                         const shmemx_ep_combine_t *args, int chunk, int at)
{
    const struct ep_shape *shape = &run->shape;
    int l = (shape->local + 1 + at) % shape->near, row = chunk * EP_CHUNK + at / shape->near;
    int each = ep_fold_each(run), begin, rows = ep_rows_for(run, call, l, &begin);
    struct ep_flagged flagged = {shape->near_back[call->parity], ep_flags_back(run), row / each, l};
    size_t bytes = (size_t)shape->hidden * 2, first = (size_t)(begin + row) * shape->topk;
    float *weights = (float *)ep_at(run, shape->y_weights[call->parity]) + first;

    if (row >= rows)
        return;
    each = ep_least(each, rows - row);
    ep_fold_rows(run, args, run->arena + shape->y[call->turn] + (begin + row) * bytes, begin + row, each);
    EP_BY_LANES(run, i, args->y_weights ? each * shape->topk : 0)
    {
        weights[i] = args->y_weights[first + (size_t)i];
    }
    ep_raise(run, 1, ep_raised_chunk, &flagged, (uint64_t)call->number);
}
#endif

/* A row, and its weights, to where it is fetched. */
EP_STEP void ep_add_put(const struct ep_run *run, const struct ep_call *call, const shmemx_ep_combine_t *args,
                        int row)
{
    const struct ep_shape *shape = &run->shape;
    size_t bytes = (size_t)shape->hidden * 2, weights = shape->topk * sizeof(float);
    const char *given = (const char *)args->y_weights;

    ep_copy_row(run->arena + shape->y[call->turn] + row * bytes, (const char *)args->y + row * bytes, bytes,
                given ? run->arena + shape->y_weights[call->parity] + row * weights : NULL,
                given ? given + row * weights : NULL, weights);
}

/* A chunk of the rows of PE `l`, and its flag there. */
EP_LOOP void ep_add_store(const struct ep_run *run, const struct ep_call *call,
                          const shmemx_ep_combine_t *args, int chunk, int l)
{
    struct ep_flagged flagged = {run->shape.near_back[call->parity], ep_flags_back(run), chunk, l};
    int begin, rows = ep_rows_for(run, call, l, &begin), end = ep_least(rows, (chunk + 1) * EP_CHUNK);

    if (chunk * EP_CHUNK >= rows)
        return;
    for (int row = chunk * EP_CHUNK; row < end; row++)
        ep_add_put(run, call, args, begin + row);
    ep_raise(run, 1, ep_raised_chunk, &flagged, (uint64_t)call->number);
}

/* As ep_gather_near. */
EP_LOOP void ep_add_begun(const struct ep_run *run, const struct ep_call *call,
                          const shmemx_ep_combine_t *args)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_near_y *near_y = (struct ep_near_y *)ep_at(run, shape->near_y);
    struct ep_near_y own = ep_own_y(run, args);

    EP_BY_GROUP(run, l, shape->near)
    {
        uint32_t number = ep_word_await(run, EP_PHASE_BEGUN, l,
                                        ep_begun_word(run, run->arena, call->parity, l), ep_call_word(call));
        struct ep_near_y there = {(int64_t)shape->y[number >> 4 & 1],
                                  number & 8 ? (int64_t)shape->y_weights[call->parity] : 0, number & 7};

        near_y[l] = l == shape->local EP_EXPANDING(&&!ep_places(args)) ? own : there;
    }
    ep_words_seen(run);
    ep_sync_group(run);
    EP_BY_GROUP(run, l, shape->near)
    {
        const int32_t *first = (const int32_t *)(ep_near_base(run, l) + ep_kept_first(shape, call->handle));

        ep_ints(run, shape->near_first)[l] = first[shape->me * shape->counted];
    }
    ep_sync_group(run);
}

/* The weights that come back with a chunk's rows. */
EP_LOOP void ep_add_weights(const struct ep_run *run, const shmemx_ep_combine_t *args,
                            const struct ep_chunk *chunk)
{
    for (int token = chunk->token; token < chunk->token + chunk->n; token++) {
        struct ep_sum_of sum = {ep_meta_at(run, chunk->metas, token), ep_ints(run, run->shape.near_first),
                                NULL, 0, -1};

        ep_sum_weights(run, &sum, args->out_weights + (size_t)token * run->shape.topk);
    }
}

/* A piece of the columns of a chunk's tokens. */
EP_LOOP void ep_add_take(const struct ep_run *run, const struct ep_call *call,
                         const shmemx_ep_combine_t *args, int number, int piece, int pieces)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_chunk chunk = {shape->local, number * EP_CHUNK,
                             ep_least(EP_CHUNK, call->tokens - number * EP_CHUNK),
                             (char *)ep_at(run, ep_kept_metas(shape, call->handle)), 0};
    struct ep_chunk_terms terms = ep_terms_of(run, call, &chunk);

    ep_sum_chunk(run, (char *)args->out + (size_t)chunk.token * shape->hidden * 2, piece, pieces, &terms,
                 chunk.n);
    if (args->out_weights && piece == 0)
        ep_add_weights(run, args, &chunk);
}

/* By one lane, when all have read the state. */
EP_STEP void ep_added(const struct ep_run *run, const struct ep_call *call, int halves)
{
    if (halves & SHMEMX_EP_SEND)
        ep_combine_sent(run, call);
    if (halves & SHMEMX_EP_RECEIVE)
        run->state->combined = (uint64_t)call->number;
    run->state->turn = 0;
}

/* Both halves, or one; as ep_pull_dispatch. */
EP_STEP void ep_add_combine(const struct ep_run *run, const shmemx_ep_combine_t *args, int halves)
{
    const struct ep_shape *shape = &run->shape;
    const struct ep_state *state = run->state;
    int sends = halves & SHMEMX_EP_SEND, begun = !(halves & SHMEMX_EP_RECEIVE), pieces = 1;
    struct ep_call call = ep_combine_call(run, args, sends ? state->combines : state->combined);
    struct ep_items items = ep_items(run, 0, 0, 0);
    struct ep_item item;

    EP_CLOCK(run, 8);
    if (sends) {
        struct ep_began began = {call.turn, args->y_weights != NULL, 0};
        int each = shape->near - 1, lead = ep_lead_copies(run, EP_LEAD_RESULTS);

        if (args->y != run->arena + shape->y[call.turn] || args->y_weights)
            began.flagged = EP_CHUNK;
#ifdef EP_EXPANDS
        if (ep_places(args)) {
            each = shape->near * EP_CHUNK / ep_fold_each(run);
            lead = ep_alone(run) ? EP_LEAD_MADE : EP_LEAD_SHARED;
            began.flagged = ep_fold_each(run);
        }
#endif
        ep_begin_combine(run, &call, began);
        if (began.flagged && each)
            items = ep_items(run, lead, ep_chunks_back(run, &call EP_EXPANDING(, args)), each);
    }
    do {
        int number = ep_turn(run);

        if (!begun && number >= items.lead * items.stores_each) {
            EP_CLOCK(run, 10);
            ep_add_begun(run, &call, args);
            EP_CLOCK(run, 11);
            items.takes = (call.tokens + EP_CHUNK - 1) / EP_CHUNK;
            items.takes_each = pieces = ep_pieces(run, items.takes);
            begun = 1;
        }
        item = ep_item_of(&items, number);
        if (item.what == EP_ITEM_STORE EP_EXPANDING(&&!ep_places(args)))
            ep_add_store(run, &call, args, item.chunk, (shape->local + 1 + item.at) % shape->near);
        EP_EXPANDING(else if (item.what == EP_ITEM_STORE) ep_add_fold(run, &call, args, item.chunk, item.at);)
        else if (item.what == EP_ITEM_TAKE) ep_add_take(run, &call, args, item.chunk, item.at, pieces);
    } while (item.what != EP_ITEM_END);
    EP_CLOCK(run, halves & SHMEMX_EP_RECEIVE ? 12 : 10);
    if (ep_last(run) && ep_group_worker(run) == 0 && ep_leads(run))
        ep_added(run, &call, halves);
}

#endif

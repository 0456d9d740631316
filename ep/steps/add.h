/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A combine of high throughput in one host. Each PE copies its rows, in chunks with flags, to where the PEs of their
 * tokens fetch them, and adds up its own tokens' rows; both at the same time. With other hosts combine.h does so, too.
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

/* With expanded rows the flags are another matter. */
EP_STEP struct ep_began ep_begins_with(const struct ep_run *run, const struct ep_call *call,
                                       const shmemx_ep_combine_t *args)
{
    struct ep_began began = {call->turn, args->y_weights != NULL, 0};

    if (args->y != run->arena + run->shape.y[call->turn] || args->y_weights)
        began.flagged = EP_CHUNK;
    return began;
}

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

/* By one worker, when all have read the state. */
EP_STEP void ep_combine_sent(const struct ep_run *run, const struct ep_call *call)
{
    run->state->combines = (uint64_t)call->number;
    run->state->y_turn = (uint32_t)call->turn;
}

/* Covers what was stored before the call: rows that lie in Y already. */
EP_STEP void ep_begin_combine(const struct ep_run *run, const struct ep_call *call, struct ep_began began)
{
    uint32_t number = (uint32_t)began.turn << 4 | (uint32_t)began.weighs << 3 | (uint32_t)began.flagged;

    if (ep_worker(run) == 0)
        ep_raise(run, run->shape.near, ep_raised_begun, &call->parity, ep_word_of(call, number));
}

/* Rows here of PE `pe`, those beyond the capacity apart, and the first. */
EP_STEP int ep_rows_for(const struct ep_run *run, const struct ep_call *call, int pe, int *begin)
{
    const struct ep_shape *shape = &run->shape;
    const int32_t *first = ep_ints(run, ep_kept_first(shape, call->handle)) + pe * shape->counted;

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
    struct ep_flagged flagged = {shape->near_back[call->parity], ep_flags_back(shape), row / each, l};
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

/* A chunk of the rows of PE `pe`, and its flag where they are fetched: there, or at who answers that PE. */
EP_LOOP void ep_add_store(const struct ep_run *run, const struct ep_call *call,
                          const shmemx_ep_combine_t *args, int chunk, int pe)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_flagged flagged = {shape->near_back[call->parity], ep_flags_back(shape),
                                 ep_back_chunk(run, pe, chunk), ep_pulls_far(run) ? pe % shape->near : pe};
    int begin, rows = ep_rows_for(run, call, pe, &begin), end = ep_least(rows, (chunk + 1) * EP_CHUNK);

    if (chunk * EP_CHUNK >= rows)
        return;
    for (int row = chunk * EP_CHUNK; row < end; row++)
        ep_add_put(run, call, args, begin + row);
    ep_raise(run, 1, ep_raised_chunk, &flagged, (uint64_t)call->number);
}

/* This PE's own rows are read where the program has them. */
EP_STEP struct ep_near_y ep_own_y(const struct ep_run *run, const shmemx_ep_combine_t *args)
{
    uintptr_t arena = (uintptr_t)run->arena, weights = (uintptr_t)args->y_weights;
    struct ep_near_y own = {(int64_t)((uintptr_t)args->y - arena), weights ? (int64_t)(weights - arena) : 0,
                            0};

    return own;
}

/* Until near PE l is in this combine. */
EP_STEP struct ep_near_y ep_begun_by(const struct ep_run *run, const struct ep_call *call, int l)
{
    const struct ep_shape *shape = &run->shape;
    uint32_t number = ep_word_await(run, EP_PHASE_BEGUN, l, ep_begun_word(run, run->arena, call->parity, l),
                                    ep_call_word(call));
    struct ep_near_y there = {(int64_t)shape->y[number >> 4 & 1],
                              number & 8 ? (int64_t)shape->y_weights[call->parity] : 0, number & 7};

    return there;
}

/*
 * What near PEs say of their Y, or this one alone, and where rows of origins begin there; each group for itself, as
 * ep_count.
 */
EP_LOOP void ep_add_begun(const struct ep_run *run, const struct ep_call *call,
                          const shmemx_ep_combine_t *args, int alone)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_near_y *near_y = (struct ep_near_y *)ep_at(run, shape->near_y);
    struct ep_near_y own = ep_own_y(run, args);
    int origins = ep_pulls_far(run) ? 1 + shape->far : 1;

    EP_BY_GROUP(run, l, shape->near)
    {
        int mine = l == shape->local;
        struct ep_near_y at;

        if (alone && !mine)
            continue;
        at = alone ? own : ep_begun_by(run, call, l);
        if (mine EP_EXPANDING(&&!ep_places(args)))
            at = own;
        near_y[l] = at; /* once: other groups may read it already */
    }
    ep_words_seen(run);
    ep_sync_group(run);
    EP_BY_GROUP(run, i, origins * shape->near)
    {
        int origin = i / shape->near, l = i % shape->near;
        int pe = origin ? ep_far_pe(shape, origin - 1) : shape->me;
        const int32_t *first = (const int32_t *)(ep_near_base(run, l) + ep_kept_first(shape, call->handle));

        if (!alone || l == shape->local)
            ep_ints(run, shape->near_first)[i] = first[pe * shape->counted];
    }
    ep_sync_group(run);
}

/* The weights that come back with a chunk's rows. */
EP_LOOP void ep_add_weights(const struct ep_run *run, const shmemx_ep_combine_t *args,
                            const struct ep_chunk *chunk, const struct ep_adds *adds)
{
    for (int token = chunk->token; token < chunk->token + chunk->n; token++) {
        struct ep_sum_of sum = {ep_meta_at(run, chunk->metas, token), adds};

        ep_sum_weights(run, &sum, args->out_weights + (size_t)token * run->shape.topk);
    }
}

/* A piece of the columns of some tokens of this PE, a chunk at most, when the rows are there. */
EP_LOOP void ep_add_tokens(const struct ep_run *run, const struct ep_call *call,
                           const shmemx_ep_combine_t *args, int token, int n, int piece, int pieces,
                           const struct ep_adds *adds)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_chunk chunk = {shape->me, token, n, (char *)ep_at(run, ep_kept_metas(shape, call->handle)), 0};
    struct ep_chunk_terms terms = ep_terms_of(run, call, &chunk, adds);

    ep_sum_chunk(run, (char *)args->out + (size_t)token * shape->hidden * 2, piece, pieces, &terms, n);
    if (args->out_weights && piece == 0)
        ep_add_weights(run, args, &chunk, adds);
}

/* The same of this host alone, of chunk `number`. */
EP_STEP void ep_add_take(const struct ep_run *run, const struct ep_call *call,
                         const shmemx_ep_combine_t *args, int number, int piece, int pieces)
{
    const struct ep_adds adds = {0, -1, NULL, 0};
    int token = number * EP_CHUNK;

    ep_add_tokens(run, call, args, token, ep_least(EP_CHUNK, call->tokens - token), piece, pieces, &adds);
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
        struct ep_began began = ep_begins_with(run, &call, args);
        int each = shape->near - 1, lead = ep_lead_copies(run, EP_LEAD_RESULTS);

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
            ep_add_begun(run, &call, args, 0);
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

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A dispatch of high throughput in one host. Each PE stores its rows once, in chunks with flags, and fetches from the
 * stores of all PEs what its experts need; both at the same time. With other hosts dispatch.h fetches chunks so, too.
 */
#ifndef WSH_EP_STEPS_PULL_H
#define WSH_EP_STEPS_PULL_H

#include "ep/steps/places.h"

#ifdef WSH_EP_DEVICE_RUN_CUH
#include "ep/device/pull.cuh"
#else
#include "ep/host/pull.h"
#endif

/* By one worker, when all have read the state. */
EP_STEP void ep_dispatch_sent(const struct ep_run *run, const struct ep_call *call)
{
    const struct ep_shape *shape = &run->shape;
    const int32_t *counts = ep_ints(run, shape->counts[call->parity]);

    size_t near = (size_t)shape->host * shape->near * shape->counted, me = (size_t)shape->me * shape->counted;
    int64_t rows =
        ep_total(counts + near, shape->near, 1, shape->counted) - ep_total(counts + me, 1, 1, shape->counted);

    if (!ep_leads(run))
        return;
    run->state->dispatches = (uint64_t)call->number;
    run->state->x_turn = (uint32_t)call->turn;
    run->state->near_rows += (uint64_t)rows;
}

/* Whether the host has the numbers before the rows: it takes memory then, or makes another instance. */
EP_STEP int ep_tells_early(const shmemx_ep_dispatch_t *args)
{
    return args->agreed || args->rows_most;
}

/* Numbers, and then the word that says that metas are there too. By the last group, after all stores of metas. */
EP_STEP void ep_tell(const struct ep_run *run, const struct ep_call *call, const shmemx_ep_dispatch_t *args)
{
    const struct ep_shape *shape = &run->shape;
    const int32_t *counts = ep_ints(run, shape->counts[call->parity]);

    EP_BY_GROUP(run, i, shape->near * shape->counted)
    {
        ep_word_store(ep_count_word(run, ep_near_base(run, i / shape->counted), call->parity, shape->local,
                                    i % shape->counted),
                      ep_word_of(call, (uint32_t)counts[i]));
    }
    EP_BY_GROUP(run, i, shape->near * shape->near)
    {
        int to = i / shape->near, k = i % shape->near;

        ep_word_store(
            ep_count_word(run, ep_near_base(run, to), call->parity, shape->local, shape->counted + 1 + k),
            ep_word_of(call, (uint32_t)counts[k * shape->counted]));
    }
    if (ep_group_worker(run) == 0)
        ep_announce(run, call, args);
}

/* The numbers of this PE's tokens, and the words for all. */
EP_LOOP void ep_pull_begin(const struct ep_run *run, const struct ep_call *call,
                           const shmemx_ep_dispatch_t *args)
{
    ep_number_tokens(run, call, args);
    if (ep_met(run))
        ep_tell(run, call, args);
}

/* One of the words that the PEs have stored here, as numbers for all. */
EP_STEP void ep_count_in(const struct ep_run *run, const struct ep_call *call, int l, int at)
{
    const struct ep_shape *shape = &run->shape;
    uint32_t number = ep_word_await(run, EP_PHASE_COUNTS, l,
                                    ep_count_word(run, run->arena, call->parity, l, at), ep_call_word(call));

    if (at != shape->counted) {
        if (at < shape->counted)
            ep_ints(run, shape->in_counts)[l * shape->counted + at] = (int32_t)number;
        else
            ep_ints(run, shape->in_sent)[l * shape->near + at - shape->counted - 1] = (int32_t)number;
        if (number > (uint32_t)(shape->tokens * shape->topk))
            ep_fault_numbers(run, l, call, 0);
        return;
    }
    ep_hear(run, call, l, number);
}

/* What comes of a call: how many chunks the PE with most tokens has, rows here (-1: declined), and the halves made. */
struct ep_coming {
    int chunks, rows, halves;
};

#ifdef EP_EXPANDS
/* Where experts' rows end, of sums that are all here. */
EP_STEP void ep_pull_ends(const struct ep_run *run, const struct ep_call *call)
{
    if (!ep_expanded(run))
        return;
    EP_BY_GROUP(run, e, run->shape.mine)
    {
        ep_expanded(run)->ends[e] = ep_expert_end(run, call, e);
    }
    ep_sync_group(run);
}

/* A call whose expanded rows have no room is a sending half, if the caller has asked for that. */
EP_STEP void ep_pull_fits(const struct ep_run *run, const struct ep_call *call,
                          const shmemx_ep_dispatch_t *args, struct ep_coming *come)
{
    if (!ep_expanded(run) || !args->rows_most || ep_expanded_rows(run, call) <= ep_expanded(run)->room)
        return;
    come->halves &= ~SHMEMX_EP_RECEIVE;
    come->chunks = 0;
}
#endif

/* Of numbers that are all here. */
EP_STEP struct ep_coming ep_pull_coming(const struct ep_run *run, const struct ep_call *call,
                                        const shmemx_ep_dispatch_t *args, int halves)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_coming come = {0, ep_count_rows(run, call), halves};
    int tokens = 0, declined = 0;

    for (int l = 0; l < shape->near; l++) {
        struct ep_announced told = ep_announced_by(run, l);

        tokens = ep_most(tokens, told.tokens);
        declined |= told.declines;
        declined |= args->agreed && ep_ints(run, shape->in_rows)[l] > shape->capacity;
    }
    if (declined) {
        come.rows = -1;
        return come;
    }
    if (args->rows_most && come.rows > args->rows_most)
        come.halves &= ~SHMEMX_EP_RECEIVE;
    else
        come.chunks = (ep_least(tokens, shape->tokens) + EP_CHUNK - 1) / EP_CHUNK;
    EP_EXPANDING(ep_pull_fits(run, call, args, &come);)
    return come;
}

#ifdef EP_EXPANDS
/* A row of padding. */
EP_STEP void ep_pad_row(const struct ep_run *run, int row)
{
    if (ep_expanded(run)->zero)
        ep_blank_row(run, row);
    if (ep_leads(run))
        ep_place_out(run, row, -1, -1, 0.0f);
}

/* All padding, by all workers: that of experts, and what is behind the last one. */
EP_STEP void ep_pad(const struct ep_run *run, const struct ep_call *call, const struct ep_coming *come)
{
    const struct ep_shape *shape = &run->shape;
    int receives = ep_expanded(run) && come->rows >= 0 && come->halves & SHMEMX_EP_RECEIVE;
    int room = receives ? (int)ep_expanded(run)->room : 0, share = ep_most(1, ep_workers(run) / shape->mine);

    if (!receives)
        return;
    for (int i = ep_worker(run); i < shape->mine * share; i += ep_workers(run)) {
        int e = i / share, end = ep_least(ep_expert_next(run, call, e), room);

        for (int row = ep_expanded(run)->ends[e] + i % share; row < end; row += share)
            ep_pad_row(run, row);
    }
    for (int row = ep_expanded_rows(run, call) + ep_worker(run); row < room; row += ep_workers(run))
        ep_pad_row(run, row);
}
#endif

/* As ep_count. */
EP_LOOP struct ep_coming ep_pull_count(const struct ep_run *run, const struct ep_call *call,
                                       const shmemx_ep_dispatch_t *args, int halves)
{
    const struct ep_shape *shape = &run->shape;
    int32_t *counts = ep_ints(run, shape->in_counts),
            *first = ep_ints(run, ep_kept_first(shape, call->handle));
    int words = ep_count_words(shape);

    EP_BY_GROUP(run, i, shape->near * words)
    {
        ep_count_in(run, call, i / words, i % words);
    }
    ep_words_seen(run);
    ep_sync_group(run);
    EP_BY_GROUP(run, kind, shape->counted)
    {
        ep_add_up(shape, counts + kind, first + kind);
    }
    EP_BY_GROUP(run, k, shape->near)
    {
        ep_ints(run, shape->in_rows)[k] = ep_sent_to(run, args->row_sums, k);
    }
    ep_sync_group(run);
    EP_EXPANDING(ep_pull_ends(run, call);)
    ep_count_out(run, call, args);
    return ep_pull_coming(run, call, args, halves);
}

/* A row to where it belongs. */
EP_STEP void ep_pull_row(const struct ep_run *run, const shmemx_ep_dispatch_t *args, const char *from,
                         const float *scales, int row)
{
    const struct ep_shape *shape = &run->shape;
    char *to = (char *)args->rows + (size_t)row * shape->row;

    ep_copy_row(to, from, shape->row, shape->scales ? (char *)args->row_scales + row * shape->scales : NULL,
                scales, shape->scales);
}

#ifdef EP_EXPANDS
/* A chunk's rows, each to all of its places; 0 where rows are not expanded. */
EP_STEP int ep_pull_spread(const struct ep_run *run, const struct ep_call *call, const struct ep_chunk *chunk,
                           const struct ep_chunk_rows *rows, int turn)
{
    const struct ep_shape *shape = &run->shape;
    const char *x, *scales;

    if (!ep_expanded(run)) /* so all PEs are of this host */
        return 0;
    x = ep_near_base(run, chunk->pe) + shape->x[turn];
    scales = ep_near_base(run, chunk->pe) + shape->x_scales[call->parity];
    ep_spread_rows(run, x + chunk->token * shape->row, (const float *)(scales + chunk->token * shape->scales),
                   rows, chunk->n);
    return 1;
}
#endif

/* A chunk of PE `l`: its rows that are for this PE. */
EP_STEP void ep_pull_take(const struct ep_run *run, const struct ep_call *call,
                          const shmemx_ep_dispatch_t *args, int number, int l)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_announced told = ep_announced_by(run, l);
    struct ep_flagged flagged = {shape->near_ready[call->parity], shape->chunks, number, l};
    char *arena = ep_near_base(run, l);
    int pe = ep_near_pe(run, l);
    struct ep_chunk chunk = {pe, number * EP_CHUNK, ep_least(EP_CHUNK, told.tokens - number * EP_CHUNK),
                             arena + shape->metas[call->parity],
                             ep_ints(run, ep_kept_first(shape, call->handle))[pe * shape->counted]};
    struct ep_chunk_entries entries;
    struct ep_chunk_rows rows;

    if (chunk.n <= 0)
        return;
    entries = ep_chunk_load(run, &chunk);
    if (l == shape->local)
        ep_chunk_keep(run, &chunk, &entries, run->arena + ep_kept_metas(shape, call->handle));
    if (told.flagged)
        ep_flags_await(run, EP_PHASE_ROWS, 1, ep_awaited_chunk, &flagged, (uint64_t)call->number);
    rows = ep_chunk_find(run, call, args, &chunk, &entries);
    EP_EXPANDING(if (ep_pull_spread(run, call, &chunk, &rows, told.turn)) return;)
    for (int i = 0; i < chunk.n; i++) {
        int row = ep_chunk_row(&rows, i), token = chunk.token + i;

        if (row >= 0)
            ep_pull_row(run, args, arena + shape->x[told.turn] + token * shape->row,
                        (const float *)(arena + shape->x_scales[call->parity] + token * shape->scales), row);
    }
}

/* By the last group, when all have read the state. */
EP_STEP void ep_pulled(const struct ep_run *run, const struct ep_call *call, int halves)
{
    if (ep_group_worker(run) != 0)
        return;
    if (halves & SHMEMX_EP_SEND)
        ep_dispatch_sent(run, call);
    if (!ep_leads(run))
        return;
    if (halves & SHMEMX_EP_RECEIVE)
        run->state->received = (uint64_t)call->number;
    run->state->turn = run->state->told = 0;
}

/* The host may read the numbers; by the first group that has them, while rows are still on their way. */
EP_STEP void ep_pull_told(const struct ep_run *run, const struct ep_call *call, int rows)
{
    if (!ep_tells(run) || ep_group_worker(run) != 0)
        return;
    ep_count_keep(run, call, rows);
    ep_publish_numbers(run, call->handle);
}

/*
 * Both halves, or one. All items up to those that wait for peers are stores; whoever has come to the others waits, with
 * its group, until all PEs have said their numbers. Where the host waits for them, the first group does so before it
 * stores anything: numbers wait for no rows.
 */
EP_STEP void ep_pull_dispatch(const struct ep_run *run, const shmemx_ep_dispatch_t *args, int halves)
{
    const struct ep_shape *shape = &run->shape;
    int sends = halves & SHMEMX_EP_SEND;
    struct ep_call call = ep_dispatch_call(run, args, sends ? run->state->dispatches : run->state->received);
    int counted = !(halves & SHMEMX_EP_RECEIVE);
    struct ep_items items = ep_items(run, 0, 0, 0);
    struct ep_coming come = {0, 0, halves};
    int lead = shape->scales && !args->x_scales ? EP_LEAD_MADE : ep_lead_copies(run, EP_LEAD_ROWS);
    struct ep_item item = {EP_ITEM_NONE, 0, 0};
    int early = !counted && ep_tells_early(args) && ep_is_first_group(run);

    EP_CLOCK(run, 0);
    if (sends) {
        ep_choose_x(run, &call, args);
        if (call.flagged)
            items = ep_items(run, lead, (call.tokens + EP_CHUNK - 1) / EP_CHUNK, 1);
        ep_pull_begin(run, &call, args);
        EP_CLOCK(run, 2);
    }
    do {
        int number = early ? items.lead * items.stores_each : ep_turn(run);

        if (!counted && number >= items.lead * items.stores_each) {
            EP_CLOCK(run, 3);
            come = ep_pull_count(run, &call, args, halves);
            ep_pull_told(run, &call, come.rows);
            items.takes = come.chunks;
            items.takes_each = shape->near;
            EP_EXPANDING(ep_pad(run, &call, &come);)
            EP_CLOCK(run, 4);
            counted = 1;
        }
        if (early) {
            early = 0;
            continue;
        }
        item = ep_item_of(&items, number);
        if (item.what == EP_ITEM_STORE)
            ep_store_chunk(run, &call, args, item.chunk);
        else if (item.what == EP_ITEM_TAKE)
            ep_pull_take(run, &call, args, item.chunk, (item.at + shape->local) % shape->near);
    } while (item.what != EP_ITEM_END);
    EP_CLOCK(run, halves & SHMEMX_EP_RECEIVE ? 6 : 3);
    if (ep_last(run))
        ep_pulled(run, &call, come.halves);
}

#endif

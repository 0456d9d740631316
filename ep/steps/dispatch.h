/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The halves of a dispatch. With more parts than slots the sending half sends as many parts as there
 * are slots, the receiving half packs part j + slots when it has taken part j.
 */
#ifndef WSH_EP_STEPS_DISPATCH_H
#define WSH_EP_STEPS_DISPATCH_H

#include "ep/steps/pull.h"

EP_STEP void ep_dispatch_send(const struct ep_run *run, const shmemx_ep_dispatch_t *args)
{
    struct ep_call call = ep_dispatch_call(run, args, run->state->dispatches);

    ep_choose_x(run, &call, args);
    ep_number_tokens(run, &call, args);
    if (ep_worker(run) == 0)
        ep_flush(run);
    ep_sync(run);
    if (ep_worker(run) == 0) {
        ep_announce(run, &call, args);
        ep_dispatch_sent(run, &call);
    }
    ep_store_rows(run, &call, args);
    for (int part = 0; part < call.parts && part < run->shape.slots; part++)
        ep_pack(run, &call, part);
}

/* How many rounds of parts the receiving half has. */
EP_STEP int ep_dispatch_rounds(const struct ep_run *run, const struct ep_call *call)
{
    const int32_t *parts = ep_ints(run, run->shape.in_parts);
    int rounds = call->parts - run->shape.slots;

    for (int i = 0; i < ep_far_origins(run); i++)
        rounds = ep_most(rounds, parts[ep_far_origin(run, i)]);
    return rounds;
}

/* One round: part `number` of all far origins, and then one more of this PE's. The first was awaited before. */
EP_STEP void ep_dispatch_round(const struct ep_run *run, const struct ep_call *call,
                               const shmemx_ep_dispatch_t *args, int number)
{
    struct ep_part part = {call, number};

    if (number > 0) {
        if (run->shape.one_copy)
            ep_forward(run, call, number);
        ep_await_part(run, &part);
        ep_gather_rows(run, &part);
        ep_sync_group(run);
    }
    if (!call->declined)
        ep_take_far(run, &part, args);
    ep_sync(run);
    ep_signal_taken(run, number);
    if (number + run->shape.slots < call->parts)
        ep_pack(run, call, number + run->shape.slots);
}

/* By the last group, when all have read the state. */
EP_STEP void ep_dispatch_received(const struct ep_run *run, const struct ep_call *call)
{
    EP_BY_GROUP(run, i, ep_far_origins(run))
    {
        int pe = ep_far_origin(run, i);

        run->state->parts[pe] += (uint64_t)ep_ints(run, run->shape.in_parts)[pe];
    }
    if (ep_group_worker(run) == 0 && ep_leads(run)) {
        run->state->received = (uint64_t)call->number;
        run->state->sent += (uint64_t)call->parts;
    }
}

/* Until near PEs have said how many tokens they have; each group for itself, as ep_count. */
EP_STEP void ep_hear_near(const struct ep_run *run, const struct ep_call *call)
{
    const struct ep_shape *shape = &run->shape;

    EP_BY_GROUP(run, l, shape->near)
    {
        const uint64_t *word = ep_count_word(run, run->arena, call->parity, l, shape->counted);

        ep_hear(run, call, l, ep_word_await(run, EP_PHASE_COUNTS, l, word, ep_call_word(call)));
    }
    ep_words_seen(run);
    ep_sync_group(run);
}

/* Rows of near PEs, each when its chunk is there; this one's first, so that all are read from at a time. */
EP_LOOP void ep_take_near(const struct ep_run *run, const struct ep_call *call,
                          const shmemx_ep_dispatch_t *args)
{
    const struct ep_shape *shape = &run->shape;
    int chunks = 0;

    for (int l = 0; l < shape->near; l++)
        chunks = ep_most(chunks, (ep_announced_by(run, l).tokens + EP_CHUNK - 1) / EP_CHUNK);
    for (int i = ep_worker(run); i < chunks * shape->near; i += ep_workers(run))
        ep_pull_take(run, call, args, i / shape->near, (i + shape->local) % shape->near);
}

/*
 * Until the numbers of all are here; returns the rows, -1: the call is declined. Part 0 is forwarded once, though the
 * receiving half may come again, with room for the rows.
 */
EP_STEP int ep_dispatch_numbers(const struct ep_run *run, struct ep_call *call,
                                const shmemx_ep_dispatch_t *args)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_part part = {call, 0};
    int rows;

    if (shape->one_copy && run->state->forwarded != (uint64_t)call->number)
        ep_forward(run, call, 0);
    ep_hear_near(run, call);
    ep_await_part(run, &part);
    ep_count(run, call, args->row_sums);
    ep_count_out(run, call, args);
    rows = call->declined ? -1 : ep_count_rows(run, call);
    if (ep_worker(run) == 0)
        ep_count_keep(run, call, rows);
    if (ep_worker(run) == 0 && ep_tells_early(args))
        ep_publish_numbers(run, call->handle);
    return rows;
}

EP_STEP void ep_dispatch_receive(const struct ep_run *run, const shmemx_ep_dispatch_t *args)
{
    struct ep_call call = ep_dispatch_call(run, args, run->state->received);
    int rows = ep_dispatch_numbers(run, &call, args);

    call.turn = (size_t)ep_own_header(run, &call)->x == run->shape.x[1];
    if (args->rows_most && rows > args->rows_most) {
        if (ep_last(run) && ep_group_worker(run) == 0 && ep_leads(run))
            run->state->forwarded = (uint64_t)call.number;
        return;
    }
    if (!call.declined)
        ep_take_near(run, &call, args);
    for (int round = 0, rounds = ep_dispatch_rounds(run, &call); round < rounds; round++)
        ep_dispatch_round(run, &call, args, round);
    if (ep_last(run))
        ep_dispatch_received(run, &call);
}

#endif

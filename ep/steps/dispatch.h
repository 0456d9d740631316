/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The halves of a dispatch. With more parts than slots the sending half sends as many parts as there
 * are slots, the receiving half packs part j + slots when it has taken part j.
 */
#ifndef WSH_EP_STEPS_DISPATCH_H
#define WSH_EP_STEPS_DISPATCH_H

#include "ep/steps/take.h"

#ifdef WSH_EP_DEVICE_RUN_CUH
#include "ep/device/publish.cuh"
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

EP_STEP void ep_dispatch_send(const struct ep_run *run, const shmemx_ep_dispatch_t *args)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_call call = ep_dispatch_call(run, args, run->state->dispatches);
    int fewer = args->columns && args->columns < shape->topk; /* then the metas have the experts */

    call.turn = ep_x_turn(run, args);
    if (!args->topk) {
        ep_copy_metas(run, &call, shape->metas[call.parity], ep_kept_metas(shape, call.handle));
        ep_sync(run);
    }
    ep_store_metas(run, &call, args);
    if (fewer)
        ep_sync(run);
    ep_rank(run, fewer ? NULL : (const int32_t *)args->topk, call.tokens,
            ep_at(run, shape->metas[call.parity]), ep_ints(run, shape->counts[call.parity]),
            ep_ints(run, shape->part_rows));
    ep_store_rows(run, &call, args);
    if (ep_worker(run) == 0)
        ep_store_header(run, &call);
    if (ep_worker(run) == 0)
        ep_flush(run);
    ep_sync(run);
    ep_signal_near(run, shape->c_near, ep_worker(run), ep_workers(run));
    if (ep_worker(run) == 0)
        ep_dispatch_sent(run, &call);
    for (int part = 0; part < call.parts && part < shape->slots; part++)
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

/* Whether the host has the numbers before the rows: it takes memory then, or makes another instance. */
EP_STEP int ep_tells_early(const shmemx_ep_dispatch_t *args)
{
    return args->agreed || args->rows_most;
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
    ep_await(run, EP_PHASE_NEAR, shape->c_near, shape->near, ep_value_number, call);
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
    const struct ep_shape *shape = &run->shape;
    struct ep_call call = ep_dispatch_call(run, args, run->state->received);
    int rows = ep_dispatch_numbers(run, &call, args);

    if (args->rows_most && rows > args->rows_most) {
        if (ep_last(run) && ep_group_worker(run) == 0 && ep_leads(run))
            run->state->forwarded = (uint64_t)call.number;
        return;
    }
    if (!call.declined) {
        ep_copy_metas(run, &call, ep_kept_metas(shape, call.handle), shape->metas[call.parity]);
        ep_take_near(run, &call, args);
    }
    for (int round = 0, rounds = ep_dispatch_rounds(run, &call); round < rounds; round++)
        ep_dispatch_round(run, &call, args, round);
    if (ep_last(run))
        ep_dispatch_received(run, &call);
}

#endif

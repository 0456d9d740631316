/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many calls of each mode without a wrong row: every PE runs as far ahead as it may, and now and then one is late. Also
 * of dispatches alone, and of combines. An argument is the columns of a row.
 * paths: local:4 tcp:2 mixed:4 mixedefa:4
 * timeout: 100
 */
#include "test/ep/calls.h"

#include <stdlib.h>

static int hidden = 128;

static void many(enum ref_mode mode, enum ref_dtype dtype, enum ref_route route, long rounds)
{
    struct ref_job job = {.pes = mp_npes,
                          .hosts = calls_hosts(),
                          .experts = 2 * mp_npes,
                          .topk = 2,
                          .tokens = 12,
                          .hidden = hidden,
                          .dtype = dtype,
                          .routing = REF_MIXED,
                          .exact = dtype == REF_FP8,
                          .seed = mp_seed() + 13};
    struct calls_options options = {
        .window = 1, .handles = 3, .buffers = true, .coded = true, .halves = route == REF_DIRECT};
    struct calls calls;

    if (!calls_open(&calls, SHMEM_TEAM_WORLD, &job, mode, route, &options))
        return;
    for (int64_t call = 0; call < rounds; call++) {
        if (call % 64 == 17 + mp_me)
            mp_sleep(0.002);
        calls_round(&calls, call);
    }
    calls_close(&calls);
}

static void dispatch_alone(struct calls *calls, int64_t call)
{
    calls_fill(calls, call);
    calls_dispatch(calls, SHMEMX_EP_SEND);
    calls_be_late(calls, call);
    calls_dispatch(calls, SHMEMX_EP_RECEIVE);
    calls_received(calls);
}

/* Of the last dispatch of these arrays. */
static void combine_alone(struct calls *calls, int64_t call)
{
    calls_combine(calls, SHMEMX_EP_SEND);
    calls_be_late(calls, call);
    calls_combine(calls, SHMEMX_EP_RECEIVE);
    calls_combined(calls);
}

/* Without the other kind in between PEs are further apart. */
static void alone(enum ref_mode mode, enum ref_route route, long rounds)
{
    struct ref_job job = {.pes = mp_npes,
                          .hosts = calls_hosts(),
                          .experts = mp_npes,
                          .topk = 2,
                          .tokens = 9,
                          .hidden = hidden,
                          .routing = REF_MIXED,
                          .seed = mp_seed() + 17};
    struct calls_options options = {.window = 1, .halves = true};
    struct calls calls[2];

    if (!calls_open(&calls[0], SHMEM_TEAM_WORLD, &job, mode, route, &options))
        return;
    calls_share(&calls[1], &calls[0]);
    for (int64_t call = 0; call < rounds; call++)
        dispatch_alone(&calls[call % 2], call);
    for (int64_t call = 0; call < rounds; call++)
        combine_alone(&calls[call % 2], call);
    calls_close(&calls[1]);
    calls_close(&calls[0]);
}

int main(int argc, char **argv)
{
    mp_begin();
    if (argc > 1)
        hidden = atoi(argv[1]);
    alone(REF_LOW_LATENCY, REF_ONE_COPY, mp_rounds(50, 2000));
    alone(REF_LOW_LATENCY, REF_DIRECT, mp_rounds(50, 2000));
    alone(REF_HIGH_THROUGHPUT, REF_ONE_COPY, mp_rounds(50, 2000));
    alone(REF_HIGH_THROUGHPUT, REF_DIRECT, mp_rounds(50, 2000));
    many(REF_LOW_LATENCY, REF_BF16, REF_ONE_COPY, mp_rounds(100, 5000));
    many(REF_LOW_LATENCY, REF_FP8, REF_DIRECT, mp_rounds(100, 5000));
    many(REF_HIGH_THROUGHPUT, REF_FP8_UE8M0, REF_ONE_COPY, mp_rounds(50, 5000));
    many(REF_HIGH_THROUGHPUT, REF_BF16, REF_DIRECT, mp_rounds(50, 5000));
    return mp_end();
}

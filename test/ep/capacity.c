/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * More rows than the capacity: counts and sources are right, rows that fit are right, shmemx_ep_counts says so, and
 * later calls are right.
 * paths: local:4 mixed:4
 */
#include "test/ep/calls.h"

static void overflow(enum ref_mode mode, enum ref_dtype dtype)
{
    struct ref_job job = {.pes = mp_npes,
                          .hosts = calls_hosts(),
                          .experts = 2 * mp_npes,
                          .topk = 2,
                          .tokens = 30,
                          .hidden = 128,
                          .dtype = dtype,
                          .routing = REF_CAPACITY_EDGE,
                          .seed = 5};
    struct calls_options options = {.capacity = 30 * mp_npes - 7, .window = 8};
    struct calls calls;

    if (!calls_open(&calls, SHMEM_TEAM_WORLD, &job, mode, REF_ONE_COPY, &options))
        return;
    for (int64_t call = 0; call < 4; call++)
        calls_round(&calls, call);
    calls_close(&calls);
}

/* Where PEs agree, nobody has rows of such a call. */
static void nobody(enum ref_route route)
{
    struct ref_job job = {.pes = mp_npes,
                          .hosts = calls_hosts(),
                          .experts = mp_npes,
                          .topk = 1,
                          .tokens = 30,
                          .hidden = 128,
                          .routing = REF_CAPACITY_EDGE,
                          .seed = 5};
    struct calls_options options = {.capacity = 29, .window = 3};
    struct calls calls;
    int32_t rows = 0;

    if (!calls_open(&calls, SHMEM_TEAM_WORLD, &job, REF_HIGH_THROUGHPUT, route, &options))
        return;
    calls_fill(&calls, 0);
    for (int i = 0; i < calls.dispatch.tokens; i++)
        calls.topk[i] = 0;
    calls.dispatch.agreed = SHMEMX_EP_AGREES;
    calls_dispatch(&calls, SHMEMX_EP_BOTH);
    mp_check(!shmemx_ep_counts(calls.ep, calls.dispatch.handle, NULL, &rows) && rows == -1, "%d rows", rows);
    calls.dispatch.topk = NULL;
    mp_check(shmemx_ep_dispatch(calls.ep, &calls.dispatch), "a handle without routing is taken");
    calls_round(&calls, 3);
    calls_close(&calls);
}

int main(void)
{
    mp_begin();
    overflow(REF_LOW_LATENCY, REF_FP8);
    overflow(REF_HIGH_THROUGHPUT, REF_BF16);
    nobody(REF_DIRECT);
    if (calls_hosts() > 1)
        nobody(REF_ONE_COPY);
    return mp_end();
}

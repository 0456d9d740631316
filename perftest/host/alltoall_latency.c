/* SPDX-License-Identifier: BSD-3-Clause */
/* Time of shmem_alltoallmem (shmem_alltoall32/64 before OpenSHMEM 1.5) by message size. */
#include "perftest/common/coll.h"

#include <string.h>

static void alltoall(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++) {
#if PERF_TEAMS
        shmem_alltoallmem(SHMEM_TEAM_WORLD, run->dest, run->source, run->len);
#else
        long *psync = perf_coll_psync(run);
        if (run->len % 8)
            shmem_alltoall32(run->dest, run->source, run->len / 4, 0, 0, run->npes, psync);
        else
            shmem_alltoall64(run->dest, run->source, run->len / 8, 0, 0, run->npes, psync);
#endif
    }
}

static size_t seed(int from, int to)
{
    return (size_t)from * 251 + (size_t)to * 3;
}

static long check(struct perf_run *run, const struct perf_op *op)
{
    long wrong = 0;
    for (int pe = 0; pe < run->npes; pe++)
        perf_fill(run->source + (size_t)pe * run->len, run->len, seed(run->me, pe));
    memset(run->dest, 0, run->span);
    shmem_barrier_all();
    perf_once(run, op, 1);
    for (int pe = 0; pe < run->npes; pe++)
        wrong += perf_wrong(run->dest + (size_t)pe * run->len, run->len, seed(pe, run->me));
    return wrong;
}

static const struct perf_op ops[] = {
    {.name = "alltoall", .who = PERF_SLOWEST, .each = 1, .batch = alltoall, .check = check},
    {.name = NULL},
};

const struct perf_program perf_program = {
    .name = "alltoall_latency",
    .what = "time of one alltoall, bytes from each PE to each PE; the slowest PE counts",
    .ops = ops,
    .min_pes = 1,
    .defaults = {.begin = 8, .end = 1 << 20, .multiple = PERF_TEAMS ? 1 : 4},
    .buffer_size = perf_coll_all_pes,
    .setup = PERF_COLL_SETUP,
    .teardown = PERF_COLL_TEARDOWN,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* Time of shmem_int64_alltoalls (shmem_alltoalls64 before OpenSHMEM 1.5) by message size, every second element. */
#include "perftest/common/coll.h"

#include <string.h>

static size_t strided(const struct perf_run *run, size_t len)
{
    return 2 * len * (size_t)run->npes;
}

static void alltoalls(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++)
#if PERF_TEAMS
        shmem_int64_alltoalls(SHMEM_TEAM_WORLD, (int64_t *)run->dest, (int64_t *)run->source, 2, 2,
                              run->len / 8);
#else
        shmem_alltoalls64(run->dest, run->source, 2, 2, run->len / 8, 0, 0, run->npes, perf_coll_psync(run));
#endif
}

static long check(struct perf_run *run, const struct perf_op *op)
{
    size_t each = run->len / 8, n = each * (size_t)run->npes;
    int64_t *dest = (int64_t *)run->dest, *source = (int64_t *)run->source;
    long wrong = 0;
    for (size_t i = 0; i < n; i++)
        source[2 * i] = (int64_t)((size_t)run->me * n + i + 1);
    memset(run->dest, 0, 2 * n * 8);
    shmem_barrier_all();
    perf_once(run, op, 1);
    for (size_t i = 0; i < n; i++)
        wrong +=
            dest[2 * i] != (int64_t)(i / each * n + (size_t)run->me * each + i % each + 1) || dest[2 * i + 1];
    return wrong;
}

static const struct perf_op ops[] = {
    {.name = "alltoalls", .who = PERF_SLOWEST, .each = 1, .batch = alltoalls, .check = check},
    {.name = NULL},
};

const struct perf_program perf_program = {
    .name = "alltoalls_latency",
    .what = "time of one strided alltoall, bytes from each PE to each PE; the slowest PE counts",
    .ops = ops,
    .min_pes = 1,
    .defaults = {.begin = 8, .end = 1 << 16, .multiple = 8},
    .buffer_size = strided,
    .setup = PERF_COLL_SETUP,
    .teardown = PERF_COLL_TEARDOWN,
};

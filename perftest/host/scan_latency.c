/* SPDX-License-Identifier: BSD-3-Clause */
/* Time of shmem_long_sum_inscan and shmem_long_sum_exscan (OpenSHMEM 1.6) by message size. */
#include "perftest/common/coll.h"

#if PERF_SHMEM_AT_LEAST(1, 6)
static void inscan(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++)
        shmem_long_sum_inscan(SHMEM_TEAM_WORLD, (long *)run->dest, (long *)run->source,
                              run->len / sizeof(long));
}

static void exscan(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++)
        shmem_long_sum_exscan(SHMEM_TEAM_WORLD, (long *)run->dest, (long *)run->source,
                              run->len / sizeof(long));
}
#else
#define inscan NULL
#define exscan NULL
#endif

static long check_inscan(struct perf_run *run, const struct perf_op *op)
{
    perf_coll_fill_longs(run);
    perf_once(run, op, 1);
    return perf_coll_wrong_sums(run, run->me);
}

static long check_exscan(struct perf_run *run, const struct perf_op *op)
{
    perf_coll_fill_longs(run);
    perf_once(run, op, 1);
    return perf_coll_wrong_sums(run, run->me - 1);
}

static const struct perf_op ops[] = {
    {.name = "inscan",
     .who = PERF_SLOWEST,
     .each = 1,
     .batch = inscan,
     .check = check_inscan,
     .needs = "shmem_long_sum_inscan"},
    {.name = "exscan",
     .who = PERF_SLOWEST,
     .each = 1,
     .batch = exscan,
     .check = check_exscan,
     .needs = "shmem_long_sum_exscan"},
    {.name = NULL},
};

const struct perf_program perf_program = {
    .name = "scan_latency",
    .what = "time of one prefix sum over all PEs, bytes from each; the slowest PE counts",
    .ops = ops,
    .min_pes = 1,
    .defaults = {.begin = 8, .end = 1 << 20, .multiple = 8},
};

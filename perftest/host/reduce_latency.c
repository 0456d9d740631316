/* SPDX-License-Identifier: BSD-3-Clause */
/* Time of shmem_long_sum_reduce (shmem_long_sum_to_all before OpenSHMEM 1.5) by message size. */
#include "perftest/common/coll.h"

static void sum(struct perf_run *run, long count)
{
    long *dest = (long *)run->dest, *source = (long *)run->source;
    for (long i = 0; i < count; i++)
#if PERF_TEAMS
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, run->len / sizeof(long));
#else
        shmem_long_sum_to_all(dest, source, (int)(run->len / sizeof(long)), 0, 0, run->npes,
                              perf_coll_pwrk(run), perf_coll_psync(run));
#endif
}

static long check(struct perf_run *run, const struct perf_op *op)
{
    perf_coll_fill_longs(run);
    perf_once(run, op, 1);
    return perf_coll_wrong_sums(run, run->npes - 1);
}

static const struct perf_op ops[] = {
    {.name = "sum", .who = PERF_SLOWEST, .each = 1, .batch = sum, .check = check},
    {.name = NULL},
};

const struct perf_program perf_program = {
    .name = "reduce_latency",
    .what = "time of one sum over all PEs, bytes from each; the slowest PE counts",
    .ops = ops,
    .min_pes = 1,
    .defaults = {.begin = 8, .end = 1 << 20, .multiple = 8},
    .setup = PERF_COLL_SETUP,
    .teardown = PERF_COLL_TEARDOWN,
};

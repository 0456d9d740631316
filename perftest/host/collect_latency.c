/* SPDX-License-Identifier: BSD-3-Clause */
/* Time of shmem_fcollectmem and shmem_collectmem (…64 before OpenSHMEM 1.5) by message size. */
#include "perftest/common/coll.h"

static void fcollect(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++)
#if PERF_TEAMS
        shmem_fcollectmem(SHMEM_TEAM_WORLD, run->dest, run->source, run->len);
#else
        shmem_fcollect64(run->dest, run->source, run->len / 8, 0, 0, run->npes, perf_coll_psync(run));
#endif
}

static void collect(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++)
#if PERF_TEAMS
        shmem_collectmem(SHMEM_TEAM_WORLD, run->dest, run->source, run->len);
#else
        shmem_collect64(run->dest, run->source, run->len / 8, 0, 0, run->npes, perf_coll_psync(run));
#endif
}

static const struct perf_op ops[] = {
    {.name = "fcollect", .who = PERF_SLOWEST, .each = 1, .batch = fcollect, .check = perf_coll_check_all},
    {.name = "collect", .who = PERF_SLOWEST, .each = 1, .batch = collect, .check = perf_coll_check_all},
    {.name = NULL},
};

const struct perf_program perf_program = {
    .name = "collect_latency",
    .what = "time of one fcollect or collect, bytes from each PE; the slowest PE counts",
    .ops = ops,
    .min_pes = 1,
    .defaults = {.begin = 8, .end = 1 << 20, .multiple = 8},
    .buffer_size = perf_coll_all_pes,
    .setup = PERF_COLL_SETUP,
    .teardown = PERF_COLL_TEARDOWN,
};

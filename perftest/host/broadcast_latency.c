/* SPDX-License-Identifier: BSD-3-Clause */
/* Time of shmem_broadcastmem from PE 0 (shmem_broadcast64 before OpenSHMEM 1.5) by message size. */
#include "perftest/common/coll.h"

#include <string.h>

static void broadcast(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++)
#if PERF_TEAMS
        shmem_broadcastmem(SHMEM_TEAM_WORLD, run->dest, run->source, run->len, 0);
#else
        shmem_broadcast64(run->dest, run->source, run->len / 8, 0, 0, 0, run->npes, perf_coll_psync(run));
#endif
}

/* Over active sets the root's dest is not written. */
static long check(struct perf_run *run, const struct perf_op *op)
{
    perf_fill(run->source, run->len, run->len + (size_t)run->me);
    memset(run->dest, 0, run->len);
    shmem_barrier_all();
    perf_once(run, op, 1);
    return run->me || PERF_TEAMS ? perf_wrong(run->dest, run->len, run->len) : 0;
}

int main(int argc, char **argv)
{
    static const struct perf_op ops[] = {
        {.name = "broadcast", .who = PERF_SLOWEST, .each = 1, .batch = broadcast, .check = check},
        {.name = NULL},
    };
    static const struct perf_program program = {
        .name = "broadcast_latency",
        .what = "time of one broadcast from PE 0; the slowest PE counts",
        .ops = ops,
        .min_pes = 1,
        .defaults = {.begin = 8, .end = 1 << 20, .multiple = 8},
        .setup = PERF_COLL_SETUP,
        .teardown = PERF_COLL_TEARDOWN,
    };
    return perf_main(argc, argv, &program);
}

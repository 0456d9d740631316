/* SPDX-License-Identifier: BSD-3-Clause */
/* Time of shmem_broadcastmem from PE 0, and of shmem_broadcast64 over an active set, by message size. */
#include "perftest/common/coll.h"

#include <string.h>

#if PERF_TEAMS
static void broadcast(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++)
        shmem_broadcastmem(SHMEM_TEAM_WORLD, run->dest, run->source, run->len, 0);
}
#endif

/* Does less: the root's dest is not written. */
static void broadcast_set(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++)
        shmem_broadcast64(run->dest, run->source, run->len / 8, 0, 0, 0, run->npes, perf_coll_psync(run));
}

static long check(struct perf_run *run, const struct perf_op *op)
{
    perf_fill(run->source, run->len, run->len + (size_t)run->me);
    memset(run->dest, 0, run->len);
    shmem_barrier_all();
    perf_once(run, op, 1);
    return run->me || op->batch != broadcast_set ? perf_wrong(run->dest, run->len, run->len) : 0;
}

static const struct perf_op ops[] = {
#if PERF_TEAMS
    {.name = "broadcast", .who = PERF_SLOWEST, .each = 1, .batch = broadcast, .check = check},
#endif
    {.name = "broadcast_set", .who = PERF_SLOWEST, .each = 1, .batch = broadcast_set, .check = check},
    {.name = NULL},
};
const struct perf_program perf_program = {
    .name = "broadcast_latency",
    .what = "time of one broadcast from PE 0; the slowest PE counts",
    .ops = ops,
    .min_pes = 1,
    .defaults = {.begin = 8, .end = 1 << 20, .multiple = 8},
    .setup = perf_coll_setup,
    .teardown = perf_coll_teardown,
};

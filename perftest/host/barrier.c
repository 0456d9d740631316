/* SPDX-License-Identifier: BSD-3-Clause */
/* Time of shmem_barrier_all and shmem_sync_all over all PEs. */
#include "perftest/common/perf.h"

static void barrier_all(struct perf_run *run, long count)
{
    (void)run;
    for (long i = 0; i < count; i++)
        shmem_barrier_all();
}

static void sync_all(struct perf_run *run, long count)
{
    (void)run;
    for (long i = 0; i < count; i++)
        shmem_sync_all();
}

enum { ROUNDS = 100 };

/* What the left neighbour wrote before the barrier must be here after it. */
static long check_rounds(struct perf_run *run, void (*pass)(struct perf_run *, long), int quiet)
{
    long wrong = 0, *word = (long *)run->dest;
    int right = (run->me + 1) % run->npes;
    for (long round = 1; round <= ROUNDS; round++) {
        shmem_long_p(word, round, right);
        if (quiet)
            shmem_quiet();
        pass(run, 1);
        wrong += shmem_long_g(word, run->me) != round;
        pass(run, 1);
    }
    return wrong;
}

static long check_barrier(struct perf_run *run, const struct perf_op *op)
{
    return check_rounds(run, op->batch, 0);
}

/* sync_all, unlike barrier_all, completes no puts: the check does. */
static long check_sync(struct perf_run *run, const struct perf_op *op)
{
    return check_rounds(run, op->batch, 1);
}

static const struct perf_op ops[] = {
    {.name = "barrier_all", .who = PERF_SLOWEST, .each = 1, .batch = barrier_all, .check = check_barrier},
    {.name = "sync_all", .who = PERF_SLOWEST, .each = 1, .batch = sync_all, .check = check_sync},
    {.name = NULL},
};

const struct perf_program perf_program = {
    .name = "barrier",
    .what = "barrier_all and sync_all over all PEs; the slowest PE counts",
    .ops = ops,
    .min_pes = 1,
};

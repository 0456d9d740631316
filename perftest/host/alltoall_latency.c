/* SPDX-License-Identifier: BSD-3-Clause */
/* Time of shmem_alltoallmem (shmem_alltoall32/64 before OpenSHMEM 1.5) by message size. */
#include "perftest/common/perf.h"

#include <string.h>

static size_t all_pes(const struct perf_run *run, size_t len)
{
    return len * (size_t)run->npes;
}

#if PERF_SHMEM_AT_LEAST(1, 5)
#define SIZE_MULTIPLE 1
#define SETUP NULL
#define TEARDOWN NULL

static void alltoall(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++)
        shmem_alltoallmem(SHMEM_TEAM_WORLD, run->dest, run->source, run->len);
}
#else
#define SIZE_MULTIPLE 4
#define SETUP sync_arrays_open
#define TEARDOWN sync_arrays_close

/* Who returns from call i knows that every PE has entered call i: two arrays suffice. */
struct sync_arrays {
    long psync[2][SHMEM_ALLTOALL_SYNC_SIZE];
};

static int sync_arrays_open(struct perf_run *run)
{
    struct sync_arrays *sync = shmem_malloc(sizeof(*sync));
    if (!sync)
        return PERF_FAILED;
    for (size_t i = 0; i < 2 * SHMEM_ALLTOALL_SYNC_SIZE; i++)
        sync->psync[i / SHMEM_ALLTOALL_SYNC_SIZE][i % SHMEM_ALLTOALL_SYNC_SIZE] = SHMEM_SYNC_VALUE;
    run->state = sync;
    shmem_barrier_all();
    return PERF_OK;
}

static void sync_arrays_close(struct perf_run *run)
{
    shmem_barrier_all();
    shmem_free(run->state);
}

static void alltoall(struct perf_run *run, long count)
{
    struct sync_arrays *sync = run->state;
    for (long i = 0; i < count; i++) {
        long *psync = sync->psync[run->seq++ & 1];
        if (run->len % 8)
            shmem_alltoall32(run->dest, run->source, run->len / 4, 0, 0, run->npes, psync);
        else
            shmem_alltoall64(run->dest, run->source, run->len / 8, 0, 0, run->npes, psync);
    }
}
#endif

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

int main(int argc, char **argv)
{
    static const struct perf_op ops[] = {
        {.name = "alltoall", .who = PERF_SLOWEST, .each = 1, .batch = alltoall, .check = check},
        {.name = NULL},
    };
    static const struct perf_program program = {
        .name = "alltoall_latency",
        .what = "time of one alltoall, bytes from each PE to each PE; the slowest PE counts",
        .ops = ops,
        .min_pes = 1,
        .defaults = {.begin = 8, .end = 1 << 20, .multiple = SIZE_MULTIPLE},
        .buffer_size = all_pes,
        .setup = SETUP,
        .teardown = TEARDOWN,
    };
    return perf_main(argc, argv, &program);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Work arrays and checks of the collective programs. */
#include "perftest/common/coll.h"

#include <string.h>

size_t perf_coll_all_pes(const struct perf_run *run, size_t len)
{
    return len * (size_t)run->npes;
}

enum { ARRAYS = 64 };

#ifdef SHMEM_SYNC_SIZE
#define LARGEST SHMEM_SYNC_SIZE
#else
#define LARGEST (SHMEM_REDUCE_SYNC_SIZE + SHMEM_COLLECT_SYNC_SIZE + SHMEM_BCAST_SYNC_SIZE)
#endif

struct arrays {
    long psync[ARRAYS][LARGEST];
    char *pwrk;
};

int perf_coll_setup(struct perf_run *run)
{
    struct arrays *arrays = shmem_malloc(sizeof(*arrays));
    char *pwrk = shmem_malloc(run->size + SHMEM_REDUCE_MIN_WRKDATA_SIZE * sizeof(long));
    if (!arrays || !pwrk)
        return PERF_FAILED;
    for (size_t i = 0; i < ARRAYS * LARGEST; i++)
        arrays->psync[i / LARGEST][i % LARGEST] = SHMEM_SYNC_VALUE;
    arrays->pwrk = pwrk;
    run->state = arrays;
    shmem_barrier_all();
    return PERF_OK;
}

void perf_coll_teardown(struct perf_run *run)
{
    struct arrays *arrays = run->state;
    shmem_barrier_all();
    shmem_free(arrays->pwrk);
    shmem_free(arrays);
}

long *perf_coll_psync(struct perf_run *run)
{
    struct arrays *arrays = run->state;
    if (run->seq % ARRAYS == 0)
        shmem_barrier_all();
    return arrays->psync[run->seq++ % ARRAYS];
}

void *perf_coll_pwrk(struct perf_run *run)
{
    return ((struct arrays *)run->state)->pwrk;
}

long perf_coll_check_all(struct perf_run *run, const struct perf_op *op)
{
    long wrong = 0;
    perf_fill(run->source, run->len, run->len + (size_t)run->me);
    memset(run->dest, 0, run->len * (size_t)run->npes);
    shmem_barrier_all();
    perf_once(run, op, 1);
    for (int pe = 0; pe < run->npes; pe++)
        wrong += perf_wrong(run->dest + (size_t)pe * run->len, run->len, run->len + (size_t)pe);
    return wrong;
}

static long value(int pe, size_t j)
{
    return (long)(j + 1) * (pe + 2);
}

void perf_coll_fill_longs(struct perf_run *run)
{
    for (size_t j = 0; j < run->len / sizeof(long); j++)
        ((long *)run->source)[j] = value(run->me, j);
    memset(run->dest, 0, run->len);
    shmem_barrier_all();
}

long perf_coll_wrong_sums(const struct perf_run *run, int last)
{
    long wrong = 0;
    for (size_t j = 0; j < run->len / sizeof(long); j++) {
        long sum = 0;
        for (int pe = 0; pe <= last; pe++)
            sum += value(pe, j);
        wrong += ((long *)run->dest)[j] != sum;
    }
    return wrong;
}

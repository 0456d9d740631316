/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that make different active sets at the same time have memory of their own for each, at every PE. */
/* paths: local:2,4 tcp:3 mixed:4 */
#include "test/common/mp.h"

#include <pthread.h>

#define THREADS 2
#define SETS 64
#define N 8

static long psync[THREADS][SETS][SHMEM_REDUCE_SYNC_SIZE];
static long source[THREADS][N], dest[THREADS][N], scratch[THREADS][N + SHMEM_REDUCE_MIN_WRKDATA_SIZE];

struct set {
    int start, log_stride, size;
};

/* The sum over the set of what each PE holds. */
static void use(int thread, const struct set *set, long *sync)
{
    long want = 0;

    for (int i = 0; i < set->size; i++)
        want += set->start + (i << set->log_stride) + thread;
    for (int i = 0; i < N; i++)
        source[thread][i] = (mp_me + thread) * (i + 1);
    shmem_long_sum_to_all(dest[thread], source[thread], N, set->start, set->log_stride, set->size,
                          scratch[thread], sync);
    for (int i = 0; i < N; i++)
        mp_check(dest[thread][i] == want * (i + 1), "thread %d, set %d %d %d: element %d is %ld, not %ld",
                 thread, set->start, set->log_stride, set->size, i, dest[thread][i], want * (i + 1));
    shmem_barrier(set->start, set->log_stride, set->size, sync);
}

static bool holds_me(const struct set *set)
{
    for (int i = 0; i < set->size; i++)
        if (set->start + (i << set->log_stride) == mp_me)
            return true;
    return false;
}

/* Each thread has the sets of one stride; all PEs take them in the same order, twice: made, and used again. */
static void *use_all(void *arg)
{
    int thread = (int)(intptr_t)arg;

    for (int round = 0; round < 2; round++) {
        int n = 0;

        for (int size = 1; size <= mp_npes; size++)
            for (int start = 0; start + ((size - 1) << thread) < mp_npes; start++, n++) {
                const struct set set = {start, thread, size};

                if (holds_me(&set))
                    use(thread, &set, psync[thread][n]);
            }
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS * SETS; i++)
        for (int k = 0; k < SHMEM_REDUCE_SYNC_SIZE; k++)
            psync[i / SETS][i % SETS][k] = SHMEM_SYNC_VALUE;
    mp_begin_thread(SHMEM_THREAD_MULTIPLE);
    shmem_barrier_all();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, use_all, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return mp_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The deprecated collectives work on every active set that so many PEs allow, again and again; the root of a broadcast
 * keeps its dest; pSync holds its first values afterwards; a barrier completes puts.
 * paths: local:1,2,3,4,7,8 tcp:4 mixed:4 single
 * long paths: tcp:2
 */
#include "test/common/mp.h"

#include <string.h>

enum { NELEMS = 5, KINDS = 6 };

static int64_t dest[64 * NELEMS], src[64 * NELEMS];
static int word;
static int pwrk[NELEMS];
static long psync[KINDS][SHMEM_SYNC_SIZE];

struct set {
    int start, log_stride, size, me;
};

static void exchange(const struct set *set)
{
    int root = set->size - 1, start = set->start, log_stride = set->log_stride, size = set->size;

    for (int i = 0; i < size * NELEMS; i++)
        src[i] = mp_me * 1000 + i;
    memset(dest, 0xff, sizeof dest);
    shmem_barrier(start, log_stride, size, psync[0]);
    shmem_broadcast64(dest, src, NELEMS, root, start, log_stride, size, psync[1]);
    for (int i = 0; i < NELEMS; i++)
        mp_check(dest[i] == (set->me == root ? -1 : (start + (root << log_stride)) * 1000 + i),
                 "broadcast: %ld", (long)dest[i]);
    shmem_sync(start, log_stride, size, psync[0]);
    shmem_fcollect64(dest, src, NELEMS, start, log_stride, size, psync[2]);
    for (int i = 0; i < size * NELEMS; i++)
        mp_check(dest[i] == (start + ((i / NELEMS) << log_stride)) * 1000 + i % NELEMS, "fcollect: %ld",
                 (long)dest[i]);
    shmem_sync(start, log_stride, size, psync[0]);
    shmem_alltoall64(dest, src, NELEMS, start, log_stride, size, psync[3]);
    for (int i = 0; i < size * NELEMS; i++)
        mp_check(dest[i] == (start + ((i / NELEMS) << log_stride)) * 1000 + set->me * NELEMS + i % NELEMS,
                 "alltoall: %ld", (long)dest[i]);
    shmem_sync(start, log_stride, size, psync[0]);
}

static void combine(const struct set *set)
{
    int *to = (int *)dest, *from = (int *)src, want = 0;

    for (int i = 0; i < NELEMS; i++)
        from[i] = mp_me + i;
    for (int pe = 0; pe < set->size; pe++)
        want += set->start + (pe << set->log_stride);
    shmem_int_sum_to_all(to, from, NELEMS, set->start, set->log_stride, set->size, pwrk, psync[4]);
    for (int i = 0; i < NELEMS; i++)
        mp_check(to[i] == want + i * set->size, "sum of %d is %d", i, to[i]);
    shmem_sync(set->start, set->log_stride, set->size, psync[0]);
    shmem_int_max_to_all(from, from, NELEMS, set->start, set->log_stride, set->size, pwrk, psync[4]);
    mp_check(from[0] == set->start + ((set->size - 1) << set->log_stride), "max is %d", from[0]);
    memset(dest, 0xff, sizeof dest);
    shmem_barrier(set->start, set->log_stride, set->size, psync[0]);
    shmem_collect32(dest, src, 1 + (size_t)(set->me % 2), set->start, set->log_stride, set->size, psync[5]);
    mp_check(to[0] == from[0] && to[3 * (set->size / 2) + set->size % 2] == -1,
             "collect of 1 and 2 elements");
}

static void check_set(const struct set *set)
{
    for (int round = 0; round < 3; round++) {
        exchange(set);
        combine(set);
        if (set->size > 1 && set->me == 0)
            shmem_int_p(&word, round + 1, set->start + (1 << set->log_stride));
        shmem_barrier(set->start, set->log_stride, set->size, psync[0]);
        mp_check(set->me != 1 || word == round + 1, "the put before the barrier is not here");
    }
    for (int i = 0; i < KINDS * SHMEM_SYNC_SIZE; i++)
        mp_check(psync[i / SHMEM_SYNC_SIZE][i % SHMEM_SYNC_SIZE] == SHMEM_SYNC_VALUE, "pSync has changed");
}

/* All sets of few PEs, some of many. */
static bool is_wanted(int start, int size)
{
    return mp_npes <= 8 || (start % 21 == 0 && size % 10 == 2) || size == mp_npes;
}

int main(void)
{
    mp_begin();
    for (int i = 0; i < KINDS * SHMEM_SYNC_SIZE; i++)
        psync[i / SHMEM_SYNC_SIZE][i % SHMEM_SYNC_SIZE] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    for (int log_stride = 0; 1 << log_stride <= mp_npes; log_stride++)
        for (int start = 0; start < mp_npes; start++)
            for (int size = 1; start + ((size - 1) << log_stride) < mp_npes; size++) {
                struct set set = {start, log_stride, size, (mp_me - start) >> log_stride};

                if (!is_wanted(start, size))
                    continue;
                if (mp_me >= start && (mp_me - start) % (1 << log_stride) == 0 && set.me < size)
                    check_set(&set);
                shmem_barrier_all(); /* another set may use the same pSync only now */
            }
    return mp_end();
}

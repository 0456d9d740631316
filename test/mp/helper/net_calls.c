/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What calls of small collectives give to the network: a line for each, "NAME BYTES OPERATIONS BYTES", of all PEs
 * and as many calls as the first line says. First calls, which may make connections, do not count.
 */
#include "test/common/mp.h"

#include <shmemx.h>
#include <stdio.h>
#include <string.h>

enum { CALLS = 10, FIRST = 2, LONGS_MAX = 8 };

static long *dest, *src;

static void barrier(size_t n)
{
    (void)n;
    shmem_barrier_all();
}

static void broadcast(size_t n)
{
    shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, src, n, 0);
}

static void fcollect(size_t n)
{
    shmem_long_fcollect(SHMEM_TEAM_WORLD, dest, src, n);
}

static void alltoall(size_t n)
{
    shmem_long_alltoall(SHMEM_TEAM_WORLD, dest, src, n);
}

static void reduce(size_t n)
{
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, src, n);
}

/* All PEs begin with a barrier, whose messages each has sent when it leaves it. */
static void count(const char *name, void (*call)(size_t n), size_t longs)
{
    static uint64_t before[2], after[2], sum[2];

    for (int i = 0; i < FIRST; i++)
        call(longs);
    shmem_barrier_all();
    mp_network_counts(&before[0], &before[1]);
    for (int i = 0; i < CALLS; i++)
        call(longs);
    shmem_quiet();
    mp_network_counts(&after[0], &after[1]);
    for (int i = 0; i < 2; i++)
        after[i] -= before[i];
    shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, sum, after, 2);
    if (!mp_me)
        printf("%s %zu %lu %lu\n", name, longs * sizeof(long), (unsigned long)sum[0], (unsigned long)sum[1]);
}

MP_MAIN(net_calls)
{
    mp_begin();
    dest = mp_alloc((size_t)mp_npes * LONGS_MAX * sizeof *dest);
    src = mp_alloc((size_t)mp_npes * LONGS_MAX * sizeof *src);
    if (!mp_me)
        printf("calls %d\n", CALLS);
    count("barrier", barrier, 0);
    for (size_t longs = 1; longs <= LONGS_MAX; longs *= LONGS_MAX) {
        count("broadcast", broadcast, longs);
        count("fcollect", fcollect, longs);
        count("alltoall", alltoall, longs);
        count("reduce", reduce, longs);
    }
    shmem_free(src);
    shmem_free(dest);
    return mp_end();
}

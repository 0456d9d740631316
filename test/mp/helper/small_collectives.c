/* SPDX-License-Identifier: BSD-3-Clause */
/* Small collectives over and over, over teams and active sets, with gets and atomics between; argument: rounds. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

#define PES_MAX 64

static long src[2], summed[1], cast[2], cast64[2], collected[PES_MAX], all_summed[1];
static long given[PES_MAX], taken[PES_MAX], word;
static long work[SHMEM_REDUCE_MIN_WRKDATA_SIZE], psync[3][SHMEM_SYNC_SIZE];
static int me, n, rounds_done;

static void expect(const char *what, long is, long should_be)
{
    if (is == should_be)
        return;
    printf("PE %d, round %d: %s: %ld, should be %ld\n", me, rounds_done, what, is, should_be);
    fflush(stdout);
    shmem_global_exit(3);
}

static void over_team(int r)
{
    long sum = (long)n * (n - 1) / 2 + (long)n * r;

    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, summed, src, 1);
    expect("sum", summed[0], sum);
    shmem_long_broadcast(SHMEM_TEAM_WORLD, cast, src, 2, r % n);
    expect("broadcast", cast[0], r % n + r);
    shmem_long_fcollect(SHMEM_TEAM_WORLD, collected, src, 1);
    shmem_long_alltoall(SHMEM_TEAM_WORLD, taken, given, 1);
    for (int pe = 0; pe < n; pe++) {
        expect("fcollect", collected[pe], pe + r);
        expect("alltoall", taken[pe], pe * 1000 + me + r);
    }
}

static void over_active_set(int r)
{
    shmem_broadcast64(cast64, src, 2, r % n, 0, 0, n, psync[r % 2]);
    if (me != r % n)
        expect("broadcast64", cast64[0], r % n + r);
    shmem_barrier(0, 0, n, psync[2]);
    shmem_long_sum_to_all(all_summed, src, 1, 0, 0, n, work, psync[r % 2]);
    expect("sum_to_all", all_summed[0], (long)n * (n - 1) / 2 + (long)n * r);
}

static void run_round(int r)
{
    src[0] = me + r;
    src[1] = r;
    for (int pe = 0; pe < n; pe++)
        given[pe] = me * 1000 + pe + r;
    shmem_barrier_all();
    over_team(r);
    over_active_set(r);
    expect("g", shmem_long_g(src, (me + 1) % n), (me + 1) % n + r);
    shmem_long_atomic_add(&word, 1, (me + 1) % n);
    shmem_barrier_all();
    expect("atomic_add", word, r + 1);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 20;

    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        psync[0][i] = psync[1][i] = psync[2][i] = SHMEM_SYNC_VALUE;
    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    if (n > PES_MAX)
        shmem_global_exit(99);
    for (; rounds_done < rounds; rounds_done++)
        run_round(rounds_done);
    shmem_finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * halo [ROUNDS [LATE-PE [MS]]]: every PE sends its border to both neighbours in a ring, by a put with a signal, and
 * waits for theirs. The late PE computes for 5 ms, or so many, more in every round. With LATE-PE "crash" the last PE
 * ends itself half-way.
 */
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CELLS 512

static double border[2][CELLS];
static uint64_t come[2]; /* from the left, from the right: static data */

static void compute(double ms)
{
    struct timespec from, now;

    clock_gettime(CLOCK_MONOTONIC, &from);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((double)(now.tv_sec - from.tv_sec) * 1e3 + (double)(now.tv_nsec - from.tv_nsec) * 1e-6 < ms);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 20, late = argc > 2 ? atoi(argv[2]) : -1, me, n;
    double more = argc > 3 ? atof(argv[3]) : 5;
    static double mine[CELLS];
    static long total[1];
    shmemx_req_h request;
    uint64_t *sum;

    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    sum = shmem_calloc(1, sizeof *sum);
    for (int round = 1; round <= rounds; round++) {
        compute(me == late ? 0.2 + more : 0.2);
        shmem_double_put_signal(border[0], mine, CELLS, &come[0], (uint64_t)round, SHMEM_SIGNAL_SET,
                                (me + 1) % n);
        shmem_double_put_signal_nbi(border[1], mine, CELLS, &come[1], 1, SHMEM_SIGNAL_ADD, (me + n - 1) % n);
        shmem_signal_wait_until(&come[0], SHMEM_CMP_GE, (uint64_t)round);
        shmem_signal_wait_until(&come[1], SHMEM_CMP_GE, (uint64_t)round);
        shmem_uint64_atomic_inc(sum, 0);
        if (argc > 2 && !strcmp(argv[2], "crash") && me == n - 1 && round > rounds / 2)
            raise(SIGKILL);
        shmem_barrier_all();
    }
    shmemx_long_sum_reduce_nb(SHMEM_TEAM_WORLD, total, total, 1, &request);
    shmemx_req_wait(&request);
    if (me == 0)
        printf("%llu of %d\n", (unsigned long long)*sum, n * rounds);
    shmem_finalize();
    return 0;
}

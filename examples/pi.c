/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions: pi is the integral of 4 / (1 + x^2) from 0 to 1. Each PE adds up every n-th strip, a sum over all PEs
 * gives every PE the result, and a maximum finds the slowest one.
 *
 *   oshcc -O2 -o pi pi.c -lm && oshrun -n 4 ./pi
 */
#include <shmem.h>

#include <math.h>
#include <stdio.h>
#include <time.h>

enum { STRIPS = 10000000 };

static double seconds(void)
{
    struct timespec now;

    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(void)
{
    static double part, pi, time, slowest; /* static variables are symmetric, as reductions want them */
    int me, n, wrong;

    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();

    time = -seconds();
    for (int i = me; i < STRIPS; i += n) {
        double x = (i + 0.5) / STRIPS;
        part += 4 / (1 + x * x);
    }
    part /= STRIPS;
    time += seconds();

    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &pi, &part, 1);
    shmem_double_max_reduce(SHMEM_TEAM_WORLD, &slowest, &time, 1);

    wrong = fabs(pi - acos(-1)) > 1e-10;
    if (me == 0)
        printf("pi: %d PEs, %.12f, slowest PE %.3f s, %d wrong\n", n, pi, slowest, wrong);
    shmem_finalize();
    return wrong;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exercise 4 of the tutorial: a ring of cells is smoothed. Each PE has some of them, and copies of the two beside
 * those.
 *
 *   oshcc -O2 -o smooth smooth.c && oshrun -n 4 ./smooth
 */
#include <shmem.h>

#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 16, STEPS = 100, LEFT = 0, RIGHT, SIDES };

/* The state before and after a step: cell 0 and cell CELLS + 1 are copies of the neighbours' (the halo). */
static double cells[2][CELLS + 2];

/*
 * arrived[side][k % 2] is k + 1: the halo on that side holds state k. A neighbour may be one step ahead and never two,
 * since it needs this PE's cells for that. So two words for each side are enough.
 */
static uint64_t arrived[SIDES][2];

static double first_state(int cell)
{
    return cell % 7 == 0 ? 100 : cell % 5;
}

static double smoothed(double left, double cell, double right)
{
    return (left + cell + right) / 3;
}

/* Sends this PE's outer cells of state k, and waits for the neighbours'. */
static void exchange(int me, int n, int k)
{
    double *now = cells[k % 2];
    uint64_t *from_left = &arrived[LEFT][k % 2], *from_right = &arrived[RIGHT][k % 2],
             state = (uint64_t)k + 1;

    shmem_put_signal(&now[CELLS + 1], &now[1], 1, from_right, state, SHMEM_SIGNAL_SET, (me + n - 1) % n);
    shmem_put_signal(&now[0], &now[CELLS], 1, from_left, state, SHMEM_SIGNAL_SET, (me + 1) % n);
    shmem_signal_wait_until(from_left, SHMEM_CMP_EQ, state);
    shmem_signal_wait_until(from_right, SHMEM_CMP_EQ, state);
}

/* How many of this PE's cells differ from those of one process that computes all of them. */
static long count_wrong(int me, int n, const double *mine)
{
    int all = n * CELLS;
    double *ring[2] = {malloc((size_t)all * sizeof(double)), malloc((size_t)all * sizeof(double))};
    long wrong = 0;

    if (!ring[0] || !ring[1])
        shmem_global_exit(1);
    for (int i = 0; i < all; i++)
        ring[0][i] = first_state(i);
    for (int k = 0; k < STEPS; k++)
        for (int i = 0; i < all; i++)
            ring[(k + 1) % 2][i] =
                smoothed(ring[k % 2][(i + all - 1) % all], ring[k % 2][i], ring[k % 2][(i + 1) % all]);
    for (int i = 0; i < CELLS; i++)
        wrong += ring[STEPS % 2][me * CELLS + i] != mine[i];
    free(ring[1]);
    free(ring[0]);
    return wrong;
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    long *wrong = shmem_calloc((size_t)n, sizeof *wrong), sum = 0; /* one element for each PE */

    if (!wrong)
        shmem_global_exit(1);
    for (int i = 0; i < CELLS; i++)
        cells[0][i + 1] = first_state(me * CELLS + i);
    for (int k = 0; k < STEPS; k++) {
        double *now = cells[k % 2], *next = cells[(k + 1) % 2];

        exchange(me, n, k);
        for (int i = 1; i <= CELLS; i++)
            next[i] = smoothed(now[i - 1], now[i], now[i + 1]);
    }
    shmem_p(&wrong[me], count_wrong(me, n, &cells[STEPS % 2][1]), 0);
    shmem_barrier_all();

    for (int pe = 0; pe < n; pe++)
        sum += wrong[pe];
    if (me == 0)
        printf("smooth: %d PEs, %d cells, %d steps, %ld wrong\n", n, n * CELLS, STEPS, sum);
    shmem_free(wrong);
    shmem_finalize();
    return sum != 0;
}

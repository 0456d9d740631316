/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heat equation with halos: each PE has some rows of a plate, and a copy of the row above and of that below them.
 * After a step it puts its first and its last row into the neighbours' copies, with a signal, and waits for theirs.
 *
 *   oshcc -O2 -o heat heat.c -lm && oshrun -n 4 ./heat
 */
#include "heat.h"

#include <shmem.h>

enum { ABOVE, BELOW };

struct strip {
    int me, n, begin, count; /* PE of so many; its first row, and how many rows */
    double *cells[2];        /* [1 + count + 1][COLUMNS] now and after the step */
};

/*
 * Says that the halo on that side holds the row of step k: arrived[side][k % 2] is k. A neighbour may be one step
 * ahead and never two, since it needs this PE's row for that; so two words a side suffice, and one would not: a
 * network may deliver the row of step k + 1 and its signal before those of step k.
 */
static uint64_t arrived[2][2];

static void strip_open(struct strip *s)
{
    size_t rows = (size_t)(ROWS / s->n) + 1 + 2; /* symmetric: as much on all PEs */

    s->begin = heat_begin(s->me, s->n);
    s->count = heat_begin(s->me + 1, s->n) - s->begin;
    for (int i = 0; i < 2; i++)
        if (!(s->cells[i] = shmem_malloc(rows * COLUMNS * sizeof(double))))
            shmem_global_exit(1);
    for (int i = 0; i < (s->count + 2) * COLUMNS; i++)
        s->cells[0][i] = heat_first(s->begin - 1 + i / COLUMNS, i % COLUMNS);
    shmem_barrier_all();
}

/* This PE's edges of step k to the neighbours, and theirs of that step awaited. */
static void halos_exchange(struct strip *s, int k)
{
    double *cells = s->cells[k % 2];

    if (s->me > 0) {
        int last = s->begin - heat_begin(s->me - 1, s->n) + 1;
        shmem_double_put_signal(cells + last * COLUMNS, cells + COLUMNS, COLUMNS, &arrived[BELOW][k % 2],
                                (uint64_t)k, SHMEM_SIGNAL_SET, s->me - 1);
    }
    if (s->me < s->n - 1)
        shmem_double_put_signal(cells, cells + s->count * COLUMNS, COLUMNS, &arrived[ABOVE][k % 2],
                                (uint64_t)k, SHMEM_SIGNAL_SET, s->me + 1);
    if (s->me > 0)
        shmem_signal_wait_until(&arrived[ABOVE][k % 2], SHMEM_CMP_EQ, (uint64_t)k);
    if (s->me < s->n - 1)
        shmem_signal_wait_until(&arrived[BELOW][k % 2], SHMEM_CMP_EQ, (uint64_t)k);
}

int main(void)
{
    static long wrong, all;
    struct strip s;

    shmem_init();
    s.me = shmem_my_pe();
    s.n = shmem_n_pes();
    if (s.n > ROWS) {
        fprintf(stderr, "heat: at most %d PEs, one for each row\n", ROWS);
        shmem_global_exit(2);
    }
    strip_open(&s);
    for (int k = 0; k < STEPS; k++) {
        if (k > 0)
            halos_exchange(&s, k);
        for (int i = COLUMNS; i < (s.count + 1) * COLUMNS; i++)
            s.cells[(k + 1) % 2][i] = heat_next(s.cells[k % 2] + i, s.begin - 1 + i / COLUMNS, i % COLUMNS);
    }
    wrong = heat_wrong(s.cells[STEPS % 2] + COLUMNS, s.begin, s.begin + s.count);

    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all, &wrong, 1);
    if (s.me == 0)
        printf("heat: %d PEs, %d x %d, %d steps, %ld wrong\n", s.n, ROWS, COLUMNS, STEPS, all);
    shmem_free(s.cells[1]);
    shmem_free(s.cells[0]);
    shmem_finalize();
    return all != 0;
}

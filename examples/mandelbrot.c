/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work that is shared out as it goes: rows of the Mandelbrot set cost very different times. A counter on PE 0 says
 * which row is next; whoever is free takes it by an atomic fetch-and-increment, and puts the finished row into the
 * image on PE 0. PE 0 computes some of the rows again, alone, and compares.
 *
 *   oshcc -O2 -o mandelbrot mandelbrot.c && oshrun -n 4 ./mandelbrot
 */
#include <shmem.h>

#include <stdio.h>
#include <string.h>

enum { WIDTH = 300, HEIGHT = 200, DEEPEST = 2000, CHECKED = 7 /* every so manieth row */ };

static int depth(int row, int column)
{
    double a = 3.0 * column / WIDTH - 2.2, b = 2.0 * row / HEIGHT - 1, x = 0, y = 0;
    int steps = 0;

    for (; steps < DEEPEST && x * x + y * y <= 4; steps++) {
        double next = x * x - y * y + a;
        y = 2 * x * y + b;
        x = next;
    }
    return steps;
}

static void compute_row(int *line, int row)
{
    for (int column = 0; column < WIDTH; column++)
        line[column] = depth(row, column);
}

static int wrong_rows(int (*image)[WIDTH])
{
    int line[WIDTH], wrong = 0;

    for (int row = 0; row < HEIGHT; row += CHECKED) {
        compute_row(line, row);
        wrong += memcmp(line, image[row], sizeof line) != 0;
    }
    return wrong;
}

int main(void)
{
    static int image[HEIGHT][WIDTH]; /* that of PE 0 is filled */
    static int next;                 /* the next line that nobody has taken; counted at PE 0 */
    static int mine, fewest, most;   /* rows of a PE */
    int line[WIDTH], row, wrong = 0;

    shmem_init();
    while ((row = shmem_int_atomic_fetch_inc(&next, 0)) < HEIGHT) {
        compute_row(line, row);
        shmem_int_put(image[row], line, WIDTH, 0);
        mine++;
    }
    shmem_int_min_reduce(SHMEM_TEAM_WORLD, &fewest, &mine, 1);
    shmem_int_max_reduce(SHMEM_TEAM_WORLD, &most, &mine, 1);
    shmem_barrier_all();

    if (shmem_my_pe() == 0) {
        wrong = wrong_rows(image);
        printf("mandelbrot: %d PEs, %d rows, %d to %d a PE, %d wrong\n", shmem_n_pes(), HEIGHT, fewest, most,
               wrong);
    }
    shmem_finalize();
    return wrong != 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An all-to-all: a square matrix whose rows are shared among the PEs is transposed, as parallel Fourier transforms
 * do. Each PE cuts its rows into one block for each PE, alltoall exchanges the blocks, and each block is turned on
 * arrival.
 *
 *   oshcc -O2 -o transpose transpose.c && oshrun -n 4 ./transpose
 */
#include <shmem.h>

#include <stdio.h>

enum { ROWS = 128 }; /* of a PE */

static double element(long row, long column)
{
    return (double)(row * 1000003 + column);
}

int main(void)
{
    static long wrong, all;
    int me, n;
    double *source, *dest;

    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    source =
        shmem_malloc((size_t)n * ROWS * ROWS * sizeof *source); /* [n][ROWS][ROWS]: a block for each PE */
    dest = shmem_malloc((size_t)n * ROWS * ROWS * sizeof *dest);
    if (!source || !dest)
        shmem_global_exit(1);

    for (long pe = 0; pe < n; pe++)
        for (long row = 0; row < ROWS; row++)
            for (long column = 0; column < ROWS; column++)
                source[(pe * ROWS + row) * ROWS + column] = element(me * ROWS + row, pe * ROWS + column);
    /* dest may be written by others already: shmem_malloc has ended with a barrier, and nobody has used it since. */
    shmem_double_alltoall(SHMEM_TEAM_WORLD, dest, source, ROWS * ROWS);

    /* Row r of the result is column r of the block that each PE has sent. */
    for (long row = 0; row < ROWS; row++)
        for (long column = 0; column < n * ROWS; column++) {
            const double *block = dest + column / ROWS * ROWS * ROWS;
            wrong += block[column % ROWS * ROWS + row] != element(column, me * ROWS + row);
        }

    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all, &wrong, 1);
    if (me == 0)
        printf("transpose: %d PEs, %d x %d, %ld wrong\n", n, n * ROWS, n * ROWS, all);
    shmem_free(dest);
    shmem_free(source);
    shmem_finalize();
    return all != 0;
}

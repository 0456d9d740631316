/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pipeline: many matrices, whose rows are shared among the PEs, are computed and transposed one after another. While
 * the alltoall of one is under way, the next one is computed, and the one before is turned on arrival: two matrices are
 * in flight. A sum over all of them is begun where it is known, and waited for at the end.
 *
 *   oshcc -O2 -o pipeline pipeline.c && oshrun -n 4 ./pipeline
 */
#include <shmem.h>
#include <shmemx.h>

#include <stdio.h>

enum { ROWS = 64 /* of a PE */, MATRICES = 12, DEPTH = 2 };

static double element(int matrix, long row, long column)
{
    return (double)(matrix * 7 + row * 1000003 + column);
}

/* Rows of this PE, as a block for each PE; the sum of their elements. */
static double matrix_compute(int matrix, double *blocks)
{
    int n = shmem_n_pes(), me = shmem_my_pe();
    double sum = 0;

    for (long pe = 0; pe < n; pe++)
        for (long row = 0; row < ROWS; row++)
            for (long column = 0; column < ROWS; column++)
                sum += blocks[(pe * ROWS + row) * ROWS + column] =
                    element(matrix, me * ROWS + row, pe * ROWS + column);
    return sum;
}

/* Row r of the result is column r of the block that each PE has sent. */
static long matrix_check(int matrix, const double *blocks)
{
    int n = shmem_n_pes(), me = shmem_my_pe();
    long wrong = 0;

    for (long row = 0; row < ROWS; row++)
        for (long column = 0; column < n * ROWS; column++) {
            const double *block = blocks + column / ROWS * ROWS * ROWS;

            wrong += block[column % ROWS * ROWS + row] != element(matrix, column, me * ROWS + row);
        }
    return wrong;
}

int main(void)
{
    static double sums[MATRICES], totals[MATRICES];
    static long wrong, all;
    double *source[DEPTH], *dest[MATRICES], want = 0;
    shmemx_req_h exchange[DEPTH], sum[MATRICES];
    size_t count;
    int n;

    shmem_init();
    n = shmem_n_pes();
    count = (size_t)n * ROWS * ROWS;
    for (int i = 0; i < DEPTH; i++) {
        exchange[i] = SHMEMX_REQ_INVALID;
        source[i] = shmem_malloc(count * sizeof(double));
        if (!source[i])
            shmem_global_exit(1);
    }
    for (int i = 0; i < MATRICES; i++) {
        dest[i] = shmem_malloc(count *
                               sizeof(double)); /* each its own: a PE that is ahead writes to the next one */
        if (!dest[i])
            shmem_global_exit(1);
    }

    for (int i = 0; i < MATRICES + DEPTH; i++) {
        shmemx_req_wait(&exchange[i % DEPTH]); /* at first there is none */
        if (i >= DEPTH)
            wrong += matrix_check(i - DEPTH, dest[i - DEPTH]);
        if (i >= MATRICES)
            continue;
        sums[i] = matrix_compute(i, source[i % DEPTH]);
        shmemx_alltoall_nb(SHMEM_TEAM_WORLD, dest[i], source[i % DEPTH], ROWS * ROWS, &exchange[i % DEPTH]);
        shmemx_sum_reduce_nb(SHMEM_TEAM_WORLD, &totals[i], &sums[i], 1, &sum[i]);
    }
    shmemx_req_wait_all(sum, MATRICES);
    for (int i = 0; i < MATRICES; i++) {
        double rows = (double)n * ROWS;

        want = rows * rows * (i * 7 + 1000004.0 * (rows - 1) / 2);
        wrong += totals[i] < want * (1 - 1e-9) || totals[i] > want * (1 + 1e-9);
    }

    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all, &wrong, 1);
    if (shmem_my_pe() == 0)
        printf("pipeline: %d PEs, %d matrices, %ld wrong\n", n, MATRICES, all);
    shmem_finalize();
    return all != 0;
}

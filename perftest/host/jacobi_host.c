/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Iterations of the five-point stencil on a grid of floats whose rows are distributed over the PEs, a ring of 32 rows
 * each: edges are computed and put with a signal first, then the interior, then the neighbours' edges are awaited. The
 * program for GPUs is device/jacobi.
 */
#include "perftest/common/perf.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 32, CHECKED = 5 };

/* Row of this PE after iteration k: 0 and ROWS + 1 are the neighbours'. */
static float *row_of(const struct perf_run *run, uint64_t k, size_t row)
{
    return (float *)(run->dest + ((k & 1) * (ROWS + 2) + row) * run->len);
}

/* The new row between the old `above` and `below`; the columns at both ends keep their values. */
static void stencil(float *to, const float *above, const float *old, const float *below, size_t columns)
{
    to[0] = old[0];
    to[columns - 1] = old[columns - 1];
    for (size_t i = 1; i + 1 < columns; i++)
        to[i] = 0.25f * (above[i] + below[i] + old[i - 1] + old[i + 1]);
}

static void compute(const struct perf_run *run, uint64_t k, size_t row)
{
    stencil(row_of(run, k, row), row_of(run, k - 1, row - 1), row_of(run, k - 1, row),
            row_of(run, k - 1, row + 1), run->len / sizeof(float));
}

#if PERF_SHMEM_AT_LEAST(1, 5)
/*
 * The neighbour's halo and signal of iteration k. It may be one iteration behind and never two, so two words a side
 * suffice.
 */
static void send(const struct perf_run *run, uint64_t k, size_t from, size_t to, int side, int pe)
{
    shmem_putmem_signal(row_of(run, k, to), row_of(run, k, from), run->len, run->flag + 2 * side + (k & 1), k,
                        SHMEM_SIGNAL_SET, pe);
}

static void iterations(struct perf_run *run, long count, bool interior)
{
    int above = (run->me + run->npes - 1) % run->npes, below = (run->me + 1) % run->npes;

    for (long i = 0; i < count; i++) {
        uint64_t k = ++run->seq;

        compute(run, k, 1);
        compute(run, k, ROWS);
        send(run, k, 1, ROWS + 1, 0, above);
        send(run, k, ROWS, 0, 1, below);
        for (size_t row = 2; interior && row < ROWS; row++)
            compute(run, k, row);
        shmem_signal_wait_until(run->flag + (k & 1), SHMEM_CMP_GE, k);
        shmem_signal_wait_until(run->flag + 2 + (k & 1), SHMEM_CMP_GE, k);
    }
}

static void iteration(struct perf_run *run, long count)
{
    iterations(run, count, true);
}

static void edges(struct perf_run *run, long count)
{
    iterations(run, count, false);
}
#else
#define iteration NULL
#define edges NULL
#endif

static float value_first(size_t row, size_t column)
{
    return (float)((row * 7 + column * 13) % 101);
}

/* The whole grid's iterations by this PE alone; NULL without memory. */
static float *alone(size_t rows, size_t columns)
{
    float *grid = malloc(2 * rows * columns * sizeof *grid), *now = grid,
          *next = grid ? grid + rows * columns : NULL;

    for (size_t i = 0; grid && i < rows * columns; i++)
        now[i] = value_first(i / columns, i % columns);
    for (int k = 0; grid && k < CHECKED; k++) {
        float *swap = now;

        for (size_t row = 0; row < rows; row++)
            stencil(next + row * columns, now + (row + rows - 1) % rows * columns, now + row * columns,
                    now + (row + 1) % rows * columns, columns);
        now = next;
        next = swap;
    }
    if (grid && now != grid)
        memcpy(grid, now, rows * columns * sizeof *grid);
    return grid;
}

static long check_iteration(struct perf_run *run, const struct perf_op *op)
{
    size_t columns = run->len / sizeof(float), rows = ROWS * (size_t)run->npes,
           first = ROWS * (size_t)run->me;
    float *grid = alone(rows, columns);
    long wrong = grid ? 0 : 1;

    for (size_t i = 0; i < (ROWS + 2) * columns; i++)
        row_of(run, run->seq, 0)[i] = value_first((first + rows - 1 + i / columns) % rows, i % columns);
    shmem_barrier_all();
    op->batch(run, CHECKED);
    for (size_t i = 0; grid && i < ROWS * columns; i++)
        wrong += row_of(run, run->seq, 1)[i] != grid[first * columns + i];
    free(grid);
    return wrong;
}

/* Without the interior the grid means nothing: whether the neighbours' edges are here. */
static long check_edges(struct perf_run *run, const struct perf_op *op)
{
    size_t n = run->len / sizeof(float);
    long wrong = 0;

    for (size_t i = 0; i < (ROWS + 2) * n; i++)
        row_of(run, run->seq, 0)[i] = (float)run->me;
    shmem_barrier_all();
    op->batch(run, 1);
    for (size_t i = 0; i < n; i += n - 1) {
        wrong += row_of(run, run->seq, 0)[i] != (float)((run->me + run->npes - 1) % run->npes);
        wrong += row_of(run, run->seq, ROWS + 1)[i] != (float)((run->me + 1) % run->npes);
    }
    shmem_barrier_all(); /* nobody fills the grid while its neighbour reads */
    return wrong;
}

static size_t grid_bytes(const struct perf_run *run, size_t len)
{
    (void)run;
    return 2 * (ROWS + 2) * len;
}

static const struct perf_op ops[] = {
    {.name = "iteration",
     .who = PERF_SLOWEST,
     .each = 1,
     .batch = iteration,
     .check = check_iteration,
     .needs = "shmem_putmem_signal"},
    {.name = "edges",
     .who = PERF_SLOWEST,
     .each = 1,
     .batch = edges,
     .check = check_edges,
     .needs = "shmem_putmem_signal"},
    {.name = NULL},
};

const struct perf_program perf_program = {
    .name = "jacobi_host",
    .what = "Jacobi iterations on 32 rows a PE, of so many bytes; edges: without the interior",
    .ops = ops,
    .min_pes = 2,
    .buffer_size = grid_bytes,
    .defaults = {.begin = 1 << 10, .end = 64 << 10, .multiple = 64},
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What heat.c and heat.cu compute: a plate whose rim keeps its temperature, and how its inside changes in a step.
 * Rows are shared among the PEs. Each PE can compute the whole plate alone, too, which its rows are compared with.
 */
#ifndef HEAT_H
#define HEAT_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __CUDACC__
#define HEAT_FN static inline __host__ __device__
#else
#define HEAT_FN static inline
#endif

enum { ROWS = 192, COLUMNS = 256, STEPS = 100 };

/* The first row of a PE; that of PE n is ROWS. */
HEAT_FN int heat_begin(int pe, int n)
{
    return ROWS * pe / n;
}

HEAT_FN double heat_first(int row, int column)
{
    return row == 0 ? 100 : (row * 7 + column * 13) % 50;
}

/* The temperature of a cell after the next step; the cells of a row lie behind each other, and rows do. */
HEAT_FN double heat_next(const double *cell, int row, int column)
{
    if (row == 0 || row == ROWS - 1 || column == 0 || column == COLUMNS - 1)
        return *cell;
    return *cell + 0.2 * (cell[-COLUMNS] + cell[COLUMNS] + cell[-1] + cell[1] - 4 * *cell);
}

/* Cells of this PE's rows that differ from those of the plate as one PE computes it. */
static inline long heat_wrong(const double *mine, int begin, int end)
{
    double *cells = (double *)malloc(2 * sizeof(double) * ROWS * COLUMNS);
    double *plate[2] = {cells, cells + ROWS * COLUMNS};
    long wrong = 0;

    if (!cells)
        return 1;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        plate[0][i] = heat_first(i / COLUMNS, i % COLUMNS);
    for (int step = 0; step < STEPS; step++)
        for (int i = 0; i < ROWS * COLUMNS; i++)
            plate[(step + 1) % 2][i] = heat_next(plate[step % 2] + i, i / COLUMNS, i % COLUMNS);
    for (int i = begin * COLUMNS; i < end * COLUMNS; i++)
        wrong += fabs(plate[STEPS % 2][i] - mine[i - begin * COLUMNS]) > 1e-9;
    free(cells);
    return wrong;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The variants of jacobi, its command line, and its rows: size is nx, blocks is ny, threads are the iterations. */
#ifndef PERFTEST_DEVICE_JACOBI_H
#define PERFTEST_DEVICE_JACOBI_H

#include "perftest/device/rows.h"

enum jacobi_kind { JACOBI_P, JACOBI_NBI, JACOBI_STREAM, JACOBI_PERSISTENT, JACOBI_KINDS };

enum { JACOBI_SIDE_MAX = 1 << 20, JACOBI_ITERATIONS_MAX = 1 << 20 };

struct jacobi_options {
    struct dev_options dev; /* perf.batch: iterations of a run */
    long nx, ny;            /* 0: the defaults */
    long norm;              /* every so many iterations */
    bool unchecked;
    const char *csv;
};

/* As dev_options_parse. */
int jacobi_options_parse(struct jacobi_options *o, int argc, char **argv);

/* As dev_rows_expand. */
int jacobi_rows_expand(struct dev_row *rows, const struct jacobi_options *o);

#endif

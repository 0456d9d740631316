/* SPDX-License-Identifier: BSD-3-Clause */
/* The timing of one row in calibrated batches, whatever the processes are and however they wait for each other. */
#ifndef PERFTEST_COMMON_MEASURE_H
#define PERFTEST_COMMON_MEASURE_H

#include "perftest/common/options.h"
#include "perftest/common/report.h"

/* How a program runs batches and compares notes. All processes call all of it, in the same order. */
struct perf_timing {
    void *arg;
    /* Runs `n` batches of `count` calls one after another; where this process takes part, the ns of each in `times`. */
    void (*run)(void *arg, long count, double *times, long n);
    void (*barrier)(void *arg);
    long (*agree)(void *arg, long value); /* process 0's value, on every process */
    /* Leaves in the times of process 0 those of the process that took longest; NULL: its own count. */
    void (*slowest)(void *arg, double *times, long n);
    double each; /* reported operations in one count */
};

/*
 * Calibrates, warms up, measures; leaves samples, batch, times and CPU time in `row` on process 0. `times`: room for as
 * many samples as the options want.
 */
void perf_measure(const struct perf_timing *timing, const struct perf_options *opts, double *times,
                  struct perf_row *row);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The timing of one row. */
#ifndef PERFTEST_COMMON_MEASURE_H
#define PERFTEST_COMMON_MEASURE_H

#include "perftest/common/report.h"

/* Symmetric state of the harness itself; allocated by perf_control_open. */
struct perf_control {
    uint64_t stop;   /* ends the serve loop of the last PE */
    uint64_t rounds; /* how often it was ended, alike on PE 0 and the last PE */
    long agreed;
    long *slots;     /* one per PE */
    double *samples; /* ns of each batch of this PE */
    double *others;  /* private: another PE's, or PE 0's result */
};

/* Collective. NULL after one line where the symmetric heap is too small. */
struct perf_control *perf_control_open(const struct perf_options *opts, int npes);
void perf_control_close(struct perf_control *control);

/* Collective: calibrates, warms up, measures, and leaves the figures in `row` on PE 0. */
void perf_measure(struct perf_run *run, const struct perf_op *op, struct perf_row *row);

#endif

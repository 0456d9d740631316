/* SPDX-License-Identifier: BSD-3-Clause */
/* The PEs of a program that measures an OpenSHMEM library: how they run a row's batches together. */
#ifndef PERFTEST_COMMON_JOB_H
#define PERFTEST_COMMON_JOB_H

#include "perftest/common/measure.h"
#include "perftest/common/perf.h"

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

/* Collective: perf_measure of `op`; the figures and the CPU ns are left in `row` on PE 0. */
void perf_job_measure(struct perf_run *run, const struct perf_op *op, struct perf_row *row);

/* As perf_report_open, for PE 0; the symmetric address shows how other PEs are reached. */
int perf_job_report(struct perf_report *report, const struct perf_program *program,
                    const struct perf_options *opts, const void *symmetric);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A program's results as a table, JSON and CSV; used by PE 0 only. */
#ifndef PERFTEST_COMMON_REPORT_H
#define PERFTEST_COMMON_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "perftest/common/perf.h"
#include "perftest/common/stats.h"

struct perf_row {
    const char *op;
    size_t len;
    long samples;
    long batch;
    struct perf_stats us; /* per operation */
    double cpu_ns;        /* of PE 0, all its threads, per operation */
    bool right;           /* the data check passed */
};

struct perf_report {
    const struct perf_program *program;
    FILE *table; /* NULL when stdout carries JSON or CSV */
    FILE *json;
    FILE *csv;
    int npes;
    long rows;
};

/* Opens the files and prints the heads. Returns 0 or -1 after one line. */
int perf_report_open(struct perf_report *report, const struct perf_program *program,
                     const struct perf_options *opts, int npes);
void perf_report_row(struct perf_report *report, const struct perf_row *row);
/* A row that the library cannot run. */
void perf_report_lacks(struct perf_report *report, const struct perf_op *op);
/* Completes and flushes everything: what was printed stays even if shmem_finalize crashes. */
int perf_report_close(struct perf_report *report);

#endif

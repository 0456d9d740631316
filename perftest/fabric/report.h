/* SPDX-License-Identifier: BSD-3-Clause */
/* The results of a fabric test as a table, JSON and CSV; used by process 0 only. */
#ifndef PERFTEST_FABRIC_REPORT_H
#define PERFTEST_FABRIC_REPORT_H

#include <stdio.h>

#include "perftest/common/stats.h"
#include "perftest/fabric/row.h"

struct fab_result {
    const char *op;
    size_t len;
    long batch, samples;
    double copies; /* messages of one operation that leave this process: its peers in all-to-all, else 1 */
    struct perf_stats us; /* per operation */
    double cpu_ns;        /* of this process, all threads, per operation */
    bool right;
};

struct fab_report {
    const struct fab_program *program;
    const struct fab_net *net;
    FILE *table, *json, *csv;
    long rows;
};

/* 0, or -1 after one line. */
int fab_report_open(struct fab_report *report, const struct fab_program *program, const struct fab_net *net);
void fab_report_row(struct fab_report *report, const struct fab_result *result);
int fab_report_close(struct fab_report *report);

#endif

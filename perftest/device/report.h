/* SPDX-License-Identifier: BSD-3-Clause */
/* The results of p2p as lines, boxed tables, JSON and CSV; used by PE 0 only, written line by line. */
#ifndef PERFTEST_DEVICE_REPORT_H
#define PERFTEST_DEVICE_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "perftest/common/stats.h"
#include "perftest/device/rows.h"

struct p2p_result {
    struct perf_stats us; /* per iteration */
    long samples, iterations;
    bool right;
};

struct p2p_report {
    FILE *lines, *json, *csv;
    bool boxed;
    long rows;
    struct p2p_row last; /* under whose head the boxed table stands */
};

/* 0, or -1 after one line. `library` is the name and version of what is measured. */
int p2p_report_open(struct p2p_report *report, const struct p2p_options *o, const char *library, int npes);
void p2p_report_row(struct p2p_report *report, const struct p2p_row *row, const struct p2p_result *result);
/* The library lacks what the row measures. */
void p2p_report_lacks(struct p2p_report *report, const struct p2p_row *row);
/* 0, or -1 after one line: a file could not be written. */
int p2p_report_close(struct p2p_report *report);

#endif

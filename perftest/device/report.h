/* SPDX-License-Identifier: BSD-3-Clause */
/* The results of a device program as lines, boxed tables, JSON and CSV; used by PE 0 only, written line by line. */
#ifndef PERFTEST_DEVICE_REPORT_H
#define PERFTEST_DEVICE_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "perftest/common/stats.h"
#include "perftest/device/rows.h"

struct dev_result {
    struct perf_stats us; /* per iteration */
    long samples, iterations;
    bool right;
};

struct dev_report {
    FILE *lines, *json, *csv;
    const char *hosts; /* set before open: where the PEs are, as a phrase without quotes; NULL: not said */
    bool boxed;
    int npes;
    long rows;
    struct dev_row last; /* under whose head the boxed table stands */
};

/* 0, or -1 after one line. `library` is the name and version of what is measured. */
int dev_report_open(struct dev_report *report, const struct dev_options *o, const char *library, int npes);
void dev_report_row(struct dev_report *report, const struct dev_row *row, const struct dev_result *result);
/* The library lacks what the row measures. */
void dev_report_lacks(struct dev_report *report, const struct dev_row *row);
/* 0, or -1 after one line: a file could not be written. */
int dev_report_close(struct dev_report *report);

#endif

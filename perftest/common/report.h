/* SPDX-License-Identifier: BSD-3-Clause */
/* A program's results as a table, JSON and CSV, written row by row; used by one PE only. */
#ifndef PERFTEST_COMMON_REPORT_H
#define PERFTEST_COMMON_REPORT_H

#include <stdio.h>

#include "perftest/common/options.h"
#include "perftest/common/stats.h"

enum { PERF_FIELDS = 40 };

/* Where a field stands: in front of a row's `right`, at the end of a CSV line, or in JSON alone. */
enum perf_column { PERF_FRONT, PERF_END, PERF_JSON };

/* A figure or a word that not all programs have. */
struct perf_field {
    const char *name;  /* in JSON and CSV */
    const char *title; /* of its column in the common table, or NULL: it has none */
    const char *text;  /* NULL: the number */
    double number;     /* NAN: not known */
    int decimals;
    enum perf_column place;
};

struct perf_row {
    const char *op;
    size_t len;
    long samples, batch;
    struct perf_stats us; /* per operation */
    double cpu_ns;        /* of the reporting process, all its threads, per operation; 0: not measured */
    bool right;           /* the data check passed */
    struct perf_field fields[PERF_FIELDS];
    int n_fields;
    const void *own; /* of the program, for its own table */
};

/* What was measured, and in what surroundings. */
struct perf_about {
    const char *program;
    const char *what;    /* one sentence; NULL: no table of the common form */
    const char *library; /* of what is measured; perhaps with its version */
    const char *version; /* of OpenSHMEM, or NULL */
    const char *transport;
    int npes;
    struct perf_field fields[PERF_FIELDS]; /* the same in all rows; PERF_FRONT: in CSV after npes */
    int n_fields;
};

struct perf_report {
    struct perf_about about;
    FILE *table; /* NULL when stdout carries JSON or CSV */
    FILE *json;
    FILE *csv;
    /* The program's own table instead of the common one; NULL: that one. */
    void (*print)(struct perf_report *report, const struct perf_row *row);
    long rows;
};

/* Opens the files and writes the heads; report->print is set before. Returns 0, or -1 after one line. */
int perf_report_open(struct perf_report *report, const struct perf_about *about,
                     const struct perf_options *opts);
void perf_report_row(struct perf_report *report, const struct perf_row *row);
/* Completes and flushes everything: what was printed stays even if the library's end crashes. */
int perf_report_close(struct perf_report *report);

/* Adds a field with a number to a row. */
void perf_row_add(struct perf_row *row, const char *name, const char *title, double number, int decimals,
                  enum perf_column place);

#endif

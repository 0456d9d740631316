/* SPDX-License-Identifier: BSD-3-Clause */
/* The options that every perftest program takes. */
#ifndef PERFTEST_COMMON_OPTIONS_H
#define PERFTEST_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum { PERF_MAX_SIZES = 256, PERF_ERROR_TEXT = 200 };

/* Where a program's own values differ; 0 or NULL: it does not take that option. */
struct perf_defaults {
    size_t begin;
    size_t end;
    size_t multiple; /* every size is a multiple of this many bytes; 0: any */
    long window;
    const char *provider; /* of fabric_bare only */
};

struct perf_options {
    size_t sizes[PERF_MAX_SIZES]; /* ascending as given; sizes[0] = 0 where the program has none */
    int nsizes;
    long samples;   /* timed batches per row */
    long warmup;    /* batches before them */
    long batch;     /* operations per batch; 0: chosen by calibration */
    double seconds; /* at most about this long per row */
    long window;
    const char *only; /* comma-separated names of rows, or NULL */
    const char *json; /* file, "-" for stdout, or NULL */
    const char *csv;
    const char *provider;
    bool help;
};

/*
 * Fills `o` from the command line. Returns 0, or -1 with one line in `error` (at least
 * PERF_ERROR_TEXT bytes) that names the option, its value and what is expected.
 */
int perf_options_parse(struct perf_options *o, const struct perf_defaults *defaults, int argc, char **argv,
                       char *error);

/* True when the row `name` is wanted by -m. */
bool perf_options_want(const struct perf_options *o, const char *name);

/* Prints the options that this program takes on stdout. */
void perf_options_help(const struct perf_defaults *defaults);

#endif

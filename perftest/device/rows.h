/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rows of a device program: what each kind of row measures is the program's table; here is what a row
 * consists of and which rows a command line asks for.
 */
#ifndef PERFTEST_DEVICE_ROWS_H
#define PERFTEST_DEVICE_ROWS_H

#include "perftest/common/report.h"

/* Who calls: threads of a kernel; or the host, into a stream, into a graph that is launched, or itself. */
enum dev_scope { DEV_THREAD, DEV_WARP, DEV_BLOCK, DEV_STREAM, DEV_GRAPH, DEV_HOST, DEV_SCOPES };
extern const char *const dev_scope_names[DEV_SCOPES];

/* A row's figure: us an iteration; 10^9 bytes, or 10^6 messages, a second. */
enum dev_unit { DEV_US, DEV_GBS, DEV_MRATE };

/* Flags of a kind. */
enum {
    DEV_FIXED = 1,   /* the size is part of the row: -b and -e do not change it */
    DEV_SLOWEST = 2, /* of two PEs the later counts, and the bytes of both */
};

struct dev_kind {
    const char *name;
    enum dev_unit unit;
    int data; /* the program's */
    unsigned flags;
    int skew; /* bytes by which the source lies further than the target */
    const char *what;
};

struct dev_row {
    int kind;
    enum dev_scope scope;
    size_t size;         /* bytes, as the program defines them */
    int blocks, threads; /* 0: not the program's to choose */
};

/* Rows of a run without options: lists of sizes and of grids. */
struct dev_shape {
    int kind;
    enum dev_scope scope;
    const char *sizes, *grids;
};

/* A program; its main file and this table alone know which one it is. */
struct dev_table {
    const char *name, *what;
    const struct dev_kind *kinds;
    const struct dev_shape *shapes;
    int n_kinds, n_shapes;
    bool (*possible)(const struct dev_row *row, int pes); /* pes 0: whether with some number */
    double (*bus)(const struct dev_row *row,
                  int pes); /* of the size, what a PE's links carry; NULL: no figure */
};
extern const struct dev_table dev_table;

struct dev_options {
    struct perf_options perf; /* batch: iterations of a kernel; samples: timed kernels */
    struct perf_numbers blocks;
    long threads; /* 0, and no blocks: each row's own */
    double peak;  /* GB/s that bandwidths are shares of; 0: none */
    long scope;   /* of enum dev_scope; DEV_SCOPES: all */
    long pes;     /* rows that fit so many PEs; 0: rows that fit some number */
    bool table, list;
};

enum { DEV_ID_TEXT = 96, DEV_SAMPLES_MAX = 100, DEV_MAX_ROWS = 2048 };

/* Fills `o` from the command line: -1, or the status with which the program ends at once: after the help or a line. */
int dev_options_parse(struct dev_options *o, int argc, char **argv);
/* Writes the rows asked for to `rows` (room for DEV_MAX_ROWS) and returns their number. */
int dev_rows_expand(struct dev_row *rows, const struct dev_options *o);

/* Whether the options' scope and patterns choose the row. */
bool dev_row_wanted(const struct dev_row *row, const struct dev_options *o);

/* NAME.SCOPE.SIZE.BLOCKSxTHREADS into `id` (DEV_ID_TEXT bytes); returns it. */
const char *dev_row_id(char *id, const struct dev_row *row);

/* Threads, warps or blocks that work side by side in the row's grid. */
long dev_row_lanes(const struct dev_row *row);

struct dev_result {
    struct perf_stats us; /* per iteration */
    long samples, iterations;
    bool right;
};

/*
 * PE 0's report, its lines in the form of device programs: 0, or -1 after one line. `library` is the name and version
 * of what is measured; `transport` by what PE 0 reaches the last PE, `hosts` where they are, a phrase: NULL where that
 * is not known or said. Strings that stay.
 */
int dev_report_open(struct perf_report *report, const struct dev_options *o, const char *library,
                    const char *transport, const char *hosts, int npes);
void dev_report_row(struct perf_report *report, const struct dev_row *row, const struct dev_result *result);
/* The library lacks what the row measures. */
void dev_report_lacks(struct perf_report *report, const struct dev_row *row);
/* 0, or -1 after one line: a file could not be written. */
int dev_report_close(struct perf_report *report);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of perftest programs: options that mean the same in all of them, and those of one program. */
#ifndef PERFTEST_COMMON_OPTIONS_H
#define PERFTEST_COMMON_OPTIONS_H

#include "perftest/common/base.h"

enum { PERF_MAX_SIZES = 256, PERF_MAX_NUMBERS = 32, PERF_ERROR_TEXT = 240 };

/* The type of an option's value, and of the field that takes it. */
enum perf_kind {
    PERF_FLAG,   /* bool; no value */
    PERF_TEXT,   /* const char * */
    PERF_COUNT,  /* long; `words`, where given, is a word for 0 */
    PERF_REAL,   /* double, above `least` */
    PERF_SIZE,   /* size_t: 64, 64k, 1M */
    PERF_WORD,   /* long: which of `words`, separated by commas */
    PERF_NUMBERS /* struct perf_numbers, each like a PERF_COUNT */
};

struct perf_option {
    char letter;       /* 0: has a name alone */
    const char *name;  /* long; NULL ends a table */
    const char *value; /* in the help; NULL: none */
    enum perf_kind kind;
    size_t at; /* offset of its field in the program's options */
    const char *help;
    double least, most;
    long multiple; /* of PERF_COUNT and PERF_NUMBERS; 0: any */
    const char *words;
};

struct perf_numbers {
    int n;
    long value[PERF_MAX_NUMBERS];
};

/* A letter that had another meaning in one program once, and what says so now. */
struct perf_moved {
    char letter;
    bool note; /* old values still parse: a line on stderr */
    const char *now;
};

/*
 * A program's own defaults. 0 or NULL: the common default or, of sizes, window and provider, no such option.
 */
struct perf_defaults {
    size_t begin, end;
    size_t multiple; /* every size is a multiple of this many bytes; 0: any */
    long window;
    const char *provider;
    const char *list;  /* these sizes instead of begin to end */
    bool row_sizes;    /* rows have sizes of their own: begin and end are given or 0 */
    long samples;      /* 400 */
    long most_samples; /* 1000000 */
    long warmup;       /* 20; below 0: no such option */
    long batch;        /* 0: chosen by calibration */
    const char *batch_help;
    double seconds;                /* 1; below 0: no such option */
    const struct perf_option *own; /* the program's own options, in a struct that begins with perf_options */
    const struct perf_moved *moved;
};

struct perf_options {
    size_t sizes
        [PERF_MAX_SIZES]; /* as given; without an option: those of the defaults, or {0} where there are none */
    int nsizes;           /* 0: each row's own */
    size_t begin, end;    /* what sizes are made of */
    double factor;
    const char *list;
    long samples;   /* timed batches per row */
    long warmup;    /* batches before them */
    long batch;     /* operations per batch; 0: chosen by calibration */
    double seconds; /* at most about this long per row */
    long window;
    const char *rows; /* comma-separated patterns of rows' names, or NULL */
    const char *json; /* file, "-" for stdout, or NULL */
    const char *csv;
    const char *provider;
    bool help;
    bool progress;    /* lines on stderr also where that is no terminal */
    const char *note; /* a line that the user should see, or NULL */
    int argc;
    char **argv;
};

/*
 * Fills `o`, the first member of the program's options, from the command line; fields of the program's own options
 * hold their defaults before. Returns 0, or -1 with one line in `error` (at least PERF_ERROR_TEXT bytes) that names
 * the option, its value and what is expected.
 */
int perf_options_parse(struct perf_options *o, const struct perf_defaults *defaults, int argc, char **argv,
                       char *error);

/* Each pattern of -m fits one of the names (NULL ends them): 0, or -1 with one line in `error`. */
int perf_options_check_rows(const struct perf_options *o, const char *const *names, char *error);

/* Prints the options that a program takes on stdout, with the values of `o` as defaults. */
void perf_options_help(const struct perf_options *o, const struct perf_defaults *defaults);

/* Accepts 64, 64k, 64Ki, 64KiB, 1M …: 0, or -1. */
int perf_size_parse(const char *text, size_t *size);

#endif

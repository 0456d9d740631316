/* SPDX-License-Identifier: BSD-3-Clause */
/* What every perftest program uses, whatever library it measures: lines on stderr, clocks, lists of words. */
#ifndef PERFTEST_COMMON_BASE_H
#define PERFTEST_COMMON_BASE_H

#include <stdbool.h>
#include <stddef.h>

/* Exit statuses of every program. */
enum { PERF_OK = 0, PERF_FAILED = 1, PERF_USAGE = 2, PERF_SKIP = 77 };

/* The name in front of this process' lines; a string that stays. */
void perf_name_set(const char *program);

/* Prints one line `program: …` on stderr, on the PE that calls. */
void perf_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Monotonic time, and the CPU time of all threads of this process, in ns. */
double perf_now(void);
double perf_cpu_now(void);

/* A figure that only processes of one machine share, whatever host they think they are on; 0: it cannot be known. */
double perf_machine(void);

/* The next word of a list separated by commas, cut to `len` bytes; *at moves on. False: there is none left. */
bool perf_list_next(const char **at, char *word, size_t len);

/* Whether `name` or, where it is not NULL, `id` fits a pattern (*, ?) of the list; NULL: every name does. */
bool perf_list_fits(const char *list, const char *name, const char *id);

#endif

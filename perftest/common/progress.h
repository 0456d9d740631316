/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells a user at a terminal which row runs, when one takes longer than a second; and ends one that never ends. */
#ifndef PERFTEST_COMMON_PROGRESS_H
#define PERFTEST_COMMON_PROGRESS_H

/*
 * Row `row` (from 1) of `rows` begins; 0 rows: the last one has ended. By the PE that reports, and by no other. Lines
 * go to stderr, by a thread that sleeps else, if stderr is a terminal: this process' own, or the launcher's that
 * passes it on.
 */
void perf_progress(int row, int rows, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same where stderr is no terminal; before the first row. */
void perf_progress_always(void);

/*
 * `what` begins; if it has not been followed by the next one after so many seconds, the process ends with status 1 and
 * a line. By a signal: a kernel that never ends keeps the process in the driver, where only a handler still runs.
 */
void perf_watch(unsigned seconds, const char *what);

#endif

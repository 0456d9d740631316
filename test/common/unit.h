/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The form of a single-process test: a file defines unit_tests, ends it with {NULL, NULL}, and is linked
 * with unit.c, whose main runs them under CUnit and exits with 0, 1 or 77.
 */
#ifndef WSH_TEST_UNIT_H
#define WSH_TEST_UNIT_H

#include <CUnit/CUnit.h>

struct unit_test {
    const char *claim; /* what is true when it passes */
    void (*body)(void);
};

extern const struct unit_test unit_tests[];

/* From inside a body: the whole program then exits with 77 unless something fails. */
void unit_skip(const char *reason);

/* Runs `body` with standard error sent to a buffer; `text` holds what it printed (cut at size - 1). */
void unit_capture(void (*body)(void *arg), void *arg, char *text, size_t size);

/* Of a loop whose number of rounds is arbitrary: all with WSH_TEST_LONG=1, else a third. */
int unit_rounds(int all);

/* Number of lines in `text`. */
size_t unit_lines(const char *text);

#endif

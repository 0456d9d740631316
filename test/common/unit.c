/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a table of tests under CUnit and turns the outcome into an exit status. */
#define _GNU_SOURCE
#include "test/common/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <CUnit/Basic.h>

enum { PASSED = 0, FAILED = 1, SKIPPED = 77 };

static const char *skipped;

void unit_skip(const char *reason)
{
    skipped = reason;
}

void unit_capture(void (*body)(void *arg), void *arg, char *text, size_t size)
{
    int saved = dup(STDERR_FILENO), file = memfd_create("stderr", MFD_CLOEXEC);
    ssize_t len = 0;

    fflush(stderr);
    dup2(file, STDERR_FILENO);
    body(arg);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    len = pread(file, text, size - 1, 0);
    text[len > 0 ? len : 0] = '\0';
    close(saved);
    close(file);
}

int unit_rounds(int all)
{
    const char *large = getenv("WSH_TEST_LONG");

    return large && !strcmp(large, "1") ? all : (all + 2) / 3;
}

size_t unit_lines(const char *text)
{
    size_t lines = 0;

    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* All, or with WSH_TEST_CLAIM=text only those that have it in their names. */
static int add_tests(void)
{
    CU_pSuite suite = CU_add_suite("unit", NULL, NULL);
    const char *wanted = getenv("WSH_TEST_CLAIM");

    for (const struct unit_test *test = unit_tests; suite && test->claim; test++) {
        if ((!wanted || strstr(test->claim, wanted)) && !CU_add_test(suite, test->claim, test->body))
            return -1;
    }
    return suite ? 0 : -1;
}

int main(void)
{
    unsigned failed;

    if (CU_initialize_registry() || add_tests()) {
        fprintf(stderr, "CUnit: %s\n", CU_get_error_msg());
        return FAILED;
    }
    CU_basic_set_mode(CU_BRM_NORMAL);
    CU_basic_run_tests();
    failed = CU_get_number_of_failures() + CU_get_number_of_suites_failed() + !CU_get_number_of_tests_run();
    CU_cleanup_registry();
    if (failed)
        return FAILED;
    if (skipped)
        printf("skip: %s\n", skipped);
    return skipped ? SKIPPED : PASSED;
}

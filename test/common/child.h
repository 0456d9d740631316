/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs calls, each in a process of its own that is a job of one PE, and judges how they ended and what they said. */
#ifndef WSH_TEST_CHILD_H
#define WSH_TEST_CHILD_H

#include <stdbool.h>

/*
 * What a call may do in its job: end it with status 1 after one line of the library that has `line` in it, or return.
 * `make` returns whether what came back is what the routine's contract says; with `line` NULL it must return so.
 */
struct child_call {
    const char *name;
    bool (*make)(void);
    const char *line;
};

/* Before shmem_init: a call that works without it. */
#define CHILD_NO_INIT 1
#define CHILD_CHECKED 2 /* SHMEM_DEBUG=check */

/* Makes the calls up to one without a name, and prints what is wrong with each. How many are wrong. */
int child_calls(const struct child_call *calls, int flags);

#endif

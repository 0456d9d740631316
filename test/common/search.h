/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Visits every order of steps in a small world: depth first, each state once by its fingerprint. The world
 * is plain memory at a fixed address, so that it can be copied away and back.
 */
#ifndef WSH_TEST_SEARCH_H
#define WSH_TEST_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SEARCH_DEPTH_MAX = 160 };

struct search {
    void *world;
    size_t size; /* of the part that can change */
    int steps;
    bool (*step)(int step);      /* takes a step; false: it cannot be taken, and nothing has changed */
    void (*at_end)(void);        /* no step can be taken */
    const char **wrong;          /* what is wrong in the world, or NULL: ends the search */
    int trace[SEARCH_DEPTH_MAX]; /* steps to where it ended, then -1 */
    uint64_t states, taken;      /* of this run */
    int deepest;
};

/* From the world as it is. *wrong says what was found. */
void search_run(struct search *search);

#endif

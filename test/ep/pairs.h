/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table of cases of expert parallelism in which every two values of different parameters that can occur together do.
 * test/ep/pairs.txt holds it, a case a line, as words NAME=VALUE; test/ep/print_pairs makes it anew.
 */
#ifndef WSH_TEST_EP_PAIRS_H
#define WSH_TEST_EP_PAIRS_H

#include "test/ep/reference/routing.h"

#include <stdbool.h>
#include <stdio.h>

enum pairs_path { PAIRS_LOCAL, PAIRS_MIXED, PAIRS_MIXEDEFA }; /* those of test/run */

/* A parameter and the words for its values. */
struct pairs_parameter {
    const char *name;
    const char *values[9]; /* up to NULL */
};

enum pairs_number {
    PAIRS_MODE,
    PAIRS_DTYPE,
    PAIRS_ROUTING,
    PAIRS_PES,
    PAIRS_HOSTS,
    PAIRS_ROUTE,
    PAIRS_TOKENS,
    PAIRS_HIDDEN,
    PAIRS_TOPK,
    PAIRS_EXPERTS, /* of a PE */
    PAIRS_PATH,
    PAIRS_WINDOW,  /* tokens of a part, in high throughput */
    PAIRS_HALVES,  /* yes: dispatch and combine are called in halves */
    PAIRS_CODED,   /* yes: x is e4m3 already */
    PAIRS_KEPT,    /* yes: some calls have the routing of an earlier one */
    PAIRS_BUFFERS, /* yes: x and y lie in the library's buffers */
    PAIRS_PARAMETERS
};
extern const struct pairs_parameter pairs_parameters[PAIRS_PARAMETERS];

/* A case: of each parameter the number of a value. */
struct pairs_case {
    unsigned char value[PAIRS_PARAMETERS];
};

/* What a case means. */
struct pairs_meaning {
    struct ref_job job;
    enum ref_mode mode;
    enum ref_route route;
    enum pairs_path path;
    int window;
    bool halves, coded, kept, buffers;
};

enum { PAIRS_MOST = 200 };

int pairs_values(int parameter);

/* Whether a case can be: hosts divide PEs, there are enough experts, hosts are what the path and the
 * route need, x is coded where the dtype is. */
bool pairs_valid(const struct pairs_case *one);

/* Makes the table, always the same, with most pairs in the first cases. Returns the number of cases. */
int pairs_make(struct pairs_case cases[PAIRS_MOST]);

/* One line, without its end. */
void pairs_print(const struct pairs_case *one, FILE *to);

/* From words NAME=VALUE, one of each parameter: 0, or -1 with a line on standard error. */
int pairs_read(struct pairs_case *one, int n_words, char *const *words);

struct pairs_meaning pairs_meaning(const struct pairs_case *one);

#endif

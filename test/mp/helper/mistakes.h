/* SPDX-License-Identifier: BSD-3-Clause */
/* Offers the tables of mistakes of which mistakes.c makes the one that it is asked for, and mistakes.sh each. */
#ifndef WSH_TEST_MISTAKES_H
#define WSH_TEST_MISTAKES_H

#include <shmem.h>
#include <stdbool.h>

/* What a routine of mistake_calls gets: right, but for what one row of the wrongs in mistakes.c has changed. */
struct mistake_args {
    long *sym;    /* symmetric: target of a put, dest of a collective */
    long *source; /* symmetric: source of a collective */
    long *local, value[8];
    size_t n;
    ptrdiff_t stride;
    int pe;
    shmem_team_t team;
    shmem_ctx_t ctx;
    uint64_t *bell;
};
extern struct mistake_args mistake_args;

/* A routine, and the arguments of which one may be wrong. */
enum {
    MISTAKE_PE = 1,
    MISTAKE_SYM = 2,
    MISTAKE_LOCAL = 4,
    MISTAKE_COUNT = 8,
    MISTAKE_STRIDE = 16,
    MISTAKE_WORD = 32, /* sym is aligned */
    MISTAKE_SOURCE = 64,
    MISTAKE_TEAM = 128
};
struct mistake_call {
    const char *name;
    void (*make)(struct mistake_args *args);
    int has;
};

/* A mistake of another kind. */
struct mistake {
    const char *name;
    void (*make)(void);
    /* What is said before the job ends. NULL: the call returns, and all is well; "+…": says that, and returns. */
    const char *line;
    const char *checked; /* the same with SHMEM_DEBUG=check, where it differs */
};

/*
 * Each ends with {NULL}. Those of `all` and `arrays` are made by all PEs, the others by PE 0 while the others wait.
 */
extern const struct mistake_call mistake_calls[];
extern const struct mistake mistakes_of_all[], mistakes_of_arrays[], mistakes_of_one[], mistakes_of_sizes[];

/* What a transfer is answered with that is longer than memory, or than SIZE_MAX bytes. */
#define MISTAKE_MUCH \
    "reach beyond the end of symmetric memory|more bytes than memory holds|more than memory holds"
#define MISTAKE_HUGE (SIZE_MAX / 8 + 2) /* longs: 8 bytes, in 64 bits */
#define MISTAKE_WORDS 64                /* longs at the symmetric addresses */

#endif

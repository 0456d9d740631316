/* SPDX-License-Identifier: BSD-3-Clause */
/* What a perftest program is made of: a table of operations, each a loop over `count` calls. */
#ifndef PERFTEST_COMMON_PERF_H
#define PERFTEST_COMMON_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <shmem.h>

#include "perftest/common/options.h"

#define PERF_SHMEM_AT_LEAST(major, minor) \
    (SHMEM_MAJOR_VERSION > (major) || (SHMEM_MAJOR_VERSION == (major) && SHMEM_MINOR_VERSION >= (minor)))

/* Who runs the batches, and whose time is reported. */
enum perf_who {
    PERF_FIRST,  /* PE 0 alone, towards the last PE; the others wait in a barrier */
    PERF_PAIR,   /* PE 0 and the last PE both run them; PE 0's time */
    PERF_SLOWEST /* every PE runs them; per batch, the time of the slowest PE */
};

/* What one row's median time is turned into besides us. */
enum perf_unit { PERF_LATENCY, PERF_BANDWIDTH, PERF_RATE };

/* The state of one row while it runs. Buffers are symmetric and as large as the program asked. */
struct perf_run {
    const struct perf_options *opts;
    int me;
    int npes;
    int peer;    /* PE 0 -> last PE, everyone else -> PE 0 */
    size_t len;  /* bytes of one operation in this row */
    size_t span; /* bytes of the buffers that one batch touches towards one PE */
    long window; /* non-blocking operations before a quiet */
    size_t size; /* bytes of source and of dest */
    char *source;
    char *dest;
    uint64_t *flag; /* 8 symmetric words of one cache line, zero at first */
    uint64_t seq;   /* for operations that count; advances alike on both sides */
    void *state;    /* the program's own, from its setup */
    const struct perf_program *program;
    struct perf_control *control; /* of job.c */
};

struct perf_op {
    const char *name;
    enum perf_who who;
    size_t len; /* fixed size in bytes; 0: every size of the options */
    int each;   /* reported operations in one count (2 halves of a round trip); 0: the window */
    /* Runs `count` times the operation. NULL: the library lacks the routine named in `needs`. */
    void (*batch)(struct perf_run *run, long count);
    /* Collective, outside the timed part. Returns the number of wrong bytes or values seen here. */
    long (*check)(struct perf_run *run, const struct perf_op *op);
    const char *needs;
};

struct perf_row; /* report.h */

struct perf_program {
    const char *name;
    const char *what;          /* one sentence for --help and the head of the table */
    const struct perf_op *ops; /* ends with a row without name */
    enum perf_unit unit;
    int min_pes;
    bool threads; /* its threads call the library: SHMEM_THREAD_MULTIPLE */
    struct perf_defaults defaults;
    /* Bytes of each symmetric buffer for messages up to `len`; NULL: len itself. */
    size_t (*buffer_size)(const struct perf_run *run, size_t len);
    /* Optional, collective, around all rows. setup returns 0, or an exit status after one line. */
    int (*setup)(struct perf_run *run);
    void (*teardown)(struct perf_run *run);
    /* Optional: what the last PE does, again and again, until PE 0 has run its batches. */
    void (*serve)(struct perf_run *run);
    /* Optional, on PE 0: the figures of each row, after they are reported. */
    void (*row)(struct perf_run *run, const struct perf_row *row);
};

/* The program: main() of common/main.c has options, shmem_init, every row, output, shmem_finalize, exit status. */
extern const struct perf_program perf_program;

/* One untimed batch, run by the same PEs as the timed ones; then a barrier over all. */
void perf_once(struct perf_run *run, const struct perf_op *op, long count);

/* PE 0's value, on every PE; collective. */
long perf_agree(struct perf_run *run, long value);
/* The sum over all PEs, on every PE; collective. */
long perf_sum(struct perf_run *run, long value);

/* A byte pattern without zeros that depends on `seed`, and how many bytes differ from it. */
void perf_fill(char *buffer, size_t len, size_t seed);
long perf_wrong(const char *buffer, size_t len, size_t seed);
/* Checks of an operation that moves source -> dest between PE 0 and the last PE. */
long perf_check_put(struct perf_run *run, const struct perf_op *op);
long perf_check_get(struct perf_run *run, const struct perf_op *op);
long perf_check_both(struct perf_run *run, const struct perf_op *op); /* a ping-pong */

#endif

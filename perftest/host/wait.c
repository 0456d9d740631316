/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a wait costs beside loops as programs write them: half a round trip of a signal (trip), a window of puts that
 * arrives while its target waits (into), and a computation whose result another PE waits for (compute), which may need
 * that PE's core. PE i of the first half works with PE i of the second half, all pairs at once; PE 0's time. More PEs
 * than cores show who gives its core away.
 */
#include "perftest/common/perf.h"

enum { WAIT_UNTIL, FETCH, TEST, LOAD };
enum { PIECES = 16, STEPS = 100000 }; /* puts of a window; steps of a computation, 0.1 ms or so */

#if PERF_SHMEM_AT_LEAST(1, 5)
static inline void wait_by(int how, uint64_t *word, uint64_t value)
{
    switch (how) {
    case WAIT_UNTIL: shmem_signal_wait_until(word, SHMEM_CMP_GE, value); break;
    case FETCH:
        while (shmem_signal_fetch(word) < value)
            ;
        break;
    case TEST:
        while (!shmem_uint64_test(word, SHMEM_CMP_GE, value))
            ;
        break;
    default: /* acquire: the data before the signal is here */
        while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < value)
            ;
    }
}

/* The other of the pair; in an odd job the last PE has none and takes no part. */
static int partner(const struct perf_run *run)
{
    int half = run->npes / 2;

    return run->me < half ? run->me + half : run->me < 2 * half ? run->me - half : -1;
}

static bool begins(const struct perf_run *run)
{
    return run->me < run->npes / 2;
}

static void tell(struct perf_run *run, uint64_t value)
{
    shmem_uint64_atomic_set(run->flag, value, partner(run));
}

static inline void trip(struct perf_run *run, long count, int how)
{
    for (long i = 0; i < count && partner(run) >= 0; i++) {
        uint64_t value = ++run->seq;

        if (begins(run))
            tell(run, value);
        wait_by(how, run->flag, value);
        if (!begins(run))
            tell(run, value);
    }
}

static inline void into(struct perf_run *run, long count, int how)
{
    for (long i = 0; i < count && partner(run) >= 0; i++) {
        uint64_t value = ++run->seq;

        for (size_t at = 0; begins(run) && at < PIECES * run->len; at += run->len)
            shmem_putmem_nbi(run->dest + at, run->source + at, run->len, partner(run));
        if (begins(run)) {
            shmem_quiet();
            tell(run, value);
        }
        wait_by(how, run->flag, value);
        if (!begins(run))
            tell(run, value);
    }
}

/* A chain of multiplications, which no compiler shortens. */
static uint64_t compute_steps(uint64_t x)
{
    for (int i = 0; i < STEPS; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}

static inline void compute(struct perf_run *run, long count, int how)
{
    for (long i = 0; i < count && partner(run) >= 0; i++) {
        uint64_t value = ++run->seq;

        if (begins(run))
            *(volatile uint64_t *)run->source = compute_steps(value);
        if (begins(run))
            tell(run, value);
        else
            wait_by(how, run->flag, value);
    }
    shmem_barrier_all();
}

#define ROWS(NAME, HOW)                                          \
    static void trip_##NAME(struct perf_run *run, long count)    \
    {                                                            \
        trip(run, count, HOW);                                   \
    }                                                            \
    static void into_##NAME(struct perf_run *run, long count)    \
    {                                                            \
        into(run, count, HOW);                                   \
    }                                                            \
    static void compute_##NAME(struct perf_run *run, long count) \
    {                                                            \
        compute(run, count, HOW);                                \
    }
ROWS(wait_until, WAIT_UNTIL)
ROWS(fetch, FETCH)
ROWS(test, TEST)
ROWS(load, LOAD)

/* Each of the batch's values has come, and with a window its data. */
static long check(struct perf_run *run, const struct perf_op *op)
{
    size_t len = op->len ? sizeof run->seq : PIECES * run->len;
    long wrong;

    perf_fill(run->source, len, (size_t)run->me);
    shmem_barrier_all();
    op->batch(run, 3);
    wrong = partner(run) >= 0 && !begins(run) && *run->flag < run->seq;
    if (!op->len && partner(run) >= 0 && !begins(run))
        wrong += perf_wrong(run->dest, len, (size_t)partner(run));
    shmem_barrier_all();
    return wrong;
}
#else
#define trip_wait_until NULL
#define trip_fetch NULL
#define trip_test NULL
#define trip_load NULL
#define into_wait_until NULL
#define into_fetch NULL
#define into_test NULL
#define into_load NULL
#define compute_wait_until NULL
#define compute_fetch NULL
#define compute_test NULL
#define compute_load NULL
#define check NULL
#endif

static size_t window_bytes(const struct perf_run *run, size_t len)
{
    (void)run;
    return PIECES * len;
}

#define ROW(NAME, LEN, EACH)                                                                         \
    {                                                                                                \
        .name = #NAME, .who = PERF_SLOWEST, .len = LEN, .each = EACH, .batch = NAME, .check = check, \
        .needs = "shmem_signal_wait_until"                                                           \
    }
#define FOUR(WHAT, LEN, EACH)                                                                     \
    ROW(WHAT##_wait_until, LEN, EACH), ROW(WHAT##_fetch, LEN, EACH), ROW(WHAT##_test, LEN, EACH), \
        ROW(WHAT##_load, LEN, EACH)

static const struct perf_op ops[] = {FOUR(trip, 8, 2), FOUR(into, 0, 1), FOUR(compute, 8, 1), {.name = NULL}};

const struct perf_program perf_program = {
    .name = "wait",
    .what =
        "waits beside poll loops, of all pairs at once: trips of a signal, windows of 16 puts, a computation",
    .ops = ops,
    .min_pes = 2,
    .buffer_size = window_bytes,
    .defaults = {.begin = 64 << 10, .end = 64 << 10},
};

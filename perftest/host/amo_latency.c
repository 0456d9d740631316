/* SPDX-License-Identifier: BSD-3-Clause */
/* Time of 8-byte atomic operations on one word of the last PE. */
#include "perftest/common/perf.h"

/* What the last fetching operation of a batch returned; the check knows what it must be. */
static long fetched;

static long *word(const struct perf_run *run)
{
    return (long *)run->dest;
}

static void fetch_add(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++)
        fetched = shmem_long_atomic_fetch_add(word(run), 1, run->peer);
}

/* Every swap succeeds: PE 0 alone changes the word, and `seq` follows it. */
static void compare_swap(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++, run->seq++)
        fetched = shmem_long_atomic_compare_swap(word(run), (long)run->seq, (long)run->seq + 1, run->peer);
}

static void swap(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++)
        fetched = shmem_long_atomic_swap(word(run), (long)++run->seq, run->peer);
}

static void fetch(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++)
        fetched = shmem_long_atomic_fetch(word(run), run->peer);
}

static void inc(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++)
        shmem_long_atomic_inc(word(run), run->peer);
}

static void inc_quiet(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++) {
        shmem_long_atomic_inc(word(run), run->peer);
        shmem_quiet();
    }
}

static void set_quiet(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++) {
        shmem_long_atomic_set(word(run), (long)++run->seq, run->peer);
        shmem_quiet();
    }
}

enum { CHECKED = 1000 };

/* Starts from `first`; after CHECKED operations the word and the value last fetched are known. */
static long check_from(struct perf_run *run, const struct perf_op *op, long first, long last,
                       long last_fetched)
{
    long before = (long)run->seq;
    run->seq = 0;
    if (run->me == run->npes - 1)
        *word(run) = first;
    fetched = last_fetched;
    shmem_barrier_all();
    perf_once(run, op, CHECKED);
    long wrong = run->me == 0 && fetched != last_fetched;
    if (run->me == run->npes - 1)
        wrong += shmem_long_g(word(run), run->me) != last;
    run->seq = (uint64_t)before;
    return wrong;
}

static long check_counts(struct perf_run *run, const struct perf_op *op)
{
    return check_from(run, op, 0, CHECKED, CHECKED - 1);
}

static long check_fetch(struct perf_run *run, const struct perf_op *op)
{
    return check_from(run, op, 77, 77, 77);
}

/* The swaps must start from what the word holds. */
static int setup(struct perf_run *run)
{
    *word(run) = 0;
    shmem_barrier_all();
    return PERF_OK;
}

static const struct perf_op ops[] = {
    {.name = "compare_swap", .len = 8, .each = 1, .batch = compare_swap, .check = check_counts},
    {.name = "fetch_add", .len = 8, .each = 1, .batch = fetch_add, .check = check_counts},
    {.name = "swap", .len = 8, .each = 1, .batch = swap, .check = check_counts},
    {.name = "fetch", .len = 8, .each = 1, .batch = fetch, .check = check_fetch},
    {.name = "inc", .len = 8, .each = 1, .batch = inc, .check = check_counts},
    {.name = "inc+quiet", .len = 8, .each = 1, .batch = inc_quiet, .check = check_counts},
    {.name = "set+quiet", .len = 8, .each = 1, .batch = set_quiet, .check = check_counts},
    {.name = NULL},
};

const struct perf_program perf_program = {
    .name = "amo_latency",
    .what = "8-byte atomic operations on one word of the last PE",
    .ops = ops,
    .min_pes = 2,
    .setup = setup,
};

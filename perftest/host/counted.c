/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a target learns that a window of puts has arrived: each is counted; plain ones, a quiet and a signal; each brings
 * a signal. From the first post to a word back from the target.
 */
#include "perftest/common/perf.h"

#include <shmemx.h>

#include <stdio.h>
#include <stdlib.h>

enum { BACK, SIGNAL }; /* words of the flag */

#ifdef SHMEMX_COUNTER_INVALID
static shmemx_counter_t counter;
static uint64_t expected, signals;

/* The target has seen the window. */
static void turn(struct perf_run *run)
{
    if (run->me)
        shmem_uint64_p(&run->flag[BACK], run->seq, run->peer);
    else
        shmem_uint64_wait_until(&run->flag[BACK], SHMEM_CMP_EQ, run->seq);
}

static long puts_of(const struct perf_run *run)
{
    return (long)(run->span / run->len);
}

static void count_wait(struct perf_run *run)
{
    run->seq++;
    expected += (uint64_t)puts_of(run);
    if (run->me)
        shmemx_counter_wait_until(counter, expected);
    turn(run);
}

static void counted(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++) {
        for (size_t at = 0; !run->me && at < run->span; at += run->len)
            shmemx_putmem_counted_nbi(run->dest + at, run->source + at, run->len, counter, run->peer);
        count_wait(run);
    }
}

static void list(struct perf_run *run, long count)
{
    shmemx_put_t *puts = run->state;
    size_t n = (size_t)puts_of(run);

    for (size_t i = 0; i < n; i++)
        puts[i] = (shmemx_put_t){run->dest + i * run->len, run->source + i * run->len, run->len, counter,
                                 run->peer};
    for (long i = 0; i < count; i++) {
        if (!run->me)
            shmemx_putmem_list_nbi(puts, n);
        count_wait(run);
    }
}

static void quiet_signal(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++) {
        run->seq++;
        signals++;
        for (size_t at = 0; !run->me && at < run->span; at += run->len)
            shmem_putmem_nbi(run->dest + at, run->source + at, run->len, run->peer);
        if (run->me) {
            shmem_uint64_wait_until(&run->flag[SIGNAL], SHMEM_CMP_GE, signals);
        } else {
            shmem_quiet();
            shmem_signal_add(&run->flag[SIGNAL], 1, run->peer);
        }
        turn(run);
    }
}

static void put_signal(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++) {
        run->seq++;
        signals += (uint64_t)puts_of(run);
        for (size_t at = 0; !run->me && at < run->span; at += run->len)
            shmem_putmem_signal_nbi(run->dest + at, run->source + at, run->len, &run->flag[SIGNAL], 1,
                                    SHMEM_SIGNAL_ADD, run->peer);
        if (run->me)
            shmem_uint64_wait_until(&run->flag[SIGNAL], SHMEM_CMP_GE, signals);
        turn(run);
    }
}

/* The data; and what one window costs the network, both ways. The quiet brings what the window leaves behind. */
static long window_check(struct perf_run *run, const struct perf_op *op)
{
    shmemx_stats_t before, after;
    long wrong = perf_check_put(run, op), operations, back;

    shmem_barrier_all();
    shmemx_stats(&before, sizeof before);
    perf_once(run, op, 1);
    shmemx_stats(&after, sizeof after);
    operations = (long)(after.network_operations - before.network_operations);
    back = perf_sum(run, run->me ? operations : 0);
    if (!run->me)
        printf("# %s of %zu B: %ld puts, %ld operations and %llu bytes of the network from PE 0, %ld "
               "operations from the others, with a barrier\n",
               op->name, run->len, puts_of(run), operations,
               (unsigned long long)(after.network_bytes - before.network_bytes), back);
    return wrong;
}

static int counter_setup(struct perf_run *run)
{
    run->state = malloc((size_t)run->window * sizeof(shmemx_put_t));
    return run->state && !shmemx_counter_create(SHMEM_TEAM_WORLD, 1, &counter) ? 0 : 1;
}

static void counter_teardown(struct perf_run *run)
{
    free(run->state);
    shmemx_counter_destroy(SHMEM_TEAM_WORLD, 1, &counter);
}
#else
#define counted NULL
#define list NULL
#define quiet_signal NULL
#define put_signal NULL
#define window_check NULL
#define counter_setup NULL
#define counter_teardown NULL
#endif

static size_t window_size(const struct perf_run *run, size_t len)
{
    return len * (size_t)run->window;
}

static const char needs[] = "shmemx_putmem_counted_nbi (warpshmem)";

static const struct perf_op ops[] = {
    {.name = "counted", .who = PERF_PAIR, .each = 1, .batch = counted, .check = window_check, .needs = needs},
    {.name = "list", .who = PERF_PAIR, .each = 1, .batch = list, .check = window_check, .needs = needs},
    {.name = "quiet_signal",
     .who = PERF_PAIR,
     .each = 1,
     .batch = quiet_signal,
     .check = window_check,
     .needs = needs},
    {.name = "put_signal",
     .who = PERF_PAIR,
     .each = 1,
     .batch = put_signal,
     .check = window_check,
     .needs = needs},
    {.name = NULL},
};

const struct perf_program perf_program = {
    .name = "counted",
    .what =
        "a window of puts from the first post to a word back from the last PE, which has seen all of them",
    .ops = ops,
    .min_pes = 2,
    .defaults = {.begin = 7408, .end = 7408, .window = 1024},
    .buffer_size = window_size,
    .setup = counter_setup,
    .teardown = counter_teardown,
};

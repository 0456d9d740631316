/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What order costs: windows of puts without any, with a signal each, with a fence each, with one fence a window, and
 * with a quiet (a drain) in place of each fence; and waiting for a signal by polling against wait_until.
 */
#include "perftest/common/perf.h"
#include "perftest/common/report.h"

#include <stdio.h>
#include <string.h>

enum { RESULTS_MAX = 8 * PERF_MAX_SIZES, SIGNALS = 0, ROUNDS = 1, BALL = 2 };

/* What ends a window whose puts are in order: it may be seen only after them. */
static void flag_put(struct perf_run *run)
{
    shmem_uint64_p(&run->flag[ROUNDS], ++run->seq, run->peer);
    shmem_quiet();
}

static void put(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++) {
        for (size_t at = 0; at < run->span; at += run->len)
            shmem_putmem_nbi(run->dest + at, run->source + at, run->len, run->peer);
        shmem_quiet();
    }
}

static void put_fence_once(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++) {
        for (size_t at = 0; at < run->span; at += run->len)
            shmem_putmem_nbi(run->dest + at, run->source + at, run->len, run->peer);
        shmem_fence();
        flag_put(run);
    }
}

static void put_fence(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++) {
        for (size_t at = 0; at < run->span; at += run->len) {
            shmem_putmem_nbi(run->dest + at, run->source + at, run->len, run->peer);
            shmem_fence();
        }
        flag_put(run);
    }
}

static void put_drain(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++) {
        for (size_t at = 0; at < run->span; at += run->len) {
            shmem_putmem_nbi(run->dest + at, run->source + at, run->len, run->peer);
            shmem_quiet();
        }
        flag_put(run);
    }
}

static long check_round(struct perf_run *run, const struct perf_op *op)
{
    long wrong = perf_check_put(run, op);
    long rounds = perf_agree(run, (long)run->seq);

    if (run->me == run->npes - 1)
        wrong += shmem_uint64_g(&run->flag[ROUNDS], run->me) != (uint64_t)rounds;
    return wrong;
}

#if PERF_SHMEM_AT_LEAST(1, 5)
/* Signals that PE 0 has added, and rounds of the ping-pong, over all rows. */
static struct {
    uint64_t signals, balls;
} sent;

static void put_signal(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++) {
        for (size_t at = 0; at < run->span; at += run->len, sent.signals++)
            shmem_putmem_signal_nbi(run->dest + at, run->source + at, run->len, &run->flag[SIGNALS], 1,
                                    SHMEM_SIGNAL_ADD, run->peer);
        shmem_quiet();
    }
}

static long check_signals(struct perf_run *run, const struct perf_op *op)
{
    long wrong = perf_check_put(run, op);
    long signals = perf_agree(run, (long)sent.signals);

    if (run->me == run->npes - 1)
        wrong += shmem_signal_fetch(&run->flag[SIGNALS]) != (uint64_t)signals;
    return wrong;
}

static void ball_throw(struct perf_run *run)
{
    shmem_putmem_signal(run->dest, run->source, run->len, &run->flag[BALL], sent.balls, SHMEM_SIGNAL_SET,
                        run->peer);
}

static void wait_until(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++) {
        sent.balls++;
        if (run->me == 0)
            ball_throw(run);
        shmem_signal_wait_until(&run->flag[BALL], SHMEM_CMP_EQ, sent.balls);
        if (run->me != 0)
            ball_throw(run);
    }
}

static void poll_fetch(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++) {
        sent.balls++;
        if (run->me == 0)
            ball_throw(run);
        while (shmem_signal_fetch(&run->flag[BALL]) != sent.balls)
            continue;
        if (run->me != 0)
            ball_throw(run);
    }
}

/* As perf_check_both, for the one slot that a ping-pong moves. */
static long check_ball(struct perf_run *run, const struct perf_op *op)
{
    bool plays = run->me == 0 || run->me == run->npes - 1;

    if (plays)
        perf_fill(run->source, run->len, run->len + (size_t) !!run->me);
    memset(run->dest, 0, run->len);
    shmem_barrier_all();
    perf_once(run, op, 1);
    return plays ? perf_wrong(run->dest, run->len, run->len + (size_t)!run->me) : 0;
}
#else
#define put_signal NULL
#define check_signals NULL
#define wait_until NULL
#define poll_fetch NULL
#define check_ball NULL
#endif

static struct {
    const char *op;
    size_t len;
    double us, cpu_ns;
} results[RESULTS_MAX];
static int n_results;

static void row_keep(struct perf_run *run, const struct perf_row *row)
{
    (void)run;
    if (n_results == RESULTS_MAX)
        return;
    results[n_results].op = row->op;
    results[n_results].len = row->len;
    results[n_results].us = row->us.p50;
    results[n_results++].cpu_ns = row->cpu_ns;
}

/* The index of a row's result, or -1: it was not wanted. */
static int row_find(const char *op, size_t len)
{
    for (int i = 0; i < n_results; i++)
        if (results[i].len == len && !strcmp(results[i].op, op))
            return i;
    return -1;
}

static void print_ratios(size_t len)
{
    int plain = row_find("put", len);

    for (int i = 0; plain >= 0 && i < n_results; i++)
        if (results[i].len == len && !strncmp(results[i].op, "put", 3))
            printf("# %-16s %10zu %10.3f %10.3f %10.1f %10.3f %10.3f\n", results[i].op, len,
                   1 / results[i].us, (double)len / results[i].us / 1e3, results[i].cpu_ns,
                   results[plain].us / results[i].us, results[i].cpu_ns / results[plain].cpu_ns);
}

static void print_claims(size_t len)
{
    static const struct {
        const char *what, *a, *b;
    } claims[] = {{"a fence per put against one per batch", "put_fence", "put_fence_once"},
                  {"a drain per fence against the fence", "put_drain", "put_fence"},
                  {"a signal per put against a fence per put", "put_signal", "put_fence"},
                  {"polling a signal against wait_until", "poll_fetch", "wait_until"}};

    for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
        int a = row_find(claims[i].a, len), b = row_find(claims[i].b, len);
        if (a >= 0 && b >= 0)
            printf("# %-42s %10zu %10.3f %10.3f\n", claims[i].what, len, results[a].us / results[b].us,
                   results[a].cpu_ns / results[b].cpu_ns);
    }
}

static void summarize(struct perf_run *run)
{
    const struct perf_options *o = run->opts;
    bool taken = (o->json && !strcmp(o->json, "-")) || (o->csv && !strcmp(o->csv, "-"));

    if (run->me != 0 || taken)
        return;
    printf("#\n# %-16s %10s %10s %10s %10s %10s %10s\n", "order", "bytes", "Mop/s", "GB/s", "CPU ns",
           "rate/put", "CPU/put");
    for (int i = 0; i < o->nsizes; i++)
        print_ratios(o->sizes[i]);
    printf("#\n# %-42s %10s %10s %10s\n", "claim", "bytes", "time", "CPU");
    for (int i = 0; i < o->nsizes; i++)
        print_claims(o->sizes[i]);
    fflush(stdout);
}

static size_t slots(const struct perf_run *run, size_t len)
{
    return len * (size_t)run->window;
}

static const char needs[] = "shmem_putmem_signal_nbi (OpenSHMEM 1.5)";
static const struct perf_op ops[] = {
    {.name = "put", .batch = put, .check = perf_check_put},
    {.name = "put_signal", .batch = put_signal, .check = check_signals, .needs = needs},
    {.name = "put_fence", .batch = put_fence, .check = check_round},
    {.name = "put_fence_once", .batch = put_fence_once, .check = check_round},
    {.name = "put_drain", .batch = put_drain, .check = check_round},
    {.name = "wait_until",
     .who = PERF_PAIR,
     .each = 2,
     .batch = wait_until,
     .check = check_ball,
     .needs = needs},
    {.name = "poll_fetch",
     .who = PERF_PAIR,
     .each = 2,
     .batch = poll_fetch,
     .check = check_ball,
     .needs = needs},
    {.name = NULL},
};

const struct perf_program perf_program = {
    .name = "orders",
    .what = "puts to the last PE with every sort of order; waiting for a signal (half round trips)",
    .ops = ops,
    .unit = PERF_RATE,
    .min_pes = 2,
    .defaults = {.begin = 8, .end = 8192, .window = 256},
    .buffer_size = slots,
    .teardown = summarize,
    .row = row_keep,
};

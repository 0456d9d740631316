/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue benchmark: its rows, its table, and whether what arrived was right. */
#include "perftest/proxy/queue.h"

#include "perftest/common/stats.h"
#include "perftest/proxy/null.h"
#include "perftest/proxy/options.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { HEAP = 1 << 20, SKIP = 77 };

static struct queue_options opts;
static FILE *csv;
static bool failed;

/* Rings, the job behind them, and what one row asks of the producers. */
struct bench {
    struct queue_place place;
    struct null_job *null;
    struct queue_work work;
    unsigned threads;
};

static double now(clockid_t clock)
{
    struct timespec ts;

    clock_gettime(clock, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static bool fail(const char *what)
{
    fprintf(stderr, "queue: %s\n", what);
    failed = true;
    return false;
}

static bool bench_open(struct bench *b, unsigned threads)
{
    b->threads = threads;
    if (queue_place_open(&b->place, opts.rings * threads))
        return fail("no memory for the rings; ask for fewer (-r)");
    b->place.each = opts.rings;
    b->null = null_open(&b->place, threads, opts.n_pes, HEAP);
    if (b->null)
        return true;
    queue_place_close(&b->place);
    return fail("no memory for the job");
}

static void bench_close(struct bench *b)
{
    struct null_figures figures = null_figures(b->null);

    if (figures.wrong)
        fail("bytes or addresses of puts are wrong");
    null_close(b->null);
    queue_place_close(&b->place);
}

static struct queue_work work_of(const struct bench *b, enum queue_what what, uint32_t producers,
                                 uint32_t each, uint32_t len)
{
    return (struct queue_work){.what = what,
                               .producers = producers,
                               .block = opts.block,
                               .each = each ? each : 1,
                               .len = len,
                               .outstanding = 1,
                               .n_pes = opts.n_pes,
                               .heap = null_heap(b->null),
                               .heap_len = HEAP};
}

static void print_row(const struct bench *b, const char *row, double *samples, const char *unit, double rate)
{
    struct null_figures figures = null_figures(b->null);
    struct perf_stats stats;

    perf_stats_from(&stats, samples, opts.samples);
    printf("%-6s %7u %9u %6u %11u %12.1f %12.1f %-3s", row, b->threads, b->work.producers, b->work.len,
           b->work.outstanding, stats.p50, stats.min, unit);
    if (rate > 0)
        printf(" %8.2f M/s, %8.2f a thread", rate / stats.p50, rate / stats.p50 / b->threads);
    printf("  depth %llu, no room %llu\n", (unsigned long long)figures.depth,
           (unsigned long long)figures.refused);
    fflush(stdout);
    if (csv)
        fprintf(csv, "queue,%s,%u,%u,%u,%u,%.1f,%.1f,%s\n", row, b->threads, b->work.producers, b->work.len,
                b->work.outstanding, stats.p50, stats.min, unit);
}

/* Processor's ns a record of one that was pushed before; nobody pushes meanwhile. */
static double drain_once(struct bench *b)
{
    double began;

    if (queue_run(&b->place, &b->work) < 0)
        return -1;
    began = now(CLOCK_THREAD_CPUTIME_ID);
    if (!null_drain(b->null) || !null_is_idle(b->null))
        return -1;
    return (now(CLOCK_THREAD_CPUTIME_ID) - began) / b->work.producers / b->work.each;
}

/* ns of all puts, until the last one is complete. */
static double put_once(struct bench *b)
{
    double began = now(CLOCK_MONOTONIC);

    if (queue_run(&b->place, &b->work) < 0)
        return -1;
    while (!null_is_idle(b->null))
        sched_yield();
    return (now(CLOCK_MONOTONIC) - began) / b->work.producers / b->work.each;
}

static double own_once(struct bench *b)
{
    return queue_run(&b->place, &b->work);
}

/* The CPU's end of the bare flag. Acquire and release: partners are the producer's. */
static void *echo(void *arg)
{
    const struct bench *b = arg;

    for (uint64_t number = 1; number <= b->work.each; number++) {
        for (unsigned looks = 1; __atomic_load_n(&b->place.flag->there, __ATOMIC_ACQUIRE) != number; looks++)
            if (looks % 1024 == 0)
                sched_yield();
        __atomic_store_n(&b->place.flag->back, number, __ATOMIC_RELEASE);
    }
    return NULL;
}

static double flag_once(struct bench *b)
{
    pthread_t cpu;
    double ns;

    b->place.flag->there = b->place.flag->back = 0;
    if (pthread_create(&cpu, NULL, echo, b))
        return -1;
    ns = queue_run(&b->place, &b->work);
    pthread_join(cpu, NULL);
    return ns;
}

/* One sample more, before the others, warms up. `rate`: of a sample in ns, M/s = rate / sample. */
static void measure(struct bench *b, const char *row, double (*once)(struct bench *b), double rate)
{
    double samples[100];

    for (uint32_t i = 0; i <= opts.samples; i++) {
        double ns = once(b);

        if (ns < 0) {
            fail("a run of producers or consumers failed");
            return;
        }
        if (i)
            samples[i - 1] = ns;
    }
    print_row(b, row, samples, "ns", rate);
}

/* As many as fit into the rings of one thread, a producer for each ring. */
static void drain_rows(void)
{
    for (unsigned s = 0; s < opts.sizes.n && queue_options_want(&opts, "drain"); s++) {
        uint32_t len = opts.sizes.value[s], chunks = (len + WSH_RING_CHUNK - 1) / WSH_RING_CHUNK;
        struct bench b;

        if (!bench_open(&b, 1))
            return;
        b.work = work_of(&b, QUEUE_PUT, opts.rings, WSH_RING_PIECES / chunks, len);
        b.work.block = 1;
        measure(&b, "drain", drain_once, 1e3);
        bench_close(&b);
    }
}

static void running(struct bench *b, const char *row, double (*once)(struct bench *b), double rate)
{
    if (null_start(b->null)) {
        fail("no proxy threads");
        return;
    }
    measure(b, row, once, rate);
    null_stop(b->null);
}

static void put_rows(unsigned threads, uint32_t producers)
{
    for (unsigned s = 0; s < opts.sizes.n && queue_options_want(&opts, "put"); s++) {
        struct bench b;

        if (!bench_open(&b, threads))
            return;
        b.work = work_of(&b, QUEUE_PUT, producers, opts.records / producers, opts.sizes.value[s]);
        running(&b, "put", put_once, 1e3);
        bench_close(&b);
    }
}

static void ack_row(unsigned threads, uint32_t producers)
{
    struct bench b;

    if (!queue_options_want(&opts, "ack") || !bench_open(&b, threads))
        return;
    b.work = work_of(&b, QUEUE_ACK, producers, opts.trips, 8);
    running(&b, "ack", own_once, 0);
    bench_close(&b);
}

static void flag_row(void)
{
    struct bench b;

    if (!queue_options_want(&opts, "flag") || !bench_open(&b, 1))
        return;
    b.work = work_of(&b, QUEUE_FLAG, 1, opts.trips, 8);
    measure(&b, "flag", flag_once, 0);
    bench_close(&b);
}

static void quiet_rows(unsigned threads)
{
    for (unsigned i = 0; i < opts.outstanding.n && queue_options_want(&opts, "quiet"); i++) {
        struct bench b;

        if (!bench_open(&b, threads))
            return;
        b.work = work_of(&b, QUEUE_QUIET, 1, opts.trips, 8);
        b.work.outstanding = opts.outstanding.value[i];
        running(&b, "quiet", own_once, 0);
        bench_close(&b);
    }
}

static void all_rows(void)
{
    drain_rows();
    flag_row();
    for (unsigned t = 0; t < opts.threads.n; t++) {
        for (unsigned p = 0; p < opts.producers.n; p++) {
            put_rows(opts.threads.value[t], opts.producers.value[p]);
            ack_row(opts.threads.value[t], opts.producers.value[p]);
        }
        quiet_rows(opts.threads.value[t]);
    }
}

int main(int argc, char **argv)
{
    const char *why, *producers;

    if (!queue_options_parse(&opts, argc, argv))
        return 2;
    if (opts.help)
        return 0;
    producers = queue_producers(&why);
    if (!producers) {
        fprintf(stderr, "queue: skip: no GPU: %s\n", why);
        return SKIP;
    }
    if (opts.csv && !(csv = fopen(opts.csv, "w"))) {
        fprintf(stderr, "queue: option --csv: '%s' cannot be written\n", opts.csv);
        return 2;
    }
    printf("# queue: producers are %s; %u rings a proxy thread, %u producers a ring\n", producers, opts.rings,
           opts.block);
    printf("#row   threads producers  bytes outstanding  median ns/op       min\n");
    all_rows();
    if (csv && fclose(csv))
        fail("the CSV file could not be written");
    return failed;
}

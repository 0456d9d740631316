/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue benchmark: its rows, its table, and whether what arrived was right. */
#include "perftest/proxy/queue.h"

#include "perftest/common/progress.h"
#include "perftest/common/report.h"
#include "perftest/proxy/null.h"
#include "perftest/proxy/options.h"
#include "perftest/proxy/stub.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

enum { HEAP = 2 * QUEUE_LONGEST };

static const char *const memories[QUEUE_MEMORIES] = {"pinned", "managed", "gdr"};

static struct queue_options opts;
static enum queue_where where; /* of the rings, now */
static struct perf_report report;
static bool failed;
static int row_number, n_rows;

/* Rings, the job behind them, and what one row asks of the producers. */
struct bench {
    struct queue_memory memory;
    struct null_job *null;
    struct queue_work work;
    unsigned threads, nics; /* nics: 0 without the efa transport */
    bool rates;             /* the row is about records a second */
};

/* CPU time of this thread, in ns. */
static double thread_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static bool fail(const char *what)
{
    perf_complain("%s", what);
    failed = true;
    return false;
}

static bool bench_open(struct bench *b, unsigned threads, bool efa)
{
    b->threads = threads;
    b->nics = efa ? stub_nics : 0;
    if (queue_memory_open(&b->memory, opts.rings * threads, where))
        return fail("no memory for the rings; ask for fewer (--rings)");
    b->memory.each = opts.rings;
    b->null = null_open(&b->memory, threads, opts.n_pes, HEAP, efa);
    if (b->null)
        return true;
    queue_memory_close(&b->memory);
    return fail(efa ? "no efa transport" : "no memory for the job");
}

static void bench_close(struct bench *b)
{
    struct null_figures figures = null_figures(b->null);

    if (figures.wrong)
        fail("bytes or addresses of puts are wrong");
    null_close(b->null);
    queue_memory_close(&b->memory);
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

/* A line in ns; where the row has a rate, in M/s of all threads and of one. */
static void print_row(struct perf_report *r, const struct perf_row *row)
{
    const struct bench *b = row->own;
    struct null_figures figures = null_figures(b->null);

    fprintf(r->table, "%-15s %7u %9u %6u %11u %12.1f %8.1f %8.1f ns ", row->op, b->threads, b->work.producers,
            b->work.len, b->work.outstanding, row->us.p50 * 1e3, row->us.min * 1e3, row->us.max * 1e3);
    if (b->rates)
        fprintf(r->table, " %8.2f M/s, %8.2f a thread", 1 / row->us.p50, 1 / row->us.p50 / b->threads);
    if (figures.doorbells)
        fprintf(r->table, ", %.1f writes a doorbell, %u NICs",
                (double)figures.checked / (double)figures.doorbells, b->nics);
    if (where != QUEUE_PINNED)
        fprintf(r->table, ", %s", memories[where]);
    fprintf(r->table, "  depth %llu, no room %llu\n", (unsigned long long)figures.depth,
            (unsigned long long)figures.refused);
}

static void report_row(const struct bench *b, const char *name, double *samples)
{
    struct perf_row row = {.op = name, .len = b->work.len, .samples = opts.common.samples, .own = b};
    struct null_figures figures = null_figures(b->null);

    row.batch = (long)b->work.each * b->work.producers;
    row.right = figures.wrong == 0;
    perf_stats_from(&row.us, samples, row.samples);
    perf_row_add(&row, "threads", NULL, b->threads, 0, PERF_END);
    perf_row_add(&row, "producers", NULL, b->work.producers, 0, PERF_END);
    perf_row_add(&row, "outstanding", NULL, b->work.outstanding, 0, PERF_END);
    perf_row_add(&row, "depth", NULL, (double)figures.depth, 0, PERF_END);
    perf_row_add(&row, "no_room", NULL, (double)figures.refused, 0, PERF_END);
    perf_row_add(&row, "nics", NULL, b->nics, 0, PERF_END);
    row.fields[row.n_fields++] =
        (struct perf_field){.name = "queue", .text = memories[where], .place = PERF_END};
    perf_report_row(&report, &row);
}

/* Processor's ns a record of one that was pushed before; nobody pushes meanwhile. */
static double drain_once(struct bench *b)
{
    double began;

    if (queue_run(&b->memory, &b->work) < 0)
        return -1;
    began = thread_now();
    if (!null_drain(b->null) || !null_is_idle(b->null))
        return -1;
    return (thread_now() - began) / b->work.producers / b->work.each;
}

/* ns of a producer; what it pushed is then taken. */
static double push_once(struct bench *b)
{
    double ns = queue_run(&b->memory, &b->work);

    return ns >= 0 && null_drain(b->null) && null_is_idle(b->null) ? ns : -1;
}

/* ns of all puts, until the last one is complete. */
static double put_once(struct bench *b)
{
    double began = perf_now();

    if (queue_run(&b->memory, &b->work) < 0)
        return -1;
    while (!null_is_idle(b->null))
        sched_yield();
    return (perf_now() - began) / b->work.producers / b->work.each;
}

static double own_once(struct bench *b)
{
    return queue_run(&b->memory, &b->work);
}

/* The CPU's end of the bare flag. Acquire and release: partners are the producer's. */
static void *echo(void *arg)
{
    const struct bench *b = arg;

    for (uint64_t number = 1; number <= b->work.each; number++) {
        for (unsigned polls = 1; __atomic_load_n(&b->memory.flag->there, __ATOMIC_ACQUIRE) != number; polls++)
            if (polls % 1024 == 0)
                sched_yield();
        __atomic_store_n(&b->memory.flag->back, number, __ATOMIC_RELEASE);
    }
    return NULL;
}

static double flag_once(struct bench *b)
{
    pthread_t cpu;
    double ns;

    b->memory.flag->there = b->memory.flag->back = 0;
    if (pthread_create(&cpu, NULL, echo, b))
        return -1;
    ns = queue_run(&b->memory, &b->work);
    pthread_join(cpu, NULL);
    return ns;
}

/* One sample more, before the others, warms up. */
static void row_measure(struct bench *b, const char *row, double (*once)(struct bench *b), bool rates)
{
    double samples[100];

    b->rates = rates;
    perf_progress(++row_number, n_rows, "%s, %u bytes, %u threads, %u producers", row, b->work.len,
                  b->threads, b->work.producers);
    for (long i = 0; i <= opts.common.samples; i++) {
        double ns = once(b);

        if (ns < 0) {
            fail("a run of producers or consumers failed");
            return;
        }
        if (i)
            samples[i - 1] = ns / 1e3;
    }
    report_row(b, row, samples);
}

/* A payload goes through the ring. */
static bool size_fits(enum queue_what what, int s)
{
    return what != QUEUE_PUT || opts.common.sizes[s] <= WSH_RING_PART;
}

/* As many as fit into the rings of one thread, beside the padding at a ring's end; a producer for each ring. */
static void drain_rows(const char *row, enum queue_what what, bool efa, double (*once)(struct bench *b))
{
    for (int s = 0; s < opts.common.nsizes && queue_options_want(&opts, row); s++) {
        uint32_t len = (uint32_t)opts.common.sizes[s],
                 slots = what == QUEUE_ZERO_COPY ? 2 : (len + WSH_RING_CHUNK - 1) / WSH_RING_CHUNK;
        struct bench b;

        if (!size_fits(what, s))
            continue;
        if (!bench_open(&b, 1, efa))
            return;
        null_expect(b.null, false, stub_nics > 1);
        b.work = work_of(&b, what, opts.rings, (WSH_RING_PIECES - slots + 1) / slots, len);
        b.work.block = 1;
        row_measure(&b, row, once, true);
        bench_close(&b);
    }
}

static void running(struct bench *b, const char *row, double (*once)(struct bench *b), bool rates)
{
    if (null_start(b->null)) {
        fail("no proxy threads");
        return;
    }
    row_measure(b, row, once, rates);
    null_stop(b->null);
}

static void put_rows(const char *row, enum queue_what what, unsigned threads, uint32_t producers, bool efa)
{
    for (int s = 0; s < opts.common.nsizes && queue_options_want(&opts, row); s++) {
        uint32_t puts = (uint32_t)(what == QUEUE_BLOCKING ? opts.trips : opts.common.batch / producers);
        struct bench b;

        if (!size_fits(what, s))
            continue;
        if (!bench_open(&b, threads, efa))
            return;
        null_expect(b.null, what == QUEUE_BLOCKING, stub_nics > 1);
        b.work = work_of(&b, what, producers, puts, (uint32_t)opts.common.sizes[s]);
        running(&b, row, put_once, true);
        bench_close(&b);
    }
}

static void ack_row(unsigned threads, uint32_t producers)
{
    struct bench b;

    if (!queue_options_want(&opts, "ack") || !bench_open(&b, threads, false))
        return;
    b.work = work_of(&b, QUEUE_ACK, producers, opts.trips, 8);
    running(&b, "ack", own_once, false);
    bench_close(&b);
}

static void flag_row(void)
{
    struct bench b;

    if (!queue_options_want(&opts, "flag") || !bench_open(&b, 1, false))
        return;
    b.work = work_of(&b, QUEUE_FLAG, 1, opts.trips, 8);
    row_measure(&b, "flag", flag_once, false);
    bench_close(&b);
}

static void quiet_rows(unsigned threads)
{
    for (int i = 0; i < opts.outstanding.n && queue_options_want(&opts, "quiet"); i++) {
        struct bench b;

        if (!bench_open(&b, threads, false))
            return;
        b.work = work_of(&b, QUEUE_QUIET, 1, opts.trips, 8);
        b.work.outstanding = opts.outstanding.value[i];
        running(&b, "quiet", own_once, false);
        bench_close(&b);
    }
}

/* Rows of the efa transport with each number of NICs. */
static void efa_rows(unsigned threads, uint32_t producers)
{
    for (int n = 0; n < opts.nics.n; n++) {
        stub_nics = (unsigned)opts.nics.value[n];
        if (!threads)
            drain_rows("drain_efa", QUEUE_ZERO_COPY, true, drain_once);
        else {
            put_rows("efa", QUEUE_ZERO_COPY, threads, producers, true);
            put_rows("efa_blocking", QUEUE_BLOCKING, threads, producers, true);
        }
    }
}

static void all_rows(void)
{
    drain_rows("drain", QUEUE_PUT, false, drain_once);
    drain_rows("drain_zero_copy", QUEUE_ZERO_COPY, false, drain_once);
    efa_rows(0, 0);
    drain_rows("push", QUEUE_PUT, false, push_once);
    drain_rows("push_zero_copy", QUEUE_ZERO_COPY, false, push_once);
    flag_row();
    for (int t = 0; t < opts.threads.n; t++) {
        for (int p = 0; p < opts.producers.n; p++) {
            put_rows("put", QUEUE_PUT, opts.threads.value[t], opts.producers.value[p], false);
            put_rows("zero_copy", QUEUE_ZERO_COPY, opts.threads.value[t], opts.producers.value[p], false);
            efa_rows((unsigned)opts.threads.value[t], (uint32_t)opts.producers.value[p]);
            ack_row(opts.threads.value[t], opts.producers.value[p]);
        }
        quiet_rows(opts.threads.value[t]);
    }
}

/* Rows of a name, for each size that it has. */
static int sized(const char *row, enum queue_what what)
{
    int n = 0;

    for (int s = 0; s < opts.common.nsizes && queue_options_want(&opts, row); s++)
        n += size_fits(what, s);
    return n;
}

static int rows_count(void)
{
    int each = queue_options_want(&opts, "ack") + sized("put", QUEUE_PUT) +
               sized("zero_copy", QUEUE_ZERO_COPY) +
               (sized("efa", QUEUE_ZERO_COPY) + sized("efa_blocking", QUEUE_BLOCKING)) * opts.nics.n;

    each = each * opts.producers.n + (queue_options_want(&opts, "quiet") ? opts.outstanding.n : 0);
    return each * opts.threads.n + queue_options_want(&opts, "flag") + sized("drain", QUEUE_PUT) +
           sized("drain_zero_copy", QUEUE_ZERO_COPY) + sized("push", QUEUE_PUT) +
           sized("push_zero_copy", QUEUE_ZERO_COPY) + sized("drain_efa", QUEUE_ZERO_COPY) * opts.nics.n;
}

/* All rows with rings in each memory that was asked for; of one that is not here a line. */
static void all_memories(void)
{
    enum queue_where first = opts.memory == QUEUE_MEMORIES ? 0 : (enum queue_where)opts.memory;

    for (where = first; where < QUEUE_MEMORIES && (where == first || opts.memory == QUEUE_MEMORIES);
         where++) {
        const char *why = queue_lacks(where);

        if (!why)
            all_rows();
        else if (report.table)
            fprintf(report.table, "# rings in %s memory: lacks: %s\n", memories[where], why);
        else
            perf_complain("rings in %s memory: lacks: %s", memories[where], why);
    }
}

static int report_open(const char *producers)
{
    struct perf_about about = {
        .program = "queue",
        .library = "warpshmem",
        .transport = "none",
        .npes = (int)opts.n_pes,
        .fields = {{.name = "pushed_by", .text = producers, .place = PERF_JSON},
                   {.name = "rings", .number = (double)opts.rings, .place = PERF_JSON},
                   {.name = "block", .number = (double)opts.block, .place = PERF_JSON}},
        .n_fields = 3};

    report.print = print_row;
    if (perf_report_open(&report, &about, &opts.common))
        return -1;
    if (report.table)
        fprintf(report.table,
                "# queue: producers are %s; %ld rings a proxy thread, %ld producers a ring\n"
                "#row            threads producers  bytes outstanding  median ns/op     min      max\n",
                producers, opts.rings, opts.block);
    return 0;
}

int main(int argc, char **argv)
{
    const char *why, *producers;
    int status;

    perf_name_set("queue");
    status = queue_options_parse(&opts, argc, argv);
    if (status)
        return status < 0 ? PERF_USAGE : PERF_OK;
    if (opts.common.note)
        perf_complain("note: %s", opts.common.note);
    stub_nics = (unsigned)opts.nics.value[0];
    producers = queue_producers(&why);
    if (!producers) {
        perf_complain("skip: no GPU: %s", why);
        return PERF_SKIP;
    }
    if (report_open(producers))
        return PERF_USAGE;
    n_rows = rows_count();
    all_memories();
    perf_progress(0, 0, "the end");
    return perf_report_close(&report) || failed ? PERF_FAILED : PERF_OK;
}

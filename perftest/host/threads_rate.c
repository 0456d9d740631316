/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rate of small non-blocking puts by several threads of PE 0, each on a context of its own with a share of the slots.
 * With several endpoint sets (SHMEM_ENDPOINT_SETS) threads have endpoints and a lock of their own too.
 */
#include "perftest/common/perf.h"

#include <pthread.h>

#define THREADS 4

struct worker {
    pthread_t thread;
    struct perf_run *run;
    shmem_ctx_t ctx;
    size_t from, to; /* bytes of the buffers */
    long count;
};

static struct worker workers[THREADS];

static void *work(void *arg)
{
    const struct worker *worker = arg;
    const struct perf_run *run = worker->run;

    for (long i = 0; i < worker->count; i++) {
        for (size_t at = worker->from; at < worker->to; at += run->len)
            shmem_ctx_putmem_nbi(worker->ctx, run->dest + at, run->source + at, run->len, run->peer);
        shmem_ctx_quiet(worker->ctx);
    }
    return NULL;
}

static void with_threads(struct perf_run *run, long count, int n)
{
    size_t slots = run->span / run->len;
    int started = 0;

    for (int i = 0; i < n; i++) {
        struct worker *worker = &workers[i];

        worker->run = run;
        worker->count = count;
        worker->from = slots * (size_t)i / (size_t)n * run->len;
        worker->to = slots * ((size_t)i + 1) / (size_t)n * run->len;
    }
    while (started + 1 < n && !pthread_create(&workers[started].thread, NULL, work, &workers[started]))
        started++;
    for (int i = started; i < n; i++) /* this thread has the last share, and what found no thread */
        work(&workers[i]);
    for (int i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
}

static void one_thread(struct perf_run *run, long count)
{
    with_threads(run, count, 1);
}

static void two_threads(struct perf_run *run, long count)
{
    with_threads(run, count, 2);
}

static void four_threads(struct perf_run *run, long count)
{
    with_threads(run, count, 4);
}

static int setup(struct perf_run *run)
{
    (void)run;
    for (int i = 0; i < THREADS; i++)
        if (shmem_ctx_create(SHMEM_CTX_SERIALIZED, &workers[i].ctx)) {
            perf_complain("no context for thread %d", i);
            return PERF_FAILED;
        }
    return PERF_OK;
}

static void teardown(struct perf_run *run)
{
    (void)run;
    for (int i = 0; i < THREADS; i++)
        shmem_ctx_destroy(workers[i].ctx);
}

static size_t slots(const struct perf_run *run, size_t len)
{
    return len * (size_t)run->window;
}

static const struct perf_op ops[] = {
    {.name = "1_thread", .batch = one_thread, .check = perf_check_put},
    {.name = "2_threads", .batch = two_threads, .check = perf_check_put},
    {.name = "4_threads", .batch = four_threads, .check = perf_check_put},
    {.name = NULL},
};

const struct perf_program perf_program = {
    .name = "threads_rate",
    .what = "rate of put_nbi to the last PE by 1, 2 and 4 threads with contexts of their own, quiet after "
            "each window",
    .ops = ops,
    .unit = PERF_RATE,
    .min_pes = 2,
    .threads = true,
    .defaults = {.begin = 8, .end = 8, .window = 256},
    .buffer_size = slots,
    .setup = setup,
    .teardown = teardown,
};

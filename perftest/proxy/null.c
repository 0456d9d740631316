/* SPDX-License-Identifier: BSD-3-Clause */
/* The transport without a network, the job around it, and the proxy threads. */
#include "perftest/proxy/null.h"

#include "perftest/proxy/stub.h"
#include "runtime/job/job.h"
#include "runtime/gpu/proxy/exec.h"
#include "runtime/wait/wait.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* CHECK_EVERY: of so many operations the bytes of one are compared. */
enum { FLYING_MAX = 4096, CHECK_EVERY = 1000 };

/* Operations are complete at the second look: then their source may be reused. */
struct null_ctx {
    struct wsh_tctx tctx;
    const char *heap; /* of this PE */
    uint64_t issued, seen, retired;
    struct null_figures figures;
    uint64_t word; /* of atomics */
    struct wsh_done *owed[FLYING_MAX];
};

struct null_thread {
    struct null_job *job;
    struct wsh_consumer *consumer;
    struct wsh_ctx ctx;
    struct null_ctx null;
    pthread_t id;
    struct wsh_wait_heartbeat heartbeat;
};

struct null_job {
    struct wsh_job job;
    struct wsh_tp tp;
    struct wsh_tp_ops ops;
    struct stub_net *net; /* of the efa transport, or NULL */
    const struct wsh_ring *rings;
    unsigned n_rings, n_threads, n_running;
    bool stop, quiets, cuts;
    struct null_thread *thread;
};

static struct null_ctx *null_of(struct wsh_tctx *tctx)
{
    return (struct null_ctx *)tctx;
}

/* What a zero-copy put brings comes from the heap, from the place where it goes to: the bytes are a NIC's. */
static void op_check(struct null_ctx *null, const struct wsh_rmem *rmem, size_t off, const void *src,
                     size_t len)
{
    const uint64_t *word = src;
    bool wrong = len > rmem->len || off > rmem->len - len;

    if (wrong || (size_t)((const char *)src - null->heap) < rmem->len) {
        null->figures.checked++;
        null->figures.wrong += wrong || (const char *)src != null->heap + off;
        return;
    }
    for (size_t i = 0; i < len / 8 && !wrong; i++)
        wrong = word[i] != queue_value((uint64_t)rmem->pe, off, i);
    null->figures.checked++;
    null->figures.wrong += wrong;
}

static int null_put(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                    size_t len, struct wsh_done *done)
{
    struct null_ctx *null = null_of(tctx);

    if (null->issued - null->retired == FLYING_MAX)
        return -EAGAIN;
    if (null->issued % CHECK_EVERY == 0)
        op_check(null, rmem, off, src, len);
    null->owed[null->issued++ % FLYING_MAX] = done;
    if (done)
        done->left++;
    return 0;
}

static int null_amo(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const struct wsh_amo *amo,
                    void *result, struct wsh_done *done)
{
    struct null_ctx *null = null_of(tctx);
    uint64_t old = wsh_amo_apply64(&null->word, amo->op, amo->operand, amo->compare);

    (void)done;
    if (off + amo->width > rmem->len)
        null->figures.wrong++;
    if (result)
        memcpy(result, &old, amo->width);
    return 0;
}

/* Release: partner is wsh_done_is. */
static size_t null_pending(struct wsh_tctx *tctx, int pe)
{
    struct null_ctx *null = null_of(tctx);

    (void)pe;
    for (; null->retired != null->seen; null->retired++) {
        struct wsh_done *done = null->owed[null->retired % FLYING_MAX];

        if (done)
            __atomic_fetch_sub(&done->left, 1, __ATOMIC_RELEASE);
    }
    null->seen = null->issued;
    return null->issued - null->retired;
}

static int null_fence(struct wsh_tctx *tctx)
{
    (void)tctx;
    return 0;
}

static const struct wsh_tp_ops null_ops = {.name = "null",
                                           .remote = true,
                                           .put = null_put,
                                           .amo = null_amo,
                                           .pending = null_pending,
                                           .fence = null_fence};

static bool fill_routes(struct null_job *null, unsigned threads, size_t heap_len, bool efa)
{
    struct wsh_job *job = &null->job;
    struct wsh_segment *heap = &job->heap.seg[WSH_SEG_HEAP];
    struct wsh_rmem *rmem = calloc((size_t)job->n_pes, sizeof *rmem);

    heap->len = heap_len + WSH_RING_PART;
    heap->base = aligned_alloc(4096, heap->len);
    job->routes.entry[WSH_ENTRY_MAIN][WSH_SEG_HEAP] = rmem;
    if (!heap->base || !rmem)
        return false;
    for (int pe = 0; pe < job->n_pes; pe++)
        rmem[pe] = (struct wsh_rmem){.tp = &null->tp, .pe = pe, .seg = WSH_SEG_HEAP, .len = heap->len};
    if (!efa)
        return true;
    null->net = stub_open(job->n_pes, threads, heap->base, heap->len, rmem);
    if (null->net)
        job->tp[0] = stub_transport(null->net);
    return null->net;
}

static bool open_thread(struct null_thread *thread, struct null_job *null, const struct queue_memory *memory,
                        unsigned i)
{
    thread->job = null;
    thread->null.heap = null->job.heap.seg[WSH_SEG_HEAP].base;
    thread->null.tctx.tp = &null->tp;
    thread->ctx = (struct wsh_ctx){.job = &null->job,
                                   .n_pes = null->job.n_pes,
                                   .world = true,
                                   .proxy = true,
                                   .tctx = {null->net ? stub_ctx_open(null->net) : &thread->null.tctx}};
    thread->consumer =
        wsh_consumer_open(memory->ring + i * memory->each, memory->each, &wsh_proxy_exec_ops, &thread->ctx);
    return thread->consumer && thread->ctx.tctx[0];
}

struct null_job *null_open(const struct queue_memory *memory, unsigned threads, unsigned n_pes,
                           size_t heap_len, bool efa)
{
    struct null_job *null = calloc(1, sizeof *null);
    bool right;

    if (!null)
        return NULL;
    wsh_tp_fill(&null->ops, &null_ops);
    null->tp.ops = &null->ops;
    null->rings = memory->ring;
    null->n_rings = memory->n;
    null->job.n_pes = (int)n_pes;
    null->job.network = true;
    null->job.n_tps = 1;
    null->job.tp[0] = &null->tp;
    null->job.tuning = (struct wsh_wait_tuning){.spins = 2000, .cores = INT_MAX, .yield_seconds = 0.02};
    null->thread = calloc(threads, sizeof *null->thread);
    right = null->thread && fill_routes(null, threads, heap_len, efa);
    for (; right && null->n_threads < threads; null->n_threads++)
        right = open_thread(&null->thread[null->n_threads], null, memory, null->n_threads);
    if (right)
        return null;
    null_close(null);
    return NULL;
}

void null_close(struct null_job *null)
{
    for (unsigned i = 0; i < null->n_threads; i++) {
        wsh_consumer_close(null->thread[i].consumer);
        if (null->net)
            stub_ctx_close(null->thread[i].ctx.tctx[0]);
    }
    if (null->net)
        stub_close(null->net);
    free(null->thread);
    free(null->job.routes.entry[WSH_ENTRY_MAIN][WSH_SEG_HEAP]);
    free(null->job.heap.seg[WSH_SEG_HEAP].base);
    free(null);
}

void null_expect(struct null_job *null, bool quiets, bool cuts)
{
    null->quiets = quiets;
    null->cuts = cuts;
}

/* Whether so many writes are those of the records. */
static bool writes_fit(const struct null_job *null, uint64_t writes, uint64_t records)
{
    uint64_t least = null->quiets ? records / (1 + null->n_threads) : records; /* a quiet asks each thread */

    return null->quiets || null->cuts ? writes >= least : writes == records;
}

uint64_t null_heap(const struct null_job *null)
{
    return (uint64_t)(uintptr_t)null->job.heap.seg[WSH_SEG_HEAP].base;
}

static int consumer_step(void *arg)
{
    return wsh_consumer_step(arg);
}

static void *consumer_serve(void *arg)
{
    struct null_thread *thread = arg;

    if (wsh_wait_run(&thread->job->job, &thread->job->stop, consumer_step, thread->consumer,
                     &thread->heartbeat, true) < 0)
        thread->null.figures.wrong++;
    return NULL;
}

int null_start(struct null_job *null)
{
    __atomic_store_n(&null->stop, false, __ATOMIC_RELAXED); /* before the threads are made */
    for (null->n_running = 0; null->n_running < null->n_threads; null->n_running++) {
        struct null_thread *thread = &null->thread[null->n_running];

        if (pthread_create(&thread->id, NULL, consumer_serve, thread)) {
            null_stop(null);
            return -1;
        }
    }
    return 0;
}

void null_stop(struct null_job *null)
{
    __atomic_store_n(&null->stop, true, __ATOMIC_RELEASE); /* partner: wsh_wait_run */
    for (unsigned i = 0; i < null->n_running; i++)
        pthread_join(null->thread[i].id, NULL);
    null->n_running = 0;
}

/* The transport goes on only when it is asked, as in wsh_wait_run. */
static int drain_step(struct null_job *null, struct null_thread *thread)
{
    int rc = wsh_consumer_step(thread->consumer), moved = 0;

    if (rc >= 0 && null->net)
        moved = null->job.tp[0]->ops->progress(null->job.tp[0]);
    return rc < 0 || moved < 0 ? -1 : rc | moved;
}

bool null_drain(struct null_job *null)
{
    for (unsigned i = 0; i < null->n_threads; i++) {
        int rc = 1;

        while (rc > 0)
            rc = drain_step(null, &null->thread[i]);
        if (rc < 0)
            return false;
    }
    return true;
}

bool null_is_idle(const struct null_job *null)
{
    return wsh_rings_are_idle(null->rings, null->n_rings);
}

struct null_figures null_figures(const struct null_job *null)
{
    struct null_figures sum = {0};

    for (unsigned i = 0; i < null->n_threads; i++) {
        const struct null_thread *thread = &null->thread[i];

        sum.records += thread->consumer->stats.records;
        sum.refused += thread->consumer->stats.refused;
        sum.checked += thread->null.figures.checked;
        sum.wrong += thread->null.figures.wrong;
        if (sum.depth < thread->consumer->stats.depth)
            sum.depth = thread->consumer->stats.depth;
    }
    if (null->net) { /* nothing waits: each put was one write, to where it should go */
        struct stub_figures now = stub_figures();

        sum.checked = now.posts;
        sum.doorbells = now.doorbells;
        sum.wrong += now.astray + !writes_fit(null, sum.checked, sum.records);
    }
    return sum;
}

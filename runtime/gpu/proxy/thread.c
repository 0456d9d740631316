/* SPDX-License-Identifier: BSD-3-Clause */
/* One proxy thread: its life, what it does between polls of its rings, and the statistics that it reports. */
#define _GNU_SOURCE
#include "base/cuda/call.h"
#include "base/err.h"
#include "base/log.h"
#include "base/process/signals.h"
#include "runtime/job/job.h"
#include "runtime/wait/pin.h"
#include "runtime/gpu/proxy/exec.h"
#include "runtime/gpu/proxy/state.h"

#include <shmem.h>

#include <stdio.h>

/* SIGUSR1 asks for it. */
static void thread_report(struct wsh_proxy_thread *thread)
{
    static const char *const holds[] = {
        [WSH_HOLD_NONE] = "", [WSH_HOLD_FLUSH] = "; a flush waits", [WSH_HOLD_QUIET] = "; a quiet waits"};
    const struct wsh_consumer_stats *stats = &thread->consumer->stats;
    struct wsh_consumer_snapshot snapshot = wsh_consumer_snapshot(thread->consumer);
    double now = wsh_wait_now(), passed = now - thread->reported_at;

    wsh_log_write(
        WSH_LOG_WARN,
        "proxy thread %u of %u: %llu records, %.0f a second recently; %u slots of its %u rings in use, "
        "%u operations of kernels that wait for an answer, %u rings whose next record finds no room, %u "
        "records "
        "that found none (the first one at PE %d)%s; "
        "kernels have waited %llu times for a completion at another PE, the thread %llu times",
        thread->number, thread->proxy->n_threads, (unsigned long long)stats->records,
        (double)(stats->records - thread->reported) / (passed > 0 ? passed : 1), snapshot.in_use,
        thread->proxy->each, snapshot.owed, snapshot.deferred, snapshot.aside, snapshot.waits_for,
        holds[thread->consumer->holds], (unsigned long long)stats->waits,
        (unsigned long long)thread->ctx.drains);
    thread->reported = stats->records;
    thread->reported_at = now;
}

static void thread_hold(struct wsh_proxy_thread *thread)
{
    struct wsh_proxy_queue *queue;

    wsh_consumer_hold(thread->consumer, WSH_HOLD_QUIET);
    for (unsigned i = 0; (queue = wsh_proxy_queue_of(thread, i)); i++)
        wsh_consumer_hold(queue->consumer, WSH_HOLD_QUIET);
}

static bool thread_holds(const struct wsh_proxy_thread *thread)
{
    const struct wsh_proxy_queue *queue;
    bool holds = thread->consumer->holds == WSH_HOLD_QUIET;

    for (unsigned i = 0; !holds && (queue = wsh_proxy_queue_of(thread, i)); i++)
        holds = queue->consumer->holds == WSH_HOLD_QUIET;
    return holds;
}

/* Each looks at its own rings. > 0: some did something; < 0: final. */
static int consumers_step(struct wsh_proxy_thread *thread)
{
    struct wsh_proxy_queue *queue;
    int moved = wsh_consumer_step(thread->consumer);

    for (unsigned i = 0; moved >= 0 && (queue = wsh_proxy_queue_of(thread, i)); i++) {
        int rc = wsh_consumer_step(queue->consumer);

        moved = rc < 0 ? rc : moved | rc;
    }
    return moved;
}

/* A quiet of the host is one of the consumer's, over everything that is visible by now. */
static int thread_step(void *arg)
{
    struct wsh_proxy_thread *thread = arg;
    uint64_t wanted = __atomic_load_n(&thread->wanted, __ATOMIC_ACQUIRE); /* partner: wsh_proxy_quiet */
    unsigned asked = wsh_wait_asked();
    int rc;

    if (wsh_unlikely(asked != thread->reports))
        thread_report(thread);
    thread->reports = asked;
    if (wanted != thread->taken) {
        thread->taken = wanted;
        thread_hold(thread);
    }
    rc = consumers_step(thread);
    if (rc >= 0 && !thread_holds(thread) && thread->taken != thread->served) {
        __atomic_store_n(&thread->served, thread->taken, __ATOMIC_RELEASE); /* partner: wsh_proxy_quiet */
        rc = 1;
    }
    return rc;
}

static void *thread_serve(void *arg)
{
    struct wsh_proxy_thread *thread = arg;
    struct wsh_job *job = thread->proxy->job;

    wsh_cuda_call_role(WSH_CUDA_PROXY);
    if (wsh_wait_run(job, &thread->proxy->stop, thread_step, thread, &thread->life.heartbeat, true) < 0)
        wsh_abort(1);
    return NULL;
}

/* The program's handlers run in its own threads. */
static int thread_create(struct wsh_proxy_thread *thread)
{
    sigset_t before;
    char name[16], what[32];
    int err;

    __atomic_fetch_add(&thread->proxy->job->servers, 1, __ATOMIC_RELAXED);
    wsh_signals_block(&before);
    err = pthread_create(&thread->id, NULL, thread_serve, thread);
    wsh_signals_restore(&before);
    if (err) {
        wsh_error(
            "no proxy thread %u: %s; raise the limit of processes (ulimit -u), set SHMEM_PROXY_THREADS to "
            "less, or SHMEM_PROXY=off",
            thread->number, wsh_strerror(err));
        return -err;
    }
    snprintf(name, sizeof name, "shmem-proxy-%u", thread->number);
    pthread_setname_np(thread->id, name);
    snprintf(what, sizeof what, "proxy thread %u", thread->number);
    wsh_pin_thread(thread->proxy->job, thread->id, what, false);
    thread->runs = true;
    return 0;
}

int wsh_proxy_thread_start(struct wsh_proxy_thread *thread)
{
    struct wsh_job *job = thread->proxy->job;
    int rc = wsh_ctx_init(&thread->ctx, job, &job->world, SHMEM_CTX_SERIALIZED);

    thread->has_ctx = !rc;
    if (rc)
        return rc;
    thread->ctx.proxy = true;
    thread->ctx.posted = &thread->snapshot;
    thread->reports = wsh_wait_asked();
    thread->reported_at = wsh_wait_now();
    thread->consumer =
        wsh_consumer_open(thread->rings, thread->proxy->each, &wsh_proxy_exec_ops, &thread->ctx);
    if (!thread->consumer)
        return -ENOMEM;
    wsh_consumer_trace(thread->consumer, thread->number);
    return thread_create(thread);
}

void wsh_proxy_thread_stop(struct wsh_proxy_thread *thread)
{
    const struct wsh_consumer_stats *stats;

    if (!thread->runs)
        return;
    pthread_join(thread->id, NULL);
    stats = &thread->consumer->stats;
    wsh_info(
        WSH_SUB_PROXY,
        "the proxy (thread %u) took %llu records with %llu bytes, %llu fences, %llu quiets and %llu flushes; "
        "at most "
        "%llu slots of "
        "%u were in use; %llu times a transport had no room; kernels waited %llu times for a completion at "
        "another PE, the thread %llu times",
        thread->number, (unsigned long long)stats->records, (unsigned long long)stats->bytes,
        (unsigned long long)stats->fences, (unsigned long long)stats->quiets,
        (unsigned long long)stats->flushes, (unsigned long long)stats->depth, WSH_RING_PIECES,
        (unsigned long long)stats->refused, (unsigned long long)stats->waits,
        (unsigned long long)thread->ctx.drains);
}

void wsh_proxy_thread_close(struct wsh_proxy_thread *thread)
{
    wsh_consumer_close(thread->consumer);
    if (thread->has_ctx)
        wsh_ctx_fini(&thread->ctx);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts and ends the proxy. Each of its threads has a context of its own and serves its own PEs, so that a fence,
 * which orders what goes to one PE, is the transports' own, with no drain.
 */
#include "runtime/gpu/proxy/proxy.h"

#include "device/nic/gda.h"
#include "device/view/view.h"
#include "base/cuda/mem.h"
#include "base/log.h"
#include "runtime/gpu/gda/gda.h"
#include "runtime/route/hosts.h"
#include "runtime/job/job.h"
#include "runtime/gpu/proxy/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_wanted(const struct wsh_job *job)
{
    return job->env.proxy == WSH_PROXY_ON || (job->env.proxy == WSH_PROXY_AUTO && wsh_hosts_are_many(job));
}

/* With the room behind the heads for queues that kernels write. */
static int rings_allocate(struct wsh_proxy *proxy)
{
    static const size_t heads_len = sizeof(struct wsh_ring_heads) + sizeof(struct wsh_gda);
    const struct wsh_cuda *cu = wsh_cuda();
    size_t len = proxy->n_rings * sizeof *proxy->rings;
    int status;

    if (wsh_gpu_enter(&proxy->job->device.gpu))
        return -EIO;
    status = cu->host_alloc((void **)&proxy->rings, len, WSH_CU_HOST_PORTABLE_MAPPED);
    if (!status) {
        memset(proxy->rings, 0, len);
        status = cu->mem_alloc(&proxy->heads, heads_len);
    }
    if (!status)
        status = wsh_gpu_clear(proxy->heads, heads_len);
    wsh_gpu_leave(&proxy->job->device.gpu);
    if (!status)
        return 0;
    wsh_error("no %zu KiB of pinned memory for the rings to the proxy: %s; set SHMEM_PROXY_RINGS to less, or "
              "SHMEM_PROXY=off to refuse kernels what goes to other hosts",
              len >> 10, wsh_cuda_strerror(status));
    return -ENOMEM;
}

/* As many rings as asked for, or a few more: equally many for each thread. */
static int rings_choose(struct wsh_proxy *proxy)
{
    const struct wsh_job *job = proxy->job;
    long rings = job->env.proxy_rings, threads = job->env.proxy_threads, each;

    if (job->n_pes > WSH_RING_PES) {
        wsh_error(
            "%d PEs: what kernels ask of the host names at most %d; start fewer, or set SHMEM_PROXY=off",
            job->n_pes, WSH_RING_PES);
        return -EINVAL;
    }
    each = (rings + threads - 1) / threads;
    proxy->each = (unsigned)(each * threads <= WSH_RINGS_MAX ? each : WSH_RINGS_MAX / threads);
    proxy->n_threads = (unsigned)threads;
    proxy->n_rings = proxy->each * proxy->n_threads;
    return 0;
}

static int open_parts(struct wsh_proxy *proxy)
{
    int rc = rings_choose(proxy);

    if (!rc)
        rc = rings_allocate(proxy);
    for (unsigned i = 0; i < proxy->n_threads && !rc; i++) {
        struct wsh_proxy_thread *thread = &proxy->thread[i];

        thread->proxy = proxy;
        thread->number = i;
        thread->rings = &proxy->rings[i * proxy->each];
        rc = wsh_proxy_thread_start(thread);
    }
    return rc;
}

int wsh_proxy_open(struct wsh_job *job)
{
    struct wsh_proxy *proxy;
    int rc;

    if (!is_wanted(job))
        return 0;
    proxy = job->device.proxy = calloc(1, sizeof *job->device.proxy);
    if (!proxy)
        return -ENOMEM;
    proxy->job = job;
    rc = open_parts(proxy);
    if (!rc)
        rc = wsh_proxy_queues_open(job);
    if (rc) {
        wsh_proxy_close(job);
        return rc;
    }
    wsh_proxy_watch_set(proxy);
    wsh_info(WSH_SUB_PROXY, "kernels reach other hosts by %u proxy threads with %u rings of %zu KiB each",
             proxy->n_threads, proxy->each, sizeof(struct wsh_ring) >> 10);
    return 0;
}

/* What kernels have asked for is executed first, if all threads run. */
static void stop_threads(struct wsh_proxy *proxy)
{
    if (proxy->thread[proxy->n_threads - 1].runs)
        wsh_proxy_quiet(proxy->job);
    wsh_proxy_watch_set(NULL);
    __atomic_store_n(&proxy->stop, true, __ATOMIC_RELEASE); /* partner: wsh_wait_run */
    for (unsigned i = 0; i < proxy->n_threads; i++)
        wsh_proxy_thread_stop(&proxy->thread[i]);
}

void wsh_proxy_close(struct wsh_job *job)
{
    struct wsh_proxy *proxy = job->device.proxy;

    if (!proxy)
        return;
    if (proxy->n_threads)
        stop_threads(proxy);
    job->device.proxy = NULL;
    for (unsigned i = 0; i < proxy->n_threads; i++)
        wsh_proxy_thread_close(&proxy->thread[i]);
    wsh_proxy_queues_close(proxy);
    if (!wsh_gpu_enter(&job->device.gpu)) {
        if (proxy->heads)
            wsh_cuda()->mem_free(proxy->heads);
        if (proxy->rings)
            wsh_cuda()->host_free(proxy->rings);
        wsh_gpu_leave(&job->device.gpu);
    }
    free(proxy);
}

static void add_waits(const struct wsh_consumer *consumer, const struct wsh_ctx *ctx, uint64_t *kernels,
                      uint64_t *threads)
{
    *kernels += __atomic_load_n(&consumer->stats.waits, __ATOMIC_RELAXED);
    *threads += __atomic_load_n(&ctx->drains, __ATOMIC_RELAXED);
}

static void add_bytes(const struct wsh_consumer *consumer, uint64_t *moved, uint64_t *copied)
{
    *moved += __atomic_load_n(&consumer->stats.bytes, __ATOMIC_RELAXED);
    *copied += __atomic_load_n(&consumer->stats.copied, __ATOMIC_RELAXED);
}

void wsh_proxy_waits(const struct wsh_job *job, uint64_t *kernels, uint64_t *threads)
{
    const struct wsh_proxy *proxy = job->device.proxy;

    *kernels = *threads = 0;
    for (unsigned i = 0; proxy && i < proxy->n_threads; i++)
        add_waits(proxy->thread[i].consumer, &proxy->thread[i].ctx, kernels, threads);
    for (unsigned i = 0; proxy && i < proxy->n_queues; i++)
        add_waits(proxy->queue[i]->consumer, &proxy->queue[i]->ctx, kernels, threads);
}

void wsh_proxy_bytes(const struct wsh_job *job, uint64_t *moved, uint64_t *copied)
{
    const struct wsh_proxy *proxy = job->device.proxy;

    *moved = *copied = 0;
    for (unsigned i = 0; proxy && i < proxy->n_threads; i++)
        add_bytes(proxy->thread[i].consumer, moved, copied);
    for (unsigned i = 0; proxy && i < proxy->n_queues; i++)
        add_bytes(proxy->queue[i]->consumer, moved, copied);
}

struct host_quiet {
    struct wsh_proxy *proxy;
    uint64_t number[WSH_CONSUMERS_MAX]; /* of each thread; 0: it has nothing to do */
};

/* Acquire: partner is the thread's release. */
static int are_served(void *arg)
{
    const struct host_quiet *quiet = arg;

    for (unsigned i = 0; i < quiet->proxy->n_threads; i++)
        if (__atomic_load_n(&quiet->proxy->thread[i].served, __ATOMIC_ACQUIRE) < quiet->number[i])
            return -EAGAIN;
    return 0;
}

static void describe_consumer(const struct wsh_consumer *consumer, const struct wsh_ctx *ctx, char *text,
                              size_t size)
{
    unsigned aside = __atomic_load_n(&consumer->n_aside, __ATOMIC_RELAXED);

    if (aside)
        snprintf(text + strlen(text), size - strlen(text), "%u records find no room, the first at PE %d; ",
                 aside, __atomic_load_n(&consumer->waits_for, __ATOMIC_RELAXED));
    for (unsigned tp = 0; tp < ctx->job->n_tps; tp++)
        ctx->tctx[tp]->tp->ops->describe(ctx->tctx[tp], text + strlen(text), size - strlen(text));
}

static void quiet_describe(void *arg, char *text, size_t size)
{
    const struct wsh_proxy *proxy = ((struct host_quiet *)arg)->proxy;
    int at = snprintf(text, size, "the proxy: ");

    for (unsigned r = 0; r < proxy->n_rings && at > 0 && (size_t)at < size; r++) {
        const struct wsh_ring *ring = &proxy->rings[r];
        uint64_t started = __atomic_load_n(&ring->started, __ATOMIC_RELAXED),
                 done = __atomic_load_n(&ring->done, __ATOMIC_RELAXED);

        if (started != done)
            at += snprintf(text + at, size - (size_t)at, "ring %u of thread %u has %llu slots in use; ", r,
                           r / proxy->each, (unsigned long long)(started - done));
    }
    for (unsigned i = 0; i < proxy->n_queues && at > 0 && (size_t)at < size; i++)
        if (!wsh_rings_are_idle(proxy->queue[i]->ring, 1))
            at +=
                snprintf(text + at, size - (size_t)at, "queue %u is not done; ", i + WSH_DEVICE_QUEUE_FIRST);
    for (unsigned i = 0; i < proxy->n_threads; i++)
        describe_consumer(proxy->thread[i].consumer, &proxy->thread[i].ctx, text, size);
    for (unsigned i = 0; i < proxy->n_queues; i++)
        if (!wsh_rings_are_idle(proxy->queue[i]->ring, 1))
            describe_consumer(proxy->queue[i]->consumer, &proxy->queue[i]->ctx, text, size);
    wsh_gda_describe(proxy->job, text, size);
}

/* Its rings, and those of its queues. */
static bool is_idle(const struct wsh_proxy_thread *thread)
{
    const struct wsh_proxy_queue *queue;
    bool idle = wsh_rings_are_idle(thread->rings, thread->proxy->each);

    for (unsigned i = 0; idle && (queue = wsh_proxy_queue_of(thread, i)); i++)
        idle = wsh_rings_are_idle(queue->ring, 1);
    return idle;
}

static int rings_quiet(struct wsh_job *job)
{
    static const struct wsh_wait_why why = {"shmem_quiet", quiet_describe};
    struct host_quiet quiet = {job->device.proxy, {0}};
    bool idle = true;

    for (unsigned i = 0; quiet.proxy && i < quiet.proxy->n_threads; i++) {
        struct wsh_proxy_thread *thread = &quiet.proxy->thread[i];

        if (is_idle(thread))
            continue;
        idle = false;
        quiet.number[i] = __atomic_add_fetch(&thread->wanted, 1, __ATOMIC_RELEASE); /* partner: step */
    }
    return idle ? 0 : wsh_wait(job, &why, are_served, &quiet);
}

int wsh_proxy_quiet(struct wsh_job *job)
{
    int rc = rings_quiet(job);

    return rc ? rc : wsh_gda_quiet(job);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows the life of the proxy. It has one context and one thread: a fence is then the transports' own, with no drain,
 * and several threads would wait for the lock of the one transport that they share.
 */
#define _GNU_SOURCE
#include "runtime/proxy.h"

#include "device/view.h"
#include "runtime/base/err.h"
#include "runtime/base/log.h"
#include "runtime/job.h"
#include "runtime/order.h"
#include "runtime/proxy_exec.h"
#include "runtime/wait.h"

#include <shmem.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct wsh_proxy {
    struct wsh_job *job;
    unsigned n_rings;
    struct wsh_ring *rings; /* pinned */
    wsh_cu_ptr heads;       /* struct wsh_ring_heads */
    struct wsh_ctx ctx;
    bool has_ctx, runs, stop;
    struct wsh_consumer *consumer;
    pthread_t thread;
    uint64_t wanted, taken, served; /* quiets of the host: asked for, begun, over */
};

static bool is_wanted(const struct wsh_job *job)
{
    bool far = false;

    for (int pe = 0; pe < job->n_pes; pe++)
        far |= !job->same_host[pe];
    return job->env.proxy == WSH_PROXY_ON || (job->env.proxy == WSH_PROXY_AUTO && far);
}

/* Under the GPU's context. 0 or the driver's status. */
static int zero_heads(struct wsh_proxy *proxy)
{
    const struct wsh_cuda *cu = wsh_cuda();
    wsh_cu_stream stream;
    int status = cu->stream_create(&stream, WSH_CU_STREAM_NON_BLOCKING, 0);

    if (status)
        return status;
    status = cu->fill(proxy->heads, 0, sizeof(struct wsh_ring_heads), stream);
    if (!status)
        status = cu->stream_sync(stream);
    cu->stream_destroy(stream);
    return status;
}

static int allocate(struct wsh_proxy *proxy)
{
    const struct wsh_cuda *cu = wsh_cuda();
    size_t len = proxy->n_rings * sizeof *proxy->rings;
    int status;

    if (wsh_gpu_enter(&proxy->job->device.gpu))
        return -EIO;
    status = cu->host_alloc((void **)&proxy->rings, len, WSH_CU_HOST_PORTABLE_MAPPED);
    if (!status) {
        memset(proxy->rings, 0, len);
        status = cu->mem_alloc(&proxy->heads, sizeof(struct wsh_ring_heads));
    }
    if (!status)
        status = zero_heads(proxy);
    wsh_gpu_leave(&proxy->job->device.gpu);
    if (!status)
        return 0;
    wsh_error("no %zu KiB of pinned memory for the rings to the proxy: %s; set SHMEM_PROXY_RINGS to less, or "
              "SHMEM_PROXY=off to refuse kernels what goes to other hosts",
              len >> 10, wsh_cuda_strerror(status));
    return -ENOMEM;
}

/* A quiet of the host is one of the consumer's, over everything that is visible by now. */
static int step(void *arg)
{
    struct wsh_proxy *proxy = arg;
    uint64_t wanted = __atomic_load_n(&proxy->wanted, __ATOMIC_ACQUIRE); /* partner: wsh_proxy_quiet */
    int rc;

    if (wanted != proxy->taken) {
        proxy->taken = wanted;
        wsh_consumer_hold(proxy->consumer);
    }
    rc = wsh_consumer_step(proxy->consumer);
    if (rc >= 0 && !proxy->consumer->holds && proxy->taken != proxy->served) {
        __atomic_store_n(&proxy->served, proxy->taken, __ATOMIC_RELEASE); /* partner: is_served */
        rc = 1;
    }
    return rc;
}

static void *serve(void *arg)
{
    struct wsh_proxy *proxy = arg;

    if (wsh_wait_run(proxy->job, &proxy->stop, step, proxy) < 0)
        wsh_job_abort(1);
    return NULL;
}

/* With all signals blocked, so that the program's handlers run in its own threads. */
static int start_thread(struct wsh_proxy *proxy)
{
    sigset_t all, old;
    int err;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    err = pthread_create(&proxy->thread, NULL, serve, proxy);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (err) {
        wsh_error("no proxy thread: %s; raise the limit of processes (ulimit -u), or set SHMEM_PROXY=off",
                  wsh_strerror(err));
        return -err;
    }
    pthread_setname_np(proxy->thread, "shmem-proxy");
    proxy->runs = true;
    return 0;
}

/* The context is locked: shmem_finalize brings every context to quiet. */
static int open_parts(struct wsh_proxy *proxy)
{
    struct wsh_job *job = proxy->job;
    int rc = allocate(proxy);

    if (rc)
        return rc;
    rc = wsh_ctx_init(&proxy->ctx, job, &job->world, 0);
    proxy->has_ctx = !rc;
    if (rc)
        return rc;
    wsh_ctx_lock_always(&proxy->ctx, true);
    proxy->consumer = wsh_consumer_open(proxy->rings, proxy->n_rings, &wsh_proxy_exec_ops, &proxy->ctx);
    return proxy->consumer ? start_thread(proxy) : -ENOMEM;
}

int wsh_proxy_open(struct wsh_job *job)
{
    long n = job->env.proxy_rings;
    int rc;

    if (!is_wanted(job))
        return 0;
    if (n < 1 || n > WSH_RINGS_MAX || job->n_pes > 1 << WSH_RING_PE_BITS) {
        wsh_error("SHMEM_PROXY_RINGS=%ld: there may be 1 to %d rings, and %d PEs; see also SHMEM_PROXY", n,
                  WSH_RINGS_MAX, 1 << WSH_RING_PE_BITS);
        return -EINVAL;
    }
    job->device.proxy = calloc(1, sizeof *job->device.proxy);
    if (!job->device.proxy)
        return -ENOMEM;
    job->device.proxy->job = job;
    job->device.proxy->n_rings = (unsigned)n;
    rc = open_parts(job->device.proxy);
    if (rc)
        wsh_proxy_close(job);
    else
        wsh_info(WSH_SUB_PROXY, "kernels reach other hosts by a proxy thread and %ld rings of %zu KiB", n,
                 sizeof(struct wsh_ring) >> 10);
    return rc;
}

static void stop_thread(struct wsh_proxy *proxy)
{
    const struct wsh_consumer_stats *stats = &proxy->consumer->stats;

    wsh_proxy_quiet(proxy->job);
    __atomic_store_n(&proxy->stop, true, __ATOMIC_RELEASE); /* partner: wsh_wait_run */
    pthread_join(proxy->thread, NULL);
    wsh_info(
        WSH_SUB_PROXY,
        "the proxy took %llu records with %llu bytes, %llu fences and %llu quiets; at most %llu places of %u "
        "were in use; %llu times a transport had no room",
        (unsigned long long)stats->records, (unsigned long long)stats->bytes,
        (unsigned long long)stats->fences, (unsigned long long)stats->quiets,
        (unsigned long long)stats->depth, WSH_RING_PIECES, (unsigned long long)stats->refused);
}

void wsh_proxy_close(struct wsh_job *job)
{
    struct wsh_proxy *proxy = job->device.proxy;

    if (!proxy)
        return;
    if (proxy->runs)
        stop_thread(proxy);
    job->device.proxy = NULL;
    wsh_consumer_close(proxy->consumer);
    if (proxy->has_ctx)
        wsh_ctx_fini(&proxy->ctx);
    if (!wsh_gpu_enter(&job->device.gpu)) {
        if (proxy->heads)
            wsh_cuda()->mem_free(proxy->heads);
        if (proxy->rings)
            wsh_cuda()->host_free(proxy->rings);
        wsh_gpu_leave(&job->device.gpu);
    }
    free(proxy);
}

void wsh_proxy_view(const struct wsh_job *job, struct wsh_device *device)
{
    const struct wsh_proxy *proxy = job->device.proxy;

    device->n_rings = proxy ? proxy->n_rings : 0;
    device->rings = proxy ? (uint64_t)(uintptr_t)proxy->rings : 0;
    device->ring_heads = proxy ? proxy->heads : 0;
}

struct host_quiet {
    const struct wsh_proxy *proxy;
    uint64_t number;
};

/* Acquire: partner is the thread's release. */
static int is_served(void *arg)
{
    const struct host_quiet *quiet = arg;

    return __atomic_load_n(&quiet->proxy->served, __ATOMIC_ACQUIRE) >= quiet->number ? 0 : -EAGAIN;
}

static void describe(void *arg, char *text, size_t size)
{
    const struct wsh_proxy *proxy = ((struct host_quiet *)arg)->proxy;
    int at = snprintf(text, size, "the proxy: ");

    for (unsigned r = 0; r < proxy->n_rings && at > 0 && (size_t)at < size; r++) {
        const struct wsh_ring *ring = &proxy->rings[r];
        uint64_t started = __atomic_load_n(&ring->started, __ATOMIC_RELAXED),
                 done = __atomic_load_n(&ring->done, __ATOMIC_RELAXED);

        if (started != done)
            at += snprintf(text + at, size - (size_t)at, "ring %u has %llu places under way; ", r,
                           (unsigned long long)(started - done));
    }
}

int wsh_proxy_quiet(struct wsh_job *job)
{
    static const struct wsh_wait_why why = {"shmem_quiet", describe};
    struct wsh_proxy *proxy = job->device.proxy;
    struct host_quiet quiet = {proxy, 0};

    if (!proxy || wsh_rings_are_idle(proxy->rings, proxy->n_rings))
        return 0;
    quiet.number = __atomic_add_fetch(&proxy->wanted, 1, __ATOMIC_RELEASE); /* partner: step */
    return wsh_wait(job, &why, is_served, &quiet);
}

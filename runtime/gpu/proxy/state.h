/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the proxy share: its threads, each with rings, a context and a consumer of its own. */
#ifndef WSH_PROXY_STATE_H
#define WSH_PROXY_STATE_H

#include "device/view/view.h"

#include "base/cuda/cuda.h"
#include "runtime/op/ctx.h"
#include "runtime/gpu/gda/gda.h"
#include "runtime/gpu/proxy/ring.h"
#include "runtime/gpu/proxy/watch.h"
#include "runtime/job/job.h"

#include <pthread.h>

struct wsh_proxy;

struct wsh_proxy_thread {
    struct wsh_proxy *proxy;
    unsigned number;
    struct wsh_ring *rings; /* [proxy->each] */
    struct wsh_ctx ctx;
    struct wsh_gda_snapshot snapshot;
    bool has_ctx, runs;
    struct wsh_consumer *consumer;
    pthread_t id;
    struct wsh_proxy_life life;
    uint64_t wanted, taken, served; /* quiets of the host: asked for, begun, over */
    unsigned reports;               /* the last SIGUSR1 generation that was answered */
    uint64_t reported;              /* records executed at the last report */
    double reported_at;             /* time of the last report */
};

/* A queue that kernels name (proxy/queue.c). */
struct wsh_proxy_queue {
    struct wsh_ring *ring; /* pinned */
    wsh_cu_ptr heads;      /* struct wsh_ring_heads */
    struct wsh_ctx ctx;
    struct wsh_gda_snapshot snapshot;
    bool has_ctx;
    struct wsh_consumer *consumer;
};

struct wsh_proxy {
    struct wsh_job *job;
    unsigned n_rings, n_threads, each; /* each: rings of one thread */
    struct wsh_ring *rings;            /* pinned */
    wsh_cu_ptr heads;                  /* struct wsh_ring_heads */
    bool stop;
    struct wsh_proxy_thread thread[WSH_CONSUMERS_MAX]; /* [n_threads] */
    unsigned n_queues;                                 /* queue n is thread n modulo n_threads' */
    struct wsh_proxy_queue *queue[WSH_DEVICE_QUEUES];
};

/* Queues that differ, of those that the job asks for. */
static inline unsigned wsh_proxy_n_rows(const struct wsh_job *job)
{
    return job->device.n_queues < WSH_DEVICE_QUEUES ? job->device.n_queues : WSH_DEVICE_QUEUES;
}

/* Queues up to the number that the job asks for: 0 or a logged error. close: when no thread runs. */
int wsh_proxy_queues_open(struct wsh_job *job);
void wsh_proxy_queues_close(struct wsh_proxy *proxy);

/* The thread's queue i, or NULL behind the last one. By any thread. */
struct wsh_proxy_queue *wsh_proxy_queue_of(const struct wsh_proxy_thread *thread, unsigned i);

/* With its context and consumer, over its part of the rings. 0 or a logged error; stop: also where start failed. */
int wsh_proxy_thread_start(struct wsh_proxy_thread *thread);
void wsh_proxy_thread_stop(struct wsh_proxy_thread *thread);
void wsh_proxy_thread_close(struct wsh_proxy_thread *thread);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues that kernels name: each has a ring, a consumer and a context of its own, so that its quiet waits for nothing
 * else. One of the proxy's threads serves it. They stay until the proxy ends.
 */
#include "device/view/view.h"

#include "base/cuda/mem.h"
#include "base/log.h"
#include "runtime/job/job.h"
#include "runtime/gpu/host.h"
#include "runtime/gpu/proxy/proxy.h"
#include "runtime/gpu/proxy/exec.h"
#include "runtime/gpu/proxy/state.h"

#include <shmem.h>

#include <stdlib.h>
#include <string.h>

/* With the GPU's context current. 0 or the driver's status. */
static int rings_allocate(struct wsh_proxy_queue *queue)
{
    const struct wsh_cuda *cu = wsh_cuda();
    int status = cu->host_alloc((void **)&queue->ring, sizeof *queue->ring, WSH_CU_HOST_PORTABLE_MAPPED);

    if (!status) {
        memset(queue->ring, 0, sizeof *queue->ring);
        status = cu->mem_alloc(&queue->heads, sizeof(struct wsh_ring_heads));
    }
    return status ? status : wsh_gpu_clear(queue->heads, sizeof(struct wsh_ring_heads));
}

static void queue_close(struct wsh_proxy *proxy, struct wsh_proxy_queue *queue)
{
    if (queue->consumer)
        wsh_consumer_close(queue->consumer);
    if (queue->has_ctx)
        wsh_ctx_fini(&queue->ctx);
    if (!wsh_gpu_enter(&proxy->job->device.gpu)) {
        if (queue->heads)
            wsh_cuda()->mem_free(queue->heads);
        if (queue->ring)
            wsh_cuda()->host_free(queue->ring);
        wsh_gpu_leave(&proxy->job->device.gpu);
    }
    free(queue);
}

static int log_no_queue(unsigned n, int status)
{
    wsh_error(
        "no %zu KiB of pinned memory for queue %u of kernels: %s; set SHMEM_QUEUES to less, or have the "
        "program make fewer",
        sizeof(struct wsh_ring) >> 10, n, wsh_cuda_strerror(status));
    return -ENOMEM;
}

static int queue_start(struct wsh_proxy *proxy, struct wsh_proxy_queue *queue)
{
    struct wsh_job *job = proxy->job;
    int rc = wsh_ctx_init(&queue->ctx, job, &job->world, SHMEM_CTX_SERIALIZED);

    queue->has_ctx = !rc;
    if (rc)
        return rc;
    queue->ctx.proxy = true;
    queue->ctx.posted = &queue->snapshot;
    queue->consumer = wsh_consumer_open(queue->ring, 1, &wsh_proxy_exec_ops, &queue->ctx);
    return queue->consumer ? 0 : -ENOMEM;
}

/* Queue n, behind those there are. 0 or a logged error. */
static int queue_open(struct wsh_proxy *proxy, unsigned n)
{
    struct wsh_proxy_queue *queue = calloc(1, sizeof *queue);
    int status, rc;

    if (!queue || wsh_gpu_enter(&proxy->job->device.gpu)) {
        free(queue);
        return -ENOMEM;
    }
    status = rings_allocate(queue);
    wsh_gpu_leave(&proxy->job->device.gpu);
    rc = status ? log_no_queue(n, status) : queue_start(proxy, queue);
    if (rc) {
        queue_close(proxy, queue);
        return rc;
    }
    wsh_consumer_trace(queue->consumer, n % proxy->n_threads);
    proxy->queue[n] = queue;
    __atomic_store_n(&proxy->n_queues, n + 1, __ATOMIC_RELEASE); /* partner: wsh_proxy_queue_of */
    return 0;
}

int wsh_proxy_queues_open(struct wsh_job *job)
{
    struct wsh_proxy *proxy = job->device.proxy;
    int rc = 0;

    while (proxy && proxy->n_queues < wsh_proxy_n_rows(job) && !rc)
        rc = queue_open(proxy, proxy->n_queues);
    return rc;
}

void wsh_proxy_queues_close(struct wsh_proxy *proxy)
{
    for (unsigned i = 0; i < proxy->n_queues; i++)
        queue_close(proxy, proxy->queue[i]);
    proxy->n_queues = 0;
}

struct wsh_proxy_queue *wsh_proxy_queue_of(const struct wsh_proxy_thread *thread, unsigned i)
{
    const struct wsh_proxy *proxy = thread->proxy;
    unsigned n = thread->number + i * proxy->n_threads;

    /* partner: queue_open */
    return n < __atomic_load_n(&proxy->n_queues, __ATOMIC_ACQUIRE) ? proxy->queue[n] : NULL;
}

int wsh_proxy_add_queues(struct wsh_job *job, unsigned n, int *numbers)
{
    unsigned before = job->device.n_queues;
    int rc;

    job->device.n_queues = before + n;
    rc = job->device.attached ? wsh_proxy_queues_open(job) : 0;
    if (!rc && job->device.attached)
        rc = wsh_device_state_queues(job);
    if (rc)
        job->device.n_queues = before;
    for (unsigned i = 0; i < n && !rc; i++)
        numbers[i] = WSH_DEVICE_QUEUE_FIRST + (int)((before + i) % WSH_DEVICE_QUEUES);
    return rc;
}

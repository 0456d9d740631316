/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens the queues that kernels write, maps them for the GPU, and publishes the tables to kernels. */
#include "runtime/gpu/gda/gda.h"

#include "base/cuda/mem.h"
#include "base/err.h"
#include "base/log.h"
#include "runtime/gpu/gda/state.h"
#include "runtime/gpu/proxy/state.h"
#include "runtime/route/hosts.h"
#include "runtime/job/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WHY = 512 };

/* Those whose requests carry data, behind the others, where there are some. 0 or an error. */
static int open_values(struct wsh_gda_host *gda, struct wsh_tp *tp, char *why)
{
    const enum wsh_env_switch asked = gda->job->env.gda_inline;
    int rc;

    if (asked == WSH_OFF)
        return 0;
    rc = tp->ops->gda_open_values(tp, gda->n < 4 ? 1 : gda->n / 4, gda->queue + gda->n, why, WHY);
    if (rc < 0 && rc != -ENOTSUP)
        return rc;
    if (rc < 0 && asked == WSH_ON) {
        wsh_error("SHMEM_GDA_INLINE=on: %s; set it to auto, which sends such values by the proxy then", why);
        return -EINVAL;
    }
    if (rc < 0)
        wsh_info(WSH_SUB_PROXY, "values of kernels go by the proxy: %s", why);
    gda->n_values = rc < 0 ? 0 : (unsigned)rc;
    gda->n += gda->n_values;
    return 0;
}

/* The transport with such queues, opened; NULL: none, and `why` says why, or *rc is a logged error. */
static struct wsh_tp *open_queues(struct wsh_gda_host *gda, char *why, int *rc)
{
    const struct wsh_job *job = gda->job;
    struct wsh_tp *tp = NULL;

    *rc = -ENOTSUP;
    snprintf(why, WHY, "no transport reaches other hosts");
    for (unsigned i = 0; i < job->n_tps && !tp; i++)
        if (job->tp[i]->ops->remote)
            tp = job->tp[i];
    if (!tp)
        return NULL;
    *rc = tp->ops->gda_open(tp, (unsigned)job->env.gda_queues, gda->queue, WSH_GDA_QUEUES_MAX, why, WHY);
    if (*rc <= 0)
        return NULL;
    gda->n = (unsigned)*rc;
    *rc = open_values(gda, tp, why);
    return tp;
}

/* Where the GPU finds `addr` of a queue. 0, or -ENOTSUP with `why`. */
static int map_pages(struct wsh_gda_host *gda, const void *addr, size_t len, uint64_t *at, uint32_t *ordinary,
                     char *why)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)addr & ~(page - 1),
              end = ((uintptr_t)addr + len + page - 1) & ~(page - 1);
    struct wsh_gda_pages *pages;
    int status;

    for (pages = gda->pages; pages < gda->pages + gda->n_pages; pages++)
        if (first >= (uintptr_t)pages->base && end <= (uintptr_t)pages->base + pages->len)
            break;
    if (pages == gda->pages + gda->n_pages) {
        *pages = (struct wsh_gda_pages){(char *)first, end - first, 0, false};
        if (wsh_gpu_pin_io(pages->base, pages->len, &pages->at, &pages->ordinary, &status)) {
            snprintf(why, WHY,
                     "the GPU cannot be given the NIC's queues: %s; load NVIDIA's module with "
                     "NVreg_RegistryDwords=PeerMappingOverride=1",
                     wsh_cuda_strerror(status));
            return -ENOTSUP;
        }
        gda->n_pages++;
    }
    *at = pages->at + ((uintptr_t)addr - (uintptr_t)pages->base);
    *ordinary = pages->ordinary;
    return 0;
}

static int map_queue(struct wsh_gda_host *gda, unsigned i, char *why)
{
    const struct wsh_tp_queue *queue = &gda->queue[i];
    struct wsh_gda_queue *device = &gda->device.queue[i];
    uint32_t unused;
    int rc = map_pages(gda, queue->ring, (size_t)queue->entries * queue->entry_bytes, &device->ring,
                       &device->ordinary, why);

    if (!rc)
        rc = map_pages(gda, queue->doorbell, sizeof(uint32_t), &device->doorbell, &unused, why);
    device->marks = (uint64_t)(uintptr_t)&gda->marks[i];
    device->entries = queue->entries;
    device->entry_words = queue->entry_bytes / 8;
    device->max_batch = queue->max_batch;
    device->rail = queue->rail;
    if (queue->rail >= gda->n_rails)
        gda->n_rails = queue->rail + 1;
    return rc;
}

/* Entries of struct wsh_gda_peer[rail][pe]. */
static size_t n_peers(const struct wsh_gda_host *gda)
{
    return (size_t)gda->n_rails * (size_t)gda->job->n_pes;
}

/* Where transfers with what NICs take of the PE's memory go by the same transport. */
static void fill_remote(const struct wsh_gda_host *gda, unsigned rail, int pe, int seg,
                        struct wsh_gda_peer *peer)
{
    enum wsh_route_local local = seg < WSH_SEG_DEVICE ? WSH_LOCAL_HOST : WSH_LOCAL_REGISTERED;
    const struct wsh_rmem *rmem = wsh_route(&gda->job->routes, pe, seg, local, WSH_ROUTE_TRANSFER);

    if (!gda->device.local[seg].length || !rmem || rmem->tp != gda->tp ||
        gda->tp->ops->gda_remote(gda->tp, rail, rmem, &peer->key[seg]))
        return;
    peer->base[seg] = rmem->base;
    peer->usable |= 1u << seg;
}

/* PEs of this host are reached otherwise. */
static void fill_peers(const struct wsh_gda_host *gda, struct wsh_gda_peer *peer)
{
    for (unsigned rail = 0; rail < gda->n_rails; rail++)
        for (int pe = 0; pe < gda->job->n_pes; pe++, peer++) {
            struct wsh_tp_target target;

            if (gda->job->same_host[pe] || gda->tp->ops->gda_target(gda->tp, rail, pe, &target))
                continue;
            peer->target = (struct wsh_gda_target){target.ah, target.qpn, target.qkey};
            for (int seg = 0; seg < WSH_GDA_SEGS; seg++)
                fill_remote(gda, rail, pe, seg, peer);
        }
}

static void fill_local(struct wsh_gda_host *gda, int seg)
{
    const struct wsh_lmem *lmem = gda->job->lmem[gda->tp->index][seg];

    if (!lmem)
        return;
    gda->device.local[seg] =
        (struct wsh_gda_local){(uint64_t)(uintptr_t)gda->job->heap.seg[seg].base, lmem->len};
    for (unsigned i = 0; i < gda->n; i++)
        if (!gda->tp->ops->gda_local(gda->tp, gda->queue[i].rail, lmem, &gda->device.queue[i].key[seg]))
            gda->device.queue[i].usable |= 1u << seg;
}

/* What kernels need beside the queues; the image of the peers. */
static struct wsh_gda_peer *fill_tables(struct wsh_gda_host *gda)
{
    struct wsh_gda_peer *image = aligned_alloc(sizeof *image, n_peers(gda) * sizeof *image);

    if (!image)
        return NULL;
    memset(image, 0, n_peers(gda) * sizeof *image);
    gda->device.n_queues = gda->n - gda->n_values;
    gda->device.n_values = gda->n_values;
    gda->device.n_all = gda->n;
    gda->device.n_rails = gda->n_rails;
    for (unsigned i = 0; i < gda->n; i++)
        gda->device.queue[i].peers =
            gda->peers + (size_t)gda->queue[i].rail * (size_t)gda->job->n_pes * sizeof *image;
    for (int seg = 0; seg < WSH_GDA_SEGS; seg++)
        fill_local(gda, seg);
    fill_peers(gda, image);
    return image;
}

static int log_no_memory(int status)
{
    wsh_error("no memory for queues of kernels: %s; free device memory, or set SHMEM_GDA=off",
              wsh_cuda_strerror(status));
    return -ENOMEM;
}

static int publish(struct wsh_gda_host *gda)
{
    const size_t len = n_peers(gda) * sizeof(struct wsh_gda_peer);
    struct wsh_gda_peer *image;
    int status = wsh_cuda()->mem_alloc(&gda->peers, len);

    if (status)
        return log_no_memory(status);
    status = wsh_gda_counters_open(gda);
    image = status ? NULL : fill_tables(gda);
    if (!image)
        return status ? log_no_memory(status) : -ENOMEM;
    status = wsh_gpu_copy(gda->peers, image, len);
    if (!status)
        status = wsh_gpu_copy(gda->job->device.proxy->heads + sizeof(struct wsh_ring_heads), &gda->device,
                              sizeof gda->device);
    free(image);
    return status ? log_no_memory(status) : 0;
}

static int allocate_marks(struct wsh_gda_host *gda)
{
    size_t len = WSH_GDA_ALL_MAX * sizeof *gda->marks;
    int status = wsh_cuda()->host_alloc((void **)&gda->marks, len, WSH_CU_HOST_PORTABLE_MAPPED);

    if (status)
        return log_no_memory(status);
    memset(gda->marks, 0, len);
    for (unsigned i = 0; i < WSH_GDA_ALL_MAX; i++) {
        gda->queue[i].completed = &gda->marks[i].completed;
        gda->queue[i].mark = &gda->marks[i].mark;
    }
    return 0;
}

/* 0; -ENOTSUP with `why`; or a logged error. With the GPU's context current. */
static int open_parts(struct wsh_gda_host *gda, char *why)
{
    int rc = allocate_marks(gda);

    if (!rc)
        gda->tp = open_queues(gda, why, &rc);
    for (unsigned i = 0; i < gda->n && !rc; i++)
        rc = map_queue(gda, i, why);
    if (!rc)
        rc = publish(gda);
    return rc ? rc : wsh_gda_watch_start(gda);
}

/* Why it is not even tried; NULL: it is. */
static const char *hindrance(const struct wsh_job *job)
{
    if (!wsh_hosts_are_many(job))
        return "all PEs are on one host, whose GPUs need no NIC";
    if (!job->device.proxy)
        return "there is no proxy for what NICs cannot do (SHMEM_PROXY=off)";
    return NULL;
}

static int say_why(const struct wsh_job *job, const char *why)
{
    if (job->env.gda == WSH_ON) {
        wsh_error(
            "SHMEM_GDA=on: kernels cannot post to NICs: %s; `warpshmem-info --check` lists what it takes",
            why);
        return -ENOTSUP;
    }
    wsh_info(WSH_SUB_PROXY, "kernels do not post to NICs themselves: %s", why);
    return 0;
}

static int check_setting(const struct wsh_job *job)
{
    const long n = job->env.gda_queues;

    if (n >= 0 && n <= WSH_GDA_QUEUES_MAX && !(n & (n - 1)))
        return 0;
    wsh_error(
        "SHMEM_GDA_QUEUES=%ld: there may be 1, 2, 4, 8, 16 or %d queues, or 0 for as many as are sensible", n,
        WSH_GDA_QUEUES_MAX);
    return -EINVAL;
}

static int open_here(struct wsh_job *job, char *why)
{
    struct wsh_gda_host *gda = job->device.gda = calloc(1, sizeof *gda);
    int rc;

    if (!gda)
        return -ENOMEM;
    gda->job = job;
    if (wsh_gpu_enter(&job->device.gpu))
        return -EIO;
    rc = open_parts(gda, why);
    wsh_gpu_leave(&job->device.gpu);
    if (!rc)
        wsh_info(WSH_SUB_PROXY,
                 "kernels post to NICs: %u queues of %u requests and %u for values on %u NICs, %s%s%s",
                 gda->n - gda->n_values, gda->queue[0].entries, gda->n_values, gda->n_rails,
                 gda->device.local[WSH_SEG_DEVICE].length ? "device and " : "", "host memory",
                 gda->device.queue[0].usable & 1u << WSH_SEG_DEVICE ? "" : ", sources in host memory");
    return rc;
}

int wsh_gda_open(struct wsh_job *job)
{
    const char *no = hindrance(job);
    char why[WHY] = "";
    int rc = check_setting(job);

    if (rc || job->env.gda == WSH_OFF)
        return rc;
    if (no)
        return wsh_hosts_are_many(job) ? say_why(job, no) : (wsh_info(WSH_SUB_PROXY, "%s", no), 0);
    rc = open_here(job, why);
    if (rc)
        wsh_gda_close(job);
    return rc == -ENOTSUP ? say_why(job, why) : rc;
}

/* The GPU's mappings before the queues. */
void wsh_gda_close(struct wsh_job *job)
{
    struct wsh_gda_host *gda = job->device.gda;

    if (!gda)
        return;
    wsh_gda_watch_stop(gda);
    job->device.gda = NULL;
    if (!wsh_gpu_enter(&job->device.gpu)) {
        for (unsigned i = 0; i < gda->n_pages; i++)
            wsh_gpu_unpin(gda->pages[i].base);
        if (gda->peers)
            wsh_cuda()->mem_free(gda->peers);
        if (gda->device.counter_targets)
            wsh_cuda()->mem_free(gda->device.counter_targets);
        if (gda->tp)
            gda->tp->ops->gda_close(gda->tp);
        if (gda->marks)
            wsh_cuda()->host_free(gda->marks);
        wsh_gpu_leave(&job->device.gpu);
    }
    free(gda);
}

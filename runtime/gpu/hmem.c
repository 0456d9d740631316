/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows which transports take device memory, and when a transfer may go by them. */
#include "runtime/gpu/hmem.h"

#include "base/err.h"
#include "base/log.h"
#include "runtime/hosts.h"
#include "runtime/job.h"

#include <stdlib.h>

enum { HMEM_AUTO, HMEM_ON, HMEM_OFF }; /* of the setting */

bool wsh_hmem_wanted(const struct wsh_job *job)
{
    return job->env.hmem == HMEM_ON || (job->env.hmem == HMEM_AUTO && wsh_cuda_is_likely());
}

/* Transports of host memory come before those of device memory. */
static bool takes(const struct wsh_job *job, unsigned tp)
{
    return tp < job->device.first_tp && job->limits[tp].hmem &&
           wsh_route_allows(job, job->tp[tp]->ops, WSH_SEG_DEVICE);
}

static const char *obstacle(const struct wsh_job *job)
{
    if (job->env.hmem == HMEM_OFF)
        return "SHMEM_HMEM=off";
    if (!job->device.gpu.sees)
        return "the driver does not promise that the GPU sees what a NIC has written before later accesses "
               "(GPU_DIRECT_RDMA_WRITES_ORDERING)";
    for (unsigned tp = 0; tp < job->device.first_tp; tp++)
        if (takes(job, tp))
            return NULL;
    return wsh_hmem_wanted(job) ? "no transport takes it"
                                : "nobody was asked for it, since this host shows no NVIDIA driver "
                                  "(/dev/nvidiactl); SHMEM_HMEM=on asks all the same";
}

static int register_with(struct wsh_job *job, unsigned tp, const struct wsh_mem *mem)
{
    struct wsh_mem its = *mem;
    int rc = wsh_gpu_enter(&job->device.gpu);

    if (rc)
        return rc;
    its.gpu = job->device.gpu.ordinal;
    rc = wsh_route_register_with(job, tp, &its);
    wsh_gpu_leave(&job->device.gpu);
    if (rc)
        job->keys[tp].mem[mem->seg].len = 0;
    return rc == -ENOTSUP ? 0 : rc;
}

int wsh_hmem_register(struct wsh_job *job, const struct wsh_mem *mem)
{
    int rc = 0;

    if (!job->device.direct)
        return 0;
    for (unsigned tp = 0; tp < job->n_tps && !rc; tp++)
        if (takes(job, tp))
            rc = register_with(job, tp, mem);
    return rc;
}

int wsh_hmem_open(struct wsh_job *job)
{
    const struct wsh_gpu_mem *heap = &job->device.mem;
    const struct wsh_mem mem = {WSH_SEG_DEVICE, WSH_MEM_DEVICE, heap->base, heap->len, heap->fd, NULL, 0, 0};
    const char *why = wsh_hosts_are_many(job) ? obstacle(job) : "";

    if (why && *why)
        wsh_info(WSH_SUB_TRANSPORT, "device memory of PEs on other hosts is reached through host memory: %s",
                 why);
    if (why)
        return 0;
    job->device.direct = calloc((size_t)job->n_pes * WSH_SEGS, sizeof *job->device.direct);
    return job->device.direct ? wsh_hmem_register(job, &mem) : -ENOMEM;
}

static void forget(struct wsh_job *job, int seg)
{
    for (int pe = 0; pe < job->n_pes; pe++) {
        struct wsh_route *direct = &job->device.direct[(size_t)pe * WSH_SEGS + (size_t)seg];

        if (direct->ops)
            direct->ops->mem_detach(direct->rmem.tp, &direct->rmem);
        *direct = (struct wsh_route){0};
    }
}

void wsh_hmem_withdraw(struct wsh_job *job, int seg)
{
    if (!job->device.direct)
        return;
    forget(job, seg);
    for (unsigned tp = 0; tp < job->device.first_tp; tp++) {
        if (job->lmem[tp][seg])
            job->tp[tp]->ops->mem_release(job->tp[tp], job->lmem[tp][seg]);
        job->lmem[tp][seg] = NULL;
        job->keys[tp].mem[seg].len = 0;
    }
}

void wsh_hmem_close(struct wsh_job *job)
{
    for (int seg = WSH_SEG_DEVICE; seg < WSH_SEGS; seg++)
        wsh_hmem_withdraw(job, seg);
    free(job->device.direct);
    job->device.direct = NULL;
}

/* 1 = took it, 0 = not this way. */
static int try_direct(struct wsh_job *job, int pe, int seg, unsigned tp, const struct wsh_peer_blob *peer)
{
    struct wsh_route *direct = &job->device.direct[(size_t)pe * WSH_SEGS + (size_t)seg];
    const struct wsh_tp_ops *ops = job->tp[tp]->ops;
    size_t len;
    const void *key = wsh_peer_blob_mem(peer, ops->name, seg, &len);
    int rc;

    if (!takes(job, tp) || !key || !len ||
        ~ops->reach(job->tp[tp], pe, WSH_MEM_DEVICE) & (WSH_REACH_PUT | WSH_REACH_GET))
        return 0;
    rc = ops->mem_attach(job->tp[tp], pe, (enum wsh_seg)seg, key, len, &direct->rmem);
    if (rc)
        return rc;
    direct->rmem.tp = job->tp[tp];
    direct->tp = tp;
    direct->ops = ops;
    return 1;
}

static void tell(const struct wsh_job *job, int seg)
{
    int far = 0, direct = 0;

    for (int pe = 0; pe < job->n_pes; pe++) {
        far += !job->same_host[pe];
        direct += job->device.direct[(size_t)pe * WSH_SEGS + (size_t)seg].ops != NULL;
    }
    wsh_info(WSH_SUB_TRANSPORT,
             "NICs put to and get from device memory (segment %d) of %d of %d PEs on other hosts themselves; "
             "atomics and signals on it are their GPUs', as is all of the others'",
             seg, direct, far);
}

int wsh_hmem_connect(struct wsh_job *job, int seg, const struct wsh_peer_blob *peers)
{
    int rc = 0;

    if (!job->device.direct)
        return 0;
    for (int pe = 0; pe < job->n_pes && rc >= 0; pe++) {
        rc = 0;
        for (unsigned tp = 0; tp < job->device.first_tp && !rc && !job->same_host[pe]; tp++)
            rc = try_direct(job, pe, seg, tp, &peers[pe]);
    }
    if (rc < 0)
        return rc;
    tell(job, seg);
    return 0;
}

/* Device memory that the program has allocated by itself is none that a NIC takes. */
static bool takes_local(const struct wsh_job *job, unsigned tp, const void *local)
{
    size_t off;
    int seg = local ? wsh_heap_find(&job->heap, local, 1, &off) : WSH_SEG_HEAP;

    if (seg >= 0)
        return seg < WSH_SEG_DEVICE || job->lmem[tp][seg];
    return !wsh_gpu_may_hold(&job->device.gpu, local);
}

const struct wsh_route *wsh_hmem_route(const struct wsh_job *job, const struct wsh_route *route, int seg,
                                       const void *local)
{
    const struct wsh_route *direct = route;

    if (seg >= WSH_SEG_DEVICE && job->device.direct)
        direct = &job->device.direct[route - job->routes];
    if (job->device.direct && direct->ops && !direct->rmem.map && takes(job, direct->tp) &&
        takes_local(job, direct->tp, local))
        return direct;
    return seg >= WSH_SEG_DEVICE ? route : wsh_device_copy_route(job, route);
}

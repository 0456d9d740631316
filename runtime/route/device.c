/* SPDX-License-Identifier: BSD-3-Clause */
/* Which memory here is a GPU's, and whether NICs reach device memory themselves. */
#include "base/log.h"
#include "runtime/route/hosts.h"
#include "runtime/job/job.h"
#include "runtime/route/route.h"

enum { HMEM_AUTO, HMEM_ON, HMEM_OFF }; /* of the setting */

bool wsh_route_wants_nics(const struct wsh_job *job)
{
    return job->env.hmem == HMEM_ON || (job->env.hmem == HMEM_AUTO && wsh_cuda_is_likely());
}

static bool takes_device(const struct wsh_job *job, unsigned tp)
{
    return tp < job->device.first_tp && job->limits[tp].hmem &&
           wsh_route_allows(job, job->tp[tp]->ops, WSH_SEG_DEVICE);
}

bool wsh_route_has_nics(const struct wsh_job *job, unsigned tp)
{
    return job->routes.nics && takes_device(job, tp);
}

static const char *nics_obstacle(const struct wsh_job *job)
{
    if (job->env.hmem == HMEM_OFF)
        return "SHMEM_HMEM=off";
    if (!job->device.gpu.sees)
        return "the driver does not promise that the GPU sees what a NIC has written before later accesses "
               "(GPU_DIRECT_RDMA_WRITES_ORDERING)";
    for (unsigned tp = 0; tp < job->device.first_tp; tp++)
        if (takes_device(job, tp))
            return NULL;
    return wsh_route_wants_nics(job)
               ? "no transport takes it"
               : "no transport was asked for it, since this host shows no NVIDIA driver "
                 "(/dev/nvidiactl); SHMEM_HMEM=on asks all the same";
}

void wsh_route_choose_nics(struct wsh_job *job)
{
    bool many = wsh_hosts_are_many(job);
    const char *why = many ? nics_obstacle(job) : NULL;

    job->routes.nics = many && !why;
    if (why)
        wsh_info(WSH_SUB_TRANSPORT, "device memory of PEs on other hosts is reached through host memory: %s",
                 why);
}

void wsh_route_report_nics(const struct wsh_job *job, int seg)
{
    int remote = 0, direct = 0;

    for (int pe = 0; pe < job->n_pes; pe++) {
        remote += !job->same_host[pe];
        direct += wsh_route_method(&job->routes, pe, seg) == WSH_METHOD_NIC_DEVICE;
    }
    wsh_info(WSH_SUB_TRANSPORT,
             "NICs put to and get from device memory (segment %d) of %d of %d PEs on other hosts themselves; "
             "their GPUs apply atomics and signals there, and the GPUs of the other PEs all operations",
             seg, direct, remote);
}

/* The driver is asked only where NICs would touch memory that the program need not have named. */
enum wsh_route_local wsh_route_local(const struct wsh_job *job, const void *local, int pe, int seg)
{
    size_t off;
    int own = local ? wsh_heap_find(&job->heap, local, 1, &off) : WSH_SEG_HEAP;

    if (own < 0) /* memory that the program has named (shmemx_buffer_register) */
        own = wsh_ranges_find(job->device.local, local, 1);
    if (own >= 0)
        return job->routes.local[own];
    return wsh_route_method(&job->routes, pe, seg) == WSH_METHOD_NIC_DEVICE &&
                   wsh_gpu_may_hold(&job->device.gpu, local)
               ? WSH_LOCAL_DEVICE
               : WSH_LOCAL_HOST;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The halves of calls as kernels: both halves of a call are one kernel, so that a call is one launch. What differs from
 * call to call lies in the GPU's memory (ep_state), so that a captured launch may be replayed. A call without halves
 * does nothing: the first launch of each, which makes the driver load it.
 */
#include "ep/device/run.cuh" /* before the steps, which then take it for what they run on */
#include "ep/device/kernels.h"

#include "ep/steps/combine.h"
#include "ep/steps/dispatch.h"

/* What shmemx_ep_counts waits for, in memory of the host. */
struct ep_published {
    uint64_t *host;  /* [handles]: the ticket of the last dispatch that has ended */
    char *kept;      /* [handles] of ep_published_bytes */
    uint64_t ticket; /* of this launch; 0: of a graph, which the host does not wait for */
};

/* What is put to the host of a handle: all up to the sums. */
EP_FN size_t ep_published_bytes(const struct ep_shape *shape)
{
    return ep_kept_far_parts(shape, 0) - shape->handle;
}

/* At the end of a receiving half: one warp puts the handle's numbers to the host. */
EP_STEP void ep_publish(const struct ep_run *run, const struct ep_published *published, int handle)
{
    const struct ep_shape *shape = &run->shape;
    size_t bytes = ep_published_bytes(shape);
    const char *from = run->arena + shape->handle + handle * shape->kept;
    char *to = published->kept + handle * bytes;

    if (!ep_grid_last(run->state->arrived + EP_ARRIVED_PUBLISH) || ep_group_worker(run) != 0)
        return;
    if (published->ticket)
        shmem_putmem_signal_nbi_warp(to, from, bytes, published->host + handle, published->ticket, SHMEM_SIGNAL_SET,
                                     run->pes[shape->me]);
    else
        shmem_putmem_nbi_warp(to, from, bytes, run->pes[shape->me]);
}

static __global__ void __launch_bounds__(EP_THREADS)
    ep_kernel_dispatch(const __grid_constant__ struct ep_run run, const __grid_constant__ struct ep_published published,
                       const __grid_constant__ shmemx_ep_dispatch_t call)
{
    ep_begin();
    if (call.halves)
        EP_CLOCK(&run, 0);
    if (call.halves & SHMEMX_EP_SEND)
        ep_dispatch_send(&run, &call);
    EP_CLOCK(&run, 3);
    if (call.halves & SHMEMX_EP_RECEIVE) {
        ep_dispatch_receive(&run, &call);
        ep_publish(&run, &published, call.handle);
        EP_CLOCK(&run, 6);
    }
}

static __global__ void __launch_bounds__(EP_THREADS)
    ep_kernel_combine(const __grid_constant__ struct ep_run run, const __grid_constant__ shmemx_ep_combine_t call)
{
    ep_begin();
    if (call.halves)
        EP_CLOCK(&run, 8);
    if (call.halves & SHMEMX_EP_SEND)
        ep_combine_send(&run, &call);
    EP_CLOCK(&run, 10);
    if (call.halves & SHMEMX_EP_RECEIVE) {
        ep_combine_receive(&run, &call);
        EP_CLOCK(&run, 12);
    }
}

#include "ep/device/launch.cuh"

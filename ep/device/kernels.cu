/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The halves of calls as kernels: both halves of a call are one kernel, so that a call is one launch. What differs from
 * call to call lies in the GPU's memory (ep_state), so that a captured launch may be replayed. A call without halves
 * does nothing: the first launch of each, which makes the driver load it.
 */
#define EP_PULL_FAR 1
#include "ep/device/run.cuh" /* before the steps, which then take it for what they run on */
#include "ep/device/kernels.h"
#include "ep/device/publish.cuh"

#include "ep/steps/combine.h"

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
        if (!ep_tells_early(&call))
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

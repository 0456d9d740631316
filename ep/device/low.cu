/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels of low latency, among near PEs, also with masks (low_masks.cu), or with far peers (low_far.cu): one a call,
 * of both halves or of one. What differs from call to call lies in the GPU's memory (ep_state), so that a captured
 * launch may be replayed.
 */
#include "ep/device/run.cuh" /* before the steps, which then take it for what they run on */

#include "ep/device/kernels.h"
#include "ep/low/calls.h"
#ifdef EP_LOW_MASKS
#include "ep/device/masks/ends.cuh"
#endif

static __global__ void __launch_bounds__(EP_THREADS)
    dispatch(const __grid_constant__ struct ep_run run, const __grid_constant__ shmemx_ep_dispatch_t call)
{
    if (!call.halves)
        return;
    ep_low_masks_begin(&run);
    ep_low_dispatch(&run, &call, call.halves);
}

static __global__ void __launch_bounds__(EP_THREADS)
    combine(const __grid_constant__ struct ep_run run, const __grid_constant__ shmemx_ep_combine_t call)
{
    if (!call.halves)
        return;
    ep_low_masks_begin(&run);
    ep_low_combine(&run, &call, call.halves);
}

#ifdef EP_LOW_MASKS
const struct ep_low_kernels ep_low_masks_kernels = {(const void *)dispatch, (const void *)combine};
#elif defined EP_LOW_FAR
const struct ep_low_kernels ep_low_far_kernels = {(const void *)dispatch, (const void *)combine};
#else
const struct ep_low_kernels ep_low_near_kernels = {(const void *)dispatch, (const void *)combine};
#endif

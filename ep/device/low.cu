/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels of low latency, among near PEs or with far peers (low_far.cu), also with masks (low_masks.cu,
 * low_far_masks.cu): one a call, of both halves or of one. A dispatch of NVFP4 (low_nvfp4.cu) is apart, as are a
 * combine with signals (low_signals.cu) and of one half among near PEs (low_halves.cu). What differs from call to call
 * lies in the GPU's memory (ep_state), so that a captured launch may be replayed.
 */
#include "ep/device/run.cuh" /* before the steps, which then take it for what they run on */

#include "ep/device/kernels.h"
#include "ep/low/calls.h"
#ifdef EP_LOW_MASKS
#include "ep/device/masks/ends.cuh"
#endif

#if !defined EP_LOW_SIGNALS && !defined EP_LOW_HALVES
static __global__ void __launch_bounds__(EP_THREADS)
    dispatch(const __grid_constant__ struct ep_run run, const __grid_constant__ shmemx_ep_dispatch_t call)
{
    if (!call.halves)
        return;
    ep_low_dispatch(&run, &call, call.halves);
}
#endif

#ifndef EP_LOW_NVFP4
static __global__ void __launch_bounds__(EP_THREADS)
    combine(const __grid_constant__ struct ep_run run, const __grid_constant__ shmemx_ep_combine_t call)
{
    if (!call.halves)
        return;
    ep_low_combine(&run, &call, call.halves);
}
#endif

#if defined EP_LOW_MASKS && defined EP_LOW_FAR
const struct ep_low_kernels ep_low_far_masks_kernels = {(const void *)dispatch, (const void *)combine};
#elif defined EP_LOW_MASKS
const struct ep_low_kernels ep_low_masks_kernels = {(const void *)dispatch, (const void *)combine};
#elif defined EP_LOW_NVFP4
const void *const ep_kernel_nvfp4_dispatch = (const void *)dispatch;
#elif defined EP_LOW_SIGNALS
const void *const ep_kernel_signals_combine = (const void *)combine;
#elif defined EP_LOW_HALVES
const void *const ep_kernel_halves_combine = (const void *)combine;
#elif defined EP_LOW_FAR
const struct ep_low_kernels ep_low_far_kernels = {(const void *)dispatch, (const void *)combine};
#else
const struct ep_low_kernels ep_low_near_kernels = {(const void *)dispatch, (const void *)combine};
#endif

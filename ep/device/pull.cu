/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of high throughput in one host, as those of low latency in low.cu. */
#include "ep/device/run.cuh" /* before the steps, which then take it for what they run on */

#include "ep/device/kernels.h"
#include "ep/steps/add.h"

static __global__ void __launch_bounds__(EP_THREADS, 1)
    dispatch(const __grid_constant__ struct ep_run run, const __grid_constant__ shmemx_ep_dispatch_t call)
{
    if (call.halves)
        ep_pull_dispatch(&run, &call, call.halves);
}

static __global__ void __launch_bounds__(EP_THREADS, 1)
    combine(const __grid_constant__ struct ep_run run, const __grid_constant__ shmemx_ep_combine_t call)
{
    if (call.halves)
        ep_add_combine(&run, &call, call.halves);
}

const void *const ep_kernel_pull_dispatch = (const void *)dispatch;
const void *const ep_kernel_pull_combine = (const void *)combine;

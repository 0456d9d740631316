/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of high throughput in one host, as those of low latency in low.cu. */
#include "ep/device/run.cuh" /* before the steps, which then take it for what they run on */

#include "ep/device/kernels.h"
#include "ep/steps/add.h"

#ifdef EP_EXPANDS
static __global__ void __launch_bounds__(EP_THREADS, 1)
    dispatch(const __grid_constant__ struct ep_run_expanded run, const __grid_constant__ shmemx_ep_dispatch_t call)
{
    if (call.halves)
        ep_pull_dispatch(&run.run, &call, call.halves);
}
#else
static __global__ void __launch_bounds__(EP_THREADS, 1)
    dispatch(const __grid_constant__ struct ep_run run, const __grid_constant__ shmemx_ep_dispatch_t call)
{
    if (call.halves)
        ep_pull_dispatch(&run, &call, call.halves);
}
#endif

static __global__ void __launch_bounds__(EP_THREADS, 1)
    combine(const __grid_constant__ struct ep_run run, const __grid_constant__ shmemx_ep_combine_t call)
{
    if (call.halves)
        ep_add_combine(&run, &call, call.halves);
}

#ifdef EP_EXPANDS
const void *const ep_kernel_expanded_dispatch = (const void *)dispatch;
const void *const ep_kernel_expanded_combine = (const void *)combine;
#else
const void *const ep_kernel_pull_dispatch = (const void *)dispatch;
const void *const ep_kernel_pull_combine = (const void *)combine;
#endif

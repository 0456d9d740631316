/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels as the host starts them that are compiled apart (low.cu and those that include it, pull.cu). */
#ifndef WSH_EP_DEVICE_KERNELS_H
#define WSH_EP_DEVICE_KERNELS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Their arguments are struct ep_run and the call. A call without halves does nothing. */
struct ep_low_kernels {
    const void *dispatch, *combine;
};

/* Among near PEs alone, and with far peers; both also with masks. */
extern const struct ep_low_kernels ep_low_near_kernels, ep_low_masks_kernels, ep_low_far_kernels,
    ep_low_far_masks_kernels;
/* Among near PEs, of rows of SHMEMX_EP_NVFP4; of one half; with signals. */
extern const void *const ep_kernel_nvfp4_dispatch;
extern const void *const ep_kernel_halves_combine, *const ep_kernel_signals_combine;

/* The same of high throughput, but a dispatch has struct ep_published between the two. */
extern const void *const ep_kernel_pull_dispatch, *const ep_kernel_pull_combine;

/* The same that expand rows: a dispatch has struct ep_run_expanded, a combine `places`. */
extern const void *const ep_kernel_expanded_dispatch, *const ep_kernel_expanded_combine;

#ifdef __cplusplus
}
#endif

#endif

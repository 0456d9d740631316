/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels as the host starts them that are compiled apart (low.cu, low_masks.cu, low_far.cu, pull.cu). */
#ifndef WSH_EP_DEVICE_KERNELS_H
#define WSH_EP_DEVICE_KERNELS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Their arguments are struct ep_run and the call. A call without halves does nothing. */
struct ep_low_kernels {
    const void *dispatch, *combine;
};

/* Among near PEs alone, also with masks, and with far peers. */
extern const struct ep_low_kernels ep_low_near_kernels, ep_low_masks_kernels, ep_low_far_kernels;

/* The same of high throughput, but a dispatch has struct ep_published between the two. */
extern const void *const ep_kernel_pull_dispatch, *const ep_kernel_pull_combine;

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of low latency, as the host starts them; they are compiled apart (low.cu, low_far.cu). */
#ifndef WSH_EP_DEVICE_KERNELS_H
#define WSH_EP_DEVICE_KERNELS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Their arguments are struct ep_run and the call. A call without halves does nothing. */
struct ep_low_kernels {
    const void *dispatch, *combine;
};

/* Among near PEs alone, and with far peers. */
extern const struct ep_low_kernels ep_low_near_kernels, ep_low_far_kernels;

#ifdef __cplusplus
}
#endif

#endif

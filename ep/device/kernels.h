/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of low latency among near PEs, as the host starts them; they are compiled apart (low.cu). */
#ifndef WSH_EP_DEVICE_KERNELS_H
#define WSH_EP_DEVICE_KERNELS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Their arguments are struct ep_run and the call. A call without halves does nothing. */
extern const void *const ep_kernel_low_dispatch, *const ep_kernel_low_combine;

#ifdef __cplusplus
}
#endif

#endif

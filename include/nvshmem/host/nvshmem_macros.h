/* SPDX-License-Identifier: BSD-3-Clause */
/* For programs that include it by this path: which sides a routine has. */
#ifndef WSH_NV_HOST_MACROS_H
#define WSH_NV_HOST_MACROS_H

#if defined __CUDACC__ && !defined NVSHMEM_HOSTLIB_ONLY && !defined SHMEMX_HOST_ONLY
#define NVSHMEMI_HOSTDEVICE_PREFIX __host__ __device__
#define NVSHMEMI_DEVICE_PREFIX __device__
#else
#define NVSHMEMI_HOSTDEVICE_PREFIX
#define NVSHMEMI_DEVICE_PREFIX
#endif

#endif

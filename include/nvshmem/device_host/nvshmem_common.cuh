/* SPDX-License-Identifier: BSD-3-Clause */
/* For programs that include it by this path. */
#ifndef WSH_NV_DEVICE_HOST_NVSHMEM_COMMON_CUH
#define WSH_NV_DEVICE_HOST_NVSHMEM_COMMON_CUH

#include "../names/all.h"

#endif

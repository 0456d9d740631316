/* SPDX-License-Identifier: BSD-3-Clause */
/* For programs that include it by this path. */
#ifndef WSH_NV_DEVICE_NVSHMEM_COLL_DEFINES_CUH
#define WSH_NV_DEVICE_NVSHMEM_COLL_DEFINES_CUH

#include "../names/all.h"

#endif

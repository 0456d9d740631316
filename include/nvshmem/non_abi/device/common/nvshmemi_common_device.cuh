/* SPDX-License-Identifier: BSD-3-Clause */
/* For programs that include it by this path. */
#ifndef WSH_NV_NA_COMMON_NVSHMEMI_COMMON_DEVICE_CUH
#define WSH_NV_NA_COMMON_NVSHMEMI_COMMON_DEVICE_CUH

#include "../../../names/all.h"

#endif

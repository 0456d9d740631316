/* SPDX-License-Identifier: BSD-3-Clause */
/* For programs that include it by this path. */
#ifndef WSH_NV_NA_PT_TO_PT_PROXY_DEVICE_CUH
#define WSH_NV_NA_PT_TO_PT_PROXY_DEVICE_CUH

#include "../../../names/all.h"

#endif

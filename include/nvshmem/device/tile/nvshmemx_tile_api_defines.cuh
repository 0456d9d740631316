/* SPDX-License-Identifier: BSD-3-Clause */
/* For programs that include it by this path. */
#ifndef WSH_NV_DEVICE_NVSHMEMX_TILE_API_DEFINES_CUH
#define WSH_NV_DEVICE_NVSHMEMX_TILE_API_DEFINES_CUH

#include "nvshmemx_tile_api.hpp"

#endif

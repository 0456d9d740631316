/* SPDX-License-Identifier: BSD-3-Clause */
/* For programs that include it by this path. */
#ifndef WSH_NV_HOST_NVSHMEMX_API_H
#define WSH_NV_HOST_NVSHMEMX_API_H

#include "../names/all.h"

#endif

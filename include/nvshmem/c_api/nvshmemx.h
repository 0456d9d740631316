/* SPDX-License-Identifier: BSD-3-Clause */
/* For programs that include it by this path. */
#ifndef WSH_NV_C_API_NVSHMEMX_H
#define WSH_NV_C_API_NVSHMEMX_H

#include "../nvshmemx.h"

#endif

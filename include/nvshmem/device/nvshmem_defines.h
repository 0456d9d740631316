/* SPDX-License-Identifier: BSD-3-Clause */
/* For programs that include it by this path. */
#ifndef WSH_NV_DEVICE_NVSHMEM_DEFINES_H
#define WSH_NV_DEVICE_NVSHMEM_DEFINES_H

#include "../names/all.h"

#endif

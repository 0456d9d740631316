/* SPDX-License-Identifier: BSD-3-Clause */
/* For programs that include it by this path. */
#ifndef WSH_NV_DEVICE_HOST_TRANSPORT_NVSHMEM_COMMON_IBGDA_H
#define WSH_NV_DEVICE_HOST_TRANSPORT_NVSHMEM_COMMON_IBGDA_H

#include "../names/all.h"

#endif

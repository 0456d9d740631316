/* SPDX-License-Identifier: BSD-3-Clause */
/* For programs that include it by this path. */
#ifndef WSH_NV_C_API_NVSHMEM_H
#define WSH_NV_C_API_NVSHMEM_H

#include "../nvshmem.h"

#endif

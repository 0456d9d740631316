/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of NVSHMEM, as nvshmem.h. */
#ifndef WSH_NV_NVSHMEMX_H
#define WSH_NV_NVSHMEMX_H

#include "names/all.h"

#endif

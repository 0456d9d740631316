/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of NVSHMEM 3.8 over shmemx.h: see docs/guide/nvshmem.md. */
#ifndef WSH_NV_NVSHMEM_H
#define WSH_NV_NVSHMEM_H

#include "names/all.h"

#endif

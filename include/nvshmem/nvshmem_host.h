/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of NVSHMEM, as nvshmem.h; those of kernels only under nvcc. */
#ifndef WSH_NV_NVSHMEM_HOST_H
#define WSH_NV_NVSHMEM_HOST_H

#include "names/all.h"

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of NVSHMEM, as nvshmem.h; under nvcc with tiles, whose tensors are of libcu++. */
#ifndef WSH_NV_NVSHMEMX_H
#define WSH_NV_NVSHMEMX_H

#include "names/all.h"

#if defined WSH_NV_KERNELS && !defined __CUDACC_RTC__ && !defined WSH_NV_SYMBOLS
extern "C++" {
#include "device/tile/nvshmemx_tile_api.hpp"
}
#endif

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Every routine of include/nvshmem for kernels as a function with C linkage: what the libraries hold. */
#ifndef WSH_DEVICE_NAMES_CUH
#define WSH_DEVICE_NAMES_CUH

#define WSH_NV_SYMBOLS
#include <nvshmem.h>

/* In C the names of macros. */
#undef nvshmem_sync
extern "C" __device__ int nvshmem_sync(nvshmem_team_t team)
{
    return nvshmem_team_sync(team);
}

extern "C" __device__ int nvshmemx_sync_warp(nvshmem_team_t team)
{
    return nvshmemx_team_sync_warp(team);
}

extern "C" __device__ int nvshmemx_sync_block(nvshmem_team_t team)
{
    return nvshmemx_team_sync_block(team);
}

#ifdef __CUDA_ARCH__ /* the pass of the host has no use for them, and no device code to make them of */
#include "once.cuh"
#endif

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public names of fence and quiet in device code (section 9.12). Contracts as in shmem/order.h. Those of a warp or
 * block do the work once for all its threads, which is cheaper than each thread for itself.
 */
#ifndef WSH_DEVICE_API_ORDER_CUH
#define WSH_DEVICE_API_ORDER_CUH

#include "shell.cuh"

#ifdef __CUDA_ARCH__
#include "../core/order.cuh"
#endif

/* clang-format off */

#define WSH_ORDER(QUALIFIER, SUFFIX, SCOPE, NAME)                                                            \
    QUALIFIER void shmem_##NAME##SUFFIX(void)                                                                \
    WSH_BODY(wsh_dev_##NAME<SCOPE>();)                                                                       \
    QUALIFIER void shmem_ctx_##NAME##SUFFIX(shmem_ctx_t ctx)                                                 \
    WSH_BODY(if (ctx != SHMEM_CTX_INVALID) wsh_dev_##NAME<SCOPE>();)
WSH_EVERY_SCOPE(WSH_ORDER, fence)
WSH_EVERY_SCOPE(WSH_ORDER, quiet)
#undef WSH_ORDER

WSH_BOTH void shmem_pe_quiet(const int *target_pes, size_t npes)
WSH_BODY(if (target_pes && npes) wsh_dev_quiet<WSH_THREAD>();)
WSH_BOTH void shmem_ctx_pe_quiet(shmem_ctx_t ctx, const int *target_pes, size_t npes)
WSH_BODY(if (ctx != SHMEM_CTX_INVALID && target_pes && npes) wsh_dev_quiet<WSH_THREAD>();)

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public names of fence and quiet, of queries, of shmem_ptr and of the exit in device code (sections 9.1, 9.4,
 * 9.12). Contracts as in shmem/order.h, shmem/setup.h and shmem/team.h. Fence and quiet of a warp or block do the work
 * once for all its threads: cheaper than each thread for itself.
 */
#ifndef WSH_DEVICE_API_QUERY_CUH
#define WSH_DEVICE_API_QUERY_CUH

#include "shell.cuh"

#ifdef __CUDA_ARCH__
#include "../view/handles.cuh"
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

WSH_BOTH int shmem_my_pe(void)
WSH_BODY(return wsh_device_view.my_pe;)
WSH_BOTH int shmem_n_pes(void)
WSH_BODY(return wsh_device_view.n_pes;)

/* The kernel ends with an error, and the job as at the host's call. */
WSH_BOTH void shmem_global_exit(int status)
WSH_BODY(wsh_dev_refuse("shmem_global_exit", WSH_DEVICE_EXIT, -1, nullptr, (uint64_t)(int64_t)status);
         __builtin_unreachable();)

WSH_BOTH int shmem_team_my_pe(shmem_team_t team)
WSH_BODY(return wsh_dev_team_of(team).my_pe;)
WSH_BOTH int shmem_team_n_pes(shmem_team_t team)
WSH_BODY(return wsh_dev_team_pes(team);)
WSH_BOTH int shmemx_team_number(shmem_team_t team)
WSH_BODY(return wsh_dev_team_number((uint64_t)team);)
WSH_BOTH int shmem_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team)
WSH_BODY(return wsh_dev_team_pe(wsh_dev_team_of(dest_team), wsh_dev_world_pe(wsh_dev_team_of(src_team), src_pe));)

/* NULL also where the GPU, unlike the CPU, does not reach the peer's memory. */
WSH_BOTH void *shmem_ptr(const void *dest, int pe)
WSH_BODY(return wsh_dev_ptr(dest, pe);)
WSH_BOTH void *shmem_team_ptr(shmem_team_t team, const void *dest, int pe)
WSH_BODY(return wsh_dev_ptr(dest, wsh_dev_world_pe(wsh_dev_team_of(team), pe));)

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public names of queries, of shmem_ptr and of the exit in device code (sections 9.1, 9.4). Contracts as in
 * shmem/setup.h and shmem/team.h.
 */
#ifndef WSH_DEVICE_API_QUERY_CUH
#define WSH_DEVICE_API_QUERY_CUH

#include "shell.cuh"

#ifdef __CUDA_ARCH__
#include "../view/handles.cuh"
#endif

/* clang-format off */

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

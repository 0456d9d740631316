/* SPDX-License-Identifier: BSD-3-Clause */
/* Device code for NVSHMEM that a program compiles at run time. */
#include <nvshmem.h>
#include <nvshmemx.h>

extern "C" __global__ void step(int *data, uint64_t *flag, nvshmem_team_t team)
{
    int peer = (nvshmem_team_my_pe(team) + 1) % nvshmem_team_n_pes(team);

    nvshmemx_int_put_signal_nbi_block(data, data, 64, flag, 1, NVSHMEM_SIGNAL_ADD,
                                      nvshmem_team_translate_pe(team, peer, NVSHMEM_TEAM_WORLD));
    nvshmem_signal_wait_until(flag, NVSHMEM_CMP_GE, 1);
    nvshmemx_int_sum_reduce_block(team, data, data, 64);
    if (nvshmemx_mc_ptr(team, data) == nullptr)
        nvshmem_int_atomic_inc(data, 0);
}

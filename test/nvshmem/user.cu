/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A kernel for modules. As compilers for Python make it: functions of NVSHMEM by their C names, numbers for teams and
 * signals. With USER_UNIT of the headers: 0 as a whole; 1 has the kernel, 2 what it calls.
 */
#ifdef USER_UNIT
#include <nvshmem.h>
#include <nvshmemx.h>
#elif defined __clang__
#include "device/library/freestanding.cuh"
#endif

#ifndef USER_UNIT
extern "C" {
__device__ int nvshmem_my_pe(void);
__device__ int nvshmem_team_n_pes(int team);
__device__ void nvshmemx_putmem_signal_nbi_block(void *dest, const void *source, size_t nelems, unsigned long *sig_addr,
                                                 unsigned long signal, int sig_op, int pe);
__device__ unsigned long nvshmem_signal_wait_until(unsigned long *sig_addr, int cmp, unsigned long cmp_value);
__device__ int nvshmemx_int_sum_reduce_block(int team, int *dest, const int *source, size_t nreduce);
__device__ void nvshmemx_barrier_all_block(void);
}
#endif

__device__ void send(int *words, unsigned long *flag);

#if !defined USER_UNIT || USER_UNIT != 1
__device__ void send(int *words, unsigned long *flag)
{
    int peer = (nvshmem_my_pe() + 1) % nvshmem_team_n_pes(0);

    nvshmemx_putmem_signal_nbi_block(words + 1, words, sizeof *words, flag, 1, 10, peer);
}
#endif

#if !defined USER_UNIT || USER_UNIT != 2
/* words[0] of the PE before becomes words[1], their sum words[2]. */
extern "C" __global__ void step(int *words, unsigned long *flag)
{
    send(words, flag);
    nvshmem_signal_wait_until(flag, 5, 1); /* at least 1 */
    nvshmemx_int_sum_reduce_block(0, words + 2, words + 1, 1);
    nvshmemx_barrier_all_block();
}
#endif

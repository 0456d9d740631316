/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of internode's rows in which whole grids post, and who does the posting. */
#ifndef PERFTEST_DEVICE_INTER_GRID_CUH
#define PERFTEST_DEVICE_INTER_GRID_CUH

#include "perftest/device/inter_kernels.cuh"

/* How many queues of NICs kernels write; 0: all goes by the proxy. */
static __global__ void inter_nic_queues(unsigned *n)
{
#ifdef __CUDA_ARCH__
    *n = wsh_dev_has_gda() ? wsh_dev_gda()->n_queues : 0;
#else
    (void)n;
#endif
}

/* Every lane of the grid posts puts of its own place, one an iteration. */
static __global__ void __launch_bounds__(INTER_THREADS) inter_grid(struct inter_args a)
{
    size_t at = (blockIdx.x * blockDim.x + threadIdx.x) * a.len;

    if (a.checks)
        for (size_t i = 0; i < a.len; i++)
            a.source[at + i] = (char)(inter_word((at + i) / 8, a.me, a.first + 1) >> (at + i) % 8 * 8);
    for (long i = 0; i < a.n; i++)
        perf_putmem_nbi<DEV_THREAD>(a.dest + at, a.source + at, a.len, a.peer);
}

static __global__ void inter_compare_grid(struct inter_args a, uint64_t number, size_t len)
{
    inter_compare(a, a.dest, 0, len, a.peer, number);
}

#endif

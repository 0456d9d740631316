/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations side by side: every lane of the grid has a part, and one quiet ends the kernel. */
#ifndef PERFTEST_DEVICE_BANDWIDTH_CUH
#define PERFTEST_DEVICE_BANDWIDTH_CUH

#include "perftest/device/latency.cuh"

template <int S> __global__ void p2p_put_bw(struct p2p_args a)
{
    struct p2p_args part = p2p_part<S>(a);

#pragma unroll 1
    for (long i = 0; i < a.n; i++)
        perf_putmem_nbi<S>(part.dest, p2p_offset(part, i), part.len, a.peer);
    perf_quiet<S>();
}

template <int S> __global__ void p2p_get_bw(struct p2p_args a)
{
    struct p2p_args part = p2p_part<S>(a);

#pragma unroll 1
    for (long i = 0; i < a.n; i++)
        perf_getmem_nbi<S>(part.dest, p2p_offset(part, i), part.len, a.peer);
    perf_quiet<S>();
}

static __global__ void p2p_p_rate(struct p2p_args a)
{
    uint64_t *slot = (uint64_t *)a.dest + p2p_lane<DEV_THREAD>();

#pragma unroll 1
    for (long i = 0; i < a.n; i++)
        PERF_ONE(uint64_p)(slot, a.first + i, a.peer);
    PERF_ONE(quiet)();
}

static __global__ void p2p_inc_rate(struct p2p_args a)
{
    uint64_t *slot = (uint64_t *)a.dest + p2p_lane<DEV_THREAD>();

#pragma unroll 1
    for (long i = 0; i < a.n; i++)
        PERF_ONE(uint64_atomic_inc)(slot, a.peer);
    PERF_ONE(quiet)();
}

/* The whole grid over the whole buffer, without a call of the library: what the mapping itself can do. */
static __global__ void p2p_store_bw(struct p2p_args a)
{
    uint4 *to = (uint4 *)PERF_ONE(ptr)(a.dest, a.peer);
    const uint4 *from = (const uint4 *)a.source;
    size_t threads = (size_t)gridDim.x * blockDim.x, count = (a.len * gridDim.x + a.extra) / sizeof *to;

#pragma unroll 1
    for (long i = 0; i < a.n; i++)
        for (size_t at = p2p_lane<DEV_THREAD>(); at < count; at += threads)
            to[at] = from[at];
    perf_quiet<DEV_BLOCK>();
}

#ifndef PERF_NVSHMEM

template <int S> __global__ void p2p_put_bulk_bw(struct p2p_args a)
{
    struct p2p_args part = p2p_part<S>(a);

#pragma unroll 1
    for (long i = 0; i < a.n; i++)
        perf_putmem_bulk<S>(part.dest, p2p_offset(part, i), part.len, a.peer, p2p_scratch, P2P_SCRATCH);
    perf_quiet<S>();
}

template <int S> __global__ void p2p_get_bulk_bw(struct p2p_args a)
{
    struct p2p_args part = p2p_part<S>(a);

#pragma unroll 1
    for (long i = 0; i < a.n; i++)
        perf_getmem_bulk<S>(part.dest, p2p_offset(part, i), part.len, a.peer, p2p_scratch, P2P_SCRATCH);
}

#endif

#endif

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

/* Few elements by each thread, from memory of its own. */
static __global__ void p2p_put_local_rate(struct p2p_args a)
{
    float *slot = (float *)a.dest + p2p_lane<DEV_THREAD>();

#pragma unroll 1
    for (long i = 0; i < a.n; i++) {
        float value = (float)i;

        PERF_ONE(float_put_nbi)(slot, &value, 1, a.peer);
    }
    PERF_ONE(quiet)();
}

static __global__ void p2p_put_shared_rate(struct p2p_args a)
{
    __shared__ float value[P2P_THREADS];
    float *slot = (float *)a.dest + p2p_lane<DEV_THREAD>();

    value[threadIdx.x] = (float)a.first;
#pragma unroll 1
    for (long i = 0; i < a.n; i++)
        PERF_ONE(float_put_nbi)(slot, &value[threadIdx.x], 1, a.peer);
    PERF_ONE(quiet)();
}

static __constant__ float p2p_constant[P2P_THREADS];

static __global__ void p2p_put_constant_rate(struct p2p_args a)
{
    float *slot = (float *)a.dest + p2p_lane<DEV_THREAD>();

#pragma unroll 1
    for (long i = 0; i < a.n; i++)
        PERF_ONE(float_put_nbi)(slot, &p2p_constant[i % P2P_THREADS], 1, a.peer);
    PERF_ONE(quiet)();
}

static __global__ void p2p_put_few_rate(struct p2p_args a)
{
    float *slot = (float *)a.dest + 3 * p2p_lane<DEV_THREAD>(), few[3] = {1, 2, 3};

#pragma unroll 1
    for (long i = 0; i < a.n; i++) {
        few[0] = (float)i;
        PERF_ONE(float_put_nbi)(slot, few, 3, a.peer);
    }
    PERF_ONE(quiet)();
}

static __global__ void p2p_iput_few_rate(struct p2p_args a)
{
    size_t threads = p2p_lanes<DEV_THREAD>();
    float *slot = (float *)a.dest + p2p_lane<DEV_THREAD>(), few[3] = {1, 2, 3};

#pragma unroll 1
    for (long i = 0; i < a.n; i++) {
        few[0] = (float)i;
        PERF_ONE(float_iput)(slot, few, (ptrdiff_t)threads, 1, 3, a.peer);
    }
    PERF_ONE(quiet)();
}

/* Another word each time: an L1 may give the same one again. */
static __global__ void p2p_g_rate(struct p2p_args a)
{
    size_t lane = p2p_lane<DEV_THREAD>();
    uint64_t sum = 0;

#pragma unroll 4
    for (long i = 0; i < a.n; i++)
        sum += PERF_ONE(uint64_g)((const uint64_t *)p2p_offset(a, i) + lane, a.peer);
    if (sum == a.zero - 1)
        *a.local = sum;
}

static __global__ void p2p_fetch_add_rate(struct p2p_args a)
{
    uint64_t *slot = (uint64_t *)a.dest + p2p_lane<DEV_THREAD>();

    for (long i = 0; i < a.n; i++)
        PERF_ONE(uint64_atomic_fetch_add)(slot, 1, a.peer);
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations one after the other: each iteration ends when the operation is complete. */
#ifndef PERFTEST_DEVICE_LATENCY_CUH
#define PERFTEST_DEVICE_LATENCY_CUH

#include "perftest/device/kernels.cuh"

template <int S, int MOST = P2P_THREADS> __global__ void __launch_bounds__(MOST) p2p_put(struct p2p_args a)
{
#pragma unroll 1
    for (long i = 0; i < a.n; i++) {
        perf_putmem_nbi<S>(a.dest, p2p_offset(a, i), a.len, a.peer);
        perf_quiet<S>();
    }
}

template <int S, int MOST = P2P_THREADS> __global__ void __launch_bounds__(MOST) p2p_get(struct p2p_args a)
{
#pragma unroll 1
    for (long i = 0; i < a.n; i++)
        perf_getmem<S>(a.dest, p2p_offset(a, i), a.len, a.peer);
}

static __global__ void p2p_p(struct p2p_args a)
{
#pragma unroll 1
    for (long i = 0; i < a.n; i++) {
        PERF_ONE(uint64_p)((uint64_t *)a.dest, a.first + i, a.peer);
        PERF_ONE(quiet)();
    }
}

/* Each address needs the value before. */
static __global__ void p2p_g(struct p2p_args a)
{
    uint64_t value = 0;

#pragma unroll 1
    for (long i = 0; i < a.n; i++)
        value = PERF_ONE(uint64_g)((uint64_t *)(p2p_offset(a, i) + (value & a.zero)), a.peer);
    *a.local = value;
}

static __global__ void p2p_fetch_inc(struct p2p_args a)
{
    uint64_t old = 0;

#pragma unroll 1
    for (long i = 0; i < a.n; i++)
        old = PERF_ONE(uint64_atomic_fetch_inc)(a.flag + (old >> 63), a.peer);
    *a.local = old;
}

static __global__ void p2p_compare_swap(struct p2p_args a)
{
    uint64_t old = a.first;

#pragma unroll 1
    for (long i = 0; i < a.n; i++)
        old = PERF_ONE(uint64_atomic_compare_swap)(a.flag, old, old + 1, a.peer) + 1;
    *a.local = old;
}

static __global__ void p2p_swap(struct p2p_args a)
{
    uint64_t old = a.first;

#pragma unroll 1
    for (long i = 0; i < a.n; i++)
        old = PERF_ONE(uint64_atomic_swap)(a.flag, old + 1, a.peer);
    *a.local = old;
}

static __global__ void p2p_inc(struct p2p_args a)
{
#pragma unroll 1
    for (long i = 0; i < a.n; i++) {
        PERF_ONE(uint64_atomic_inc)(a.flag, a.peer);
        PERF_ONE(quiet)();
    }
}

static __global__ void p2p_put_loaded(struct p2p_args a)
{
    p2p_loaded(a, [](const struct p2p_args &mine) {
#pragma unroll 1
        for (long i = 0; i < mine.n; i++) {
            perf_putmem_nbi<DEV_BLOCK>(mine.dest, mine.source, mine.len, mine.peer);
            perf_quiet<DEV_BLOCK>();
        }
    });
}

static __global__ void p2p_p_loaded(struct p2p_args a)
{
    p2p_loaded(a, [](const struct p2p_args &mine) {
#pragma unroll 1
        for (long i = 0; threadIdx.x == 0 && i < mine.n; i++) {
            PERF_ONE(uint64_p)((uint64_t *)mine.dest, mine.first + i, mine.peer);
            PERF_ONE(quiet)();
        }
    });
}

#ifndef PERF_NVSHMEM

extern __shared__ __align__(128) char p2p_scratch[];

template <int S> __global__ void p2p_put_bulk(struct p2p_args a)
{
#pragma unroll 1
    for (long i = 0; i < a.n; i++) {
        perf_putmem_bulk<S>(a.dest, p2p_offset(a, i), a.len, a.peer, p2p_scratch, P2P_SCRATCH);
        perf_quiet<S>();
    }
}

template <int S> __global__ void p2p_get_bulk(struct p2p_args a)
{
#pragma unroll 1
    for (long i = 0; i < a.n; i++)
        perf_getmem_bulk<S>(a.dest, p2p_offset(a, i), a.len, a.peer, p2p_scratch, P2P_SCRATCH);
}

#endif

#endif

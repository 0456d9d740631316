/* SPDX-License-Identifier: BSD-3-Clause */
/* Two PEs that answer each other: an iteration is a round trip. Every lane has a flag of its own. */
#ifndef PERFTEST_DEVICE_PINGPONG_CUH
#define PERFTEST_DEVICE_PINGPONG_CUH

#include "perftest/device/kernels.cuh"

/* Runs SEND(value, iteration) and waits for the same value in turn, or waits first. */
template <int S, class SEND> static __device__ void p2p_answer(const struct p2p_args &a, SEND send)
{
#pragma unroll 1
    for (long i = 0; i < a.n; i++) {
        uint64_t value = a.first + i + 1;

        if (a.begins)
            send(value, i);
        perf_uint64_wait_until<S>(a.flag, value);
        if (!a.begins)
            send(value, i);
    }
}

static __device__ void p2p_answer_signal(const struct p2p_args &a)
{
#pragma unroll 1
    for (long i = 0; i < a.n; i++) {
        if (a.begins)
            PERF_X(signal_op)(a.flag, a.first + i + 1, PERF_SIGNAL_SET, a.peer);
        PERF_ONE(signal_wait_until)(a.flag, PERF_GE, a.first + i + 1);
        if (!a.begins)
            PERF_X(signal_op)(a.flag, a.first + i + 1, PERF_SIGNAL_SET, a.peer);
    }
}

static __global__ void p2p_pp_signal(struct p2p_args a)
{
    p2p_answer_signal(a);
}

static __global__ void p2p_pp_signal_loaded(struct p2p_args a)
{
    p2p_loaded(a, [](const struct p2p_args &mine) {
        if (threadIdx.x == 0)
            p2p_answer_signal(mine);
    });
}

template <int S> __global__ void p2p_pp_put_signal(struct p2p_args all)
{
    struct p2p_args a = p2p_part<S>(all);

#pragma unroll 1
    for (long i = 0; i < a.n; i++) {
        uint64_t value = a.first + i + 1;

        if (a.begins)
            perf_putmem_signal<S>(a.dest, p2p_offset(a, i), a.len, a.flag, value, PERF_SIGNAL_SET, a.peer);
        perf_signal_wait_until<S>(a.flag, value);
        if (!a.begins)
            perf_putmem_signal<S>(a.dest, p2p_offset(a, i), a.len, a.flag, value, PERF_SIGNAL_SET, a.peer);
    }
}

static __global__ void p2p_pp_p(struct p2p_args a)
{
    p2p_answer<DEV_THREAD>(a, [&](uint64_t value, long) { PERF_ONE(uint64_p)(a.flag, value, a.peer); });
}

/* The source holds the value that the target waits for. */
template <int S> __global__ void p2p_pp_put(struct p2p_args a)
{
    p2p_answer<S>(a, [&](uint64_t value, long) {
        if (perf_leads<S>())
            *(uint64_t *)a.source = value;
        perf_sync<S>();
        perf_putmem_nbi<S>(a.flag, a.source, sizeof value, a.peer);
    });
}

template <int S> __global__ void p2p_pp_put_fence_p(struct p2p_args a)
{
    p2p_answer<S>(a, [&](uint64_t value, long i) {
        perf_putmem_nbi<S>(a.dest, p2p_offset(a, i), a.len, a.peer);
        perf_fence<S>();
        if (perf_leads<S>())
            PERF_ONE(uint64_p)(a.flag, value, a.peer);
    });
}

static __global__ void p2p_pp_atomic(struct p2p_args a)
{
    p2p_answer<DEV_THREAD>(a, [&](uint64_t, long) { PERF_ONE(uint64_atomic_inc)(a.flag, a.peer); });
}

template <int S> __global__ void p2p_pp_put_atomic(struct p2p_args a)
{
    p2p_answer<S>(a, [&](uint64_t, long i) {
        perf_putmem_nbi<S>(a.dest, p2p_offset(a, i), a.len, a.peer);
        perf_fence<S>();
        if (perf_leads<S>())
            PERF_ONE(uint64_atomic_inc)(a.flag, a.peer);
    });
}

#endif

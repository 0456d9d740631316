/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that wait, a block that writes as a NIC would, and warps that compute beside them. */
#ifndef PERFTEST_DEVICE_WAIT_KERNELS_CUH
#define PERFTEST_DEVICE_WAIT_KERNELS_CUH

#include "perftest/device/api.cuh"

extern "C" {
#include "perftest/device/wait.h"
}

enum { WAIT_WORKERS = 256, WAIT_CHAINS = 8, WAIT_STEPS = 20000, WAIT_THREADS_MAX = 1024 };
enum { WAIT_REST = 4096, WAIT_DELAYS = 2048 }; /* cycles: until all poll again; several polls */

struct wait_args {
    uint64_t *words; /* symmetric: one of each thread */
    unsigned *acks;  /* warps that have returned */
    unsigned *sm;    /* of the waiting block, plus one: in pinned memory */
    unsigned long long *cycles; /* of all rounds, from the writes to the last return */
    uint64_t first;  /* rounds before this launch */
    long n;
    int waiters;
};

static __device__ uint64_t wait_load(const uint64_t *word)
{
    return *(const volatile uint64_t *)word;
}

template <int HOW> static __device__ void wait_by(uint64_t *word, uint64_t value)
{
    uint64_t seen;

    switch (HOW) {
    case WAIT_UNTIL: PERF_ONE(signal_wait_until)(word, PERF_GE, value); break;
    case WAIT_ACQUIRE:
        do
            asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(seen) : "l"(word) : "memory");
        while (seen < value);
        break;
    case WAIT_VOLATILE:
        while (wait_load(word) < value)
            continue;
        __threadfence_system();
        break;
    default:
        while (PERF_ONE(signal_fetch)(word) < value)
            continue;
    }
}

template <bool ONE> static __device__ uint64_t *wait_word(const struct wait_args &a)
{
    return a.words + (ONE ? 0 : threadIdx.x);
}

/* Lane 0 of a warp says that all its lanes have returned. */
static __device__ void wait_acknowledge(const struct wait_args &a)
{
    __syncwarp();
    if (threadIdx.x % 32 == 0)
        atomicAdd(a.acks, 1u);
}

/*
 * Until a time of the round's own, which no poll knows, when all wait again: a writer that answers at once falls into
 * step with the polls, and then the same loop takes a seventh more or less as its code lies in memory.
 */
static __device__ void wait_delay(uint64_t number)
{
    uint64_t mixed = (number + 1) * 0x9e3779b97f4a7c15u;
    long long began = clock64();

    mixed = (mixed ^ mixed >> 32) * 0xbf58476d1ce4e5b9u;
    while (clock64() - began < WAIT_REST + (long long)(mixed >> 40) % WAIT_DELAYS)
        continue;
    __syncwarp();
}

/*
 * The NIC: writes all words of a round, 32 at a time, once all warps have returned from the one before it. The cycles
 * until all have returned from this one.
 */
template <bool ONE> static __device__ long long wait_write(const struct wait_args &a, uint64_t number)
{
    unsigned warps = (unsigned)(a.waiters + 31) / 32, lane = threadIdx.x;
    int words = ONE ? 1 : a.waiters;
    long long began;

    wait_delay(number);
    began = clock64();
    for (int i = (int)lane; i < words && lane < 32; i += 32)
        asm volatile("st.relaxed.sys.u64 [%0], %1;" : : "l"(a.words + i), "l"(number) : "memory");
    if (lane == 0)
        while (*(volatile unsigned *)a.acks != (unsigned)(number * warps))
            continue;
    __syncwarp();
    return clock64() - began;
}

/* Block 0 waits, block 1 writes: an iteration is a round, from the writes until all have returned and said so. */
template <int HOW, bool ONE>
static __global__ void __launch_bounds__(WAIT_THREADS_MAX) wait_wake(struct wait_args a)
{
    unsigned long long cycles = 0;

#pragma unroll 1
    for (uint64_t number = a.first + 1; number <= a.first + (uint64_t)a.n; number++) {
        if (blockIdx.x == 0) {
            if ((int)threadIdx.x < a.waiters)
                wait_by<HOW>(wait_word<ONE>(a), number);
            wait_acknowledge(a);
        } else if (threadIdx.x < 32) {
            cycles += (unsigned long long)wait_write<ONE>(a, number);
        }
    }
    if (blockIdx.x == 1 && threadIdx.x == 0)
        *a.cycles = cycles;
}

/* Waits once, for what the host writes in the end, and says on which SM. */
template <int HOW, bool ONE>
static __global__ void __launch_bounds__(WAIT_THREADS_MAX) wait_hold(struct wait_args a)
{
    unsigned sm;

    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    if (threadIdx.x == 0)
        asm volatile("st.release.sys.u32 [%0], %1;" : : "l"(a.sm), "r"(sm + 1) : "memory");
    if ((int)threadIdx.x < a.waiters)
        wait_by<HOW>(wait_word<ONE>(a), a.first + 1);
}

/* Of a block that computes: its SM, and how long it took. */
struct wait_work {
    unsigned sm;
    unsigned long long cycles;
};

/* Chains of multiplications that fill every issue slot; the dynamic shared memory leaves room for one block an SM. */
static __global__ void __launch_bounds__(WAIT_WORKERS) wait_compute(struct wait_work *work, float *sink)
{
    float x[WAIT_CHAINS];
    long long began;

    for (int c = 0; c < WAIT_CHAINS; c++)
        x[c] = (float)(threadIdx.x + c);
    __syncthreads();
    began = clock64();
#pragma unroll 1
    for (int i = 0; i < WAIT_STEPS; i++)
#pragma unroll
        for (int c = 0; c < WAIT_CHAINS; c++)
            x[c] = fmaf(x[c], 0.999f, 0.5f);
    __syncthreads();
    if (threadIdx.x == 0) {
        work[blockIdx.x].cycles = (unsigned long long)(clock64() - began);
        asm volatile("mov.u32 %0, %%smid;" : "=r"(work[blockIdx.x].sm));
    }
    for (int c = 0; c < WAIT_CHAINS; c++)
        if (x[c] == -1.0f)
            *sink = x[c];
}

typedef void wait_kernel(struct wait_args);

#endif

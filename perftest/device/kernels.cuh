/* SPDX-License-Identifier: BSD-3-Clause */
/* What every kernel of p2p is given, and the table from which rows get theirs. */
#ifndef PERFTEST_DEVICE_KERNELS_CUH
#define PERFTEST_DEVICE_KERNELS_CUH

#include "perftest/device/api.cuh"

extern "C" {
#include "perftest/device/p2p.h"
}

/* Bytes between the flags of two lanes. */
#define P2P_FLAG_WORDS 16
#define P2P_FLAGS 256

/* Shared memory that bulk copies use as scratch. */
#define P2P_SCRATCH 49280

/* Bytes of one piece of the load in the rows under load. */
#define P2P_PIECE ((size_t)65536)

struct p2p_args {
    char *dest, *source; /* symmetric; the source may be misaligned */
    size_t stride;       /* bytes of the source from one place to the next */
    uint64_t last_offset; /* places of the source less one, which are a power of two */
    uint64_t zero;       /* what the compiler does not know */
    uint64_t *flag;      /* symmetric, P2P_FLAG_WORDS a lane */
    uint64_t *local;     /* a word of this GPU, by which the kernel's blocks communicate */
    size_t len;          /* bytes that one lane moves; the last lane `extra` more */
    size_t extra;
    long n;         /* iterations */
    uint64_t first; /* of all iterations of the row; flags count on from it */
    int peer;
    bool begins; /* of two PEs that answer each other */
};

/* Threads of a block that a kernel is compiled for, unless it says more: each has 128 registers then. */
#define P2P_THREADS 512

typedef void p2p_kernel(struct p2p_args);

/* Where iteration i reads: another place each time, which no L1 holds yet; the last of a launch at `source`. */
static __device__ char *p2p_offset(const struct p2p_args &a, long i)
{
    return a.source + ((uint64_t)(a.n - 1 - i) & a.last_offset) * a.stride;
}

/* The thread, warp or block, among all of the grid. */
template <int S> static __device__ size_t p2p_lane()
{
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

    return S == DEV_THREAD ? thread : S == DEV_WARP ? thread / 32 : blockIdx.x;
}

template <int S> static __device__ size_t p2p_lanes()
{
    size_t threads = (size_t)gridDim.x * blockDim.x;

    return S == DEV_THREAD ? threads : S == DEV_WARP ? threads / 32 : gridDim.x;
}

/* The lane's part of source and target. */
template <int S> static __device__ struct p2p_args p2p_part(struct p2p_args a)
{
    size_t lane = p2p_lane<S>();

    a.dest += lane * a.len;
    a.source += lane * a.len;
    a.flag += lane % P2P_FLAGS * P2P_FLAG_WORDS;
    if (lane + 1 == p2p_lanes<S>())
        a.len += a.extra;
    return a;
}

/* Block 0 runs WORK(arguments), which is measured; the others put pieces until it says that it has finished. */
template <class WORK> static __device__ void p2p_loaded(struct p2p_args a, WORK work)
{
    volatile uint64_t *finished = a.local;

    a.dest += blockIdx.x * P2P_PIECE;
    a.source += blockIdx.x * P2P_PIECE;
    if (blockIdx.x == 0) {
        work(a);
        __syncthreads();
        if (threadIdx.x == 0)
            *finished = a.first + a.n;
        return;
    }
    do {
        perf_putmem_nbi<DEV_BLOCK>(a.dest, a.source, P2P_PIECE, a.peer);
    } while (!__syncthreads_or(*finished == a.first + a.n));
    perf_quiet<DEV_BLOCK>();
}

#define P2P_ALL(kernel)                                             \
    {                                                               \
        kernel<DEV_THREAD>, kernel<DEV_WARP>, kernel<DEV_BLOCK>     \
    }
#define P2P_ONE(kernel) {kernel, NULL, NULL}
#ifdef PERF_NVSHMEM
#define P2P_EXTENSION(kernel) {NULL, NULL, NULL}
#else
#define P2P_EXTENSION(kernel) P2P_ALL(kernel)
#endif

#endif

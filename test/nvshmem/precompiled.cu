/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Twenty typed collectives by a thread, a warp and a block: with -DSHMEMX_DEVICE_LIBRARY out of libnvshmem_device.a,
 * which takes a fraction of the time to compile (precompiled.sh), and the same results.
 * paths: gpu:2 gpu1:2
 */
#include <nvshmem.h>
#include <nvshmemx.h>

#include "check.h"

enum { N = 300, PES = 8 }; /* elements of a block, of 8 bytes more than LL lines hold for a thread; of so many PEs */

enum what { SUM, MOST, SCATTER, ALLTOALL, FCOLLECT, BROADCAST };

static __device__ int value(int pe, unsigned i)
{
    return pe + 1 + (int)(i % 8);
}

/* By how much the numbers of a type are less, so that some have a sign. */
template <class T> static __device__ int less()
{
    return (float)(T)-1 < 0 ? 6 : 0;
}

/* All threads of the block meet at the end. */
template <class T> static __device__ void fill(T *dest, T *source)
{
    for (unsigned i = threadIdx.x; i < (unsigned)(N * nvshmem_n_pes()); i += blockDim.x) {
        source[i] = (T)(value(nvshmem_my_pe(), i) - less<T>());
        dest[i] = (T)0;
    }
    nvshmemx_barrier_all_block();
}

static __device__ int expected(enum what what, unsigned i)
{
    int me = nvshmem_my_pe(), n = nvshmem_n_pes();
    unsigned mine = (unsigned)me * N + i % N;

    switch (what) {
    case SUM:
        return n * (n + 1) / 2 + n * (int)(i % 8);
    case MOST:
        return value(n - 1, i);
    case SCATTER:
        return n * (n + 1) / 2 + n * (int)(mine % 8);
    case ALLTOALL:
        return value((int)(i / N), mine);
    case FCOLLECT:
        return value((int)(i / N), i % N);
    default:
        return value(0, i);
    }
}

template <class T> static __device__ void check(enum what what, const T *dest, int *wrong)
{
    int by = less<T>() * (what == SUM || what == SCATTER ? nvshmem_n_pes() : 1);
    unsigned len = what == ALLTOALL || what == FCOLLECT ? (unsigned)(N * nvshmem_n_pes()) : N;

    nvshmemx_barrier_all_block();
    for (unsigned i = threadIdx.x; i < len; i += blockDim.x)
        if ((float)dest[i] != (float)(expected(what, i) - by))
            atomicAdd(wrong, 1);
    nvshmemx_barrier_all_block();
}

/* A routine at its three scopes; what follows N: further arguments. */
#define THREE(WHAT, TAG, TYPE, ...)                                                                          \
    {                                                                                                        \
        TYPE *dest = (TYPE *)to, *source = (TYPE *)from;                                                     \
                                                                                                             \
        fill(dest, source);                                                                                  \
        if (threadIdx.x == 0)                                                                                \
            nvshmem_##TAG(NVSHMEM_TEAM_WORLD, dest, source, N __VA_ARGS__);                                  \
        check(WHAT, dest, wrong);                                                                            \
        fill(dest, source);                                                                                  \
        if (threadIdx.x / 32 == 0)                                                                           \
            nvshmemx_##TAG##_warp(NVSHMEM_TEAM_WORLD, dest, source, N __VA_ARGS__);                          \
        check(WHAT, dest, wrong);                                                                            \
        fill(dest, source);                                                                                  \
        nvshmemx_##TAG##_block(NVSHMEM_TEAM_WORLD, dest, source, N __VA_ARGS__);                             \
        check(WHAT, dest, wrong);                                                                            \
    }

__global__ void __launch_bounds__(1024) collectives(void *to, void *from, int *wrong)
{
    THREE(SUM, schar_sum_reduce, signed char)
    THREE(MOST, int16_max_reduce, int16_t)
    THREE(SUM, int_sum_reduce, int)
    THREE(MOST, longlong_max_reduce, long long)
    THREE(SUM, uchar_sum_reduce, unsigned char)
    THREE(MOST, uint16_max_reduce, uint16_t)
    THREE(SUM, uint_sum_reduce, unsigned)
    THREE(MOST, uint64_max_reduce, uint64_t)
    THREE(SUM, float_sum_reduce, float)
    THREE(MOST, double_max_reduce, double)
    THREE(SUM, half_sum_reduce, __half)
    THREE(MOST, bfloat16_max_reduce, __nv_bfloat16)
    THREE(SCATTER, int8_sum_reducescatter, int8_t)
    THREE(SCATTER, int32_sum_reducescatter, int32_t)
    THREE(SCATTER, float_sum_reducescatter, float)
    THREE(SCATTER, double_sum_reducescatter, double)
    THREE(SCATTER, half_sum_reducescatter, __half)
    THREE(ALLTOALL, int_alltoall, int)
    THREE(FCOLLECT, double_fcollect, double)
    THREE(BROADCAST, float_broadcast, float, , 0)
}

int main(void)
{
    void *dest, *source;
    int devices, *wrong, counted = 0;

    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    nvshmem_init();
    CHECK_CUDA(cudaGetDeviceCount(&devices));
    CHECK_CUDA(cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % devices));
    dest = nvshmem_malloc(PES * N * sizeof(double));
    source = nvshmem_malloc(PES * N * sizeof(double));
    CHECK(dest && source && nvshmem_n_pes() <= PES);
    CHECK_CUDA(cudaMalloc((void **)&wrong, sizeof *wrong));
    CHECK_CUDA(cudaMemset(wrong, 0, sizeof *wrong));
    collectives<<<1, 1024>>>(dest, source, wrong); /* as many threads as a block may have */
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK_CUDA(cudaMemcpy(&counted, wrong, sizeof counted, cudaMemcpyDeviceToHost));
    CHECK(counted == 0);
    nvshmem_free(source);
    nvshmem_free(dest);
    nvshmem_finalize();
    return 0;
}

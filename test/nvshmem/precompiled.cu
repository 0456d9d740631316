/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Twenty typed sums by a thread, a warp and a block: with -DSHMEMX_DEVICE_LIBRARY out of libnvshmem_device.a, which
 * takes a fraction of the time to compile (precompiled.sh), and the same results.
 * paths: gpu:2 gpu1:2
 */
#include <nvshmem.h>
#include <nvshmemx.h>

#include "check.h"

#define TYPES(X)                                                                                             \
    X(schar, signed char) X(short, short) X(int, int) X(long, long) X(longlong, long long)                   \
    X(uchar, unsigned char) X(ushort, unsigned short) X(uint, unsigned) X(ulong, unsigned long)              \
    X(ulonglong, unsigned long long) X(int8, int8_t) X(int16, int16_t) X(int32, int32_t) X(int64, int64_t)   \
    X(uint8, uint8_t) X(uint16, uint16_t) X(uint32, uint32_t) X(uint64, uint64_t) X(float, float)            \
    X(double, double)

enum { N = 300 }; /* of 8 bytes each more than cells hold for a thread */

/* Element i of the source; all threads of the block meet at the end. */
template <class T> static __device__ void fill(T *dest, T *source)
{
    for (unsigned i = threadIdx.x; i < N; i += blockDim.x) {
        source[i] = (T)(nvshmem_my_pe() + 1 + i % 8);
        dest[i] = 0;
    }
    nvshmemx_barrier_all_block();
}

template <class T> static __device__ void check(const T *dest, int *wrong)
{
    int n = nvshmem_n_pes();

    nvshmemx_barrier_all_block();
    for (unsigned i = threadIdx.x; i < N; i += blockDim.x)
        if (dest[i] != (T)(n * (n + 1) / 2 + n * (int)(i % 8)))
            atomicAdd(wrong, 1);
    __syncthreads();
}

__global__ void __launch_bounds__(1024) sums(void *to, void *from, int *wrong)
{
#define SUMS(NAME, TYPE)                                                                                     \
    {                                                                                                        \
        TYPE *dest = (TYPE *)to, *source = (TYPE *)from;                                                     \
                                                                                                             \
        fill(dest, source);                                                                                  \
        if (threadIdx.x == 0)                                                                                \
            nvshmem_##NAME##_sum_reduce(NVSHMEM_TEAM_WORLD, dest, source, N);                                \
        check(dest, wrong);                                                                                  \
        fill(dest, source);                                                                                  \
        if (threadIdx.x / 32 == 0)                                                                           \
            nvshmemx_##NAME##_sum_reduce_warp(NVSHMEM_TEAM_WORLD, dest, source, N);                          \
        check(dest, wrong);                                                                                  \
        fill(dest, source);                                                                                  \
        nvshmemx_##NAME##_sum_reduce_block(NVSHMEM_TEAM_WORLD, dest, source, N);                             \
        check(dest, wrong);                                                                                  \
    }
    TYPES(SUMS)
}

int main(void)
{
    void *dest, *source;
    int devices, *wrong, counted = 0;

    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    nvshmem_init();
    CHECK_CUDA(cudaGetDeviceCount(&devices));
    CHECK_CUDA(cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % devices));
    dest = nvshmem_malloc(N * sizeof(double));
    source = nvshmem_malloc(N * sizeof(double));
    CHECK(dest && source);
    CHECK_CUDA(cudaMalloc((void **)&wrong, sizeof *wrong));
    CHECK_CUDA(cudaMemset(wrong, 0, sizeof *wrong));
    sums<<<1, 1024>>>(dest, source, wrong); /* as many threads as a block may have */
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK_CUDA(cudaMemcpy(&counted, wrong, sizeof counted, cudaMemcpyDeviceToHost));
    CHECK(counted == 0);
    nvshmem_free(source);
    nvshmem_free(dest);
    nvshmem_finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the programs of this folder share: start, end, checks that end the process with a line, copies, and NVSHMEM's
 * lists of types. Nothing here is of warpshmem.
 */
#ifndef PROGRAM_CUH
#define PROGRAM_CUH

#include <nvshmem.h>
#include <nvshmemx.h>

#include <cuda_runtime.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, n, left, right;
static cudaStream_t stream;

#define CHECK(cond)                                                                                             \
    do {                                                                                                        \
        if (!(cond)) {                                                                                          \
            fprintf(stderr, "%s:%d: PE %d of %d: %s does not hold\n", __FILE__, __LINE__, me, n, #cond);        \
            exit(1);                                                                                            \
        }                                                                                                       \
    } while (0)

#define CUDA(call)                                                                                              \
    do {                                                                                                        \
        cudaError_t status_ = (call);                                                                           \
        if (status_ != cudaSuccess) {                                                                           \
            fprintf(stderr, "%s:%d: PE %d: %s: %s\n", __FILE__, __LINE__, me, #call, cudaGetErrorString(status_)); \
            exit(1);                                                                                            \
        }                                                                                                       \
    } while (0)

/* Launches and waits: RUN(kernel<<<1, 32, 0, stream>>>(arguments)). */
#define RUN(...)                                                                                                \
    do {                                                                                                        \
        __VA_ARGS__;                                                                                            \
        CUDA(cudaGetLastError());                                                                               \
        CUDA(cudaStreamSynchronize(stream));                                                                    \
    } while (0)

static inline void look_around_host(void)
{
    me = nvshmem_my_pe();
    n = nvshmem_n_pes();
    left = (me + n - 1) % n;
    right = (me + 1) % n;
}

/* Who I am, and the GPU by the place on the node. */
static inline void look_around(void)
{
    int devices;

    look_around_host();
    CUDA(cudaGetDeviceCount(&devices));
    CUDA(cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % devices));
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
}

static inline void begin(void)
{
    setenv("CUDA_MODULE_LOADING", "EAGER", 1); /* kernels wait while others are launched for the first time */
    nvshmem_init();
    look_around();
}

static inline int finish(void)
{
    nvshmem_barrier_all();
    CUDA(cudaStreamDestroy(stream));
    nvshmem_finalize();
    return 0;
}

/* The same in programs that call no function of CUDA themselves. */
static inline void begin_host(void)
{
    nvshmem_init();
    look_around_host();
}

static inline int finish_host(void)
{
    nvshmem_barrier_all();
    nvshmem_finalize();
    return 0;
}

template <class T>
static T *symmetric(size_t count)
{
    T *words = (T *)nvshmem_calloc(count, sizeof(T));

    CHECK(words);
    return words;
}

template <class T>
static void to_device(T *device, const T *host, size_t count)
{
    CUDA(cudaMemcpyAsync(device, host, count * sizeof(T), cudaMemcpyHostToDevice, stream));
    CUDA(cudaStreamSynchronize(stream));
}

/* The copy is made when nothing waits any more. */
template <class T>
static void to_host(T *host, const T *device, size_t count)
{
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaMemcpyAsync(host, device, count * sizeof(T), cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
}

/* One word of device memory. */
template <class T>
static T at(const T *device)
{
    T value;

    to_host(&value, device, 1);
    return value;
}

/* X(NAME, TYPE): the types of puts and gets; of words to wait for; of atomics, and of those on bits. */
#define RMA_TYPES(X)                                                                                            \
    X(float, float) X(double, double) X(char, char) X(schar, signed char) X(short, short) X(int, int)           \
    X(long, long) X(longlong, long long) X(uchar, unsigned char) X(ushort, unsigned short) X(uint, unsigned int) \
    X(ulong, unsigned long) X(ulonglong, unsigned long long) X(int8, int8_t) X(int16, int16_t)                  \
    X(int32, int32_t) X(int64, int64_t) X(uint8, uint8_t) X(uint16, uint16_t) X(uint32, uint32_t)               \
    X(uint64, uint64_t) X(size, size_t) X(ptrdiff, ptrdiff_t)
#define AMO_TYPES(X)                                                                                            \
    X(int, int) X(long, long) X(longlong, long long) X(uint, unsigned int) X(ulong, unsigned long)              \
    X(ulonglong, unsigned long long) X(int32, int32_t) X(int64, int64_t) X(uint32, uint32_t)                    \
    X(uint64, uint64_t) X(size, size_t) X(ptrdiff, ptrdiff_t)
#define BIT_TYPES(X)                                                                                            \
    X(uint, unsigned int) X(ulong, unsigned long) X(ulonglong, unsigned long long) X(int32, int32_t)            \
    X(int64, int64_t) X(uint32, uint32_t) X(uint64, uint64_t)
#define WAIT_TYPES(X) X(short, short) X(ushort, unsigned short) AMO_TYPES(X)

#endif

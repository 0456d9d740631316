/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Launches a routine on a stream as a kernel, and chooses its number of blocks by the bytes that it moves. Kernels are
 * templates compiled in the program's translation unit, which so holds only those that it launches. Host code; NVRTC
 * has none.
 */
#ifndef WSH_DEVICE_STREAM_CUH
#define WSH_DEVICE_STREAM_CUH

#include "launch.h"
#include "shell.cuh"

#define WSH_STREAM_THREADS 512
#define WSH_STREAM_WARP 32 /* threads of kernels that only wait and set flags */

/*
 * What moves WSH_STREAM_WIDE bytes or more does so by a block for each WSH_STREAM_TILE, WSH_STREAM_BLOCKS at most. A
 * block reaches 45 GB/s, 32 of them what NVLink carries (H200); loads, which take longer, need more in flight. What may
 * go by cells is by a thread for each.
 */
#define WSH_STREAM_WIDE 65536
#define WSH_STREAM_TILE 16384
#define WSH_STREAM_BLOCKS 64
#define WSH_STREAM_CELLS_TILE (WSH_STREAM_THREADS * WSH_DEVICE_CELL / 2)

/* A kernel is of both passes; what it does is the device's. */
#ifdef __CUDA_ARCH__
#define WSH_KERNEL(...)          \
    {                            \
        wsh_ptx_stream_before(); \
        __VA_ARGS__              \
    }
#else
#define WSH_KERNEL(...) \
    {                   \
    }
#endif

#define WSH_STREAM_KERNEL(THREADS) static __global__ void __launch_bounds__(THREADS)

/* T, by way of a template argument: what is made of it waits until it is called. */
template <int N, class T> struct wsh_later_is {
    typedef T type;
};
template <int N, class T> using wsh_later = typename wsh_later_is<N, T>::type;

static inline unsigned wsh_stream_blocks(size_t len)
{
    if (len < WSH_STREAM_WIDE)
        return 1;
    return len / WSH_STREAM_TILE < WSH_STREAM_BLOCKS ? (unsigned)(len / WSH_STREAM_TILE) : WSH_STREAM_BLOCKS;
}

/* Whether kernels may start while the one before them ends: GPUs of sm_90 on; captured, with CUDA 12.3 on. */
static inline bool wsh_stream_overlaps()
{
    static int major = 0; /* of the only GPU that this PE uses */
    int device;

    if (!major && (cudaGetDevice(&device) != cudaSuccess ||
                   cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess))
        major = 1;
    return CUDART_VERSION >= 12030 && major >= 9;
}

/*
 * A kernel with its arguments; the launch's error. It is launched while the kernel before it on the stream still runs,
 * and waits for its end on the GPU (WSH_KERNEL): 1 to 2 us sooner than launched afterwards. The legacy stream waits for
 * others too.
 */
template <class... PARAMS, class... ARGS>
static inline int wsh_stream_launch(cudaStream_t stream, unsigned blocks, unsigned threads, void (*kernel)(PARAMS...),
                                    ARGS... args)
{
    cudaLaunchAttribute early = {};
    cudaLaunchConfig_t config = {};

    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = stream && stream != cudaStreamLegacy && wsh_stream_overlaps() ? 1 : 0;
    return (int)cudaLaunchKernelEx(&config, kernel, args...);
}

template <class... PARAMS, class... ARGS>
static inline int wsh_stream_block(cudaStream_t stream, void (*kernel)(PARAMS...), ARGS... args)
{
    return wsh_stream_launch(stream, 1, WSH_STREAM_THREADS, kernel, args...);
}

/* `one` in a block, or `wide` in several: kernels of the same parameters. */
template <class... PARAMS, class... ARGS>
static inline int wsh_stream_blocks_of(cudaStream_t stream, unsigned blocks, void (*one)(PARAMS...),
                                       void (*wide)(PARAMS...), ARGS... args)
{
    return wsh_stream_launch(stream, blocks, WSH_STREAM_THREADS, blocks == 1 ? one : wide, args...);
}

template <class... PARAMS, class... ARGS>
static inline int wsh_stream_warp(cudaStream_t stream, void (*kernel)(PARAMS...), ARGS... args)
{
    return wsh_stream_launch(stream, 1, WSH_STREAM_WARP, kernel, args...);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Launches a routine on a stream as a kernel, and chooses its number of blocks by the bytes that it moves. Kernels are
 * templates compiled in the program's translation unit, which so holds only those that it launches. Host code; NVRTC
 * has none.
 */
#ifndef WSH_DEVICE_STREAM_CUH
#define WSH_DEVICE_STREAM_CUH

#include "../coll/choice.h"
#include "../coll/vector/vector.h"
#include "../api/launch.cuh"
#include "../api/shell.cuh"
#include "../view/view.h"

#define WSH_STREAM_THREADS 512
#define WSH_STREAM_WARP 32 /* threads of kernels that only wait and set flags */

/*
 * What moves WSH_STREAM_WIDE bytes or more does so by a block for each WSH_STREAM_TILE, WSH_STREAM_BLOCKS at most. A
 * block reaches 45 GB/s, 32 of them what NVLink carries (H200); loads, which take longer, need more in flight. What may
 * go by LL lines is by a thread for each.
 */
#define WSH_STREAM_WIDE 65536
#define WSH_STREAM_TILE 16384
#define WSH_STREAM_BLOCKS 64
#ifndef WSH_STREAM_VECTOR
#define WSH_STREAM_VECTOR 32 /* for what only the GPU knows the length of; all but one end at once if it is short */
#endif
#define WSH_STREAM_LL_TILE (WSH_STREAM_THREADS * WSH_DEVICE_LL_LINE / 2)

/* The template argument of a reduction on a stream that launches, and compiles, the kernel of one block alone. */
enum { WSH_STREAM_BY_BLOCK = 1 };

/* T, by way of a template argument: what is made of it waits until it is called. */
template <int N, class T> struct wsh_later_is {
    typedef T type;
};
template <int N, class T> using wsh_later = typename wsh_later_is<N, T>::type;

/* From here to the end of the block a call is a range of NVTX, where a tool looks on (SHMEM_NVTX). */
struct wsh_stream_range {
    explicit wsh_stream_range(const char *routine)
    {
        wsh_device_range(routine);
    }
    ~wsh_stream_range()
    {
        wsh_device_range(NULL);
    }
    wsh_stream_range(const wsh_stream_range &) = delete;
    wsh_stream_range &operator=(const wsh_stream_range &) = delete;
};

static inline unsigned wsh_stream_blocks(size_t len)
{
    if (len < WSH_STREAM_WIDE)
        return 1;
    return len / WSH_STREAM_TILE < WSH_STREAM_BLOCKS ? (unsigned)(len / WSH_STREAM_TILE) : WSH_STREAM_BLOCKS;
}

#ifdef WSH_STREAM_IMAGE /* of the library that has its kernels compiled beforehand: nvshmem/ */
#include WSH_STREAM_IMAGE
#define WSH_STREAM(...) wsh_stream_##__VA_ARGS__
#else

#include "kernels.cuh"

template <class... PARAMS> using wsh_stream_kernel = void (*)(PARAMS...);

/* Whether the arguments of its first launch do for a kernel (api/launch.cuh). */
template <class... PARAMS> constexpr bool wsh_stream_starts_early(wsh_stream_kernel<PARAMS...>)
{
    return sizeof...(PARAMS) <= WSH_LAUNCH_EARLY_ARGS && (true && ... && (sizeof(PARAMS) <= WSH_LAUNCH_EARLY_BYTES));
}

/* A kernel that this unit launches, and once without effect when the device state comes. */
template <class F, F KERNEL> struct wsh_stream_known {
    static_assert(wsh_stream_starts_early(F()), "a kernel's arguments are too many or too long");
    static wsh_launch_early entry;

    static F kernel()
    {
        return entry.kernel ? KERNEL : nullptr;
    }
};
template <class F, F KERNEL> wsh_launch_early wsh_stream_known<F, KERNEL>::entry{(const void *)KERNEL};
#define WSH_STREAM(...) wsh_stream_known<decltype(&wsh_stream_##__VA_ARGS__), &wsh_stream_##__VA_ARGS__>::kernel()

/* The number by which a kernel knows an operation on numbers of type T. */
template <class T> static inline int wsh_stream_op(int op)
{
    return op;
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
static inline int wsh_stream_launch(cudaStream_t stream, unsigned blocks, unsigned threads,
                                    wsh_stream_kernel<PARAMS...> kernel, ARGS... args)
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

/* A value that the kernel leaves in memory of the stream, fetched. */
template <class T> static inline T wsh_stream_fetch(const T *source, int pe, cudaStream_t stream)
{
    T value = T();
    void *at;

    if (cudaStreamSynchronize(stream) || cudaMallocAsync(&at, sizeof value, stream))
        return value;
    if (!wsh_stream_launch(stream, 1, 1, WSH_STREAM(g<T>), (T *)at, source, pe))
        cudaMemcpyAsync(&value, at, sizeof value, cudaMemcpyDeviceToHost, stream);
    cudaFreeAsync(at, stream);
    cudaStreamSynchronize(stream);
    return value;
}

#endif

template <class... PARAMS, class... ARGS>
static inline int wsh_stream_block(cudaStream_t stream, wsh_stream_kernel<PARAMS...> kernel, ARGS... args)
{
    return wsh_stream_launch(stream, 1, WSH_STREAM_THREADS, kernel, args...);
}

/* `one` in a block, or `wide` in several: kernels of the same parameters. */
template <class... PARAMS, class... ARGS>
static inline int wsh_stream_blocks_of(cudaStream_t stream, unsigned blocks, wsh_stream_kernel<PARAMS...> one,
                                       wsh_stream_kernel<PARAMS...> wide, ARGS... args)
{
    return wsh_stream_launch(stream, blocks, WSH_STREAM_THREADS, blocks == 1 ? one : wide, args...);
}

template <class... PARAMS, class... ARGS>
static inline int wsh_stream_warp(cudaStream_t stream, wsh_stream_kernel<PARAMS...> kernel, ARGS... args)
{
    return wsh_stream_launch(stream, 1, WSH_STREAM_WARP, kernel, args...);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Macros that give a routine of the host a device body under the same name.
 *
 * nvcc reads a source once for the host and once for each GPU architecture. Functions of both sides (WSH_BOTH) are
 * `__host__ __device__` and have C linkage, as in shmem.h: the device pass sees a body, the host pass a declaration
 * alone, so that host code calls the library's function, a profiler's one comes between as ever, and its
 * address is the library's. Functions of the device alone (WSH_ONLY: the warp and block forms) are `__device__` and
 * templates of no use to the caller: nvcc does not look into, nor instantiate what lies behind, those that a unit does
 * not call.
 */
#ifndef WSH_DEVICE_SHELL_CUH
#define WSH_DEVICE_SHELL_CUH

#ifdef __CUDA_ARCH__
#ifdef __CUDACC_RTC__ /* there is no host */
#define WSH_BOTH extern "C" __device__ __forceinline__
#else
#define WSH_BOTH extern "C" __host__ __device__ __forceinline__
#endif
#define WSH_ONLY template <int = 0> __device__ __forceinline__
#define WSH_TEMPLATE static __device__ __forceinline__
#define WSH_BODY(...) \
    {                 \
        __VA_ARGS__   \
    }
#else
#define WSH_BOTH extern "C" __host__ __device__
#define WSH_ONLY template <int = 0> __device__
#define WSH_TEMPLATE __device__
#define WSH_BODY(...) ;
#endif

/* T, where it is not to be deduced from an argument. */
template <class T> struct wsh_same_as {
    typedef T type;
};
template <class T> using wsh_same = typename wsh_same_as<T>::type;

/*
 * Uses X(QUALIFIER, SUFFIX, SCOPE, …) for the three scopes of a routine; WSH_EVERY_SCOPE where the thread form is the
 * host's too, WSH_DEVICE_SCOPE where none is.
 */
#define WSH_EVERY_SCOPE(X, ...)             \
    X(WSH_BOTH, , WSH_THREAD, __VA_ARGS__)  \
    X(WSH_ONLY, _warp, WSH_WARP, __VA_ARGS__) \
    X(WSH_ONLY, _block, WSH_BLOCK, __VA_ARGS__)
#define WSH_DEVICE_SCOPE(X, ...)             \
    X(WSH_ONLY, , WSH_THREAD, __VA_ARGS__)   \
    X(WSH_ONLY, _warp, WSH_WARP, __VA_ARGS__) \
    X(WSH_ONLY, _block, WSH_BLOCK, __VA_ARGS__)

#endif

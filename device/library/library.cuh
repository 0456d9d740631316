/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which templates libnvshmem_device.a has compiled: the collectives, by scope, and by kind of number where they
 * compute. Units that are compiled with -DSHMEMX_DEVICE_LIBRARY and -rdc=true call them there; every other unit
 * compiles those that it calls. What is worth being in line (puts, gets, signals, waits) each unit compiles.
 *
 * The library's functions take 64 registers at most, so that kernels of 1024 threads can call them.
 */
#ifndef WSH_DEVICE_LIBRARY_CUH
#define WSH_DEVICE_LIBRARY_CUH

#include "../coll/collect.cuh"
#include "../coll/reduce.cuh"
#include "../coll/scan.cuh"

/* WORD: `extern` where they are called, nothing in the library. */
#define WSH_LIBRARY_NUMBERS(WORD, S, ...)                                                                    \
    WORD template __device__ void wsh_dev_reduce_all<S, __VA_ARGS__>(const char *, shmem_team_t, int, void *, \
                                                                     const void *, size_t);                  \
    WORD template __device__ void wsh_dev_reduce_scatter<S, __VA_ARGS__>(const char *, shmem_team_t, int, void *, \
                                                                         const void *, size_t);              \
    WORD template __device__ void wsh_dev_scan<S, __VA_ARGS__>(const char *, shmem_team_t, void *, const void *, \
                                                               size_t, bool);

#define WSH_LIBRARY_STRIDED(WORD, S, SIZE)                                                                   \
    WORD template __device__ void wsh_dev_alltoalls<S, SIZE>(const char *, shmem_team_t, void *, const void *, \
                                                             struct wsh_dev_strides);

#define WSH_LIBRARY_COLLECTIVES(WORD, S)                                                                     \
    WORD template __device__ void wsh_dev_barrier_here<S>(const char *, shmem_team_t);                       \
    WORD template __device__ void wsh_dev_barrier_hosts<S>(const char *, shmem_team_t);                      \
    WORD template __device__ void wsh_dev_exchange<S>(const char *, shmem_team_t, char *, const char *, bool, size_t); \
    WORD template __device__ void wsh_dev_collect<S>(const char *, shmem_team_t, void *, const void *, size_t); \
    WORD template __device__ void wsh_dev_broadcast_to<S>(const char *, shmem_team_t, void *, const void *, size_t, \
                                                          int);                                              \
    WSH_LIBRARY_STRIDED(WORD, S, 1)                                                                          \
    WSH_LIBRARY_STRIDED(WORD, S, 2)                                                                          \
    WSH_LIBRARY_STRIDED(WORD, S, 4)                                                                          \
    WSH_LIBRARY_STRIDED(WORD, S, 8)                                                                          \
    WSH_LIBRARY_NUMBERS(WORD, S, wsh_dev_either<1>)                                                         \
    WSH_LIBRARY_NUMBERS(WORD, S, wsh_dev_either<2>)                                                         \
    WSH_LIBRARY_NUMBERS(WORD, S, wsh_dev_either<4>)                                                         \
    WSH_LIBRARY_NUMBERS(WORD, S, wsh_dev_either<8>)                                                         \
    WSH_LIBRARY_NUMBERS(WORD, S, wsh_dev_floating<float>)                                                    \
    WSH_LIBRARY_NUMBERS(WORD, S, wsh_dev_floating<double>)                                                   \
    WSH_LIBRARY_NUMBERS(WORD, S, wsh_dev_half)                                                               \
    WSH_LIBRARY_NUMBERS(WORD, S, wsh_dev_bfloat16)

#ifdef WSH_LIBRARY_SCOPE /* device/library/collectives.cu */
WSH_LIBRARY_COLLECTIVES(, WSH_LIBRARY_SCOPE)
#elif defined(WSH_DEVICE_APART)
WSH_LIBRARY_COLLECTIVES(extern, WSH_THREAD)
WSH_LIBRARY_COLLECTIVES(extern, WSH_WARP)
WSH_LIBRARY_COLLECTIVES(extern, WSH_BLOCK)
#endif

#endif

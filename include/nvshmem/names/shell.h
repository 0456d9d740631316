/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the other files of this folder are made with. A routine of NVSHMEM is an inline function that calls ours of the
 * same contract, so its address can be taken:
 *
 *   WSH_NV_HOST      on the host alone
 *   WSH_NV_BOTH      on the host and in kernels by one thread; elsewhere than under nvcc on the host alone
 *   WSH_NV_LATE      the same, where the body shall be compiled only in units that call it: a template
 *   WSH_NV_KERNEL    in kernels alone: the forms by a warp and by a block
 *   WSH_NV_STREAM    on the host, putting work on a stream
 *   WSH_NV_INNER     no routine of NVSHMEM, but what these share, on both sides
 *
 * With WSH_NV_SYMBOLS (device/library/) those of kernels are functions with C linkage instead: the symbols of a library
 * of device code.
 *
 * Kernels for streams are compiled by nvcc in the unit that uses them. In units of other compilers the routines on
 * streams, reductions on the host and launches are declared alone: libnvshmem_host has them, as all routines of the
 * host, as symbols. Its unit is nvshmem/library.cc, which says WSH_NV_LIBRARY: there each routine of the host is a
 * function of the library.
 *
 * The tables of types are those of shmem/types.h, with half and bfloat16.
 */
#ifndef WSH_NV_SHELL_H
#define WSH_NV_SHELL_H

/*
 * Units of nvcc have the routines of kernels, and compile kernels for streams. Programs that call the host's alone
 * define NVSHMEM_HOSTLIB_ONLY: then such a unit is as one of another compiler.
 */
#if defined NVSHMEM_HOSTLIB_ONLY && !defined SHMEMX_HOST_ONLY
#define SHMEMX_HOST_ONLY
#endif
#if defined __CUDACC__ && !defined SHMEMX_HOST_ONLY
#define WSH_NV_KERNELS
#endif

/* A sync in kernels completes no puts, as in NVSHMEM. */
#ifndef SHMEMX_SYNC_IS_BARRIER
#define SHMEMX_SYNC_IS_BARRIER 0
#endif

/* A quiet, a fence and a barrier in kernels are of all queues, as NVSHMEM's are. */
#ifndef SHMEMX_QUIET_COVERS_QUEUES
#define SHMEMX_QUIET_COVERS_QUEUES 1
#endif

/* Programs rely on what NVSHMEM's headers bring along. */
#ifndef __CUDACC_RTC__
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#endif
#if defined __has_include
#if __has_include(<cuda_runtime.h>) && !defined __CUDACC_RTC__ && !defined WSH_NV_LIBRARY
#define WSH_NV_HAS_CUDA
#include <cuda.h>
#include <cuda_runtime.h>
#endif
#ifdef WSH_DEVICE_FREESTANDING_CUH
#define WSH_NV_HAS_HALF
#elif __has_include(<cuda_fp16.h>) && defined __cplusplus && !defined WSH_NV_LIBRARY
#define WSH_NV_HAS_HALF
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif
#endif
#if defined __CUDACC__ && !defined __CUDACC_RTC__
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#endif

#include <shmemx.h>

#include "../device_host/nvshmem_types.h"

#if defined WSH_NV_LIBRARY
#define WSH_NV_HAS_CUDA
#define WSH_NV_HAS_HALF
#define WSH_NV_HOST extern "C" __attribute__((visibility("default")))
#define WSH_NV_BOTH WSH_NV_HOST
#define WSH_NV_LATE WSH_NV_HOST
#define WSH_NV_STREAM WSH_NV_HOST
#define WSH_NV_INNER static inline
#define WSH_NV_N /* the template arguments of what WSH_NV_STREAM makes */
#elif defined WSH_NV_SYMBOLS
#define WSH_NV_HOST static inline
#define WSH_NV_BOTH extern "C" __device__
#define WSH_NV_LATE extern "C" __device__
#define WSH_NV_KERNEL extern "C" __device__
#define WSH_NV_STREAM template <int N = 0> static inline
#define WSH_NV_INNER static __device__ __forceinline__
#define WSH_NV_N <N>
constexpr int N = 0; /* what the bodies pass on */
#elif defined WSH_NV_KERNELS
#define WSH_NV_HOST static inline
#define WSH_NV_BOTH static __host__ __device__ __forceinline__
#define WSH_NV_LATE \
    _Pragma("nv_exec_check_disable") template <int N = 0> static __host__ __device__ __forceinline__
#define WSH_NV_KERNEL template <int N = 0> static __device__ __forceinline__
#define WSH_NV_STREAM template <int N = 0> static inline
#define WSH_NV_INNER WSH_NV_BOTH
#define WSH_NV_N <N>
#else
#define WSH_NV_HOST static inline
#define WSH_NV_BOTH static inline
#define WSH_NV_INNER static inline
#endif

/* The routines on streams, reductions on the host and launches have bodies here. */
#if (defined WSH_NV_KERNELS && !defined __CUDACC_RTC__) || defined WSH_NV_LIBRARY
#define WSH_NV_HAS_STREAMS
#endif

/* Of two bodies the one for this side: the last argument, from the second on, is the host's. */
#if (defined __CUDA_ARCH__ && defined WSH_NV_KERNELS) || defined WSH_NV_SYMBOLS
#define WSH_NV_SIDE(DEVICE, ...) DEVICE
#else
#define WSH_NV_SIDE(DEVICE, ...) __VA_ARGS__
#endif

/*
 * In the device's body of such a routine: its host's body launches kernels by this routine on streams. nvcc compiles a
 * kernel in its pass for the device, which does not see that body.
 */
#if defined __CUDA_ARCH__ && defined WSH_NV_HAS_STREAMS && !defined WSH_NV_SYMBOLS && \
    !defined SHMEMX_DEVICE_MODULE
template <auto> struct wsh_nv_launched {
};
#define WSH_NV_LAUNCHES(...) (void)wsh_nv_launched<&__VA_ARGS__>()
#else
#define WSH_NV_LAUNCHES(...) (void)0
#endif

/* Of a reduction on the host: by several blocks where it is large; the archive of device code has what one does. */
#if defined WSH_DEVICE_APART && !defined WSH_NV_LIBRARY
#define WSH_NV_REDUCE_N <WSH_STREAM_BY_BLOCK>
#else
#define WSH_NV_REDUCE_N WSH_NV_N
#endif

#ifdef __cplusplus
#define WSH_NV_EXTERN extern "C"
#else
#define WSH_NV_EXTERN extern
#endif

#ifndef __CUDACC_RTC__
WSH_NV_EXTERN void wsh_device_say(const char *line);

/* Of what returns a status. */
static inline int wsh_nv_refuse(const char *line)
{
    wsh_device_say(line);
    return NVSHMEMX_ERROR_INVALID_VALUE;
}
#endif

/* On the host the job ends where a routine without a status is to write its result nowhere. */
#define WSH_NV_WRITES(pointer, what)                                                \
    WSH_NV_SIDE((void)0, if (!(pointer)) {                                          \
        wsh_device_say(what " is NULL; pass the address of what is to be written"); \
        shmem_global_exit(1);                                                       \
    })

/* NVSHMEM's SET and ADD are 9 and 10. */
#define WSH_NV_OP(sig_op) ((sig_op)-NVSHMEM_SIGNAL_SET)

/*
 * Types that the host's C lacks: X(NAME, TYPE), and X(NAME, TYPE, INTEGER, WORD, BITS) with the name and type of
 * integers of the same size.
 */
#ifdef WSH_NV_HAS_HALF
#define WSH_NV_HALVES(X) X(half, __half) X(bfloat16, __nv_bfloat16)
#define WSH_NV_HALF_TYPES(X) \
    X(half, __half, uint16, uint16_t, 16) X(bfloat16, __nv_bfloat16, uint16, uint16_t, 16)
#else
#define WSH_NV_HALVES(X)
#define WSH_NV_HALF_TYPES(X)
#endif

#endif

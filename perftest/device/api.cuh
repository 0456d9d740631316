/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The few names by which device programs call a library: OpenSHMEM's device routines, or with -DPERF_NVSHMEM
 * those of NVSHMEM. Where NVSHMEM has no form by a warp or block (quiet, fence, waits), lane 0 calls the
 * thread's between two barriers.
 */
#ifndef PERFTEST_DEVICE_API_CUH
#define PERFTEST_DEVICE_API_CUH

#include <stdint.h>
#include <stdio.h>

#include "perftest/device/pass_id.h"

extern "C" {
#include "perftest/device/rows.h"
}

#ifdef PERF_NVSHMEM
#include <nvshmem.h>
#include <nvshmemx.h>
#define PERF_ONE(name) nvshmem_##name
#define PERF_AT(name, scope) nvshmemx_##name##_##scope
#define PERF_X(name) nvshmemx_##name
#define PERF_TEAM NVSHMEM_TEAM_WORLD
#define PERF_SIGNAL_SET NVSHMEM_SIGNAL_SET
#define PERF_GE NVSHMEM_CMP_GE
#else
#include <shmemx.h>
#define PERF_ONE(name) shmem_##name
#define PERF_AT(name, scope) shmem_##name##_##scope
#define PERF_X(name) shmemx_##name
#define PERF_TEAM SHMEM_TEAM_WORLD
#define PERF_SIGNAL_SET SHMEM_SIGNAL_SET
#define PERF_GE SHMEM_CMP_GE
#endif

/* perf_NAME<S>(…): by a thread, a warp or a block. */
#define PERF_SCOPES(name, thread, warp, block)                                        \
    template <int S, class... ARGS> static __device__ void perf_##name(ARGS... args)  \
    {                                                                                 \
        if constexpr (S == DEV_THREAD)                                                \
            thread(args...);                                                          \
        else if constexpr (S == DEV_WARP)                                             \
            warp(args...);                                                            \
        else                                                                          \
            block(args...);                                                           \
    }
#define PERF_SCOPED(name) PERF_SCOPES(name, PERF_ONE(name), PERF_AT(name, warp), PERF_AT(name, block))

PERF_SCOPED(putmem_nbi)
PERF_SCOPED(getmem)
PERF_SCOPED(getmem_nbi)
PERF_SCOPED(putmem_signal)
PERF_SCOPED(putmem_signal_nbi)

template <int S> static __device__ void perf_sync()
{
    if constexpr (S == DEV_WARP)
        __syncwarp();
    else if constexpr (S == DEV_BLOCK)
        __syncthreads();
}

/* Whether this thread is the first one of its scope. */
template <int S> static __device__ bool perf_leads()
{
    return S == DEV_THREAD || (S == DEV_WARP ? threadIdx.x % 32 : threadIdx.x) == 0;
}

#ifdef PERF_NVSHMEM
#define PERF_WAIT(name)                                                                  \
    template <int S> static __device__ void perf_##name(uint64_t *word, uint64_t value)  \
    {                                                                                    \
        if (perf_leads<S>())                                                             \
            nvshmem_##name(word, PERF_GE, value);                                        \
        perf_sync<S>();                                                                  \
    }
#define PERF_ORDER(name)                                    \
    template <int S> static __device__ void perf_##name()   \
    {                                                       \
        perf_sync<S>();                                     \
        if (perf_leads<S>())                                \
            nvshmem_##name();                               \
        perf_sync<S>();                                     \
    }
PERF_ORDER(quiet)
PERF_ORDER(fence)
PERF_WAIT(uint64_wait_until)
PERF_WAIT(signal_wait_until)
#else
#define PERF_WAIT(name)                                                                  \
    template <int S> static __device__ void perf_##name(uint64_t *word, uint64_t value)  \
    {                                                                                    \
        if constexpr (S == DEV_THREAD)                                                   \
            shmem_##name(word, PERF_GE, value);                                          \
        else if constexpr (S == DEV_WARP)                                                \
            shmem_##name##_warp(word, PERF_GE, value);                                   \
        else                                                                             \
            shmem_##name##_block(word, PERF_GE, value);                                  \
    }
PERF_WAIT(uint64_wait_until)
PERF_WAIT(signal_wait_until)
PERF_SCOPED(quiet)
PERF_SCOPED(fence)
PERF_SCOPES(putmem_bulk, shmemx_putmem_bulk, shmemx_putmem_bulk_warp, shmemx_putmem_bulk_block)
PERF_SCOPES(getmem_bulk, shmemx_getmem_bulk, shmemx_getmem_bulk_warp, shmemx_getmem_bulk_block)
#endif

/* Host side. perf_start: 0, or nonzero after a line; the GPU is chosen by the PE's number. */
static int perf_choose(int gpu)
{
    cudaError_t status = cudaSetDevice(gpu);

    if (status != cudaSuccess)
        fprintf(stderr, "%s: GPU %d cannot be used: %s\n", dev_table.name, gpu, cudaGetErrorString(status));
    return status != cudaSuccess;
}

static inline int perf_pe()
{
    return PERF_ONE(my_pe)();
}

static inline int perf_pes()
{
    return PERF_ONE(n_pes)();
}

/* Fills `name`; for the report. */
static inline const char *perf_library(char *name, size_t len)
{
#ifdef PERF_NVSHMEM
    int major = 0, minor = 0, patch = 0;

    nvshmemx_vendor_get_version_info(&major, &minor, &patch);
    snprintf(name, len, "NVSHMEM %d.%d.%d", major, minor, patch);
#else
    snprintf(name, len, "warpshmem");
#endif
    return name;
}

/* By what this PE's operations reach that address of PE `pe`. */
static inline const char *perf_transport(const void *symmetric, int pe)
{
    return PERF_ONE(ptr)(symmetric, pe) ? "stores of the GPU" : "proxy";
}

static inline void perf_stop()
{
    PERF_ONE(finalize)();
}

static inline void perf_fail()
{
    PERF_ONE(global_exit)(1);
}

static void perf_barrier()
{
    PERF_ONE(barrier_all)();
}

static __global__ void perf_figures_put(double *figures, const double *mine)
{
    for (int pe = 0; pe < PERF_ONE(n_pes)(); pe++)
        PERF_ONE(double_p)(figures + threadIdx.x, mine[threadIdx.x], pe);
    PERF_ONE(quiet)();
}

/* This PE's `count` figures to figures[me * stride …] of all PEs; there after a barrier. */
static void perf_figures_share(double *figures, const double *mine, int count, int stride)
{
    perf_figures_put<<<1, count>>>(figures + (size_t)PERF_ONE(my_pe)() * stride, mine);
}

#ifdef PERF_NVSHMEM

static int perf_start(int gpus)
{
    struct perf_launch launch;
    nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;
    nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;

    if (!perf_launched(&launch)) {
        nvshmem_init();
        return perf_choose(nvshmem_my_pe() % gpus);
    }
    if (perf_choose(launch.pe % gpus) || (launch.pe == 0 && nvshmemx_get_uniqueid(&id)) ||
        perf_pass_id(&id, sizeof id, &launch) ||
        nvshmemx_set_attr_uniqueid_args(launch.pe, launch.npes, &id, &attr) ||
        nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attr)) {
        fprintf(stderr, "%s: PE %d of %d could not start NVSHMEM with the id in %s\n", dev_table.name,
                launch.pe, launch.npes, launch.path);
        return -1;
    }
    return 0;
}

static void *perf_malloc(size_t len)
{
    return nvshmem_malloc(len);
}

static void perf_free(void *memory)
{
    nvshmem_free(memory);
}

#else

static int perf_start(int gpus)
{
    shmem_init();
    return perf_choose(shmem_my_pe() % gpus);
}

static void *perf_malloc(size_t len)
{
    return shmemx_malloc_device(len);
}

static void perf_free(void *memory)
{
    shmemx_free_device(memory);
}

#endif

#endif

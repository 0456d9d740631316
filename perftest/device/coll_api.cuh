/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names by which collectives calls a library, beside those of api.cuh; with -DPERF_NCCL everything is
 * coll_nccl.cuh's, which has no kernels.
 */
#ifndef PERFTEST_DEVICE_COLL_API_CUH
#define PERFTEST_DEVICE_COLL_API_CUH

#ifdef PERF_NCCL

#include "perftest/device/coll_nccl.cuh"

#else

#include "perftest/device/api.cuh"

extern "C" {
#include "perftest/device/coll.h"
}

PERF_SCOPED(barrier_all)
PERF_SCOPED(sync_all)
PERF_SCOPED(int64_alltoall)
PERF_SCOPED(int32_alltoall)
PERF_SCOPED(int64_fcollect)
PERF_SCOPED(int64_broadcast)
PERF_SCOPED(int64_sum_reduce)
PERF_SCOPED(float_sum_reduce)
#ifdef PERF_NVSHMEM
PERF_SCOPED(int64_sum_reducescatter)
#else
PERF_SCOPES(int64_sum_reducescatter, shmemx_int64_sum_reducescatter, shmemx_int64_sum_reducescatter_warp,
            shmemx_int64_sum_reducescatter_block)
#endif

/* One call into the stream; false: there is no such routine. Errors: cudaGetLastError. */
static bool perf_on_stream(int kind, void *dest, const void *source, size_t n, cudaStream_t stream)
{
    int64_t *to = (int64_t *)dest;
    const int64_t *from = (const int64_t *)source;

    switch (kind) {
    case COLL_ALLTOALL: PERF_X(int64_alltoall_on_stream)(PERF_TEAM, to, from, n, stream); return true;
    case COLL_FCOLLECT: PERF_X(int64_fcollect_on_stream)(PERF_TEAM, to, from, n, stream); return true;
    case COLL_BROADCAST: PERF_X(int64_broadcast_on_stream)(PERF_TEAM, to, from, n, 0, stream); return true;
    case COLL_REDUCE: PERF_X(int64_sum_reduce_on_stream)(PERF_TEAM, to, from, n, stream); return true;
    case COLL_REDUCE_FLOAT:
        PERF_X(float_sum_reduce_on_stream)(PERF_TEAM, (float *)dest, (const float *)source, n, stream);
        return true;
    case COLL_REDUCESCATTER:
        PERF_X(int64_sum_reducescatter_on_stream)(PERF_TEAM, to, from, n, stream);
        return true;
    case COLL_BARRIER: PERF_X(barrier_all_on_stream)(stream); return true;
    case COLL_SYNC: PERF_X(sync_all_on_stream)(stream); return true;
    }
    return false;
}

/* One call; false: no such routine takes device memory (of warpshmem's, reductions are the CPU's). */
static bool perf_on_host(int kind, void *dest, const void *source, size_t n)
{
    int64_t *to = (int64_t *)dest;
    const int64_t *from = (const int64_t *)source;

    switch (kind) {
    case COLL_ALLTOALL: PERF_ONE(int64_alltoall)(PERF_TEAM, to, from, n); return true;
    case COLL_FCOLLECT: PERF_ONE(int64_fcollect)(PERF_TEAM, to, from, n); return true;
    case COLL_BROADCAST: PERF_ONE(int64_broadcast)(PERF_TEAM, to, from, n, 0); return true;
#ifdef PERF_NVSHMEM
    case COLL_REDUCE: nvshmem_int64_sum_reduce(PERF_TEAM, to, from, n); return true;
#endif
    case COLL_BARRIER: PERF_ONE(barrier_all)(); return true;
    case COLL_SYNC: PERF_ONE(sync_all)(); return true;
    }
    return false;
}

#endif
#endif

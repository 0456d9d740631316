/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names by which collectives calls a library, beside those of api.cuh; with -DPERF_NCCL everything is
 * coll_nccl.cuh's, which has no kernels.
 */
#ifndef PERFTEST_DEVICE_COLL_API_CUH
#define PERFTEST_DEVICE_COLL_API_CUH

#ifdef PERF_NCCL

#include "perftest/device/coll_nccl.cuh"

static bool perf_counts(size_t, int)
{
    return true;
}

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

/* Of alltoallv, in memory of this GPU: arrays by PE of counts, offsets, and what the packed form finds. */
static size_t *perf_vector;

/* Equal counts of n elements. */
static bool perf_counts(size_t n, int pes)
{
    size_t *both = (size_t *)malloc(2 * (size_t)pes * sizeof *both);
    bool done = both && (perf_vector || cudaMalloc(&perf_vector, (4 * (size_t)pes + 1) * sizeof *both) == cudaSuccess);

    for (int pe = 0; pe < pes && both; pe++) {
        both[pe] = n;
        both[pes + pe] = n * (size_t)pe;
    }
    done = done && cudaMemcpy(perf_vector, both, 2 * (size_t)pes * sizeof *both, cudaMemcpyHostToDevice) == cudaSuccess;
    free(both);
    return done;
}

/* The same by hand: places are known. */
static void perf_puts_on_stream(int64_t *to, const int64_t *from, size_t n, cudaStream_t stream)
{
    for (int pe = 0; pe < perf_pes(); pe++)
        PERF_X(putmem_nbi_on_stream)(to + n * (size_t)perf_pe(), from + n * (size_t)pe, n * sizeof *to, pe, stream);
    PERF_X(barrier_all_on_stream)(stream);
}

/* False: there is no such routine. */
static bool perf_vector_on_stream(int kind, int64_t *to, const int64_t *from, size_t n, cudaStream_t stream)
{
#ifdef PERF_NVSHMEM
    (void)kind, (void)to, (void)from, (void)n, (void)stream;
    return false;
#else
    size_t pes = (size_t)perf_pes(), *counts = perf_vector, *offsets = counts + pes, *found = offsets + pes;

    if (kind == COLL_ALLTOALLV)
        shmemx_int64_alltoallv_on_stream(PERF_TEAM, to, counts, offsets, from, counts, offsets, stream);
    else
        shmemx_int64_alltoallv_packed_nelems_on_stream(PERF_TEAM, to, found, found + pes, n * pes, 1, found + 2 * pes,
                                                       from, counts, offsets, stream);
    return true;
#endif
}

/* One call into the stream; false: there is no such routine. Errors: cudaGetLastError. */
static bool perf_on_stream(int kind, void *dest, const void *source, size_t n, cudaStream_t stream)
{
    int64_t *to = (int64_t *)dest;
    const int64_t *from = (const int64_t *)source;

    switch (kind) {
    case COLL_ALLTOALL: PERF_X(int64_alltoall_on_stream)(PERF_TEAM, to, from, n, stream); return true;
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLV_PACKED: return perf_vector_on_stream(kind, to, from, n, stream);
    case COLL_ALLTOALLV_PUTS: perf_puts_on_stream(to, from, n, stream); return true;
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

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives over teams. On the host reductions work on device memory: under nvcc on the thread's own stream, which
 * the call awaits.
 */
#ifndef WSH_NV_COLL_H
#define WSH_NV_COLL_H

#include "shell.h"

/* clang-format off */

WSH_NV_BOTH void nvshmem_barrier_all(void)
{
    shmem_barrier_all();
}

WSH_NV_BOTH void nvshmem_sync_all(void)
{
    shmem_sync_all();
}

WSH_NV_BOTH int nvshmem_barrier(nvshmem_team_t team)
{
    return shmemx_team_barrier(SHMEMX_TEAM(team));
}

WSH_NV_BOTH int nvshmem_team_sync(nvshmem_team_t team)
{
    return shmem_team_sync(SHMEMX_TEAM(team));
}

#define nvshmem_sync nvshmem_team_sync

#define WSH_NV_BLOCKS(TAG, CORE, TYPE, WORD)                                                                 \
    WSH_NV_BOTH int nvshmem_##TAG(nvshmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)        \
    {                                                                                                        \
        return shmem_##CORE(SHMEMX_TEAM(team), (WORD *)dest, (const WORD *)source, nelems);                  \
    }
#define WSH_NV_ROOTED(TAG, CORE, TYPE, WORD)                                                                 \
    WSH_NV_BOTH int nvshmem_##TAG(nvshmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems, int PE_root) \
    {                                                                                                        \
        return shmem_##CORE(SHMEMX_TEAM(team), (WORD *)dest, (const WORD *)source, nelems, PE_root);         \
    }

#ifdef WSH_NV_KERNELS

#define WSH_NV_BLOCKS_SCOPED(TAG, CORE, TYPE, WORD, SUFFIX)                                                  \
    WSH_NV_KERNEL int nvshmemx_##TAG##SUFFIX(nvshmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems) \
    {                                                                                                        \
        return shmem_##CORE##SUFFIX<N>(SHMEMX_TEAM(team), (WORD *)dest, (const WORD *)source, nelems);       \
    }
#define WSH_NV_ROOTED_SCOPED(TAG, CORE, TYPE, WORD, SUFFIX)                                                  \
    WSH_NV_KERNEL int nvshmemx_##TAG##SUFFIX(nvshmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems, \
                                             int PE_root)                                                    \
    {                                                                                                        \
        return shmem_##CORE##SUFFIX<N>(SHMEMX_TEAM(team), (WORD *)dest, (const WORD *)source, nelems, PE_root); \
    }

#define WSH_NV_BARRIER(SUFFIX)                                                                               \
    WSH_NV_KERNEL void nvshmemx_barrier_all##SUFFIX(void)                                                    \
    {                                                                                                        \
        shmem_barrier_all##SUFFIX<N>();                                                                      \
    }                                                                                                        \
    WSH_NV_KERNEL void nvshmemx_sync_all##SUFFIX(void)                                                       \
    {                                                                                                        \
        shmem_sync_all##SUFFIX<N>();                                                                         \
    }                                                                                                        \
    WSH_NV_KERNEL int nvshmemx_barrier##SUFFIX(nvshmem_team_t team)                                          \
    {                                                                                                        \
        return shmemx_team_barrier##SUFFIX<N>(SHMEMX_TEAM(team));                                            \
    }                                                                                                        \
    WSH_NV_KERNEL int nvshmemx_team_sync##SUFFIX(nvshmem_team_t team)                                        \
    {                                                                                                        \
        return shmem_team_sync##SUFFIX<N>(SHMEMX_TEAM(team));                                                \
    }
WSH_NV_BARRIER(_warp)
WSH_NV_BARRIER(_block)
#undef WSH_NV_BARRIER

/* A body for the pass of the host too, which has no PTX. */
static __device__ __forceinline__ void wsh_nv_warpgroup_sync(unsigned group)
{
#ifdef __CUDA_ARCH__
    wsh_ptx_warpgroup_sync(group);
#else
    (void)group;
#endif
}

/*
 * By 4 warps, the first of them a multiple of 4, which meet at a named barrier of the block (device/ptx/ptx.cuh).
 */
WSH_NV_KERNEL int nvshmemx_barrier_warpgroup(nvshmem_team_t team)
{
    const unsigned warp =
        (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / 32;

    shmem_quiet_warp<N>();
    wsh_nv_warpgroup_sync(warp / 4);
    if (warp % 4 == 0)
        shmemx_team_barrier_warp<N>(SHMEMX_TEAM(team));
    wsh_nv_warpgroup_sync(warp / 4);
    return 0;
}

#else

#define WSH_NV_BLOCKS_SCOPED(TAG, CORE, TYPE, WORD, SUFFIX)
#define WSH_NV_ROOTED_SCOPED(TAG, CORE, TYPE, WORD, SUFFIX)

#endif

#ifdef WSH_NV_HAS_STREAMS

#define WSH_NV_BLOCKS_ON_STREAM(TAG, CORE, TYPE, WORD)                                                       \
    WSH_NV_STREAM int nvshmemx_##TAG##_on_stream(nvshmem_team_t team, TYPE *dest, const TYPE *source,        \
                                                 size_t nelems, cudaStream_t stream)                         \
    {                                                                                                        \
        return shmemx_##CORE##_on_stream<N>(SHMEMX_TEAM(team), (WORD *)dest, (const WORD *)source, nelems, stream); \
    }
#define WSH_NV_ROOTED_ON_STREAM(TAG, CORE, TYPE, WORD)                                                       \
    WSH_NV_STREAM int nvshmemx_##TAG##_on_stream(nvshmem_team_t team, TYPE *dest, const TYPE *source,        \
                                                 size_t nelems, int PE_root, cudaStream_t stream)            \
    {                                                                                                        \
        return shmemx_##CORE##_on_stream<N>(SHMEMX_TEAM(team), (WORD *)dest, (const WORD *)source, nelems,   \
                                            PE_root, stream);                                                \
    }

WSH_NV_STREAM void nvshmemx_barrier_all_on_stream(cudaStream_t stream)
{
    shmemx_barrier_all_on_stream<N>(stream);
}

WSH_NV_STREAM void nvshmemx_sync_all_on_stream(cudaStream_t stream)
{
    shmemx_sync_all_on_stream<N>(stream);
}

WSH_NV_STREAM int nvshmemx_barrier_on_stream(nvshmem_team_t team, cudaStream_t stream)
{
    return shmemx_team_barrier_on_stream<N>(SHMEMX_TEAM(team), stream);
}

WSH_NV_STREAM int nvshmemx_team_sync_on_stream(nvshmem_team_t team, cudaStream_t stream)
{
    return shmemx_team_sync_on_stream<N>(SHMEMX_TEAM(team), stream);
}

#elif defined WSH_NV_HAS_CUDA

#define WSH_NV_BLOCKS_ON_STREAM(TAG, CORE, TYPE, WORD)                                                       \
    WSH_NV_EXTERN int nvshmemx_##TAG##_on_stream(nvshmem_team_t team, TYPE *dest, const TYPE *source,        \
                                                 size_t nelems, cudaStream_t stream);
#define WSH_NV_ROOTED_ON_STREAM(TAG, CORE, TYPE, WORD)                                                       \
    WSH_NV_EXTERN int nvshmemx_##TAG##_on_stream(nvshmem_team_t team, TYPE *dest, const TYPE *source,        \
                                                 size_t nelems, int PE_root, cudaStream_t stream);

WSH_NV_EXTERN void nvshmemx_barrier_all_on_stream(cudaStream_t stream);
WSH_NV_EXTERN void nvshmemx_sync_all_on_stream(cudaStream_t stream);
WSH_NV_EXTERN int nvshmemx_barrier_on_stream(nvshmem_team_t team, cudaStream_t stream);
WSH_NV_EXTERN int nvshmemx_team_sync_on_stream(nvshmem_team_t team, cudaStream_t stream);

#else

#define WSH_NV_BLOCKS_ON_STREAM(TAG, CORE, TYPE, WORD)
#define WSH_NV_ROOTED_ON_STREAM(TAG, CORE, TYPE, WORD)

#endif

#define WSH_NV_EXCHANGE(KIND, TAG, CORE, TYPE, WORD)                    \
    WSH_NV_##KIND(TAG, CORE, TYPE, WORD)                                \
    WSH_NV_##KIND##_SCOPED(TAG, CORE, TYPE, WORD, _warp)                \
    WSH_NV_##KIND##_SCOPED(TAG, CORE, TYPE, WORD, _block)               \
    WSH_NV_##KIND##_ON_STREAM(TAG, CORE, TYPE, WORD)
#define WSH_NV_TYPED(NAME, TYPE)                                                    \
    WSH_NV_EXCHANGE(BLOCKS, NAME##_alltoall, NAME##_alltoall, TYPE, TYPE)           \
    WSH_NV_EXCHANGE(BLOCKS, NAME##_fcollect, NAME##_fcollect, TYPE, TYPE)           \
    WSH_NV_EXCHANGE(ROOTED, NAME##_broadcast, NAME##_broadcast, TYPE, TYPE)
#define WSH_NV_HALF(NAME, TYPE, INTEGER, WORD, BITS)                                \
    WSH_NV_EXCHANGE(BLOCKS, NAME##_alltoall, INTEGER##_alltoall, TYPE, WORD)        \
    WSH_NV_EXCHANGE(BLOCKS, NAME##_fcollect, INTEGER##_fcollect, TYPE, WORD)        \
    WSH_NV_EXCHANGE(ROOTED, NAME##_broadcast, INTEGER##_broadcast, TYPE, WORD)
WSH_DEVICE_TYPES(WSH_NV_TYPED)
WSH_NV_HALF_TYPES(WSH_NV_HALF)
WSH_NV_EXCHANGE(BLOCKS, alltoallmem, alltoallmem, void, void)
WSH_NV_EXCHANGE(BLOCKS, fcollectmem, fcollectmem, void, void)
WSH_NV_EXCHANGE(ROOTED, broadcastmem, broadcastmem, void, void)
#undef WSH_NV_HALF
#undef WSH_NV_TYPED
#undef WSH_NV_EXCHANGE
#undef WSH_NV_ROOTED_ON_STREAM
#undef WSH_NV_BLOCKS_ON_STREAM
#undef WSH_NV_ROOTED_SCOPED
#undef WSH_NV_BLOCKS_SCOPED
#undef WSH_NV_ROOTED
#undef WSH_NV_BLOCKS

/* Reductions, to all and scattered. TAG: after nvshmem_; OURS: the prefix of ours in kernels. */
#ifdef WSH_NV_HAS_STREAMS
#define WSH_NV_COMBINE_HOST(TAG, OURS, TYPE)                                                                 \
    WSH_NV_STREAM int nvshmemx_##TAG##_on_stream(nvshmem_team_t team, TYPE *dest, const TYPE *source,        \
                                                 size_t nreduce, cudaStream_t stream)                        \
    {                                                                                                        \
        return shmemx_##TAG##_on_stream<N>(SHMEMX_TEAM(team), dest, source, nreduce, stream);                \
    }                                                                                                        \
    WSH_NV_LATE int nvshmem_##TAG(nvshmem_team_t team, TYPE *dest, const TYPE *source, size_t nreduce)       \
    {                                                                                                        \
        WSH_NV_SIDE(WSH_NV_LAUNCHES(shmemx_##TAG##_on_stream WSH_NV_REDUCE_N);                               \
                    return WSH_NV_CORE_##OURS(TAG, )(SHMEMX_TEAM(team), dest, source, nreduce),              \
                    int status = nvshmemx_##TAG##_on_stream WSH_NV_REDUCE_N(team, dest, source, nreduce,     \
                                                                            cudaStreamPerThread);            \
                    return status ? status : (int)cudaStreamSynchronize(cudaStreamPerThread));               \
    }
#elif defined WSH_NV_KERNELS
#define WSH_NV_COMBINE_HOST(TAG, OURS, TYPE)                                                                 \
    WSH_NV_LATE int nvshmem_##TAG(nvshmem_team_t team, TYPE *dest, const TYPE *source, size_t nreduce)       \
    {                                                                                                        \
        return WSH_NV_CORE_##OURS(TAG, )(SHMEMX_TEAM(team), dest, source, nreduce);                          \
    }
#elif defined WSH_NV_HAS_CUDA
#define WSH_NV_COMBINE_HOST(TAG, OURS, TYPE)                                                                 \
    WSH_NV_EXTERN int nvshmem_##TAG(nvshmem_team_t team, TYPE *dest, const TYPE *source, size_t nreduce);    \
    WSH_NV_EXTERN int nvshmemx_##TAG##_on_stream(nvshmem_team_t team, TYPE *dest, const TYPE *source,        \
                                                 size_t nreduce, cudaStream_t stream);
#else
#define WSH_NV_COMBINE_HOST(TAG, OURS, TYPE)
#endif

#ifdef WSH_NV_KERNELS
#define WSH_NV_COMBINE(TAG, OURS, TYPE)                                                                      \
    WSH_NV_COMBINE_HOST(TAG, OURS, TYPE)                                                                     \
    WSH_NV_KERNEL int nvshmemx_##TAG##_warp(nvshmem_team_t team, TYPE *dest, const TYPE *source, size_t nreduce) \
    {                                                                                                        \
        return OURS##TAG##_warp<N>(SHMEMX_TEAM(team), dest, source, nreduce);                                \
    }                                                                                                        \
    WSH_NV_KERNEL int nvshmemx_##TAG##_block(nvshmem_team_t team, TYPE *dest, const TYPE *source, size_t nreduce) \
    {                                                                                                        \
        return OURS##TAG##_block<N>(SHMEMX_TEAM(team), dest, source, nreduce);                               \
    }
#else
#define WSH_NV_COMBINE(TAG, OURS, TYPE) WSH_NV_COMBINE_HOST(TAG, OURS, TYPE)
#endif

/* Ours by one thread: the host's names have C linkage, those of kernels alone are templates. */
#define WSH_NV_CORE_shmem_(TAG, ...) shmem_##TAG
#define WSH_NV_CORE_shmemx_(TAG, ...) shmemx_##TAG<N>

#define WSH_NV_REDUCE(NAME, TYPE, OP)                               \
    WSH_NV_COMBINE(NAME##_##OP##_reduce, shmem_, TYPE)              \
    WSH_NV_COMBINE(NAME##_##OP##_reducescatter, shmemx_, TYPE)
#define WSH_NV_BITWISE(NAME, TYPE)      \
    WSH_NV_REDUCE(NAME, TYPE, and)      \
    WSH_NV_REDUCE(NAME, TYPE, or)       \
    WSH_NV_REDUCE(NAME, TYPE, xor)
#define WSH_NV_ARITHMETIC(NAME, TYPE)       \
    WSH_NV_REDUCE(NAME, TYPE, sum)      \
    WSH_NV_REDUCE(NAME, TYPE, prod)     \
    WSH_NV_REDUCE(NAME, TYPE, min)      \
    WSH_NV_REDUCE(NAME, TYPE, max)
WSH_REDUCE_BITWISE_TYPES(WSH_NV_BITWISE)
WSH_REDUCE_REAL_TYPES(WSH_NV_ARITHMETIC)
WSH_NV_HALVES(WSH_NV_ARITHMETIC)
#undef WSH_NV_ARITHMETIC
#undef WSH_NV_BITWISE
#undef WSH_NV_REDUCE
#undef WSH_NV_CORE_shmemx_
#undef WSH_NV_CORE_shmem_
#undef WSH_NV_COMBINE
#undef WSH_NV_COMBINE_HOST

#endif

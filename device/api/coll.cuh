/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public names of collectives in device code (section 9.10): shmem_x by one thread, shmem_x_warp and shmem_x_block
 * by all threads of a warp or block. Contracts as in shmem/coll.h, and:
 *
 * Every member calls the same routine with equal arguments at the same scope; a stream counts as a block. A team is
 * in one collective at a time: calls on it by several threads, warps, blocks, kernels or streams of a PE follow each
 * other, ordered by the program. Kernels whose calls wait for each other must be resident at the same time. Calls on
 * the host count for themselves and may come between.
 *
 * Arrays are symmetric memory. Members on other hosts are reached by the proxy. dest may be written as soon as the
 * first member calls; dest of a reduction may be its source. Calls that move data may take more registers than a
 * kernel of more than 512 threads has, unless compiled with -rdc=true by CUDA 13: such a kernel says
 * __launch_bounds__(its threads, 1). Barrier and sync complete what the proxy was asked for, such as atomics on host
 * memory, in jobs of several hosts; else quiet does.
 */
#ifndef WSH_DEVICE_API_COLL_CUH
#define WSH_DEVICE_API_COLL_CUH

#include "../coll/op.cuh"
#include "../coll/vector/vector.h"
#include "shell.cuh"

#ifdef __CUDA_ARCH__
#include "../coll/vector/alltoallv.cuh"
#include "../library/library.cuh"
#endif

/* clang-format off */

/*
 * Both complete what the calling threads have issued; so sync does no less here than barrier, unless the unit is
 * compiled with SHMEMX_SYNC_IS_BARRIER=0: then it is sooner, and only what they have stored to their own device memory
 * is seen.
 */
#define WSH_DEFINE_BARRIER(QUALIFIER, SUFFIX, SCOPE, NAME, SYNC)                                             \
    QUALIFIER void shmem_##NAME##SUFFIX(void)                                                                \
    WSH_BODY(wsh_dev_barrier<SCOPE, SYNC>("shmem_" #NAME #SUFFIX, SHMEM_TEAM_WORLD);)
WSH_EVERY_SCOPE(WSH_DEFINE_BARRIER, barrier_all, false)
WSH_EVERY_SCOPE(WSH_DEFINE_BARRIER, sync_all, true)
#undef WSH_DEFINE_BARRIER

#define WSH_DEFINE_BARRIER(QUALIFIER, SUFFIX, SCOPE, NAME, SYNC)                                             \
    QUALIFIER int NAME##SUFFIX(shmem_team_t team)                                                            \
    WSH_BODY(wsh_dev_barrier<SCOPE, SYNC>(#NAME #SUFFIX ": team", team); return 0;)
WSH_EVERY_SCOPE(WSH_DEFINE_BARRIER, shmem_team_sync, true)
WSH_EVERY_SCOPE(WSH_DEFINE_BARRIER, shmemx_team_barrier, false) /* as shmem_barrier_all, for the members of a team */
#undef WSH_DEFINE_BARRIER

/* TAG: the routine after shmem_. */
#define WSH_EXCHANGE(QUALIFIER, SUFFIX, SCOPE, TAG, CORE, TYPE, SIZE)                                        \
    QUALIFIER int shmem_##TAG##SUFFIX(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)      \
    WSH_BODY(wsh_dev_##CORE<SCOPE>("shmem_" #TAG #SUFFIX, team, dest, source, nelems * (SIZE)); return 0;)
#define WSH_BROADCAST(QUALIFIER, SUFFIX, SCOPE, TAG, TYPE, SIZE)                                             \
    QUALIFIER int shmem_##TAG##SUFFIX(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems,      \
                                      int PE_root)                                                           \
    WSH_BODY(wsh_dev_broadcast_to<SCOPE>("shmem_" #TAG #SUFFIX, team, dest, source, nelems * (SIZE), PE_root); \
             return 0;)
#define WSH_ALLTOALLS(QUALIFIER, SUFFIX, SCOPE, TAG, TYPE, SIZE)                                             \
    QUALIFIER int shmem_##TAG##SUFFIX(shmem_team_t team, TYPE *dest, const TYPE *source, ptrdiff_t dst,      \
                                      ptrdiff_t sst, size_t nelems)                                          \
    WSH_BODY(wsh_dev_alltoalls<SCOPE, SIZE>("shmem_" #TAG #SUFFIX, team, dest, source,                       \
                                            wsh_dev_strides{dst, sst, nelems});                              \
             return 0;)
#define WSH_ALL(SCOPES, ALLTOALL, ALLTOALLS, FCOLLECT, COLLECT, BROADCAST, TYPE, SIZE)                       \
    SCOPES(WSH_EXCHANGE, ALLTOALL, alltoall, TYPE, SIZE)                                                     \
    SCOPES(WSH_ALLTOALLS, ALLTOALLS, TYPE, SIZE)                                                             \
    SCOPES(WSH_EXCHANGE, FCOLLECT, fcollect, TYPE, SIZE)                                                     \
    SCOPES(WSH_EXCHANGE, COLLECT, collect, TYPE, SIZE)                                                       \
    SCOPES(WSH_BROADCAST, BROADCAST, TYPE, SIZE)

#define WSH_TYPED(NAME, TYPE)                                                                                \
    WSH_ALL(WSH_EVERY_SCOPE, NAME##_alltoall, NAME##_alltoalls, NAME##_fcollect, NAME##_collect,             \
            NAME##_broadcast, TYPE, sizeof(TYPE))
WSH_DEVICE_TYPES(WSH_TYPED)
#undef WSH_TYPED

#define WSH_HALF(NAME, TYPE)                                                                                 \
    WSH_ALL(WSH_DEVICE_SCOPE, NAME##_alltoall, NAME##_alltoalls, NAME##_fcollect, NAME##_collect,            \
            NAME##_broadcast, struct TYPE, 2)
WSH_HALF_TYPES(WSH_HALF)
#undef WSH_HALF

WSH_ALL(WSH_EVERY_SCOPE, alltoallmem, alltoallsmem, fcollectmem, collectmem, broadcastmem, void, 1)
#undef WSH_ALL
#undef WSH_ALLTOALLS
#undef WSH_BROADCAST
#undef WSH_EXCHANGE

/*
 * As shmemx_alltoallvmem and shmemx_alltoallvmem_packed_nelems (shmem/request.h), by all threads of a block, or _grid:
 * of all blocks of a kernel, whose grid has one dimension; the kernel's end, or a barrier of its grid, completes that,
 * and comes before the next call. Members may differ in their number of blocks, and some call _block. Counts, offsets
 * and need lie in memory that the GPU reads and writes. Where dest is too small _packed_nelems_block returns 1; after
 * _grid *need > dest_max says so.
 */
#define WSH_ALLTOALLV(TAG, TYPE, SIZE, SUFFIX, CORE)                                                         \
    WSH_ONLY int shmemx_##TAG##SUFFIX(shmem_team_t team, TYPE *dest, const size_t *dest_counts,              \
                                      const size_t *dest_offsets, const TYPE *source,                        \
                                      const size_t *source_counts, const size_t *source_offsets)             \
    WSH_BODY(return CORE<WSH_BLOCK>("shmemx_" #TAG #SUFFIX, team,                                            \
                                    wsh_dev_vector{(char *)dest, (const char *)source, source_counts,        \
                                                   source_offsets, (size_t *)dest_counts,                    \
                                                   (size_t *)dest_offsets, nullptr, 0, 0, SIZE});)           \
    WSH_ONLY int shmemx_##TAG##_packed_nelems##SUFFIX(                                                       \
        shmem_team_t team, TYPE *dest, size_t *dest_counts, size_t *dest_offsets, size_t dest_max,           \
        size_t align, size_t *need, const TYPE *source, const size_t *source_counts,                         \
        const size_t *source_offsets)                                                                        \
    WSH_BODY(return CORE<WSH_BLOCK>("shmemx_" #TAG "_packed_nelems" #SUFFIX, team,                           \
                                    wsh_dev_vector{(char *)dest, (const char *)source, source_counts,        \
                                                   source_offsets, dest_counts, dest_offsets, need,          \
                                                   dest_max, align, SIZE});)
#define WSH_ALL(TAG, TYPE, SIZE)                                                                             \
    WSH_ALLTOALLV(TAG, TYPE, SIZE, _block, wsh_dev_alltoallv)                                                \
    WSH_ALLTOALLV(TAG, TYPE, SIZE, _grid, wsh_dev_alltoallv_wide)
#define WSH_TYPED(NAME, TYPE) WSH_ALL(NAME##_alltoallv, TYPE, sizeof(TYPE))
#define WSH_HALF(NAME, TYPE) WSH_ALL(NAME##_alltoallv, struct TYPE, 2)
WSH_DEVICE_TYPES(WSH_TYPED)
WSH_HALF_TYPES(WSH_HALF)
WSH_ALL(alltoallvmem, void, 1)
#undef WSH_HALF
#undef WSH_TYPED
#undef WSH_ALL
#undef WSH_ALLTOALLV

/*
 * shmem_TYPE_OP_reduce; and shmemx_TYPE_OP_reducescatter: block i (`nreduce` elements) of all members' sources,
 * combined, becomes dest of member i. dest and source do not overlap there. Returns 0.
 */
#define WSH_COMBINE(QUALIFIER, SUFFIX, SCOPE, TAG, CORE, TYPE, OP)                                           \
    QUALIFIER int TAG##SUFFIX(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nreduce)             \
    WSH_BODY(wsh_dev_reduce_##CORE<SCOPE, wsh_dev_call_kind<TYPE>>(#TAG #SUFFIX, team, wsh_dev_call_op<TYPE>(OP), \
                                                                   dest, source, nreduce);                   \
             return 0;)
#define WSH_REDUCE(SCOPES, NAME, TYPE, OP, CODE)                                                             \
    SCOPES(WSH_COMBINE, shmem_##NAME##_##OP##_reduce, all, TYPE, CODE)                                       \
    WSH_DEVICE_SCOPE(WSH_COMBINE, shmemx_##NAME##_##OP##_reducescatter, scatter, TYPE, CODE)

#define WSH_BITWISE(NAME, TYPE)                                 \
    WSH_REDUCE(WSH_EVERY_SCOPE, NAME, TYPE, and, WSH_AND)       \
    WSH_REDUCE(WSH_EVERY_SCOPE, NAME, TYPE, or, WSH_OR)         \
    WSH_REDUCE(WSH_EVERY_SCOPE, NAME, TYPE, xor, WSH_XOR)
WSH_REDUCE_BITWISE_TYPES(WSH_BITWISE)
#undef WSH_BITWISE

#define WSH_ARITHMETIC(SCOPES, NAME, TYPE)                      \
    WSH_REDUCE(SCOPES, NAME, TYPE, sum, WSH_SUM)                \
    WSH_REDUCE(SCOPES, NAME, TYPE, prod, WSH_PROD)              \
    WSH_REDUCE(SCOPES, NAME, TYPE, min, WSH_MIN)                \
    WSH_REDUCE(SCOPES, NAME, TYPE, max, WSH_MAX)
#define WSH_REAL(NAME, TYPE) WSH_ARITHMETIC(WSH_EVERY_SCOPE, NAME, TYPE)
#define WSH_HALF(NAME, TYPE) WSH_ARITHMETIC(WSH_DEVICE_SCOPE, NAME, struct TYPE)
WSH_REDUCE_REAL_TYPES(WSH_REAL)
WSH_HALF_TYPES(WSH_HALF)
#undef WSH_HALF
#undef WSH_REAL
#undef WSH_ARITHMETIC
#undef WSH_REDUCE
#undef WSH_COMBINE

/* shmem_TYPE_sum_inscan, shmem_TYPE_sum_exscan. */
#define WSH_SCAN(QUALIFIER, SUFFIX, SCOPE, TAG, TYPE, EXCLUSIVE)                                             \
    QUALIFIER int TAG##SUFFIX(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)              \
    WSH_BODY(wsh_dev_scan<SCOPE, wsh_dev_call_kind<TYPE>>(#TAG #SUFFIX, team, dest, source, nelems, EXCLUSIVE);   \
             return 0;)
#define WSH_SCANS(SCOPES, NAME, TYPE)                           \
    SCOPES(WSH_SCAN, shmem_##NAME##_sum_inscan, TYPE, false)    \
    SCOPES(WSH_SCAN, shmem_##NAME##_sum_exscan, TYPE, true)
#define WSH_REAL(NAME, TYPE) WSH_SCANS(WSH_EVERY_SCOPE, NAME, TYPE)
#define WSH_HALF(NAME, TYPE) WSH_SCANS(WSH_DEVICE_SCOPE, NAME, struct TYPE)
WSH_REDUCE_REAL_TYPES(WSH_REAL)
WSH_HALF_TYPES(WSH_HALF)
#undef WSH_HALF
#undef WSH_REAL
#undef WSH_SCANS
#undef WSH_SCAN

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public names of collectives on streams: shmemx_x_on_stream puts a kernel into the stream that executes
 * shmem_x_block, by one block or, for large data, by several; it is compiled in the program's translation unit. They
 * count with the collectives of other kernels on their team, and a graph that captured them may be replayed, between
 * direct calls too. All members put them into streams; the contracts of api/coll.cuh hold. An array's earlier use on
 * the same stream is over.
 *
 * Templates of no use to the caller, so that a unit compiles the kernels alone that it launches. They return 0 or
 * cudaError_t of the launch (barrier and sync of the world: nothing; see cudaGetLastError).
 */
#ifndef WSH_DEVICE_API_STREAM_CUH
#define WSH_DEVICE_API_STREAM_CUH

#ifndef __CUDACC_RTC__ /* which has no host code */

#include "../coll/choice.h"
#include "../coll/op.cuh"
#include "../stream/stream.cuh"
#include "../view/view.h"

/* clang-format off */

/*
 * Blocks for a collective of `parts` times `len` bytes; one where one block moves all by its own cells, and on
 * several hosts.
 */
static inline unsigned wsh_stream_blocks_for(shmem_team_t team, size_t len, int parts)
{
    size_t whole = parts > 0 ? len * (size_t)parts : 0, tiles = whole / WSH_STREAM_LL_TILE;

    if (len <= WSH_DEVICE_CHOICE(EVERY, STREAM, BLOCK) || !whole ||
        wsh_device_spans_hosts(team))
        return 1;
    if (whole > WSH_DEVICE_CHOICE(EVERY, STREAM, FINE))
        return wsh_stream_blocks(whole);
    return tiles < 2 ? 2 : tiles < WSH_STREAM_BLOCKS ? (unsigned)tiles : WSH_STREAM_BLOCKS;
}

template <int N>
static inline int wsh_stream_move(shmem_team_t team, void *dest, const void *source, size_t len, bool same,
                                  cudaStream_t stream)
{
    unsigned blocks = wsh_stream_blocks_for(team, len, shmem_team_n_pes(team));

    return wsh_stream_blocks_of(stream, blocks, WSH_STREAM(exchange<N>), WSH_STREAM(exchange_wide<N>),
                                team, dest, source, len, same);
}

template <int N>
static inline int wsh_stream_broadcast_launch(shmem_team_t team, void *dest, const void *source, size_t len, int root,
                                    cudaStream_t stream)
{
    unsigned blocks = wsh_stream_blocks_for(team, len, 1);

    return wsh_stream_blocks_of(stream, blocks, WSH_STREAM(broadcast<N>), WSH_STREAM(broadcast_wide<N>),
                                team, dest, source, len, root);
}

template <int N, class T>
static inline int wsh_stream_combine_all(shmem_team_t team, T *dest, const T *source, size_t nelems, size_t size,
                                         int op, cudaStream_t stream)
{
    unsigned blocks = wsh_stream_blocks_for(team, nelems * size, 1);

    if constexpr (N == WSH_STREAM_BY_BLOCK)
        return wsh_stream_block(stream, WSH_STREAM(reduce<T>), team, dest, source, nelems, wsh_stream_op<T>(op));
    else
        return wsh_stream_blocks_of(stream, blocks, WSH_STREAM(reduce<T>), WSH_STREAM(reduce_wide<T>),
                                    team, dest, source, nelems, wsh_stream_op<T>(op));
}

template <int N, class T>
static inline int wsh_stream_combine_scatter(shmem_team_t team, T *dest, const T *source, size_t nelems, size_t size,
                                             int op, cudaStream_t stream)
{
    unsigned blocks = wsh_stream_blocks_for(team, nelems * size, shmem_team_n_pes(team));

    if constexpr (N == WSH_STREAM_BY_BLOCK)
        return wsh_stream_block(stream, WSH_STREAM(scatter<T>), team, dest, source, nelems, wsh_stream_op<T>(op));
    else
        return wsh_stream_blocks_of(stream, blocks, WSH_STREAM(scatter<T>), WSH_STREAM(scatter_wide<T>),
                                    team, dest, source, nelems, wsh_stream_op<T>(op));
}

template <int N, class T>
static inline int wsh_stream_scan_all(shmem_team_t team, T *dest, const T *source, size_t nelems, size_t size,
                                      bool exclusive, cudaStream_t stream)
{
    unsigned blocks = wsh_stream_blocks_for(team, nelems * size, 1);

    return wsh_stream_blocks_of(stream, blocks, WSH_STREAM(scan<T>), WSH_STREAM(scan_wide<T>),
                                team, dest, source, nelems, exclusive);
}

/* Those of the world return nothing: see cudaGetLastError. */
#define WSH_DEFINE_BARRIER(NAME)                                                                             \
    template <int N = 0> static inline void shmemx_##NAME##_on_stream(cudaStream_t stream)                   \
    {                                                                                                        \
        wsh_stream_range range("shmemx_" #NAME "_on_stream");                                                \
        wsh_stream_warp(stream, WSH_STREAM(barrier<N>), SHMEM_TEAM_WORLD);                                   \
    }
WSH_DEFINE_BARRIER(barrier_all)
WSH_DEFINE_BARRIER(sync_all)
#undef WSH_DEFINE_BARRIER

#define WSH_DEFINE_BARRIER(NAME)                                                                             \
    template <int N = 0> static inline int shmemx_##NAME##_on_stream(shmem_team_t team, cudaStream_t stream) \
    {                                                                                                        \
        wsh_stream_range range("shmemx_" #NAME "_on_stream");                                                \
        return wsh_stream_warp(stream, WSH_STREAM(barrier<N>), team);                                        \
    }
WSH_DEFINE_BARRIER(team_barrier)
WSH_DEFINE_BARRIER(team_sync)
#undef WSH_DEFINE_BARRIER

/* Every array is symmetric memory that the GPU reaches. */
#define WSH_MOVE(TAG, SAME, TYPE, SIZE)                                                                      \
    template <int N = 0>                                                                                     \
    static inline int shmemx_##TAG##_on_stream(shmem_team_t team, TYPE *dest, const TYPE *source,            \
                                               size_t nelems, cudaStream_t stream)                           \
    {                                                                                                        \
        wsh_stream_range range("shmemx_" #TAG "_on_stream");                                                 \
        return wsh_stream_move<N>(team, dest, source, nelems * (SIZE), SAME, stream);                        \
    }
#define WSH_BROADCAST(TAG, TYPE, SIZE)                                                                       \
    template <int N = 0>                                                                                     \
    static inline int shmemx_##TAG##_on_stream(shmem_team_t team, TYPE *dest, const TYPE *source,            \
                                               size_t nelems, int PE_root, cudaStream_t stream)              \
    {                                                                                                        \
        wsh_stream_range range("shmemx_" #TAG "_on_stream");                                                 \
        return wsh_stream_broadcast_launch<N>(team, dest, source, nelems * (SIZE), PE_root, stream);                   \
    }
#define WSH_COLLECT(TAG, TYPE, SIZE)                                                                         \
    template <int N = 0>                                                                                     \
    static inline int shmemx_##TAG##_on_stream(shmem_team_t team, TYPE *dest, const TYPE *source,            \
                                               size_t nelems, cudaStream_t stream)                           \
    {                                                                                                        \
        wsh_stream_range range("shmemx_" #TAG "_on_stream");                                                 \
        return wsh_stream_block(stream, WSH_STREAM(collect<N>), team, dest, source, nelems * (SIZE));        \
    }
#define WSH_ALLTOALLS(TAG, TYPE, SIZE)                                                                       \
    template <int N = 0>                                                                                     \
    static inline int shmemx_##TAG##_on_stream(shmem_team_t team, TYPE *dest, const TYPE *source,            \
                                               ptrdiff_t dst, ptrdiff_t sst, size_t nelems,                  \
                                               cudaStream_t stream)                                          \
    {                                                                                                        \
        wsh_stream_range range("shmemx_" #TAG "_on_stream");                                                 \
        return wsh_stream_block(stream, WSH_STREAM(alltoalls<SIZE + 0 * N>), team, dest, source, dst, sst,   \
                                nelems);                                                                     \
    }
#define WSH_ALL(ALLTOALL, ALLTOALLS, FCOLLECT, COLLECT, BROADCAST, TYPE, SIZE)                               \
    WSH_ALLTOALLS(ALLTOALLS, TYPE, SIZE)                                                                     \
    WSH_COLLECT(COLLECT, TYPE, SIZE)                                                                         \
    WSH_MOVE(ALLTOALL, false, TYPE, SIZE)                                                                    \
    WSH_MOVE(FCOLLECT, true, TYPE, SIZE)                                                                     \
    WSH_BROADCAST(BROADCAST, TYPE, SIZE)
#define WSH_TYPED(NAME, TYPE)                                                                                \
    WSH_ALL(NAME##_alltoall, NAME##_alltoalls, NAME##_fcollect, NAME##_collect, NAME##_broadcast, TYPE,      \
            sizeof(TYPE))
#define WSH_HALF(NAME, TYPE)                                                                                 \
    WSH_ALL(NAME##_alltoall, NAME##_alltoalls, NAME##_fcollect, NAME##_collect, NAME##_broadcast,            \
            struct TYPE, 2)
WSH_DEVICE_TYPES(WSH_TYPED)
WSH_HALF_TYPES(WSH_HALF)
WSH_ALL(alltoallmem, alltoallsmem, fcollectmem, collectmem, broadcastmem, void, 1)
#undef WSH_HALF
#undef WSH_TYPED
#undef WSH_ALL
#undef WSH_ALLTOALLS
#undef WSH_COLLECT
#undef WSH_BROADCAST

/*
 * As shmemx_alltoallvmem and its packed form (shmem/request.h), with all arrays of counts and offsets, and need, in
 * memory that the GPU reads and writes when the kernel runs. *need > dest_max there says that dest was too small.
 */
template <int N>
static inline int wsh_stream_vector(shmem_team_t team, const struct wsh_dev_vector &v, cudaStream_t stream)
{
    unsigned blocks = wsh_device_spans_hosts(team) ? 1 : WSH_STREAM_VECTOR;

    return wsh_stream_launch(stream, blocks, WSH_STREAM_THREADS, WSH_STREAM(alltoallv<N>), team, v);
}

#define WSH_ALLTOALLV(TAG, TYPE, SIZE)                                                                       \
    template <int N = 0>                                                                                     \
    static inline int shmemx_##TAG##_on_stream(shmem_team_t team, TYPE *dest, const size_t *dest_counts,     \
                                               const size_t *dest_offsets, const TYPE *source,               \
                                               const size_t *source_counts, const size_t *source_offsets,    \
                                               cudaStream_t stream)                                          \
    {                                                                                                        \
        wsh_stream_range range("shmemx_" #TAG "_on_stream");                                                 \
        return wsh_stream_vector<N>(team,                                                                    \
                                    wsh_dev_vector{(char *)dest, (const char *)source, source_counts,        \
                                                   source_offsets, (size_t *)dest_counts,                    \
                                                   (size_t *)dest_offsets, NULL, 0, 0, SIZE},                \
                                    stream);                                                                 \
    }                                                                                                        \
    template <int N = 0>                                                                                     \
    static inline int shmemx_##TAG##_packed_nelems_on_stream(                                                \
        shmem_team_t team, TYPE *dest, size_t *dest_counts, size_t *dest_offsets, size_t dest_max,           \
        size_t align, size_t *need, const TYPE *source, const size_t *source_counts,                         \
        const size_t *source_offsets, cudaStream_t stream)                                                   \
    {                                                                                                        \
        wsh_stream_range range("shmemx_" #TAG "_packed_nelems_on_stream");                                   \
        return wsh_stream_vector<N>(team,                                                                    \
                                    wsh_dev_vector{(char *)dest, (const char *)source, source_counts,        \
                                                   source_offsets, dest_counts, dest_offsets, need,          \
                                                   dest_max, align, SIZE},                                   \
                                    stream);                                                                 \
    }
#define WSH_TYPED(NAME, TYPE) WSH_ALLTOALLV(NAME##_alltoallv, TYPE, sizeof(TYPE))
#define WSH_HALF(NAME, TYPE) WSH_ALLTOALLV(NAME##_alltoallv, struct TYPE, 2)
WSH_DEVICE_TYPES(WSH_TYPED)
WSH_HALF_TYPES(WSH_HALF)
WSH_ALLTOALLV(alltoallvmem, void, 1)
#undef WSH_HALF
#undef WSH_TYPED
#undef WSH_ALLTOALLV

#define WSH_COMBINE(TAG, HOW, TYPE, SIZE, CODE)                                                              \
    template <int N = 0>                                                                                     \
    static inline int shmemx_##TAG##_on_stream(shmem_team_t team, TYPE *dest, const TYPE *source,            \
                                               size_t nreduce, cudaStream_t stream)                          \
    {                                                                                                        \
        wsh_stream_range range("shmemx_" #TAG "_on_stream");                                                 \
        return wsh_stream_combine_##HOW<N, wsh_later<N, TYPE>>(team, dest, source, nreduce, SIZE, CODE, stream); \
    }
#define WSH_REDUCE(NAME, TYPE, SIZE, OP, CODE)                                                               \
    WSH_COMBINE(NAME##_##OP##_reduce, all, TYPE, SIZE, CODE)                                                 \
    WSH_COMBINE(NAME##_##OP##_reducescatter, scatter, TYPE, SIZE, CODE)
#define WSH_BITWISE(NAME, TYPE)                                                                              \
    WSH_REDUCE(NAME, TYPE, sizeof(TYPE), and, WSH_AND)                                                       \
    WSH_REDUCE(NAME, TYPE, sizeof(TYPE), or, WSH_OR)                                                         \
    WSH_REDUCE(NAME, TYPE, sizeof(TYPE), xor, WSH_XOR)
#define WSH_ARITHMETIC(NAME, TYPE, SIZE)                                                                     \
    WSH_REDUCE(NAME, TYPE, SIZE, sum, WSH_SUM)                                                               \
    WSH_REDUCE(NAME, TYPE, SIZE, prod, WSH_PROD)                                                             \
    WSH_REDUCE(NAME, TYPE, SIZE, min, WSH_MIN)                                                               \
    WSH_REDUCE(NAME, TYPE, SIZE, max, WSH_MAX)
#define WSH_REAL(NAME, TYPE) WSH_ARITHMETIC(NAME, TYPE, sizeof(TYPE))
#define WSH_HALF(NAME, TYPE) WSH_ARITHMETIC(NAME, struct TYPE, 2)

WSH_REDUCE_BITWISE_TYPES(WSH_BITWISE)
WSH_REDUCE_REAL_TYPES(WSH_REAL)
WSH_HALF_TYPES(WSH_HALF)
#undef WSH_HALF
#undef WSH_REAL
#undef WSH_ARITHMETIC
#undef WSH_BITWISE
#undef WSH_REDUCE
#undef WSH_COMBINE
#undef WSH_MOVE

#define WSH_SCAN(TAG, TYPE, SIZE, EXCLUSIVE)                                                                 \
    template <int N = 0>                                                                                     \
    static inline int shmemx_##TAG##_on_stream(shmem_team_t team, TYPE *dest, const TYPE *source,            \
                                               size_t nelems, cudaStream_t stream)                           \
    {                                                                                                        \
        wsh_stream_range range("shmemx_" #TAG "_on_stream");                                                 \
        return wsh_stream_scan_all<N, wsh_later<N, TYPE>>(team, dest, source, nelems, SIZE, EXCLUSIVE, stream); \
    }
#define WSH_SCANS(NAME, TYPE, SIZE)                                                                          \
    WSH_SCAN(NAME##_sum_inscan, TYPE, SIZE, false)                                                           \
    WSH_SCAN(NAME##_sum_exscan, TYPE, SIZE, true)
#define WSH_REAL(NAME, TYPE) WSH_SCANS(NAME, TYPE, sizeof(TYPE))
#define WSH_HALF(NAME, TYPE) WSH_SCANS(NAME, struct TYPE, 2)
WSH_REDUCE_REAL_TYPES(WSH_REAL)
WSH_HALF_TYPES(WSH_HALF)
#undef WSH_HALF
#undef WSH_REAL
#undef WSH_SCANS
#undef WSH_SCAN

#endif
#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows the names of collectives on streams: shmemx_x_on_stream puts a kernel of one block, compiled in the
 * program's unit, into the stream, which carries out shmem_x_block. So they count with the collectives of other
 * kernels on their team, and a graph that captured them may be replayed, between direct calls too. All members put
 * them into streams; the contracts of api_coll.cuh hold. An array's earlier use on the same stream is over.
 *
 * Templates of no use to the caller, so that a unit compiles the kernels alone that it launches. They return 0 or
 * cudaError_t of the launch (barrier and sync of the world: nothing; cudaGetLastError tells).
 */
#ifndef WSH_DEVICE_API_STREAM_CUH
#define WSH_DEVICE_API_STREAM_CUH

#ifndef __CUDACC_RTC__ /* which has no host code */

#include "api_coll.cuh"
#include "stream.cuh"

/* clang-format off */

template <int = 0>
WSH_STREAM_KERNEL(WSH_STREAM_THREADS) wsh_stream_barrier(shmem_team_t team)
WSH_KERNEL(wsh_dev_barrier<WSH_BLOCK>("a barrier or sync on a stream: team", team);)

template <int = 0>
WSH_STREAM_KERNEL(WSH_STREAM_THREADS)
wsh_stream_exchange(shmem_team_t team, void *dest, const void *source, size_t len, bool same)
WSH_KERNEL(wsh_dev_exchange<WSH_BLOCK>(same ? "fcollect on a stream" : "alltoall on a stream", team, (char *)dest,
                                       (const char *)source, same, len);)

template <int = 0>
WSH_STREAM_KERNEL(WSH_STREAM_THREADS)
wsh_stream_broadcast(shmem_team_t team, void *dest, const void *source, size_t len, int root)
WSH_KERNEL(wsh_dev_broadcast_to<WSH_BLOCK>("broadcast on a stream", team, dest, source, len, root);)

template <class T>
WSH_STREAM_KERNEL(WSH_STREAM_THREADS)
wsh_stream_reduce(shmem_team_t team, void *dest, const void *source, size_t nelems, int op)
WSH_KERNEL(wsh_dev_reduce_all<WSH_BLOCK, wsh_dev_kind<T>>("reduce on a stream", team, op, dest, source, nelems);)

template <class T>
WSH_STREAM_KERNEL(WSH_STREAM_THREADS)
wsh_stream_scatter(shmem_team_t team, void *dest, const void *source, size_t nelems, int op)
WSH_KERNEL(wsh_dev_reduce_scatter<WSH_BLOCK, wsh_dev_kind<T>>("reducescatter on a stream", team, op, dest, source,
                                                              nelems);)

#define WSH_MEET(NAME)                                                                                       \
    template <int N = 0> static inline void shmemx_##NAME##_on_stream(cudaStream_t stream)                   \
    {                                                                                                        \
        wsh_stream_warp(stream, wsh_stream_barrier<N>, SHMEM_TEAM_WORLD);                                    \
    }
WSH_MEET(barrier_all)
WSH_MEET(sync_all)
#undef WSH_MEET

#define WSH_MEET(NAME)                                                                                       \
    template <int N = 0> static inline int shmemx_##NAME##_on_stream(shmem_team_t team, cudaStream_t stream) \
    {                                                                                                        \
        return wsh_stream_warp(stream, wsh_stream_barrier<N>, team);                                         \
    }
WSH_MEET(team_barrier)
WSH_MEET(team_sync)
#undef WSH_MEET

#define WSH_MOVE(TAG, KERNEL, LAST, TYPE, SIZE)                                                              \
    template <int N = 0>                                                                                     \
    static inline int shmemx_##TAG##_on_stream(shmem_team_t team, TYPE *dest, const TYPE *source,            \
                                               size_t nelems, cudaStream_t stream)                           \
    {                                                                                                        \
        return wsh_stream_block(stream, KERNEL<N>, team, dest, source, nelems * (SIZE), LAST);               \
    }
#define WSH_BROADCAST(TAG, TYPE, SIZE)                                                                       \
    template <int N = 0>                                                                                     \
    static inline int shmemx_##TAG##_on_stream(shmem_team_t team, TYPE *dest, const TYPE *source,            \
                                               size_t nelems, int PE_root, cudaStream_t stream)              \
    {                                                                                                        \
        return wsh_stream_block(stream, wsh_stream_broadcast<N>, team, dest, source, nelems * (SIZE),        \
                                 PE_root);                                                                   \
    }
#define WSH_ALL(ALLTOALL, FCOLLECT, BROADCAST, TYPE, SIZE)                                                   \
    WSH_MOVE(ALLTOALL, wsh_stream_exchange, false, TYPE, SIZE)                                               \
    WSH_MOVE(FCOLLECT, wsh_stream_exchange, true, TYPE, SIZE)                                                \
    WSH_BROADCAST(BROADCAST, TYPE, SIZE)
#define WSH_TYPED(NAME, TYPE) \
    WSH_ALL(NAME##_alltoall, NAME##_fcollect, NAME##_broadcast, TYPE, sizeof(TYPE))
#define WSH_HALF(NAME, TYPE) WSH_ALL(NAME##_alltoall, NAME##_fcollect, NAME##_broadcast, struct TYPE, 2)
WSH_DEVICE_TYPES(WSH_TYPED)
WSH_HALF_TYPES(WSH_HALF)
WSH_ALL(alltoallmem, fcollectmem, broadcastmem, void, 1)
#undef WSH_HALF
#undef WSH_TYPED
#undef WSH_ALL
#undef WSH_BROADCAST

#define WSH_COMBINE(TAG, KERNEL, TYPE, CODE)                                                                 \
    template <int N = 0>                                                                                     \
    static inline int shmemx_##TAG##_on_stream(shmem_team_t team, TYPE *dest, const TYPE *source,            \
                                               size_t nreduce, cudaStream_t stream)                          \
    {                                                                                                        \
        return wsh_stream_block(stream, KERNEL<wsh_later<N, TYPE>>, team, dest, source, nreduce, CODE);      \
    }
#define WSH_REDUCE(NAME, TYPE, OP, CODE)                                                                     \
    WSH_COMBINE(NAME##_##OP##_reduce, wsh_stream_reduce, TYPE, CODE)                                         \
    WSH_COMBINE(NAME##_##OP##_reducescatter, wsh_stream_scatter, TYPE, CODE)
#define WSH_BITWISE(NAME, TYPE)                                                                              \
    WSH_REDUCE(NAME, TYPE, and, WSH_AND) WSH_REDUCE(NAME, TYPE, or, WSH_OR) WSH_REDUCE(NAME, TYPE, xor, WSH_XOR)
#define WSH_REAL(NAME, TYPE)                                                                                 \
    WSH_REDUCE(NAME, TYPE, sum, WSH_SUM) WSH_REDUCE(NAME, TYPE, prod, WSH_PROD)                              \
    WSH_REDUCE(NAME, TYPE, min, WSH_MIN) WSH_REDUCE(NAME, TYPE, max, WSH_MAX)
#define WSH_HALF(NAME, TYPE) WSH_REAL(NAME, struct TYPE)

WSH_REDUCE_BITWISE_TYPES(WSH_BITWISE)
WSH_REDUCE_REAL_TYPES(WSH_REAL)
WSH_HALF_TYPES(WSH_HALF)
#undef WSH_HALF
#undef WSH_REAL
#undef WSH_BITWISE
#undef WSH_REDUCE
#undef WSH_COMBINE
#undef WSH_MOVE

#endif
#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tiles: tensors of one or two dimensions over symmetric memory, by a thread, a warp, a warpgroup or a block. Element
 * (i, j) of a tensor counts where start_coord + (i, j) is below boundary in each dimension that these tuples have;
 * empty tuples, and empty types that are none, mask nothing. Masks are the same at all callers.
 *
 *   tile_OP_reduce          every member calls. NVLS_ONE_SHOT_PULL_NBI: each gets the result in its dst, which need
 *                           not be symmetric; src and dst do not overlap. NVLS_TWO_SHOT_PUSH_NBI: member `root` writes
 *                           it to dst of all, which may be src.
 *   tile_OP_rooted_reduce   the same by pull, for member `root` alone
 *   tile_allgather          src to a block of dst of all members: the first blocks side by side along the contiguous
 *                           dimension, as many as dst has room for, the next ones behind them in the other one
 *   tile_broadcast          src to dst of all members, from whoever calls
 *   tile_put, tile_get      src to dst of `pe`; from src of `pe` to dst, complete when it returns
 *   tile_collective_wait    ends a collective of that algorithm: after a push a barrier of the team, whose members have
 *                           the data then; after a pull one of the scope's threads. src may be changed when its readers
 *                           are done.
 *
 * Reductions begin with a barrier of the team, which is in one collective at a time, in the order of the program. All
 * is done by loads and stores, whatever the algorithm, and where PEs are not reached by these (other hosts) by puts and
 * gets: of lines, in reductions of single elements, which is slow. Numbers of all types that the library reduces, and
 * CUTLASS's half_t and bfloat16_t; lines of any length; 16 bytes at once where both tensors are aligned for it.
 *
 * 0; NVSHMEMX_ERROR_INVALID_VALUE and nothing done for a NULL, a flag other than 0, shapes that do not fit, no root.
 */
#ifndef WSH_NV_TILE_API_HPP
#define WSH_NV_TILE_API_HPP

#include "../../names/all.h"

#include "../../device_host/nvshmem_tensor.h"

#ifdef WSH_NV_KERNELS

/* Element D of a tuple as a number; `beyond` where it has none. */
template <int D, class Tuple> __host__ __device__ constexpr ptrdiff_t wsh_nv_item(const Tuple &tuple, ptrdiff_t beyond)
{
    if constexpr (D < (int)cuda::std::tuple_size<Tuple>::value)
        return (ptrdiff_t)cuda::std::get<D>(tuple);
    else
        return beyond;
}

/* Whether a stride is 1 by its type. */
template <class T> __host__ __device__ constexpr bool wsh_nv_is_one(const T &)
{
    return false;
}

template <int N> __host__ __device__ constexpr bool wsh_nv_is_one(const ConstInt<N> &)
{
    return N == 1;
}

/* How many elements of dimension D count. */
template <int D, class Shape, class Tuple>
__host__ __device__ constexpr ptrdiff_t wsh_nv_extent(const Shape &shape, const Tuple &start, const Tuple &boundary)
{
    static_assert(cuda::std::tuple_size<Shape>::value <= 2, "tiles have one dimension or two");
    ptrdiff_t extent = wsh_nv_item<D>(shape, 1);

    if constexpr (!cuda::std::is_empty<Tuple>::value) { /* an empty type need not be a tuple: it has no size */
        if constexpr (D < (int)cuda::std::tuple_size<Tuple>::value) {
            ptrdiff_t left = wsh_nv_item<D>(boundary, 0) - wsh_nv_item<D>(start, 0);

            return left < 0 ? 0 : left < extent ? left : extent;
        }
    }
    return extent;
}

/* The dimension along which lines lie: 1 where both are contiguous there, but 0 where their types say so of it. */
template <class Src, class Dst> __host__ __device__ constexpr int wsh_nv_line_dim(const Src &src, const Dst &dst)
{
    if (wsh_nv_is_one(cuda::std::get<0>(src.stride())) && wsh_nv_is_one(cuda::std::get<0>(dst.stride())))
        return 0;
    return wsh_nv_item<1>(src.stride(), 0) == 1 && wsh_nv_item<1>(dst.stride(), 0) == 1 ? 1 : 0;
}

template <int D, class Tensor> __host__ __device__ constexpr ptrdiff_t wsh_nv_pitch(const Tensor &tensor)
{
    return wsh_nv_item<D>(tensor.stride(), 0) * (ptrdiff_t)sizeof(typename Tensor::value_type);
}

template <class Tensor> __host__ __device__ constexpr ptrdiff_t wsh_nv_count(const Tensor &tensor)
{
    return wsh_nv_item<0>(tensor.shape(), 1) * wsh_nv_item<1>(tensor.shape(), 1);
}

#ifdef __CUDA_ARCH__

template <class Src, class Dst, class Tuple>
static WSH_DEV struct wsh_dev_tile wsh_nv_tile(const char *what, Src src, Dst dst, const Tuple &start,
                                               const Tuple &boundary)
{
    ptrdiff_t rows = wsh_nv_extent<0>(src.shape(), start, boundary);
    ptrdiff_t columns = wsh_nv_extent<1>(src.shape(), start, boundary);

    static_assert(sizeof(typename Src::value_type) == sizeof(typename Dst::value_type), "tiles of one type");
    if (wsh_nv_line_dim(src, dst) == 1)
        return wsh_dev_tile{what, (char *)dst.data(), (const char *)src.data(), rows, columns,
                            {wsh_nv_pitch<1>(dst), wsh_nv_pitch<0>(dst)},
                            {wsh_nv_pitch<1>(src), wsh_nv_pitch<0>(src)}};
    return wsh_dev_tile{what, (char *)dst.data(), (const char *)src.data(), columns, rows,
                        {wsh_nv_pitch<0>(dst), wsh_nv_pitch<1>(dst)}, {wsh_nv_pitch<0>(src), wsh_nv_pitch<1>(src)}};
}

template <class Src, class Dst> static WSH_DEV bool wsh_nv_tile_bad(Src src, Dst dst, uint64_t flag)
{
    return !src.data() || !dst.data() || flag;
}

/* ROOTED: the root alone gets it. */
template <int S, int OP, bool ROOTED, nvshmemx::tile_coll_algo_t ALGO, class Src, class Dst, class Tuple>
static WSH_DEV int wsh_nv_tile_reduce(const char *what, nvshmem_team_t team, Src src, Dst dst, const Tuple &start,
                                      const Tuple &boundary, int root, uint64_t flag)
{
    using K = wsh_dev_kind<typename cuda::std::remove_cv<typename Src::value_type>::type>;
    constexpr bool push = ALGO == nvshmemx::NVLS_TWO_SHOT_PUSH_NBI;
    struct wsh_dev_group group = wsh_dev_group_of(what, SHMEMX_TEAM(team));

    static_assert(ALGO == nvshmemx::NVLS_ONE_SHOT_PULL_NBI || (push && !ROOTED),
                  "reductions of tiles: NVLS_ONE_SHOT_PULL_NBI, or NVLS_TWO_SHOT_PUSH_NBI to all");
    if (wsh_nv_tile_bad(src, dst, flag) || ((push || ROOTED) && (root < 0 || root >= group.n_pes)) ||
        wsh_nv_item<0>(src.shape(), 1) != wsh_nv_item<0>(dst.shape(), 1) || wsh_nv_count(src) != wsh_nv_count(dst))
        return NVSHMEMX_ERROR_INVALID_VALUE;
    wsh_dev_tile_barrier<S>(what, SHMEMX_TEAM(team));
    if (!(push || ROOTED) || root == group.my_pe)
        wsh_dev_tile_reduce<S, OP, push, K>(group, wsh_nv_tile(what, src, dst, start, boundary));
    return NVSHMEMX_SUCCESS;
}

template <int S, class Src, class Dst, class Tuple>
static WSH_DEV int wsh_nv_tile_allgather(const char *what, nvshmem_team_t team, Src src, Dst dst, const Tuple &start,
                                         const Tuple &boundary, uint64_t flag)
{
    struct wsh_dev_group group = wsh_dev_group_of(what, SHMEMX_TEAM(team));
    struct wsh_dev_tile tile = wsh_nv_tile(what, src, dst, start, boundary);
    bool second = wsh_nv_line_dim(src, dst) == 1;
    ptrdiff_t room = second ? wsh_nv_item<1>(dst.shape(), 1) : wsh_nv_item<0>(dst.shape(), 1);
    ptrdiff_t rows = wsh_nv_item<0>(src.shape(), 1), columns = wsh_nv_item<1>(src.shape(), 1);
    ptrdiff_t place = group.my_pe * (second ? columns : rows);

    if (wsh_nv_tile_bad(src, dst, flag) || room <= 0 || wsh_nv_count(src) * group.n_pes != wsh_nv_count(dst))
        return NVSHMEMX_ERROR_INVALID_VALUE;
    tile.dest += wsh_dev_tile_at(tile.to, place / room * (second ? rows : columns), place % room);
    wsh_dev_tile_put_all<S, sizeof(typename Src::value_type)>(group, tile);
    return NVSHMEMX_SUCCESS;
}

template <int S, class Src, class Dst, class Tuple>
static WSH_DEV int wsh_nv_tile_broadcast(const char *what, nvshmem_team_t team, Src src, Dst dst, const Tuple &start,
                                         const Tuple &boundary, uint64_t flag)
{
    if (wsh_nv_tile_bad(src, dst, flag) || wsh_nv_count(src) != wsh_nv_count(dst))
        return NVSHMEMX_ERROR_INVALID_VALUE;
    wsh_dev_tile_put_all<S, sizeof(typename Src::value_type)>(wsh_dev_group_of(what, SHMEMX_TEAM(team)),
                                                              wsh_nv_tile(what, src, dst, start, boundary));
    return NVSHMEMX_SUCCESS;
}

template <int S, bool PUT, class Src, class Dst, class Tuple>
static WSH_DEV int wsh_nv_tile_move(const char *what, Src src, Dst dst, const Tuple &start, const Tuple &boundary,
                                    int pe, uint64_t flag)
{
    if (wsh_nv_tile_bad(src, dst, flag) || wsh_nv_count(src) != wsh_nv_count(dst))
        return NVSHMEMX_ERROR_INVALID_VALUE;
    if constexpr (PUT)
        wsh_dev_tile_put<S, sizeof(typename Src::value_type)>(wsh_nv_tile(what, src, dst, start, boundary), pe);
    else
        wsh_dev_tile_get<S, sizeof(typename Src::value_type)>(wsh_nv_tile(what, src, dst, start, boundary), pe);
    return NVSHMEMX_SUCCESS;
}

template <int S, nvshmemx::tile_coll_algo_t ALGO>
static WSH_DEV int wsh_nv_tile_wait(const char *what, nvshmem_team_t team, uint64_t flag)
{
    if (flag)
        return NVSHMEMX_ERROR_INVALID_VALUE;
    if constexpr (ALGO == nvshmemx::NVLS_ONE_SHOT_PUSH_NBI || ALGO == nvshmemx::NVLS_TWO_SHOT_PUSH_NBI) {
        wsh_dev_tile_barrier<S>(what, SHMEMX_TEAM(team));
    } else {
        wsh_ptx_release(); /* for other blocks, of which the program tells by its own means */
        wsh_dev_sync<S>();
    }
    return NVSHMEMX_SUCCESS;
}

#endif

namespace nvshmemx
{

/* clang-format off */

/* What the routines below are: templates of the tensors, the coordinates and the algorithm; a body in kernels alone. */
#define WSH_NV_TILE(ALGO) \
    template <typename src_tensor_t, typename dst_tensor_t, typename tuple_t, ALGO algo> WSH_TEMPLATE int

#define WSH_NV_TILE_REDUCE(OP, CODE, SUFFIX, SCOPE)                                                          \
    WSH_NV_TILE(tile_coll_algo_t)                                                                            \
    tile_##OP##_reduce##SUFFIX(nvshmem_team_t team, src_tensor_t src, dst_tensor_t dst, tuple_t start_coord, \
                               tuple_t boundary, int root, uint64_t flag)                                    \
    WSH_BODY(return wsh_nv_tile_reduce<SCOPE, CODE, false, algo>(                                            \
                 "nvshmemx::tile_" #OP "_reduce" #SUFFIX, team, src, dst, start_coord, boundary, root, flag);) \
    WSH_NV_TILE(tile_coll_algo_t)                                                                            \
    tile_##OP##_reduce##SUFFIX(nvshmem_team_t team, src_tensor_t src, dst_tensor_t dst, tuple_t start_coord, \
                               tuple_t boundary, uint64_t flag)                                              \
    WSH_BODY(return wsh_nv_tile_reduce<SCOPE, CODE, false, algo>(                                            \
                 "nvshmemx::tile_" #OP "_reduce" #SUFFIX, team, src, dst, start_coord, boundary, -1, flag);) \
    WSH_NV_TILE(tile_coll_algo_t)                                                                            \
    tile_##OP##_rooted_reduce##SUFFIX(nvshmem_team_t team, src_tensor_t src, dst_tensor_t dst,               \
                                      tuple_t start_coord, tuple_t boundary, int root, uint64_t flag)        \
    WSH_BODY(return wsh_nv_tile_reduce<SCOPE, CODE, true, algo>(                                             \
                 "nvshmemx::tile_" #OP "_rooted_reduce" #SUFFIX, team, src, dst, start_coord, boundary, root, flag);)

#define WSH_NV_TILE_TO_ALL(NAME, SUFFIX, SCOPE)                                                              \
    WSH_NV_TILE(tile_coll_algo_t)                                                                            \
    tile_##NAME##SUFFIX(nvshmem_team_t team, src_tensor_t src, dst_tensor_t dst, tuple_t start_coord,        \
                        tuple_t boundary, uint64_t flag)                                                     \
    WSH_BODY(static_assert(algo == NVLS_ONE_SHOT_PUSH_NBI, "tile_" #NAME ": NVLS_ONE_SHOT_PUSH_NBI");        \
             return wsh_nv_tile_##NAME<SCOPE>("nvshmemx::tile_" #NAME #SUFFIX ": dst", team, src, dst,       \
                                              start_coord, boundary, flag);)

#define WSH_NV_TILE_MOVE(NAME, PUT, SIDE, SUFFIX, SCOPE)                                                     \
    WSH_NV_TILE(tile_algo_t)                                                                                 \
    tile_##NAME##SUFFIX(src_tensor_t src, dst_tensor_t dst, tuple_t start_coord, tuple_t boundary, int pe,   \
                        uint64_t flag)                                                                       \
    WSH_BODY(return wsh_nv_tile_move<SCOPE, PUT>("nvshmemx::tile_" #NAME #SUFFIX ": " SIDE, src, dst,        \
                                                 start_coord, boundary, pe, flag);)

#define WSH_NV_TILES(SUFFIX, SCOPE)                                                                          \
    WSH_NV_TILE_REDUCE(sum, WSH_SUM, SUFFIX, SCOPE)                                                          \
    WSH_NV_TILE_REDUCE(max, WSH_MAX, SUFFIX, SCOPE)                                                          \
    WSH_NV_TILE_REDUCE(min, WSH_MIN, SUFFIX, SCOPE)                                                          \
    WSH_NV_TILE_TO_ALL(allgather, SUFFIX, SCOPE)                                                             \
    WSH_NV_TILE_TO_ALL(broadcast, SUFFIX, SCOPE)                                                             \
    WSH_NV_TILE_MOVE(put, true, "dst", SUFFIX, SCOPE)                                                        \
    WSH_NV_TILE_MOVE(get, false, "src", SUFFIX, SCOPE)                                                       \
    template <tile_coll_algo_t algo>                                                                         \
    WSH_TEMPLATE int tile_collective_wait##SUFFIX(nvshmem_team_t team, uint64_t flag)                        \
    WSH_BODY(return wsh_nv_tile_wait<SCOPE, algo>("nvshmemx::tile_collective_wait" #SUFFIX, team, flag);)

WSH_NV_TILES(, WSH_THREAD)
WSH_NV_TILES(_warp, WSH_WARP)
WSH_NV_TILES(_warpgroup, WSH_WARPGROUP)
WSH_NV_TILES(_block, WSH_BLOCK)

#undef WSH_NV_TILES
#undef WSH_NV_TILE_MOVE
#undef WSH_NV_TILE_TO_ALL
#undef WSH_NV_TILE_REDUCE
#undef WSH_NV_TILE

/* clang-format on */

} // namespace nvshmemx

#endif
#endif

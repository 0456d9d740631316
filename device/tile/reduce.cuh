/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions of tiles in device code: whoever gets a result reads the tiles of all members, in their order, so that all
 * get the same bits. A barrier of the team comes before. Numbers of 16 bits are rounded after each step.
 */
#ifndef WSH_DEVICE_TILE_REDUCE_CUH
#define WSH_DEVICE_TILE_REDUCE_CUH

#include "tile.cuh"

/* 16 bytes that are reached, or an element that need not be. */
static WSH_DEV uint4 wsh_dev_tile_load(const struct wsh_dev_group &group, const uint4 *source, int member)
{
    return wsh_ptx_get((const uint4 *)wsh_dev_member(group, source, sizeof *source, member));
}

template <class V>
static WSH_DEV V wsh_dev_tile_load(const struct wsh_dev_group &group, const V *source, int member)
{
    return wsh_dev_g<V>(group.what, source, wsh_dev_member_pe(group, member));
}

static WSH_DEV void wsh_dev_tile_store(const struct wsh_dev_group &group, uint4 *dest, uint4 value, int member)
{
    *(uint4 *)wsh_dev_member(group, dest, sizeof *dest, member) = value;
}

template <class V>
static WSH_DEV void wsh_dev_tile_store(const struct wsh_dev_group &group, V *dest, V value, int member)
{
    wsh_dev_p<V>(group.what, dest, value, wsh_dev_member_pe(group, member));
}

template <class K> static WSH_DEV uint4 wsh_dev_tile_fold(int op, uint4 a, uint4 b)
{
    return wsh_dev_fold<K>(op, a, b);
}

template <class K> static WSH_DEV typename K::bits wsh_dev_tile_fold(int op, typename K::bits a, typename K::bits b)
{
    return K::fold(op, a, b);
}

/* What lies at `source` of all members, combined; four members' loads are in flight at once. */
template <int OP, class K, class V>
static WSH_DEV V wsh_dev_tile_combine(const struct wsh_dev_group &group, const V *source)
{
    V sum = V();

#pragma unroll 1
    for (int base = 0; base < group.n_pes; base += WSH_TILE_DEPTH) {
        V seen[WSH_TILE_DEPTH];

#pragma unroll
        for (int a = 0; a < WSH_TILE_DEPTH; a++)
            seen[a] = base + a < group.n_pes ? wsh_dev_tile_load(group, source, base + a) : V();
#pragma unroll
        for (int a = 0; a < WSH_TILE_DEPTH; a++)
            if (base + a < group.n_pes)
                sum = base + a ? wsh_dev_tile_fold<K>(OP, sum, seen[a]) : seen[a];
    }
    return sum;
}

/* Elements `begin` to `end` of each line, PER at once in a V; the results to ALL members or to this one. */
template <int S, int OP, bool ALL, class K, class V, unsigned PER>
static WSH_DEV void wsh_dev_tile_reduce_range(const struct wsh_dev_group &group, const struct wsh_dev_tile &tile,
                                              ptrdiff_t begin, ptrdiff_t end)
{
    if (end - begin < PER)
        return;
#pragma unroll 1
    for (struct wsh_dev_walk walk = wsh_dev_walk_of<S>((end - begin) / PER); walk.line < tile.lines;
         wsh_dev_walk_on(&walk)) {
        ptrdiff_t element = begin + walk.unit * PER;
        V *dest = (V *)(tile.dest + wsh_dev_tile_at(tile.to, walk.line, element));
        V sum = wsh_dev_tile_combine<OP, K>(
            group, (const V *)(tile.source + wsh_dev_tile_at(tile.from, walk.line, element)));

        if constexpr (ALL) {
#pragma unroll 1
            for (unsigned i = 0; i < (unsigned)group.n_pes; i++)
                wsh_dev_tile_store(group, dest, sum, wsh_dev_after_me(group, i));
        } else {
            *dest = sum;
        }
    }
}

/* Whether every member is reached, and 16-byte units are aligned at all of them; refuses what is no symmetric tile. */
template <bool ALL>
static WSH_DEV bool wsh_dev_tile_is_wide(const struct wsh_dev_group &group, const struct wsh_dev_tile &tile,
                                         unsigned width)
{
    uint64_t bits = wsh_dev_tile_bits(tile, width);
    bool reached = true;

#pragma unroll 1
    for (int i = 0; i < group.n_pes; i++) {
        int pe = wsh_dev_member_pe(group, i);
        uint64_t from = wsh_dev_reach_or_request(tile.what, tile.source, wsh_dev_tile_span(tile, tile.from, width), pe,
                                                 false);
        uint64_t to = ALL ? wsh_dev_reach_or_request(tile.what, tile.dest, wsh_dev_tile_span(tile, tile.to, width), pe,
                                                     false)
                          : from;

        reached = reached && from && to;
        bits |= from | to;
    }
    return reached && bits % 16 == 0;
}

/* dest of this member, or of ALL of them, where each element is read by the lane that then writes it. */
template <int S, int OP, bool ALL, class K>
static WSH_DEV void wsh_dev_tile_reduce(const struct wsh_dev_group &group, const struct wsh_dev_tile &tile)
{
    typedef typename K::bits V;
    constexpr unsigned per = 16 / sizeof(V);
    ptrdiff_t wide = 0;

    if (tile.lines <= 0 || tile.elements <= 0)
        return;
    if (wsh_dev_tile_is_wide<ALL>(group, tile, sizeof(V)))
        wide = tile.elements - tile.elements % (ptrdiff_t)per;
    wsh_dev_tile_reduce_range<S, OP, ALL, K, uint4, per>(group, tile, 0, wide);
    wsh_dev_tile_reduce_range<S, OP, ALL, K, V, 1>(group, tile, wide, tile.elements);
    wsh_dev_sync<S>();
}

#endif

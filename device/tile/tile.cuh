/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tiles in device code: lines of elements with strides in both directions, copied to and from a PE and combined over a
 * team, by ordinary loads and stores; through the proxy where those do not reach. Their names for programs, and what
 * is a template of the program's types, are in include/nvshmem/device/tile.
 */
#ifndef WSH_DEVICE_TILE_CUH
#define WSH_DEVICE_TILE_CUH

#include "../coll/numbers.cuh"
#include "../core/strided.cuh"
#include "../coll/team.cuh"

/* CUTLASS's numbers of 16 bits, whose headers come before or after or never. */
namespace cutlass
{
struct half_t;
struct bfloat16_t;
} // namespace cutlass
template <> struct wsh_dev_kind_of<struct cutlass::half_t> {
    typedef wsh_dev_half type;
};
template <> struct wsh_dev_kind_of<struct cutlass::bfloat16_t> {
    typedef wsh_dev_bfloat16 type;
};

/* Bytes from an element to the next of its line, and from a line to the next. */
struct wsh_dev_pitch {
    ptrdiff_t element, line;
};

struct wsh_dev_tile {
    const char *what;
    char *dest;
    const char *source;
    ptrdiff_t lines, elements; /* lines, and elements of each */
    struct wsh_dev_pitch to, from; /* of dest and source; not below 0 */
};

static WSH_DEV ptrdiff_t wsh_dev_tile_at(const struct wsh_dev_pitch &pitch, ptrdiff_t line, ptrdiff_t element)
{
    return line * pitch.line + element * pitch.element;
}

/* Bytes from the first element's start to the last one's end. */
static WSH_DEV size_t wsh_dev_tile_span(const struct wsh_dev_tile &tile, const struct wsh_dev_pitch &pitch,
                                        unsigned width)
{
    return (size_t)wsh_dev_tile_at(pitch, tile.lines - 1, tile.elements - 1) + width;
}

/* Bits of which those below the common alignment of all 16-byte units are 0. */
static WSH_DEV uint64_t wsh_dev_tile_bits(const struct wsh_dev_tile &tile, unsigned width)
{
    if (tile.to.element != (ptrdiff_t)width || tile.from.element != (ptrdiff_t)width)
        return 1;
    return (uint64_t)tile.dest | (uint64_t)tile.source |
           (tile.lines > 1 ? (uint64_t)tile.to.line | (uint64_t)tile.from.line : 0);
}

/* A lane's way through a range of elements of each line, in units of several: every lane of the scope takes one. */
struct wsh_dev_walk {
    ptrdiff_t line, unit, units, step_lines, step_units;
};

template <int S> static WSH_DEV struct wsh_dev_walk wsh_dev_walk_of(ptrdiff_t units)
{
    ptrdiff_t lane = (ptrdiff_t)wsh_dev_lane<S>(), size = (ptrdiff_t)wsh_dev_size<S>();

    return wsh_dev_walk{lane / units, lane % units, units, size / units, size % units};
}

static WSH_DEV void wsh_dev_walk_on(struct wsh_dev_walk *walk)
{
    walk->line += walk->step_lines;
    walk->unit += walk->step_units;
    if (walk->unit >= walk->units) {
        walk->unit -= walk->units;
        walk->line++;
    }
}

#define WSH_TILE_DEPTH 4 /* loads that a lane has in flight */

/* Elements `begin` to `end` of each line, PER at once in a V. */
template <int S, class L, class V, unsigned PER>
static WSH_DEV void wsh_dev_tile_copy_range(const struct wsh_dev_tile &tile, ptrdiff_t begin, ptrdiff_t end)
{
    struct wsh_dev_walk walk;

    if (end - begin < PER)
        return;
    walk = wsh_dev_walk_of<S>((end - begin) / PER);
#pragma unroll 1
    while (walk.line < tile.lines) {
        V held[WSH_TILE_DEPTH];
        char *to[WSH_TILE_DEPTH];

#pragma unroll
        for (unsigned u = 0; u < WSH_TILE_DEPTH; u++) {
            ptrdiff_t element = begin + walk.unit * PER;

            to[u] = nullptr;
            held[u] = V();
            if (walk.line < tile.lines) {
                to[u] = tile.dest + wsh_dev_tile_at(tile.to, walk.line, element);
                held[u] = L::load((const V *)(tile.source + wsh_dev_tile_at(tile.from, walk.line, element)));
            }
            wsh_dev_walk_on(&walk);
        }
#pragma unroll
        for (unsigned u = 0; u < WSH_TILE_DEPTH; u++)
            if (to[u])
                *(V *)to[u] = held[u];
    }
}

/* Both sides are addresses of this GPU. */
template <int S, class L, unsigned WIDTH> static WSH_DEV void wsh_dev_tile_copy(const struct wsh_dev_tile &tile)
{
    constexpr unsigned per = 16 / WIDTH;
    ptrdiff_t wide = wsh_dev_tile_bits(tile, WIDTH) % 16 ? 0 : tile.elements - tile.elements % (ptrdiff_t)per;

    wsh_dev_tile_copy_range<S, L, uint4, per>(tile, 0, wide);
    wsh_dev_tile_copy_range<S, L, typename wsh_dev_bits_of<WIDTH>::type, 1>(tile, wide, tile.elements);
}

/* Line by line where loads and stores do not reach: by a thread, or the warps of the scope in turn. */
template <int S, unsigned WIDTH, bool PUT> WSH_DEV_CALL void wsh_dev_tile_ask(const struct wsh_dev_tile &tile, int pe)
{
    constexpr int T = S == WSH_THREAD ? WSH_THREAD : WSH_WARP;
    struct wsh_dev_strides strides = {tile.to.element / (ptrdiff_t)WIDTH, tile.from.element / (ptrdiff_t)WIDTH,
                                      (size_t)tile.elements};
    bool whole = strides.dst == 1 && strides.sst == 1;

#pragma unroll 1
    for (ptrdiff_t line = wsh_dev_lane<S>() / 32; line < tile.lines; line += (wsh_dev_size<S>() + 31) / 32) {
        char *dest = tile.dest + line * tile.to.line;
        const char *source = tile.source + line * tile.from.line;

        if (whole && PUT)
            wsh_dev_put_nbi<T>(tile.what, dest, source, strides.nelems * WIDTH, pe);
        else if (whole)
            wsh_dev_get<T>(tile.what, dest, source, strides.nelems * WIDTH, pe);
        else if (PUT)
            wsh_dev_iput<T, WIDTH>(tile.what, dest, source, strides, pe);
        else
            wsh_dev_iget<T, WIDTH>(tile.what, dest, source, strides, pe);
    }
}

/* To dest of `pe`. A put as any other: complete after a quiet, there for `pe` after a barrier with it. */
template <int S, unsigned WIDTH> static WSH_DEV void wsh_dev_tile_put(struct wsh_dev_tile tile, int pe)
{
    uint64_t to;

    if (tile.lines <= 0 || tile.elements <= 0)
        return;
    to = wsh_dev_reach_or_request(tile.what, tile.dest, wsh_dev_tile_span(tile, tile.to, WIDTH), pe, false);
    wsh_dev_sync<S>();
    if (!to) {
        wsh_dev_tile_ask<S, WIDTH, true>(tile, pe);
    } else {
        tile.dest = (char *)to;
        wsh_dev_tile_copy<S, wsh_dev_from_generic, WIDTH>(tile);
    }
    wsh_dev_sync<S>();
}

/* From source of `pe`; complete when it returns. */
template <int S, unsigned WIDTH> static WSH_DEV void wsh_dev_tile_get(struct wsh_dev_tile tile, int pe)
{
    uint64_t from;

    if (tile.lines <= 0 || tile.elements <= 0)
        return;
    from = wsh_dev_reach_or_request(tile.what, tile.source, wsh_dev_tile_span(tile, tile.from, WIDTH), pe, false);
    wsh_dev_sync<S>();
    if (!from) {
        wsh_dev_tile_ask<S, WIDTH, false>(tile, pe);
    } else {
        tile.source = (const char *)from;
        wsh_dev_tile_copy<S, wsh_dev_from_peer, WIDTH>(tile);
    }
    wsh_dev_sync<S>();
}

/* To dest of all members, this one too. */
template <int S, unsigned WIDTH>
static WSH_DEV void wsh_dev_tile_put_all(const struct wsh_dev_group &group, const struct wsh_dev_tile &tile)
{
#pragma unroll 1
    for (unsigned i = 0; i < (unsigned)group.n_pes; i++)
        wsh_dev_tile_put<S, WIDTH>(tile, wsh_dev_member_pe(group, wsh_dev_after_me(group, i)));
}

/* All members' data is there for all; by a warpgroup through its first warp. */
template <int S> static WSH_DEV void wsh_dev_tile_barrier(const char *what, shmem_team_t team)
{
    if constexpr (S == WSH_WARPGROUP) {
        if (wsh_dev_job_has_hosts(what))
            wsh_dev_quiet<WSH_WARP>();
        wsh_dev_sync<S>();
        if (wsh_dev_lane<S>() < 32)
            wsh_dev_barrier<WSH_WARP>(what, team);
        wsh_dev_sync<S>();
    } else {
        wsh_dev_barrier<S>(what, team);
    }
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies between this GPU's memory and a peer's by ordinary loads and stores: with as many 16-byte accesses in flight
 * as the registers of a block of 1024 threads allow, whatever the alignment of either side.
 *
 * The destination is brought to a multiple of 16 by single bytes (or, for one thread, the widest units that both sides
 * allow). Where the source then lies at another residue, 16-byte units are put together from two aligned pieces of it,
 * each loaded once: a lane takes the second one from its neighbour. No byte outside the source is read.
 */
#ifndef WSH_DEVICE_COPY_CUH
#define WSH_DEVICE_COPY_CUH

#include "scope.cuh"

/*
 * 16-byte loads in flight a thread, each of four registers. A thread of a block of 1024 has 64 of them in all, so
 * blocks stay below; a get by few threads needs more to fill the longer way.
 */
#ifndef SHMEMX_COPY_DEPTH
#define SHMEMX_COPY_DEPTH 8
#endif
#ifndef SHMEMX_GET_DEPTH
#define SHMEMX_GET_DEPTH 10
#endif

/*
 * In a block of more threads than this each has fewer loads in flight, which fill the way all the same. For
 * __launch_bounds__(1024) ptxas leaves 32 registers, and what has more loads than they hold waits for half of them.
 */
#define WSH_COPY_FULL 512
#define WSH_COPY_FULL_DEPTH 4

/* Where a copy reads: a local source in global memory, anywhere else in this thread's reach, or a peer's memory. */
struct wsh_dev_from_global {
    static constexpr bool remote = false;

    template <class T> static WSH_DEV T load(const T *at)
    {
        return *at;
    }

    static WSH_DEV uint4 load(const uint4 *at)
    {
        return wsh_ptx_source(at);
    }
};

struct wsh_dev_from_generic {
    template <class T> static WSH_DEV T load(const T *at)
    {
        return *at;
    }
};

struct wsh_dev_from_peer {
    static constexpr bool remote = true;

    template <class T> static WSH_DEV T load(const T *at)
    {
        return wsh_ptx_get(at);
    }
};

template <int S, class L> WSH_DEV constexpr unsigned wsh_dev_depth()
{
    return S != WSH_BLOCK && L::remote ? SHMEMX_GET_DEPTH : SHMEMX_COPY_DEPTH;
}

/* n as 32 bits, where only the next few thousand matter. */
static WSH_DEV uint32_t wsh_dev_clip(size_t n)
{
    return n < 0x7fffffff ? (uint32_t)n : 0x7fffffff;
}

/* n units of type T, both sides aligned for it, in rounds of U units a lane. */
template <unsigned U, class L, class T>
static WSH_DEV void wsh_dev_copy_units(T *to, const T *from, size_t n, unsigned lane, unsigned size)
{
#pragma unroll 1
    for (size_t i = lane; i < n; i += U * (size_t)size) {
        uint32_t left = wsh_dev_clip(n - i);
        const T *next = from + i;
        T held[U], *at = to + i;

#pragma unroll
        for (unsigned u = 0; u < U; u++, next += size)
            held[u] = u * size < left ? L::load(next) : T();
#pragma unroll
        for (unsigned u = 0; u < U; u++, at += size)
            if (u * size < left)
                *at = held[u];
    }
}

/* Elements that a thread moves in line. */
#define WSH_COPY_FEW 4

/* One to so many, at strides. */
template <class L, class T>
static WSH_DEV void wsh_dev_copy_few(T *to, ptrdiff_t dst, const T *from, ptrdiff_t sst, unsigned n)
{
    T held[WSH_COPY_FEW];

#pragma unroll
    for (unsigned u = 0; u < WSH_COPY_FEW; u++)
        held[u] = L::load(from + (u < n ? u * sst : 0));
#pragma unroll
    for (unsigned u = 0; u < WSH_COPY_FEW; u++)
        if (u < n)
            to[u * dst] = held[u];
}

/* In the widest units up to 8 bytes that addresses and length are multiples of. */
template <unsigned U, class L>
WSH_DEV_CALL void wsh_dev_copy_narrow(char *to, const char *from, size_t len, unsigned lane, unsigned size)
{
    unsigned common = (unsigned)((uint64_t)to | (uint64_t)from | len);

    if (common % 4 == 0 && common % 8 == 0)
        wsh_dev_copy_units<U, L>((uint64_t *)to, (const uint64_t *)from, len / 8, lane, size);
    else if (common % 4 == 0)
        wsh_dev_copy_units<U, L>((uint32_t *)to, (const uint32_t *)from, len / 4, lane, size);
    else if (common % 2 == 0)
        wsh_dev_copy_units<U, L>((uint16_t *)to, (const uint16_t *)from, len / 2, lane, size);
    else
        wsh_dev_copy_units<U, L>((uint8_t *)to, (const uint8_t *)from, len, lane, size);
}

/* The same by one thread: all offsets in a round are known to the compiler and cost no registers. */
template <unsigned U, class L, class T> static WSH_DEV void wsh_dev_copy_units_alone(T *to, const T *from, unsigned n)
{
#pragma unroll 1
    for (; n; from += U, to += U, n -= n < U ? n : U) {
        T held[U];

        wsh_ptx_now(from);
        wsh_ptx_now(to);
#pragma unroll
        for (unsigned u = 0; u < U; u++)
            held[u] = u < n ? L::load(from + u) : T();
#pragma unroll
        for (unsigned u = 0; u < U; u++)
            if (u < n)
                to[u] = held[u];
    }
}

template <unsigned U, class L> WSH_DEV_CALL void wsh_dev_copy_narrow_alone(char *to, const char *from, unsigned len)
{
    unsigned common = (unsigned)(uint64_t)to | (unsigned)(uint64_t)from | len;

    if (common % 8 == 0)
        wsh_dev_copy_units_alone<U, L>((uint64_t *)to, (const uint64_t *)from, len / 8);
    else if (common % 4 == 0)
        wsh_dev_copy_units_alone<U, L>((uint32_t *)to, (const uint32_t *)from, len / 4);
    else if (common % 2 == 0)
        wsh_dev_copy_units_alone<U, L>((uint16_t *)to, (const uint16_t *)from, len / 2);
    else
        wsh_dev_copy_units_alone<U, L>((uint8_t *)to, (const uint8_t *)from, len);
}

/* The 16 bytes that begin `shift` (1 to 15) bytes into low, high. */
static WSH_DEV uint4 wsh_dev_splice(uint4 low, uint4 high, unsigned shift)
{
    uint32_t a = low.x, b = low.y, c = low.z, d = low.w, e = high.x, f = high.y, g = high.z;
    unsigned bits = shift % 4 * 8;

    if (shift & 8) {
        a = c, b = d, c = e, d = f, e = g, f = high.w;
    }
    if (shift & 4) {
        a = b, b = c, c = d, d = e, e = f;
    }
    return make_uint4(__funnelshift_r(a, b, bits), __funnelshift_r(b, c, bits), __funnelshift_r(c, d, bits),
                      __funnelshift_r(d, e, bits));
}

/* `units` 16-byte units at `to`, from the pieces piece[0 … units], `shift` bytes into the first. One thread. */
template <unsigned U, class L>
WSH_DEV_CALL void wsh_dev_copy_skewed_alone(uint4 *to, const uint4 *piece, unsigned shift, size_t units)
{
    uint4 low = L::load(piece), next[U];
    unsigned left;

#pragma unroll 1
    for (; units; piece += U, to += U, units -= left) {
        wsh_ptx_now(piece);
        wsh_ptx_now(to);
        left = units < U ? (unsigned)units : U;
#pragma unroll
        for (unsigned u = 0; u < U; u++)
            next[u] = u < left ? L::load(piece + u + 1) : uint4();
#pragma unroll
        for (unsigned u = 0; u < U; u++)
            if (u < left) {
                to[u] = wsh_dev_splice(low, next[u], shift);
                low = next[u];
            }
    }
}

static WSH_DEV uint4 wsh_dev_from_next_lane(uint4 v)
{
    return make_uint4(__shfl_down_sync(0xffffffffu, v.x, 1), __shfl_down_sync(0xffffffffu, v.y, 1),
                      __shfl_down_sync(0xffffffffu, v.z, 1), __shfl_down_sync(0xffffffffu, v.w, 1));
}

/*
 * The same by a full warp, number `warp` of `warps`: 32 lanes load 32 pieces and store 31 units, since each takes
 * the second half of its unit from its neighbour. All lanes of a warp go through every round, for the exchange.
 */
template <unsigned U, class L>
WSH_DEV_CALL void wsh_dev_copy_skewed(uint4 *to, const uint4 *piece, unsigned shift, size_t units, unsigned warp,
                                      unsigned warps)
{
    unsigned lane = wsh_dev_thread() % 32, first = warp * U * 31 + lane, round = warps * U * 31;

    piece += first;
    to += first;
#pragma unroll 1
    for (int64_t more = (int64_t)units - first; more + lane > 0; more -= round, piece += round, to += round) {
        uint32_t pieces = more >= 0 ? wsh_dev_clip((size_t)more + 1) : 0; /* from this lane's first on */
        uint4 held[U];

        wsh_ptx_now(piece);
        wsh_ptx_now(to);
#pragma unroll
        for (unsigned u = 0; u < U; u++)
            held[u] = u * 31 < pieces ? L::load(piece + u * 31) : uint4();
#pragma unroll
        for (unsigned u = 0; u < U; u++) {
            uint4 unit = wsh_dev_splice(held[u], wsh_dev_from_next_lane(held[u]), shift);

            if (lane < 31 && u * 31 + 1 < pieces)
                to[u * 31] = unit;
        }
    }
}

/*
 * How a copy is cut: `head` bytes, `units` of 16 at a multiple of 16 of the destination, the rest. With a skew the
 * pieces of all units lie inside the source.
 */
struct wsh_dev_cut {
    size_t head, units;
    unsigned shift; /* of the source against 16 where the units begin */
};

/* Cuts a copy of `len` bytes. Not `wide`: a scope with a partial warp, for which all goes by units of a few bytes. */
static WSH_DEV struct wsh_dev_cut wsh_dev_cut_of(uint64_t to, uint64_t from, size_t len, bool wide)
{
    size_t head = -to & 15, spare;
    unsigned shift = (unsigned)(from + head) & 15;

    if (shift > head)
        head += 16;
    spare = shift ? 16 : 0;
    if (len < head - shift + 16 + spare || !wide)
        return wsh_dev_cut{len, 0, 0};
    return wsh_dev_cut{head, (len - (head - shift) - spare) / 16, shift};
}

/*
 * `n` units, both sides aligned, by `LANES` threads side by side (a full warp, or one thread) or by `tiles` such
 * groups, of which this is number `tile`: each takes tiles of its own, so that all offsets in a round are known to the
 * compiler and cost no registers.
 */
template <unsigned LANES, unsigned U, class L>
WSH_DEV_CALL void wsh_dev_copy_aligned(uint4 *to, const uint4 *from, size_t n, unsigned tile, unsigned tiles)
{
    unsigned first = tile * U * LANES + wsh_dev_thread() % LANES, round = tiles * U * LANES;

    from += first;
    to += first;
#pragma unroll 1
    for (int64_t more = (int64_t)n - first; more > 0; more -= round, from += round, to += round) {
        uint32_t left = wsh_dev_clip((size_t)more);
        uint4 held[U];

        wsh_ptx_now(from);
        wsh_ptx_now(to);
#pragma unroll
        for (unsigned u = 0; u < U; u++)
            held[u] = u * LANES < left ? L::load(from + u * LANES) : uint4();
#pragma unroll
        for (unsigned u = 0; u < U; u++)
            if (u * LANES < left)
                to[u * LANES] = held[u];
    }
}

/* The same by one such group alone: of the rounds only the last one asks where the end is. */
template <unsigned LANES, unsigned U, class L>
WSH_DEV_CALL void wsh_dev_copy_straight(uint4 *to, const uint4 *from, size_t n)
{
    unsigned lane = LANES == 1 ? 0 : wsh_dev_thread() % LANES, left;

    from += lane;
    to += lane;
#pragma unroll 1
    for (; n >= U * LANES; n -= U * LANES, from += U * LANES, to += U * LANES) {
        uint4 held[U];

        wsh_ptx_now(from);
        wsh_ptx_now(to);
#pragma unroll
        for (unsigned u = 0; u < U; u++)
            held[u] = L::load(from + u * LANES);
#pragma unroll
        for (unsigned u = 0; u < U; u++)
            to[u * LANES] = held[u];
    }
    left = (unsigned)n > lane ? (unsigned)n - lane : 0;
    if (left) {
        uint4 held[U];

        wsh_ptx_now(from);
        wsh_ptx_now(to);
#pragma unroll
        for (unsigned u = 0; u < U; u++)
            held[u] = u * LANES < left ? L::load(from + u * LANES) : uint4();
#pragma unroll
        for (unsigned u = 0; u < U; u++)
            if (u * LANES < left)
                to[u * LANES] = held[u];
    }
}

/* Units in flight of a copy that puts them together; by a warp fewer, since its callers hold more registers. */
#define WSH_SKEWED_DEPTH 4
#define WSH_SKEWED_DEPTH_WARP 3

/* In a block the threads of a last, partial warp leave the units to the full ones. */
template <int S, class L>
static WSH_DEV void wsh_dev_copy_middle(char *to, const char *from, size_t units, unsigned shift)
{
    constexpr unsigned lanes = S == WSH_THREAD ? 1 : 32, depth = wsh_dev_depth<S, L>();
    unsigned warp = S == WSH_BLOCK ? wsh_dev_thread() / 32 : 0, warps = S == WSH_BLOCK ? wsh_dev_threads() / 32 : 1;
    uint4 *at = (uint4 *)to;
    const uint4 *piece = (const uint4 *)(from - shift);

    if (warp >= warps)
        return;
    if (!shift && S == WSH_BLOCK && wsh_dev_threads() > WSH_COPY_FULL)
        wsh_dev_copy_aligned<lanes, WSH_COPY_FULL_DEPTH, L>(at, piece, units, warp, warps);
    else if (!shift && S != WSH_BLOCK)
        wsh_dev_copy_straight<lanes, depth, L>(at, piece, units);
    else if (!shift)
        wsh_dev_copy_aligned<lanes, depth, L>(at, piece, units, warp, warps);
    else if constexpr (S == WSH_THREAD)
        wsh_dev_copy_skewed_alone<WSH_SKEWED_DEPTH, L>(at, piece, shift, units);
    else
        wsh_dev_copy_skewed<S == WSH_BLOCK ? WSH_SKEWED_DEPTH : WSH_SKEWED_DEPTH_WARP, L>(at, piece, shift, units, warp,
                                                                                         warps);
}

/* By a warp or block: n bytes one by one, each lane at most two; `gap` lies between head and tail. */
template <class L>
WSH_DEV_CALL void wsh_dev_copy_edges(char *to, const char *from, size_t n, size_t head, size_t gap, unsigned lane,
                                     unsigned size)
{
#pragma unroll 1
    for (size_t j = lane; j < n; j += size) {
        size_t at = j < head ? j : j + gap;

        to[at] = (char)L::load((const uint8_t *)from + at);
    }
}

/* The widest unit that addresses and length are multiples of, up to 16: its logarithm. */
static WSH_DEV unsigned wsh_dev_unit(const void *to, const void *from, size_t len)
{
    return (unsigned)__ffs((int)((unsigned)(uint64_t)to | (unsigned)(uint64_t)from | (unsigned)len | 16)) - 1;
}

/* n units of 1 << unit bytes, one a lane. */
template <class L>
static WSH_DEV void wsh_dev_copy_step(char *to, const char *from, unsigned n, unsigned unit, unsigned lane)
{
    if (lane >= n)
        return;
    if (unit == 4)
        ((uint4 *)to)[lane] = L::load((const uint4 *)from + lane);
    else if (unit == 3)
        ((uint64_t *)to)[lane] = L::load((const uint64_t *)from + lane);
    else if (unit == 2)
        ((uint32_t *)to)[lane] = L::load((const uint32_t *)from + lane);
    else if (unit == 1)
        ((uint16_t *)to)[lane] = L::load((const uint16_t *)from + lane);
    else
        to[lane] = (char)L::load((const uint8_t *)from + lane);
}

/*
 * What is more than one access a lane. The parts are out of line: one body each, whatever calls them. The largest comes
 * last, when nothing of this one is needed any more: what is held across a call adds to the registers of that call.
 */
template <int S, class L> static WSH_DEV void wsh_dev_copy_long(char *to, const char *from, size_t len)
{
    bool wide = S == WSH_THREAD || wsh_dev_size<S>() >= 32;
    struct wsh_dev_cut cut = wsh_dev_cut_of((uint64_t)to, (uint64_t)from, len, wide);
    size_t gap = 16 * cut.units;

    if constexpr (S == WSH_THREAD) {
        if (cut.head)
            wsh_dev_copy_narrow_alone<4, L>(to, from, (unsigned)cut.head);
        if (cut.head + gap != len)
            wsh_dev_copy_narrow_alone<4, L>(to + cut.head + gap, from + cut.head + gap,
                                            (unsigned)(len - cut.head - gap));
    } else if (gap != len) {
        wsh_dev_copy_edges<L>(to, from, len - gap, cut.head, gap, wsh_dev_lane<S>(), wsh_dev_size<S>());
    }
    if (gap)
        wsh_dev_copy_middle<S, L>(to + cut.head, from + cut.head, cut.units, cut.shift);
}

/* All lanes of the scope; no barrier. */
template <int S, class L> WSH_DEV_CALL void wsh_dev_copy(char *to, const char *from, size_t len)
{
    unsigned unit = wsh_dev_unit(to, from, len);

    if (len >> unit <= wsh_dev_size<S>())
        wsh_dev_copy_step<L>(to, from, (unsigned)(len >> unit), unit, wsh_dev_lane<S>());
    else
        wsh_dev_copy_long<S, L>(to, from, len);
}

#endif

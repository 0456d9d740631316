/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions in device code. Small ones: every member gets all sources by LL lines and combines them in the order of
 * the members. Large ones: each member reads its slice of all sources, combines it in the same order, and writes it to
 * every dest. Either way all members get the same bits, and dest may be source: an element is read, by whoever reads
 * it, before the same lane writes it.
 */
#ifndef WSH_DEVICE_REDUCE_CUH
#define WSH_DEVICE_REDUCE_CUH

#include "coll.cuh"
#include "hosts_combine.cuh"
#include "share.cuh"

/* What is reduced: `len` bytes of this member's result, from source + from of every member. */
struct wsh_dev_reduction {
    int op;
    char *dest;
    const char *source;
    size_t len;
    bool scatter; /* dest is this member's alone */
};

/* Slots of its LL lines that one scope's lane folds at once. */
template <int S> WSH_DEV constexpr unsigned wsh_dev_fold_units()
{
    return S == WSH_THREAD ? 4 : 1;
}

/*
 * Data of all members at U slots of their LL lines, `unit` and every `step` from there on below `units`, combined;
 * SCAN: up to `last`, or 0. `own`: this member's.
 */
template <int S, class K, unsigned U, bool SCAN = false>
static WSH_DEV void wsh_dev_ll_fold(const struct wsh_dev_group &group, int op, unsigned unit, unsigned step,
                                    unsigned units, const uint64_t (&own)[U], uint64_t (&sum)[U], int last = 0)
{
    constexpr int ahead = S == WSH_WARP ? 4 : 2;

#pragma unroll
    for (unsigned k = 0; k < U; k++)
        sum[k] = 0;
#pragma unroll 1
    for (int base = 0; base < group.n_pes; base += ahead) {
        struct wsh_ptx_pair seen[ahead][U];

#pragma unroll
        for (int a = 0; a < ahead; a++)
#pragma unroll
            for (unsigned k = 0; k < U; k++)
                seen[a][k] = wsh_ptx_get(wsh_dev_ll_from(group, group.area, base + a < group.n_pes ? base + a : 0) +
                                         (unit + k * step < units ? unit + k * step : unit));
#pragma unroll
        for (int a = 0; a < ahead; a++) {
            int from = base + a;

            if (from >= group.n_pes)
                break;
#pragma unroll
            for (unsigned k = 0; k < U; k++) {
                uint64_t value = own[k];

                if (unit + k * step >= units)
                    break;
                if (from != group.my_pe)
                    value = wsh_dev_ll_line_take(
                        group, wsh_dev_ll_from(group, group.area, from) + unit + k * step, seen[a][k]);
                if (!SCAN || from <= last)
                    sum[k] = from ? wsh_dev_fold<K>(op, sum[k], value) : value;
            }
        }
    }
}

/* A part that fits LL lines, in one epoch; member i's part of the sources lies `stride` * i on. */
template <int S, class K>
static WSH_DEV void wsh_dev_reduce_ll(const struct wsh_dev_group &group, const struct wsh_dev_reduction &what,
                                      size_t stride)
{
    constexpr unsigned U = wsh_dev_fold_units<S>();
    const char *mine = what.source + (size_t)group.my_pe * stride;
    unsigned units = wsh_dev_ll_for(what.len), size = wsh_dev_size<S>();

    wsh_dev_ll_send<S>(group, what.source, stride, what.len);
    wsh_dev_sync<S>(); /* dest may be what other lanes were to send */
#pragma unroll 1
    for (unsigned unit = wsh_dev_lane<S>(); unit < units; unit += U * size) {
        uint64_t own[U], sum[U];

#pragma unroll
        for (unsigned k = 0; k < U; k++) {
            size_t off = (size_t)(unit + k * size) * WSH_LL_BYTES;

            own[k] = off < what.len ? wsh_dev_load8(mine + off, what.len - off) : 0;
        }
        wsh_dev_ll_fold<S, K, U>(group, what.op, unit, size, units, own, sum);
#pragma unroll
        for (unsigned k = 0; k < U; k++) {
            size_t off = (size_t)(unit + k * size) * WSH_LL_BYTES;

            if (off < what.len)
                wsh_dev_store8(what.dest + off, sum[k], what.len - off);
        }
    }
    wsh_dev_sync<S>();
}

/* Units of each of two members that a lane has in flight: all loads of a round start before the first is used. */
template <int S> WSH_DEV constexpr unsigned wsh_dev_reduce_units_of()
{
    return S == WSH_THREAD ? 8 : 4;
}

#define WSH_REDUCE_FULL 512 /* threads of a block from which on each has registers for two */

/* What lies at `at` of member `from`. */
template <class V>
static WSH_DEV const char *wsh_dev_reduce_from(const struct wsh_dev_group &group, const struct wsh_dev_reduction &what,
                                               size_t at, int from)
{
    return (const char *)wsh_dev_member(group, what.source + at, sizeof(V), from);
}

template <unsigned U, class V> static WSH_DEV void wsh_dev_reduce_load(const char *from, size_t step, V (&value)[U])
{
#pragma unroll
    for (unsigned u = 0; u < U; u++)
        value[u] = wsh_ptx_get((const V *)(from + u * step));
}

/* The results, to all members or to this one. */
template <unsigned U, class V>
static WSH_DEV void wsh_dev_reduce_store(const struct wsh_dev_group &group, const struct wsh_dev_reduction &what,
                                         size_t at, size_t step, const V (&sum)[U])
{
#pragma unroll 1
    for (int i = 0; i < (what.scatter ? 1 : group.n_pes); i++) {
        char *to = what.scatter ? what.dest + at : (char *)wsh_dev_member(group, what.dest + at, sizeof(V), i);

#pragma unroll
        for (unsigned u = 0; u < U; u++)
            *(V *)(to + u * step) = sum[u];
    }
}

/*
 * U units of type V, `step` apart, of all members in their order. The first two members' loads are in flight at once,
 * which takes both addresses beforehand: to find one may take a call, and that waits for loads.
 */
template <class K, unsigned U, class V>
static WSH_DEV void wsh_dev_reduce_round(const struct wsh_dev_group &group, const struct wsh_dev_reduction &what,
                                         size_t at, size_t step)
{
    const char *first = wsh_dev_reduce_from<V>(group, what, at, 0),
               *next = wsh_dev_reduce_from<V>(group, what, at, group.n_pes > 1 ? 1 : 0);
    V sum[U], value[U];

    wsh_dev_reduce_load<U, V>(first, step, sum);
#pragma unroll 1
    for (int from = 1; from < group.n_pes; from++) {
        if (from > 1)
            next = wsh_dev_reduce_from<V>(group, what, at, from);
        wsh_dev_reduce_load<U, V>(next, step, value);
#pragma unroll
        for (unsigned u = 0; u < U; u++)
            sum[u] = wsh_dev_fold_one<K>(what.op, sum[u], value[u]);
    }
    wsh_dev_reduce_store<U, V>(group, what, at, step, sum);
}

/* Whole rounds of U units, as far as they go from *at on: no question for each unit. */
template <class K, unsigned U, class V>
static WSH_DEV void wsh_dev_reduce_rounds(const struct wsh_dev_group &group, const struct wsh_dev_reduction &what,
                                          size_t *at, size_t step, size_t end)
{
#pragma unroll 1
    for (; *at + (U - 1) * step < end; *at += U * step)
        wsh_dev_reduce_round<K, U, V>(group, what, *at, step);
}

/* That range of the slices: U units a lane at once, two, and one. */
template <int S, class K, unsigned U, class V>
static WSH_DEV void wsh_dev_reduce_span(const struct wsh_dev_group &group, const struct wsh_dev_reduction &what,
                                        struct wsh_dev_range range)
{
    size_t step = wsh_dev_size<S>() * sizeof(V), at = range.begin + wsh_dev_lane<S>() * sizeof(V);

    if constexpr (U > 2)
        wsh_dev_reduce_rounds<K, U, V>(group, what, &at, step, range.end);
    if constexpr (U > 1)
        wsh_dev_reduce_rounds<K, 2, V>(group, what, &at, step, range.end);
    wsh_dev_reduce_rounds<K, 1, V>(group, what, &at, step, range.end);
}

/* Both arrays at all members, as bits: their common alignment. */
static WSH_DEV uint64_t wsh_dev_addresses(const struct wsh_dev_group &group,
                                          const struct wsh_dev_reduction &what)
{
    uint64_t bits = (uint64_t)what.dest | (uint64_t)what.source;

#pragma unroll 1
    for (int i = 0; i < group.n_pes; i++)
        bits |= wsh_dev_member(group, what.source, what.len, i) |
                (what.scatter ? 0 : wsh_dev_member(group, what.dest, what.len, i));
    return bits;
}

/* How far a range goes by 16 bytes. */
static WSH_DEV size_t wsh_dev_reduce_middle(const struct wsh_dev_group &group,
                                            const struct wsh_dev_reduction &what, struct wsh_dev_range range)
{
    bool aligned = (wsh_dev_addresses(group, what) | range.begin) % 16 == 0;

    return range.begin + (aligned ? (range.end - range.begin) / 16 * 16 : 0);
}

/* Each instance out of line: a function spills registers for its most expensive branch, whichever it takes. */
template <int S, class K, unsigned U>
WSH_DEV_CALL void wsh_dev_reduce_units(const struct wsh_dev_group &group, const struct wsh_dev_reduction &what,
                                       const struct wsh_dev_range &range)
{
    wsh_dev_reduce_span<S, K, U, uint4>(group, what, range);
}

/*
 * A sum by one thread of a team of two, its own alone, which is the same in either order: the other member's units are
 * all in flight, since ptxas awaits what is asked for last before it adds; own ones come from the L1 one by one, since
 * the store before may have changed the next; and no unit asks which operation it is. So U units fit 64 registers.
 */
template <class K, unsigned U, class V>
static WSH_DEV void wsh_dev_sum_two(const struct wsh_dev_group &group, const struct wsh_dev_reduction &what,
                                    size_t *at, size_t end)
{
    constexpr unsigned PAIR = U > 1 ? 2 : 1;

#pragma unroll 1
    for (; *at + (U - 1) * sizeof(V) < end; *at += U * sizeof(V)) {
        V value[U], *to = (V *)(what.dest + *at);
        const V *mine = (const V *)(what.source + *at);

        wsh_dev_reduce_load<U, V>(wsh_dev_reduce_from<V>(group, what, *at, 1 - group.my_pe), sizeof(V), value);
#pragma unroll
        for (unsigned u = U; u > 0; u -= PAIR) {
            V last = mine[u - 1], before = mine[u - PAIR];

            to[u - 1] = wsh_dev_fold_one<K>(WSH_SUM, last, value[u - 1]);
            if (PAIR == 2)
                to[u - PAIR] = wsh_dev_fold_one<K>(WSH_SUM, before, value[u - PAIR]);
        }
    }
}

template <class K>
WSH_DEV_CALL void wsh_dev_sum_of_two(const struct wsh_dev_group &group, const struct wsh_dev_reduction &what,
                                     const struct wsh_dev_range &range)
{
    size_t at = range.begin;

    wsh_dev_sum_two<K, 8, uint4>(group, what, &at, range.end);
    wsh_dev_sum_two<K, 2, uint4>(group, what, &at, range.end);
    wsh_dev_sum_two<K, 1, uint4>(group, what, &at, range.end);
}

/* By one scope, with as many loads in flight as its lanes have registers for. */
template <int S, class K>
static WSH_DEV void wsh_dev_reduce_aligned(const struct wsh_dev_group &group, const struct wsh_dev_reduction &what,
                                           struct wsh_dev_range range)
{
    if (S == WSH_THREAD && what.scatter && what.op == WSH_SUM && group.n_pes == 2)
        wsh_dev_sum_of_two<K>(group, what, wsh_dev_range(range));
    else if (S == WSH_BLOCK && wsh_dev_threads() > WSH_REDUCE_FULL)
        wsh_dev_reduce_units<S, K, 2>(group, what, wsh_dev_range(range));
    else
        wsh_dev_reduce_units<S, K, wsh_dev_reduce_units_of<S>()>(group, what, wsh_dev_range(range));
}

/* Element by element: the rest, or what lies at addresses of its own. */
template <int S, class K>
WSH_DEV_CALL void wsh_dev_reduce_narrow(const struct wsh_dev_group &group, const struct wsh_dev_reduction &what,
                                        const struct wsh_dev_range &range)
{
    wsh_dev_reduce_span<S, K, S == WSH_BLOCK ? 1 : 2, typename K::bits>(group, what, range);
}

/* This member's part of a reduction that is too long for LL lines: `range` of all sources. */
template <int S, class K>
WSH_DEV_CALL void wsh_dev_reduce_long(const struct wsh_dev_group &group, const struct wsh_dev_reduction &what,
                                      const struct wsh_dev_range &range)
{
    size_t middle = wsh_dev_reduce_middle(group, what, range);

    wsh_dev_sync_members<S>(group, wsh_dev_arrived(group));
    wsh_dev_reduce_aligned<S, K>(group, what, wsh_dev_range{range.begin, middle});
    wsh_dev_reduce_narrow<S, K>(group, what, wsh_dev_range{middle, range.end});
    wsh_dev_sync_members<S>(group, wsh_dev_done(group));
}

/* The slice that this member computes of a reduction's `len` bytes. */
static WSH_DEV struct wsh_dev_range wsh_dev_slice(const struct wsh_dev_group &group, size_t len)
{
    return wsh_dev_part(wsh_dev_range{0, len}, 16, (unsigned)group.my_pe, (unsigned)group.n_pes);
}

template <int S, class K>
WSH_DEV_CALL void wsh_dev_reduce_all(const char *what, shmem_team_t team, int op, void *dest,
                                     const void *source, size_t nelems)
{
    struct wsh_dev_reduction all = {op, (char *)dest, (const char *)source, nelems * sizeof(typename K::bits),
                                    false};
    struct wsh_dev_group group;

    if (!nelems)
        return;
    if (wsh_dev_spans_hosts(what, team)) {
        wsh_dev_hosts_combined<S, K>(WSH_SLICES, what, team, op, dest, source, nelems);
        return;
    }
    group = wsh_dev_group_enter<S>(what, team);
    if (all.len <= wsh_dev_ll_room<S, WSH_LL_COMBINE>(group)) {
        wsh_dev_reduce_ll<S, K>(group, all, 0);
        return;
    }
    wsh_dev_reduce_long<S, K>(wsh_dev_group(group), wsh_dev_reduction(all), wsh_dev_slice(group, all.len));
}

/* dest overlaps no source: others still read that when this member writes its result. */
template <int S, class K>
WSH_DEV_CALL void wsh_dev_reduce_scatter(const char *what, shmem_team_t team, int op, void *dest,
                                         const void *source, size_t nelems)
{
    size_t len = nelems * sizeof(typename K::bits);
    struct wsh_dev_reduction mine = {op, (char *)dest, (const char *)source, len, true};
    struct wsh_dev_group group;

    if (!nelems)
        return;
    if (wsh_dev_spans_hosts(what, team)) {
        wsh_dev_hosts_combined<S, K>(WSH_OWN_PART, what, team, op, dest, source, nelems);
        return;
    }
    group = wsh_dev_group_enter<S>(what, team);
    if (len > wsh_dev_ll_room<S, WSH_LL_COMBINE>(group)) {
        mine.source += (size_t)group.my_pe * len;
        wsh_dev_reduce_long<S, K>(wsh_dev_group(group), wsh_dev_reduction(mine), wsh_dev_range{0, len});
        return;
    }
    wsh_dev_reduce_ll<S, K>(group, mine, len);
}

#endif

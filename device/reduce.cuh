/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows reductions in device code. Small ones: every member gets all sources by cells and combines them in the order
 * of the members. Large ones: each member reads its slice of all sources, combines it in the same order, and writes it
 * to every dest. Either way all members get the same bits, and dest may be source: an element is read, by whoever
 * reads it, before the same lane writes it.
 */
#ifndef WSH_DEVICE_REDUCE_CUH
#define WSH_DEVICE_REDUCE_CUH

#include "coll.cuh"
#include "numbers.cuh"
#include "share.cuh"

/* What is reduced: `len` bytes of this member's result, from source + from of every member. */
struct wsh_dev_reduction {
    int op;
    char *dest;
    const char *source;
    size_t len;
    bool scatter; /* dest is this member's alone */
};

/* Data of all members at one place of their cells, combined; SCAN: up to `last`, or 0. `own`: this member's. */
template <int S, class K, bool SCAN = false>
static WSH_DEV uint64_t wsh_dev_cells_fold(const struct wsh_dev_group &group, int op, unsigned unit,
                                           uint64_t own, int last = 0)
{
    constexpr int ahead = S == WSH_BLOCK ? 2 : 4;
    uint64_t sum = 0;

#pragma unroll 1
    for (int base = 0; base < group.n_pes; base += ahead) {
        struct wsh_ptx_pair seen[ahead];

#pragma unroll
        for (int u = 0; u < ahead; u++)
            seen[u] = wsh_ptx_get(
                wsh_dev_cells_from(group, group.pad, base + u < group.n_pes ? base + u : 0) + unit);
#pragma unroll
        for (int u = 0; u < ahead; u++) {
            int from = base + u;
            uint64_t value;

            if (from >= group.n_pes)
                break;
            value =
                from == group.my_pe
                    ? own
                    : wsh_dev_cell_take(group, wsh_dev_cells_from(group, group.pad, from) + unit, seen[u]);
            if (!SCAN || from <= last)
                sum = from ? wsh_dev_fold<K>(op, sum, value) : value;
        }
    }
    return sum;
}

/* A part that fits cells, in one epoch; member i's part of the sources lies `stride` * i on. */
template <int S, class K>
WSH_DEV_CALL void wsh_dev_reduce_near(const struct wsh_dev_group &group, const struct wsh_dev_reduction &what,
                                      size_t stride)
{
    const char *own = what.source + (size_t)group.my_pe * stride;

    wsh_dev_cells_send<S>(group, what.source, stride, what.len);
    wsh_dev_sync<S>(); /* dest may be what other lanes were to send */
#pragma unroll 1
    for (unsigned unit = wsh_dev_lane<S>(); unit < wsh_dev_cells_for(what.len); unit += wsh_dev_size<S>()) {
        size_t off = (size_t)unit * WSH_CELL_BYTES, left = what.len - off;

        wsh_dev_store8(what.dest + off,
                       wsh_dev_cells_fold<S, K>(group, what.op, unit, wsh_dev_load8(own + off, left)), left);
    }
    wsh_dev_sync<S>();
}

/*
 * Members whose units a lane has under way at once: all loads of a round start before the first is looked at. A block
 * has its registers for its threads: it takes members singly, and the compiler two rounds of them together.
 */
#define WSH_REDUCE_AHEAD 4
#define WSH_REDUCE_AHEAD_LEAN(S) ((S) == WSH_BLOCK ? 1 : 4)
#define WSH_REDUCE_UNITS_LEAN(S) ((S) == WSH_BLOCK ? 1 : 2)

/* Adds U units of A members, `base` and on, to the sums, in the order of the members. */
template <class K, unsigned A, unsigned U, class V>
static WSH_DEV void wsh_dev_reduce_some(const struct wsh_dev_group &group,
                                        const struct wsh_dev_reduction &what, int base, size_t at,
                                        size_t step, size_t end, V (&sum)[U])
{
    V value[A][U];

#pragma unroll
    for (unsigned a = 0; a < A; a++) {
        if (base + (int)a >= group.n_pes)
            break;
        const char *from = (const char *)wsh_dev_member(group, what.source + at, sizeof(V), base + (int)a);

#pragma unroll
        for (unsigned u = 0; u < U; u++)
            value[a][u] = at + u * step < end ? wsh_ptx_get((const V *)(from + u * step)) : V();
    }
#pragma unroll
    for (unsigned a = 0; a < A; a++) {
        if (base + (int)a >= group.n_pes)
            break;
#pragma unroll
        for (unsigned u = 0; u < U; u++)
            sum[u] = base + (int)a ? wsh_dev_fold_one<K>(what.op, sum[u], value[a][u]) : value[a][u];
    }
}

/* U units of type V a lane and round, from A members at once, of that range of the slices. */
template <int S, class K, unsigned A, unsigned U, class V>
static WSH_DEV void wsh_dev_reduce_span(const struct wsh_dev_group &group, const struct wsh_dev_reduction &what,
                                        struct wsh_dev_range range)
{
    size_t step = wsh_dev_size<S>() * sizeof(V);

#pragma unroll 1
    for (size_t at = range.begin + wsh_dev_lane<S>() * sizeof(V); at < range.end; at += U * step) {
        V sum[U];

#pragma unroll(A == 1 ? 2 : 1)
        for (int base = 0; base < group.n_pes; base += (int)A)
            wsh_dev_reduce_some<K, A, U, V>(group, what, base, at, step, range.end, sum);
        for (int i = 0; i < (what.scatter ? 1 : group.n_pes); i++) {
            char *to =
                what.scatter ? what.dest + at : (char *)wsh_dev_member(group, what.dest + at, sizeof(V), i);

#pragma unroll
            for (unsigned u = 0; u < U; u++)
                if (at + u * step < range.end)
                    *(V *)(to + u * step) = sum[u];
        }
    }
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

/* With the registers of a block of 1024. */
template <int S, class K, class V>
WSH_DEV_CALL void wsh_dev_reduce_lean(const struct wsh_dev_group &group, const struct wsh_dev_reduction &what,
                                      struct wsh_dev_range range)
{
    wsh_dev_reduce_span<S, K, WSH_REDUCE_AHEAD_LEAN(S), WSH_REDUCE_UNITS_LEAN(S), V>(group, what, range);
}

/* The range is this member's to work out. */
template <int S, class K>
WSH_DEV_CALL void wsh_dev_reduce_far(const struct wsh_dev_group &group, const struct wsh_dev_reduction &what,
                                     struct wsh_dev_range range)
{
    size_t middle = wsh_dev_reduce_middle(group, what, range);

    wsh_dev_meet<S>(group, wsh_dev_arrived(group));
    wsh_dev_reduce_lean<S, K, uint4>(group, what, wsh_dev_range{range.begin, middle});
    wsh_dev_reduce_lean<S, K, typename K::bits>(group, what, wsh_dev_range{middle, range.end});
    wsh_dev_meet<S>(group, wsh_dev_done(group));
}

/* What a member works out of a reduction's `len` bytes. */
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
    group = wsh_dev_enter<S>(what, team);
    if (all.len <= wsh_dev_cells_room<S, true>(group)) {
        wsh_dev_reduce_near<S, K>(group, all, 0);
        return;
    }
    wsh_dev_reduce_far<S, K>(group, all, wsh_dev_slice(group, all.len));
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
    group = wsh_dev_enter<S>(what, team);
    if (len > wsh_dev_cells_room<S, true>(group)) {
        mine.source += (size_t)group.my_pe * len;
        wsh_dev_reduce_far<S, K>(group, mine, wsh_dev_range{0, len});
        return;
    }
    wsh_dev_reduce_near<S, K>(group, mine, len);
}

#endif

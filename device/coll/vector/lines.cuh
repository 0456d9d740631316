/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What goes by LL lines in an alltoallv: a member's first line tells each other how many bytes it has for it, the
 * second where a long block belongs that comes the other way, or that it is refused, and data is in those from the
 * third on. A block of at most wsh_dev_vector_room has nothing to ask; for a longer one the receiver says where it
 * belongs, but its sender sends it by LL lines all the same where it has lanes enough: that is sooner there than to
 * wait, store and set a flag. The first line says so. As every member awaits that line of every other in each epoch,
 * the rule of ll.cuh about using them again holds.
 */
#ifndef WSH_DEVICE_VECTOR_LINES_CUH
#define WSH_DEVICE_VECTOR_LINES_CUH

#include "hosts.cuh"
#include "../wide_ll.cuh"

#define WSH_VECTOR_HEAD 2                     /* LL lines before the data */
#define WSH_VECTOR_STORED ((uint64_t)1 << 63) /* beside a count: the block is stored to its place */

#ifndef WSH_VECTOR_LINES /* tests have few lanes */
#define WSH_VECTOR_LINES 8 /* LL lines of a lane for which it does not wait for a place */
#endif

/* Bytes of a block that goes by LL lines whoever sends it. */
template <int S> static WSH_DEV size_t wsh_dev_vector_room(const struct wsh_dev_group &group)
{
    constexpr uint32_t most = wsh_dev_by_scope<S>(WSH_DEVICE_CHOICE(MOVE, THREAD, LL),
                                                  WSH_DEVICE_CHOICE(MOVE, WARP, LL),
                                                  WSH_DEVICE_CHOICE(MOVE, BLOCK, LL));
    uint32_t room = group.ll / 2 - WSH_VECTOR_HEAD * WSH_LL_BYTES;

    return room < most ? room : most;
}

/* Bytes that a member has for another, and expects of it, and where they lie. */
struct wsh_dev_vector_pair {
    size_t given, at, taken, place;
};

static WSH_DEV struct wsh_dev_vector_pair wsh_dev_vector_pair_of(const struct wsh_dev_vector &v, int member)
{
    return wsh_dev_vector_pair{v.counts[member] * v.width, v.offsets[member] * v.width, v.dest_counts[member] * v.width,
                               v.dest_offsets[member] * v.width};
}

/* Widths are powers of two. */
static WSH_DEV size_t wsh_dev_vector_elements(const struct wsh_dev_vector &v, uint64_t bytes)
{
    return bytes >> (__ffs((int)v.width) - 1);
}

/* Whose lanes do a call: one scope's, or all blocks' that take part. */
struct wsh_dev_vector_part {
    unsigned part, parts;
};

/* The lanes of all parts that send to or receive from one of the other members: whole warps, where there are enough. */
struct wsh_dev_vector_lanes {
    unsigned first, step; /* the member's turn after this one, and the next's of these lanes */
    unsigned lane, size;
};

template <int S>
static WSH_DEV struct wsh_dev_vector_lanes wsh_dev_vector_share(const struct wsh_dev_group &group,
                                                                struct wsh_dev_vector_part of)
{
    unsigned size = of.parts * wsh_dev_size<S>(), peers = (unsigned)group.n_pes - 1;
    unsigned lane = of.part * wsh_dev_size<S>() + wsh_dev_lane<S>();
    unsigned each = peers > 1 ? size / peers & ~31u : size;

    if (peers <= 1)
        return wsh_dev_vector_lanes{0, 1, lane, size}; /* without a division */
    if (!each)
        each = size < 32 ? size : 32;
    if (lane / each >= size / each)
        return wsh_dev_vector_lanes{peers, 1, 0, each}; /* a rest, which has no member */
    return wsh_dev_vector_lanes{lane / each, size / each, lane % each, each};
}

static WSH_DEV int wsh_dev_vector_first_member(const struct wsh_dev_group &group,
                                               const struct wsh_dev_vector_lanes &mine)
{
    return mine.first + 1 < (unsigned)group.n_pes ? wsh_dev_after_me(group, mine.first) : group.my_pe;
}

/* Of a lane's first member, or this one where it has none. */
static WSH_DEV struct wsh_dev_vector_pair wsh_dev_vector_first(const struct wsh_dev_group &group,
                                                               const struct wsh_dev_vector &v,
                                                               const struct wsh_dev_vector_lanes &mine)
{
    return wsh_dev_vector_pair_of(v, wsh_dev_vector_first_member(group, mine));
}

static WSH_DEV uint64_t wsh_dev_vector_first_area(const struct wsh_dev_group &group,
                                                  const struct wsh_dev_vector_lanes &mine)
{
    return wsh_dev_member_area(group, wsh_dev_vector_first_member(group, mine));
}

/* Whether blocks of so many bytes may go by LL lines, if their sender has lanes for them. */
static WSH_DEV bool wsh_dev_vector_may(const struct wsh_dev_group &group, size_t len)
{
    size_t others = group.n_pes > 2 ? (size_t)group.n_pes - 1 : 1;

    return len <= group.ll / 2 - WSH_VECTOR_HEAD * WSH_LL_BYTES && len * others <= WSH_DEVICE_CHOICE(MOVE, KERNEL, LL);
}

/* Whether a block goes by LL lines, as its sender says. */
template <int S>
static WSH_DEV bool wsh_dev_vector_by_ll(const struct wsh_dev_group &group, size_t len, unsigned parts)
{
    size_t others = group.n_pes > 2 ? (size_t)group.n_pes - 1 : 1;

    return len <= wsh_dev_vector_room<S>(group) ||
           (wsh_dev_vector_may(group, len) &&
            len * others <= (size_t)parts * wsh_dev_size<S>() * WSH_VECTOR_LINES * WSH_LL_BYTES);
}

/* Whether what a member's first line says, bytes, is of a block that is stored. */
static WSH_DEV bool wsh_dev_vector_says_stored(const struct wsh_dev_group &group, const struct wsh_ptx_pair &seen)
{
    return wsh_dev_ll_line_is(seen, group.epoch) && (wsh_dev_ll_line_data(seen) & WSH_VECTOR_STORED) != 0;
}

/* LL lines that a lane sends, or takes, at a time: their accesses overlap. */
#define WSH_VECTOR_AHEAD 2

/* LONG: blocks may be longer than the room. Elsewhere that is known not to be, and no place is told. */
template <int S, bool LONG>
static WSH_DEV void wsh_dev_vector_send_to(const struct wsh_dev_group &group, const char *from, uint64_t area,
                                           const struct wsh_dev_vector_pair &pair,
                                           const struct wsh_dev_vector_lanes &mine, unsigned parts, bool tells)
{
    bool by_ll = !LONG || wsh_dev_vector_by_ll<S>(group, pair.given, parts);
    unsigned units = WSH_VECTOR_HEAD + (by_ll ? wsh_dev_ll_for(pair.given) : 0);
    uint64_t says = pair.given | (by_ll ? 0 : WSH_VECTOR_STORED);
    struct wsh_ptx_pair *ll = wsh_dev_ll_from(group, area, group.my_pe);

#pragma unroll 1
    for (unsigned unit = mine.lane; unit < units; unit += WSH_VECTOR_AHEAD * mine.size) {
        uint64_t value[WSH_VECTOR_AHEAD];

#pragma unroll
        for (unsigned u = 0, at = unit; u < WSH_VECTOR_AHEAD; u++, at += mine.size) {
            size_t off = (size_t)(at - WSH_VECTOR_HEAD) * WSH_LL_BYTES;

            value[u] = at == 0 ? says : pair.place;
            if (at >= WSH_VECTOR_HEAD && at < units)
                value[u] = wsh_dev_load8(from + off, pair.given - off);
        }
#pragma unroll
        for (unsigned u = 0, at = unit; u < WSH_VECTOR_AHEAD; u++, at += mine.size)
            if (at < units && (at != 1 || tells))
                wsh_dev_ll_line_put(ll + at, value[u], group.epoch);
    }
}

/*
 * All lanes: counts, blocks that go by LL lines, and places where they are known. `first` and `area`, unless
 * that is 0, are the first member's.
 */
template <int S, bool LONG>
static WSH_DEV void wsh_dev_vector_send(const struct wsh_dev_group &group, const struct wsh_dev_vector &v,
                                        const struct wsh_dev_vector_lanes &mine,
                                        const struct wsh_dev_vector_pair &first, uint64_t area, unsigned parts)
{
#pragma unroll 1
    for (unsigned i = mine.first; i + 1 < (unsigned)group.n_pes; i += mine.step) {
        int to = wsh_dev_after_me(group, i);
        struct wsh_dev_vector_pair pair = first;

        if (i != mine.first)
            pair = wsh_dev_vector_pair_of(v, to);
        if (i != mine.first || !area)
            area = wsh_dev_member_area(group, to);
        wsh_dev_vector_send_to<S, LONG>(group, v.source + pair.at, area, pair, mine, parts,
                                        LONG && !v.need && pair.taken > wsh_dev_vector_room<S>(group));
    }
}

#define WSH_VECTOR_GLANCE 8 /* of so many polls one looks whether the sender stores the block */

/*
 * Waits for an LL line of a block that its sender may store instead: then false. Only who misses its own line reads the
 * first one, and seldom: all lanes of all parts would read it at once.
 */
static WSH_DEV bool wsh_dev_vector_comes(const struct wsh_dev_group &group, const struct wsh_ptx_pair *ll, unsigned at,
                                         struct wsh_ptx_pair *seen)
{
    struct wsh_dev_patience patience = {{group.what, ll + at, group.epoch, SHMEM_CMP_EQ, 0}, 0};
    unsigned polls = 0;

    while (!wsh_dev_ll_line_is(*seen, group.epoch)) {
        struct wsh_ptx_pair head = {0, 0};
        bool glances = polls++ % WSH_VECTOR_GLANCE == 0;

        if (glances)
            head = wsh_ptx_get(ll);
        *seen = wsh_ptx_get(ll + at);
        if (glances && wsh_dev_vector_says_stored(group, head))
            return false;
        wsh_dev_wait_longer(&patience);
    }
    return true;
}

/* A block that comes by LL lines; and its length, which both sides have said where places are not found (`agrees`). */
template <int S, bool LONG>
static WSH_DEV void wsh_dev_vector_take_from(const struct wsh_dev_group &group, char *to, bool agrees, int from,
                                             const struct wsh_dev_vector_pair &pair,
                                             const struct wsh_dev_vector_lanes &mine)
{
    bool asks = LONG && pair.taken > wsh_dev_vector_room<S>(group);
    bool may = !asks || wsh_dev_vector_may(group, pair.taken);
    unsigned units = WSH_VECTOR_HEAD + (may ? wsh_dev_ll_for(pair.taken) : 0);
    const struct wsh_ptx_pair *ll = wsh_dev_ll_from(group, group.area, from);

#pragma unroll 1
    for (unsigned unit = mine.lane; unit < units; unit += WSH_VECTOR_AHEAD * mine.size) {
        struct wsh_ptx_pair seen[WSH_VECTOR_AHEAD];

#pragma unroll
        for (unsigned u = 0, at = unit; u < WSH_VECTOR_AHEAD; u++, at += mine.size)
            if (at < units)
                seen[u] = wsh_ptx_get(ll + at);
#pragma unroll
        for (unsigned u = 0, at = unit; u < WSH_VECTOR_AHEAD; u++, at += mine.size) {
            size_t off = (size_t)(at - WSH_VECTOR_HEAD) * WSH_LL_BYTES;
            uint64_t value;

            if (at >= units || at == 1 || (at == 0 && !agrees))
                continue;
            if (asks && at && !wsh_dev_vector_comes(group, ll, at, &seen[u]))
                return;
            value = wsh_dev_ll_line_take(group, ll + at, seen[u]); /* in one place, for all lanes of a warp */
            if (at)
                wsh_dev_store8(to + off, value, pair.taken - off);
            else
                wsh_dev_vector_agree(group, value & ~WSH_VECTOR_STORED, pair.taken, from);
        }
    }
}

template <int S, bool LONG>
static WSH_DEV void wsh_dev_vector_receive(const struct wsh_dev_group &group, const struct wsh_dev_vector &v,
                                           const struct wsh_dev_vector_lanes &mine,
                                           const struct wsh_dev_vector_pair &first)
{
#pragma unroll 1
    for (unsigned i = mine.first; i + 1 < (unsigned)group.n_pes; i += mine.step) {
        int from = wsh_dev_after_me(group, i);
        struct wsh_dev_vector_pair pair = first;

        if (i != mine.first)
            pair = wsh_dev_vector_pair_of(v, from);
        wsh_dev_vector_take_from<S, LONG>(group, v.dest + pair.place, !v.need, from, pair, mine);
    }
}

/* All lanes of all parts: this member's own block, while those of others are under way; `copies`: it is not stored. */
template <int S>
static WSH_DEV void wsh_dev_vector_keep(const struct wsh_dev_group &group, const struct wsh_dev_vector &v,
                                        struct wsh_dev_vector_part of, bool copies)
{
    struct wsh_dev_vector_pair own = wsh_dev_vector_pair_of(v, group.my_pe);
    unsigned lane = of.part * wsh_dev_size<S>() + wsh_dev_lane<S>(), size = of.parts * wsh_dev_size<S>();
    char *to = v.dest + own.place;
    const char *from = v.source + own.at;

    if (!v.need)
        wsh_dev_vector_agree(group, own.given, own.taken, group.my_pe);
    copies = copies && to != from;
#pragma unroll 1
    for (size_t off = (size_t)lane * WSH_LL_BYTES; copies && off < own.given; off += (size_t)size * WSH_LL_BYTES)
        wsh_dev_store8(to + off, wsh_dev_load8(from + off, own.given - off), own.given - off);
}

/*
 * All lanes of a part: takes the counts; the first part says where long blocks belong. True: dest is too small, and so
 * they have been told. All parts write the same.
 */
template <int S>
WSH_DEV_CALL bool wsh_dev_vector_find(const struct wsh_dev_group &group, const struct wsh_dev_vector &v, bool tells)
{
    bool refuses;

#pragma unroll 1
    for (int from = (int)wsh_dev_lane<S>(); from < group.n_pes; from += (int)wsh_dev_size<S>()) {
        const struct wsh_ptx_pair *line = wsh_dev_ll_from(group, group.area, from);

        v.dest_counts[from] = from == group.my_pe
                                  ? v.counts[from]
                                  : wsh_dev_vector_elements(v, wsh_dev_ll_line_take(group, line, wsh_ptx_get(line)) &
                                                                   ~WSH_VECTOR_STORED);
    }
    refuses = wsh_dev_vector_pack<S>(group, v);
#pragma unroll 1
    for (unsigned from = wsh_dev_lane<S>(); tells && from < (unsigned)group.n_pes; from += wsh_dev_size<S>())
        if ((int)from != group.my_pe && wsh_dev_vector_taken(v, (int)from) > wsh_dev_vector_room<S>(group))
            wsh_dev_ll_line_put(wsh_dev_ll_from(group, wsh_dev_member_area(group, (int)from), group.my_pe) + 1,
                                refuses ? WSH_VECTOR_REFUSED : v.dest_offsets[from] * v.width, group.epoch);
    wsh_dev_sync<S>();
    return refuses;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alltoallv in device code, by one scope or by all blocks of a kernel. A member's first LL line tells each other how
 * much it has for it, and a short block is in those from the third on. For a longer one the receiver says in its
 * second LL line where the block belongs; it is stored there, and a flag follows. Who knows its counts says so at once,
 * so that blocks go as in an alltoall half a round trip later.
 *
 * As every member awaits an LL line of every other in each epoch, the rule of ll.cuh about using them again holds.
 * Flags are set and awaited for long blocks alone; as they only grow, those of former epochs do no harm.
 */
#ifndef WSH_DEVICE_ALLTOALLV_CUH
#define WSH_DEVICE_ALLTOALLV_CUH

#include "hosts.cuh"
#include "../wide.cuh"

#define WSH_VECTOR_HEAD 2 /* LL lines before the data: a count, and the place of what comes the other way */

/* Bytes of a block that goes by LL lines. */
template <int S> static WSH_DEV size_t wsh_dev_vector_room(const struct wsh_dev_group &group)
{
    constexpr uint32_t most = wsh_dev_by_scope<S>(WSH_DEVICE_CHOICE(MOVE, THREAD, LL),
                                                  WSH_DEVICE_CHOICE(MOVE, WARP, LL),
                                                  WSH_DEVICE_CHOICE(MOVE, BLOCK, LL));
    uint32_t room = group.ll / 2 - WSH_VECTOR_HEAD * WSH_LL_BYTES;

    return room < most ? room : most;
}

/* Whether anything that this member has is stored straight to its place. */
template <int S>
static WSH_DEV bool wsh_dev_vector_is_long(const struct wsh_dev_group &group, const struct wsh_dev_vector &v)
{
    size_t room = wsh_dev_vector_room<S>(group);
    bool is = false;

#pragma unroll 1
    for (int to = 0; to < group.n_pes; to++)
        is |= wsh_dev_vector_given(v, to) > room;
    return is;
}

/* The lanes that send to or receive from one of the other members: whole warps, where there are enough. */
struct wsh_dev_vector_lanes {
    unsigned first, step; /* the member's turn after this one, and the next's of these lanes */
    unsigned lane, size;
};

template <int S> static WSH_DEV struct wsh_dev_vector_lanes wsh_dev_vector_share(const struct wsh_dev_group &group)
{
    unsigned size = wsh_dev_size<S>(), peers = (unsigned)group.n_pes - 1, lane = wsh_dev_lane<S>();
    unsigned each = peers > 1 ? size / peers & ~31u : size;

    if (!each)
        each = size < 32 ? size : 32;
    if (lane / each >= size / each)
        return wsh_dev_vector_lanes{peers, 1, 0, each}; /* a rest, which has no member */
    return wsh_dev_vector_lanes{lane / each, size / each, lane % each, each};
}

/* The data of LL line `unit` to a member. */
static WSH_DEV uint64_t wsh_dev_vector_unit(const struct wsh_dev_vector &v, int to, unsigned unit, size_t len)
{
    size_t off = (size_t)(unit - WSH_VECTOR_HEAD) * WSH_LL_BYTES;

    if (unit == 0)
        return v.counts[to];
    if (unit == 1)
        return v.dest_offsets[to] * v.width;
    return wsh_dev_load8(wsh_dev_vector_block(v, to) + off, len - off);
}

/* LL lines with a count and data, `len` bytes of it or, where that is too much, none. */
static WSH_DEV unsigned wsh_dev_vector_units(size_t len, size_t room)
{
    return WSH_VECTOR_HEAD + (len <= room ? wsh_dev_ll_for(len) : 0);
}

/* All lanes: counts, short blocks, and places where they are known. */
template <int S>
WSH_DEV_CALL void wsh_dev_vector_send(const struct wsh_dev_group &group, const struct wsh_dev_vector &v)
{
    struct wsh_dev_vector_lanes mine = wsh_dev_vector_share<S>(group);
    size_t room = wsh_dev_vector_room<S>(group);

#pragma unroll 1
    for (unsigned i = mine.first; i + 1 < (unsigned)group.n_pes; i += mine.step) {
        int to = wsh_dev_after_me(group, i);
        size_t len = wsh_dev_vector_given(v, to);
        unsigned units = wsh_dev_vector_units(len, room);
        struct wsh_ptx_pair *ll = wsh_dev_ll_from(group, wsh_dev_member_area(group, to), group.my_pe);

#pragma unroll 1
        for (unsigned unit = mine.lane; unit < units; unit += mine.size)
            if (unit != 1 || (!v.need && wsh_dev_vector_taken(v, to) > room))
                wsh_dev_ll_line_put(ll + unit, wsh_dev_vector_unit(v, to, unit, len), group.epoch);
    }
    if (!v.need && wsh_dev_lane<S>() == 0) /* of what stays here, for all blocks */
        wsh_dev_ll_line_put(wsh_dev_ll_from(group, group.area, group.my_pe) + 1,
                            wsh_dev_vector_unit(v, group.my_pe, 1, 0), group.epoch);
}

/* All lanes: takes the counts, says where long blocks belong. True: dest is too small, and so they have been told. */
template <int S>
WSH_DEV_CALL bool wsh_dev_vector_find(const struct wsh_dev_group &group, const struct wsh_dev_vector &v)
{
    bool refuses;

#pragma unroll 1
    for (int from = (int)wsh_dev_lane<S>(); from < group.n_pes; from += (int)wsh_dev_size<S>()) {
        const struct wsh_ptx_pair *line = wsh_dev_ll_from(group, group.area, from);

        v.dest_counts[from] = from == group.my_pe ? v.counts[from]
                                                  : wsh_dev_ll_line_take(group, line, wsh_ptx_get(line));
    }
    refuses = wsh_dev_vector_pack<S>(group, v);
#pragma unroll 1
    for (unsigned from = wsh_dev_lane<S>(); from < (unsigned)group.n_pes; from += wsh_dev_size<S>())
        if (wsh_dev_vector_taken(v, (int)from) > wsh_dev_vector_room<S>(group))
            wsh_dev_ll_line_put(wsh_dev_ll_from(group, wsh_dev_member_area(group, (int)from), group.my_pe) + 1,
                                refuses ? WSH_VECTOR_REFUSED : v.dest_offsets[from] * v.width, group.epoch);
    wsh_dev_sync<S>();
    return refuses;
}

/* All lanes: waits for the places of this member's long blocks. One warp polls; then they are there for all. */
template <int S>
WSH_DEV_CALL void wsh_dev_vector_await_places(const struct wsh_dev_group &group, const struct wsh_dev_vector &v)
{
#pragma unroll 1
    for (int to = (int)wsh_dev_signaller<S>(); wsh_dev_is_poller<S>() && to < group.n_pes;
         to += (int)wsh_dev_signallers<S>()) {
        const struct wsh_ptx_pair *line = wsh_dev_ll_from(group, group.area, to) + 1;

        if (wsh_dev_vector_given(v, to) > wsh_dev_vector_room<S>(group))
            wsh_dev_ll_line_take(group, line, wsh_ptx_get(line));
    }
    wsh_dev_sync<S>();
}

/* Bytes of a long block, 0 of another; rounded up so that blocks of a kernel begin at whole units of it. */
template <int S>
static WSH_DEV size_t wsh_dev_vector_long(const struct wsh_dev_group &group, const struct wsh_dev_vector &v, int to)
{
    size_t len = wsh_dev_vector_given(v, to);

    return len > wsh_dev_vector_room<S>(group) ? len : 0;
}

static WSH_DEV size_t wsh_dev_vector_padded(size_t len)
{
    return (len + WSH_SHARE_UNIT - 1) / WSH_SHARE_UNIT * WSH_SHARE_UNIT;
}

/* All lanes: bytes of the block for `to`, from `range` on, to the place it has been given, if any. */
template <int S>
WSH_DEV_CALL void wsh_dev_vector_store(const struct wsh_dev_group &group, const struct wsh_dev_vector &v, size_t at,
                                       size_t len, int to)
{
    uint64_t place = wsh_dev_ll_line_data(wsh_ptx_get(wsh_dev_ll_from(group, group.area, to) + 1));

    if (place != WSH_VECTOR_REFUSED)
        wsh_dev_store_at<S>(group, v.dest + place + at, wsh_dev_vector_block(v, to) + at, len, to);
}

/* All lanes of part `part` of `parts` of a kernel: their share of the bytes of all long blocks. */
template <int S>
WSH_DEV_CALL void wsh_dev_vector_push(const struct wsh_dev_group &group, const struct wsh_dev_vector &v, unsigned part,
                                      unsigned parts)
{
    struct wsh_dev_range mine = {0, 0};
    size_t at = 0;

    wsh_dev_vector_await_places<S>(group, v);
#pragma unroll 1
    for (int to = 0; to < group.n_pes; to++)
        mine.end += wsh_dev_vector_padded(wsh_dev_vector_long<S>(group, v, to));
    mine = wsh_dev_part(mine, WSH_SHARE_UNIT, part, parts);
#pragma unroll 1
    for (unsigned i = 0; i < (unsigned)group.n_pes && at < mine.end; i++) {
        int to = wsh_dev_after_me(group, i);
        size_t len = wsh_dev_vector_long<S>(group, v, to);
        size_t begin = mine.begin > at ? mine.begin - at : 0, end = mine.end - at < len ? mine.end - at : len;

        if (begin < end)
            wsh_dev_vector_store<S>(group, v, begin, end - begin, to);
        at += wsh_dev_vector_padded(len);
    }
}

/* All lanes: short blocks from their LL lines, and this member's own. */
template <int S>
WSH_DEV_CALL void wsh_dev_vector_receive(const struct wsh_dev_group &group, const struct wsh_dev_vector &v)
{
    struct wsh_dev_vector_lanes mine = wsh_dev_vector_share<S>(group);
    size_t room = wsh_dev_vector_room<S>(group), own = wsh_dev_vector_given(v, group.my_pe);

#pragma unroll 1
    for (unsigned i = mine.first; i + 1 < (unsigned)group.n_pes; i += mine.step) {
        int from = wsh_dev_after_me(group, i);
        size_t len = wsh_dev_vector_taken(v, from);
        unsigned units = wsh_dev_vector_units(len, room);
        const struct wsh_ptx_pair *ll = wsh_dev_ll_from(group, group.area, from);

#pragma unroll 1
        for (unsigned unit = mine.lane; unit < units; unit += mine.size) {
            size_t off = (size_t)(unit - WSH_VECTOR_HEAD) * WSH_LL_BYTES;

            if (unit >= WSH_VECTOR_HEAD)
                wsh_dev_store8(v.dest + v.dest_offsets[from] * v.width + off,
                               wsh_dev_ll_line_take(group, ll + unit, wsh_ptx_get(ll + unit)), len - off);
            else if (unit == 0 && !v.need)
                wsh_dev_vector_agree(group, v, wsh_dev_ll_line_take(group, ll, wsh_ptx_get(ll)), v.dest_counts[from],
                                     from);
        }
    }
    wsh_dev_vector_agree(group, v, v.counts[group.my_pe], v.dest_counts[group.my_pe], group.my_pe);
    if (own <= room)
        wsh_dev_keep<S>(v.dest + v.dest_offsets[group.my_pe] * v.width, wsh_dev_vector_block(v, group.my_pe), own);
}

/* The lanes that signal: flags after long blocks, to those who get them; `counts` the epoch too. */
template <int S>
static WSH_DEV void wsh_dev_vector_signal(const struct wsh_dev_group &group, const struct wsh_dev_vector &v,
                                          bool counts)
{
#pragma unroll 1
    for (unsigned i = wsh_dev_signaller<S>(); i + 1 < (unsigned)group.n_pes; i += wsh_dev_signallers<S>()) {
        int to = wsh_dev_after_me(group, i);

        if (wsh_dev_vector_long<S>(group, v, to))
            wsh_ptx_put(wsh_dev_word_from(group, wsh_dev_member_area(group, to), group.my_pe), wsh_dev_done(group));
    }
    if (counts)
        wsh_dev_epoch_count<S>(group);
}

/* The same lanes: awaits the flags of those who have a long block for this member, and acquires. */
template <int S>
static WSH_DEV void wsh_dev_vector_await(const struct wsh_dev_group &group, const struct wsh_dev_vector &v)
{
    struct wsh_dev_patience patience = {{group.what, nullptr, wsh_dev_done(group), SHMEM_CMP_GE, 0}, 0};

#pragma unroll 1
    for (int base = 0; base < group.n_pes; base += (int)wsh_dev_signallers<S>()) {
        int from = base + (int)wsh_dev_signaller<S>();
        bool mine = from < group.n_pes && from != group.my_pe &&
                    wsh_dev_vector_taken(v, from) > wsh_dev_vector_room<S>(group);
        const uint64_t *word = wsh_dev_word_from(group, group.area, mine ? from : 0);

        patience.wait.word = word;
        while (wsh_dev_any_signaller<S>(mine && (int64_t)(wsh_ptx_poll(word) - wsh_dev_done(group)) < 0))
            wsh_dev_wait_longer(&patience);
    }
    wsh_ptx_acquire();
}

/* All lanes, after a barrier: the end of a call. */
template <int S>
WSH_DEV_CALL void wsh_dev_vector_finish(const struct wsh_dev_group &group, const struct wsh_dev_vector &v, bool counts)
{
    if (wsh_dev_is_poller<S>()) {
        wsh_ptx_release();
        wsh_dev_vector_signal<S>(group, v, counts);
        wsh_dev_vector_await<S>(group, v);
    }
    wsh_dev_sync<S>();
}

/* By one scope, in an epoch. */
template <int S>
WSH_DEV_CALL bool wsh_dev_vector_exchange(const struct wsh_dev_group &group, const struct wsh_dev_vector &v)
{
    bool refuses = false, flags = wsh_dev_vector_is_long<S>(group, v);

    wsh_dev_vector_send<S>(group, v);
    if (v.need)
        refuses = wsh_dev_vector_find<S>(group, v);
    if (flags)
        wsh_dev_vector_push<S>(group, v, 0, 1);
    if (!refuses)
        wsh_dev_vector_receive<S>(group, v);
#pragma unroll 1
    for (int from = 0; from < group.n_pes; from++)
        flags |= wsh_dev_vector_taken(v, from) > wsh_dev_vector_room<S>(group);
    wsh_dev_sync<S>();
    if (flags)
        wsh_dev_vector_finish<S>(group, v, false);
    return refuses;
}

/* 0, or 1 where dest is too small here. */
template <int S>
WSH_DEV_CALL int wsh_dev_alltoallv(const char *what, shmem_team_t team, const struct wsh_dev_vector &v)
{
    struct wsh_dev_group group;

    if (wsh_dev_spans_hosts(what, team))
        return wsh_dev_vector_hosts<S>(what, team, v);
    group = wsh_dev_group_enter<S>(what, team);
    return wsh_dev_vector_exchange<S>(wsh_dev_group(group), v);
}

/*
 * By all blocks of a kernel: the first one does what one block does, and long blocks are stored by all. The last one to
 * end sets the flags. In the epoch of a sweep, that one does all.
 */
template <int S>
WSH_DEV_CALL void wsh_dev_vector_wide(const struct wsh_dev_group &group, const struct wsh_dev_vector &v)
{
    bool first = blockIdx.x == 0, refuses = false;

    if (first) {
        wsh_dev_vector_send<S>(group, v);
        if (v.need)
            refuses = wsh_dev_vector_find<S>(group, v);
    }
    if (blockIdx.x < wsh_dev_openers())
        wsh_dev_vector_push<S>(group, v, blockIdx.x, wsh_dev_openers());
    if (first && !refuses)
        wsh_dev_vector_receive<S>(group, v);
    if (wsh_dev_last_block<S>(group, true))
        wsh_dev_vector_finish<S>(group, v, true);
}

/* 0. */
template <int S>
WSH_DEV_CALL int wsh_dev_alltoallv_wide(const char *what, shmem_team_t team, const struct wsh_dev_vector &v)
{
    bool alone = wsh_dev_spans_hosts(what, team) || !wsh_dev_vector_is_long<S>(wsh_dev_group_of(what, team), v);
    struct wsh_dev_group group;

    if (!alone) {
        group = wsh_dev_wide_group(what, team);
        if ((uint32_t)group.epoch & WSH_SWEEP_MASK) {
            wsh_dev_vector_wide<S>(group, v);
            return 0;
        }
    }
    if (alone ? blockIdx.x == 0 : wsh_dev_last_block<S>(group, false))
        wsh_dev_alltoallv<S>(what, team, v);
    return 0;
}

#endif

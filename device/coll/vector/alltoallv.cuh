/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alltoallv in device code, by one scope or by all blocks of a kernel. Counts, and blocks that are not too long, go by
 * LL lines (lines.cuh). For a long block the receiver says where it belongs; it is stored there, and a flag follows.
 * Who knows its counts says so at once, so that blocks go as in an alltoall half a round trip later.
 *
 * Flags are set and awaited for stored blocks alone; as they only grow, those of former epochs do no harm.
 */
#ifndef WSH_DEVICE_ALLTOALLV_CUH
#define WSH_DEVICE_ALLTOALLV_CUH

#include "lines.cuh"
#include "../coll.cuh"
#include "../wide.cuh"

/* Bytes of a block that is stored, 0 of another. */
template <int S>
static WSH_DEV size_t wsh_dev_vector_stored(const struct wsh_dev_group &group, const struct wsh_dev_vector &v, int to,
                                            unsigned parts)
{
    size_t len = wsh_dev_vector_given(v, to);

    return wsh_dev_vector_by_ll<S>(group, len, parts) ? 0 : len;
}

/* All lanes: whether anything that this member has is stored, to itself too. A barrier. */
template <int S>
static WSH_DEV bool wsh_dev_vector_stores(const struct wsh_dev_group &group, const struct wsh_dev_vector &v,
                                          unsigned parts)
{
    bool is = false;

#pragma unroll 1
    for (unsigned to = wsh_dev_lane<S>(); to < (unsigned)group.n_pes; to += wsh_dev_size<S>())
        is |= wsh_dev_vector_stored<S>(group, v, (int)to, parts) != 0;
    return wsh_dev_any_lane<S>(is);
}

/* Rounded up so that blocks of a kernel begin at whole units of it. */
static WSH_DEV size_t wsh_dev_vector_padded(size_t len)
{
    return (len + WSH_SHARE_UNIT - 1) / WSH_SHARE_UNIT * WSH_SHARE_UNIT;
}

/* All lanes: bytes of the block for `to`, from `at` on, to the place it is given, for which they wait, if any. */
template <int S>
static WSH_DEV void wsh_dev_vector_store(const struct wsh_dev_group &group, const struct wsh_dev_vector &v, size_t at,
                                         size_t len, int to)
{
    const struct wsh_ptx_pair *line = wsh_dev_ll_from(group, group.area, to) + 1;
    const char *from = wsh_dev_vector_block(v, to) + at;
    uint64_t dest = (uint64_t)v.dest + at;

    if (to == group.my_pe) {
        dest += v.dest_offsets[to] * v.width;
    } else {
        uint64_t place = wsh_dev_ll_line_take(group, line, wsh_ptx_get(line));

        if (place == WSH_VECTOR_REFUSED)
            return;
        dest = wsh_dev_member(group, (char *)dest + place, len, to);
    }
    if (dest != (uint64_t)from)
        wsh_dev_store<S>(dest, from, len);
}

/*
 * All lanes of a part: their share of the bytes of all blocks that are stored; `keeps`: of this member's own too, which
 * comes first, while places are on their way.
 */
template <int S>
static WSH_DEV void wsh_dev_vector_push(const struct wsh_dev_group &group, const struct wsh_dev_vector &v,
                                        struct wsh_dev_vector_part of, bool keeps)
{
    unsigned n = (unsigned)group.n_pes;
    struct wsh_dev_range mine = {0, 0};
    size_t at = 0;

#pragma unroll 1
    for (unsigned i = keeps ? 0 : 1; i < n; i++)
        mine.end += wsh_dev_vector_padded(wsh_dev_vector_stored<S>(group, v, wsh_dev_from_me(group, i), of.parts));
    mine = wsh_dev_part(mine, WSH_SHARE_UNIT, of.part, of.parts);
#pragma unroll 1
    for (unsigned i = keeps ? 0 : 1; i < n && at < mine.end; i++) {
        int to = wsh_dev_from_me(group, i);
        size_t len = wsh_dev_vector_stored<S>(group, v, to, of.parts);
        size_t begin = mine.begin > at ? mine.begin - at : 0, end = mine.end - at < len ? mine.end - at : len;

        if (begin < end)
            wsh_dev_vector_store<S>(group, v, begin, end - begin, to);
        at += wsh_dev_vector_padded(len);
    }
}

/* The same out of line, where registers are few and most calls have nothing to store. */
template <int S>
WSH_DEV_CALL void wsh_dev_vector_push_apart(const struct wsh_dev_group &group, const struct wsh_dev_vector &v,
                                            struct wsh_dev_vector_part of, bool keeps)
{
    wsh_dev_vector_push<S>(group, v, of, keeps);
}

/* All lanes of a part: blocks of any length; `first`: a lane's first member. True: dest is too small. */
template <int S, bool APART>
static WSH_DEV bool wsh_dev_vector_move(const struct wsh_dev_group &group, const struct wsh_dev_vector &v,
                                        struct wsh_dev_vector_part of, struct wsh_dev_vector_lanes mine,
                                        struct wsh_dev_vector_pair first, uint64_t area, bool stores)
{
    bool refuses = false;

    wsh_dev_vector_send<S, true>(group, v, mine, first, area, of.parts);
    if (v.need) {
        refuses = wsh_dev_vector_find<S>(group, v, of.part == 0);
        first = wsh_dev_vector_first(group, v, mine);
    }
    wsh_dev_vector_keep<S>(group, v, of, !refuses && !wsh_dev_vector_stored<S>(group, v, group.my_pe, of.parts));
    if (stores && APART)
        wsh_dev_vector_push_apart<S>(group, v, of, !refuses);
    else if (stores)
        wsh_dev_vector_push<S>(group, v, of, !refuses);
    if (!refuses)
        wsh_dev_vector_receive<S, true>(group, v, mine, first);
    return refuses;
}

/* The lanes that signal: flags after stored blocks, to those who get them. */
template <int S>
static WSH_DEV void wsh_dev_vector_signal(const struct wsh_dev_group &group, const struct wsh_dev_vector &v,
                                          unsigned parts)
{
#pragma unroll 1
    for (unsigned i = wsh_dev_signaller<S>(); i + 1 < (unsigned)group.n_pes; i += wsh_dev_signallers<S>()) {
        int to = wsh_dev_after_me(group, i);

        if (wsh_dev_vector_stored<S>(group, v, to, parts))
            wsh_ptx_put(wsh_dev_word_from(group, wsh_dev_member_area(group, to), group.my_pe), wsh_dev_done(group));
    }
}

/* Whether a member stores its block for this one, as its first line, `head`, says where that depends on its lanes. */
template <int S>
static WSH_DEV bool wsh_dev_vector_is_stored(const struct wsh_dev_group &group, int from, size_t len,
                                             struct wsh_ptx_pair head)
{
    return len > wsh_dev_vector_room<S>(group) &&
           (!wsh_dev_vector_may(group, len) ||
            (wsh_dev_ll_line_take(group, wsh_dev_ll_from(group, group.area, from), head) & WSH_VECTOR_STORED) != 0);
}

/* The lanes that signal: a member's first line, of members from `base` on, as it is; before what it overlaps with. */
template <int S>
static WSH_DEV struct wsh_ptx_pair wsh_dev_vector_glance(const struct wsh_dev_group &group, int base)
{
    int from = base + (int)wsh_dev_signaller<S>();

    return wsh_ptx_get(wsh_dev_ll_from(group, group.area, from < group.n_pes ? from : 0));
}

/* The same lanes: awaits the flags of those who store a block for this member, and acquires. */
template <int S>
static WSH_DEV void wsh_dev_vector_await(const struct wsh_dev_group &group, const struct wsh_dev_vector &v,
                                         struct wsh_ptx_pair head)
{
    struct wsh_dev_patience patience = {{group.what, nullptr, wsh_dev_done(group), SHMEM_CMP_GE, 0}, 0};
    bool any = false;

#pragma unroll 1
    for (int base = 0; base < group.n_pes; base += (int)wsh_dev_signallers<S>()) {
        int from = base + (int)wsh_dev_signaller<S>();
        bool mine = from < group.n_pes && from != group.my_pe &&
                    wsh_dev_vector_is_stored<S>(group, from, wsh_dev_vector_taken(v, from), head);
        const uint64_t *word = wsh_dev_word_from(group, group.area, mine ? from : 0);

        any |= mine;
        patience.wait.word = word;
        while (wsh_dev_any_signaller<S>(mine && (int64_t)(wsh_ptx_poll(word) - wsh_dev_done(group)) < 0))
            wsh_dev_wait_longer(&patience);
        if (base + (int)wsh_dev_signallers<S>() < group.n_pes)
            head = wsh_dev_vector_glance<S>(group, base + (int)wsh_dev_signallers<S>());
    }
    if (wsh_dev_any_signaller<S>(any))
        wsh_ptx_acquire();
}

/* The lanes that signal, after a barrier: the end of a call, in which the others wait for them. `head`: a glance. */
template <int S>
static WSH_DEV void wsh_dev_vector_end(const struct wsh_dev_group &group, const struct wsh_dev_vector &v,
                                       unsigned parts, bool stores, struct wsh_ptx_pair head)
{
    if (stores) {
        wsh_ptx_release();
        wsh_dev_vector_signal<S>(group, v, parts);
    }
    wsh_dev_vector_await<S>(group, v, head);
}

/* All lanes, after a barrier: the end of a call by one scope. */
template <int S>
WSH_DEV_CALL void wsh_dev_vector_finish(const struct wsh_dev_group &group, const struct wsh_dev_vector &v, bool stores)
{
    if (wsh_dev_is_poller<S>())
        wsh_dev_vector_end<S>(group, v, 1, stores, wsh_dev_vector_glance<S>(group, 0));
    wsh_dev_sync<S>();
}

/* By one scope, in an epoch, where blocks may be long. Apart, with the group in memory. */
template <int S>
WSH_DEV_CALL bool wsh_dev_vector_exchange_any(const struct wsh_dev_group &group, const struct wsh_dev_vector &v)
{
    struct wsh_dev_vector_lanes mine = wsh_dev_vector_share<S>(group, wsh_dev_vector_part{0, 1});
    bool stores = wsh_dev_vector_stores<S>(group, v, 1), refuses;
    struct wsh_dev_vector_pair first = wsh_dev_vector_first(group, v, mine);

    refuses = wsh_dev_vector_move<S, true>(group, v, wsh_dev_vector_part{0, 1}, mine, first, 0, stores);
    wsh_dev_sync<S>();
    wsh_dev_vector_finish<S>(group, v, stores);
    return refuses;
}

/* What a call needs to know first, in loads that overlap: whether blocks are long, and about a lane's first member. */
template <int S>
static WSH_DEV bool wsh_dev_vector_begin(const struct wsh_dev_group &group, const struct wsh_dev_vector &v,
                                         const struct wsh_dev_vector_lanes &mine, struct wsh_dev_vector_pair *first,
                                         uint64_t *area = nullptr)
{
    unsigned n = (unsigned)group.n_pes, lane = wsh_dev_lane<S>();
    size_t room = wsh_dev_vector_room<S>(group), given = v.counts[lane < n ? lane : 0], taken = 0;
    bool is_long;

    if (!v.need) {
        taken = v.dest_counts[lane < n ? lane : 0];
        *first = wsh_dev_vector_first(group, v, mine);
    }
    if (area)
        *area = wsh_dev_vector_first_area(group, mine);
    is_long = given * v.width > room || taken * v.width > room;
#pragma unroll 1
    for (unsigned i = lane + wsh_dev_size<S>(); i < n; i += wsh_dev_size<S>())
        is_long |= wsh_dev_vector_given(v, (int)i) > room || (!v.need && wsh_dev_vector_taken(v, (int)i) > room);
    return wsh_dev_any_lane<S>(is_long);
}

/*
 * Places of long blocks of the lanes' first members, before all else: a round trip begins with them. The same is sent
 * with the counts. Not in the epoch of a sweep, which comes before all lines.
 */
template <int S>
static WSH_DEV void wsh_dev_vector_places(const struct wsh_dev_group &group, const struct wsh_dev_vector_lanes &mine,
                                          const struct wsh_dev_vector_pair &first)
{
    if (mine.lane == 1 && mine.first + 1 < (unsigned)group.n_pes && first.taken > wsh_dev_vector_room<S>(group) &&
        ((uint32_t)group.epoch & WSH_SWEEP_MASK))
        wsh_dev_ll_line_put(wsh_dev_ll_from(group, wsh_dev_vector_first_area(group, mine), group.my_pe) + 1,
                            first.place, group.epoch);
}

/* A call that has begun in the epoch after the stored one enters it. */
template <int S> static WSH_DEV void wsh_dev_vector_enter(struct wsh_dev_group *group)
{
    group->epoch--;
    wsh_dev_epoch_step<S>(group);
    wsh_dev_epoch_count<S>(*group);
}

/* By one scope, where all blocks are short and both sides know them. */
template <int S>
static WSH_DEV void wsh_dev_vector_exchange_short(const struct wsh_dev_group &group, const struct wsh_dev_vector &v,
                                                  const struct wsh_dev_vector_lanes &mine,
                                                  const struct wsh_dev_vector_pair &first, uint64_t area)
{
    wsh_dev_vector_send<S, false>(group, v, mine, first, area, 1);
    wsh_dev_vector_keep<S>(group, v, wsh_dev_vector_part{0, 1}, true);
    wsh_dev_vector_receive<S, false>(group, v, mine, first);
    wsh_dev_sync<S>();
}

/* What functions find in memory, one copy of a block's lanes: each with its own would write them to local memory. */
struct wsh_dev_vector_call {
    struct wsh_dev_group group;
    struct wsh_dev_vector v;
};

/* All lanes of a block. A barrier. */
template <int S>
static WSH_DEV void wsh_dev_vector_hold(struct wsh_dev_vector_call *call, const struct wsh_dev_group &group,
                                        const struct wsh_dev_vector &v)
{
    if (wsh_dev_lane<S>() == 0)
        *call = wsh_dev_vector_call{group, v};
    wsh_dev_sync<S>();
}

/*
 * 0, or 1 where dest is too small here. The barriers are those of wsh_dev_group_enter. `v` stays in the caller's
 * memory: it would take 20 registers across all waits.
 */
template <int S>
WSH_DEV_CALL int wsh_dev_alltoallv(const char *what, shmem_team_t team, const struct wsh_dev_vector &v)
{
    __shared__ struct wsh_dev_vector_call call;
    struct wsh_dev_vector_pair first = {0, 0, 0, 0};
    struct wsh_dev_vector_lanes mine;
    struct wsh_dev_group group;
    bool is_long;

    if (wsh_dev_spans_hosts(what, team))
        return wsh_dev_vector_hosts<S>(what, team, v);
    group = wsh_dev_group_of(what, team);
    mine = wsh_dev_vector_share<S>(group, wsh_dev_vector_part{0, 1});
    wsh_dev_sync<S>();
    group.epoch = wsh_dev_epoch(group) + 1;
    is_long = wsh_dev_vector_begin<S>(group, v, mine, &first);
    if (is_long && !v.need)
        wsh_dev_vector_places<S>(group, mine, first);
    wsh_dev_vector_enter<S>(&group);
    if ((is_long || v.need) && S != WSH_BLOCK)
        return wsh_dev_vector_exchange_any<S>(wsh_dev_group(group), v);
    if (is_long || v.need) {
        wsh_dev_vector_hold<S>(&call, group, v);
        return wsh_dev_vector_exchange_any<S>(call.group, call.v);
    }
    wsh_dev_vector_exchange_short<S>(group, v, mine, first, 0);
    return 0;
}

/* The lanes that signal, of `head` of each: whether no block is stored for this member, as far as that is there. */
template <int S>
static WSH_DEV bool wsh_dev_vector_all_by_ll(const struct wsh_dev_group &group, struct wsh_ptx_pair head)
{
    int from = (int)wsh_dev_signaller<S>();
    bool by_ll = from >= group.n_pes || from == group.my_pe ||
                 (wsh_dev_ll_line_is(head, group.epoch) && !wsh_dev_vector_says_stored(group, head));

    return group.n_pes <= (int)wsh_dev_signallers<S>() && !wsh_dev_any_signaller<S>(!by_ll);
}

/* By all blocks of a kernel, each its share of all bytes; the last one to end sets the flags. */
template <int S>
static WSH_DEV void wsh_dev_vector_wide(const struct wsh_dev_group &group, const struct wsh_dev_vector &v,
                                        struct wsh_dev_vector_part of, struct wsh_dev_vector_pair first, uint64_t area)
{
    struct wsh_dev_vector_lanes mine = wsh_dev_vector_share<S>(group, of);
    struct wsh_ptx_pair head;
    bool stores;

    if (group.n_pes > 2 || v.need) { /* else the one other member is the first of all lanes */
        first = wsh_dev_vector_first(group, v, mine);
        area = wsh_dev_vector_first_area(group, mine);
    }
    stores = wsh_dev_vector_stores<S>(group, v, of.parts);
    if (of.part < of.parts)
        wsh_dev_vector_move<S, false>(group, v, of, mine, first, area, stores);
    head = wsh_dev_vector_glance<S>(group, 0);
    if (!wsh_dev_last_block<S>(group, stores))
        return;
    if (wsh_dev_is_poller<S>()) {
        wsh_dev_epoch_count<S>(group);
        if (stores || !wsh_dev_vector_all_by_ll<S>(group, head))
            wsh_dev_vector_end<S>(group, v, of.parts, stores, head);
    }
    wsh_dev_sync<S>();
}

/*
 * The first block alone moves what is short; the others know that, and end. In the epoch of a sweep the last one to end
 * does all. `v` is where the caller has it, which may be the kernel's own arguments; `call` is in memory of the block.
 */
template <int S>
static WSH_DEV void wsh_dev_alltoallv_kernel(const char *what, shmem_team_t team, const struct wsh_dev_vector &v,
                                             struct wsh_dev_vector_call *call)
{
    struct wsh_dev_vector_pair first = {0, 0, 0, 0};
    unsigned sharers = wsh_device_view.sharers; /* early: loads overlap */
    struct wsh_dev_vector_lanes mine;
    struct wsh_dev_group group;
    uint64_t area;
    bool is_long;

    if (wsh_dev_spans_hosts(what, team)) {
        if (blockIdx.x == 0)
            wsh_dev_vector_hosts<S>(what, team, wsh_dev_vector(v));
        return;
    }
    group = wsh_dev_wide_group(what, team);
    mine = wsh_dev_vector_share<S>(group, wsh_dev_vector_part{0, 1});
    is_long = wsh_dev_vector_begin<S>(group, v, mine, &first, &area);
    if (!is_long && blockIdx.x != 0)
        return;
    if (is_long && ((uint32_t)group.epoch & WSH_SWEEP_MASK)) {
        wsh_dev_vector_hold<S>(call, group, v);
        wsh_dev_vector_wide<S>(call->group, call->v, wsh_dev_vector_part{blockIdx.x, wsh_dev_openers_of(sharers)},
                               first, area);
        return;
    }
    if (is_long && !wsh_dev_last_block<S>(group, false))
        return;
    wsh_dev_vector_enter<S>(&group);
    if (is_long || v.need) {
        wsh_dev_vector_hold<S>(call, group, v);
        wsh_dev_vector_exchange_any<S>(call->group, call->v);
    } else {
        wsh_dev_vector_exchange_short<S>(group, v, mine, first, area);
    }
}

/* 0. */
template <int S>
WSH_DEV_CALL int wsh_dev_alltoallv_wide(const char *what, shmem_team_t team, const struct wsh_dev_vector &v)
{
    __shared__ struct wsh_dev_vector_call call;

    wsh_dev_alltoallv_kernel<S>(what, team, v, &call);
    return 0;
}

#endif

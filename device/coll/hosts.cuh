/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives that move data among members on several hosts: a member puts its data to each other one, by stores or by
 * the proxy, and all set flags at each other at the end. The state of a call lies in memory and not in registers:
 * calls nest deep, and registers held at one level add to those of the next.
 */
#ifndef WSH_DEVICE_HOSTS_CUH
#define WSH_DEVICE_HOSTS_CUH

#include "share.cuh"
#include "team.cuh"

/* A call. */
struct wsh_dev_hosts {
    shmem_team_t team;
    char *dest;
    const char *source;
    struct wsh_dev_scatter shares; /* what this member has for the others */
    int root;                 /* of a broadcast */
    struct wsh_dev_group group; /* `what` from the start, all of it when the call's epoch has begun */
};

static WSH_DEV struct wsh_dev_hosts wsh_dev_hosts_of(const char *what, shmem_team_t team, void *dest,
                                                     const void *source, size_t stride, size_t len, int root = 0)
{
    return wsh_dev_hosts{team, (char *)dest, (const char *)source, {stride, len, 0}, root, {what, 0, 0, 0, 0, 0}};
}

/* The network is slower than any copy, so this uses the copy that takes fewest registers. */
template <int S> static WSH_DEV void wsh_dev_hosts_copy(uint64_t to, const char *from, size_t len)
{
    wsh_dev_copy_narrow<4, wsh_dev_from_generic>((char *)to, from, len, wsh_dev_lane<S>(), wsh_dev_size<S>());
}

/* All lanes: a put to a PE that only the proxy reaches. */
template <int S> WSH_DEV_CALL void wsh_dev_hosts_ask(struct wsh_dev_parts *parts)
{
#pragma unroll 1
    for (; parts->off < parts->whole; parts->off += parts->len) {
        uint64_t at = wsh_dev_parts_next<S>(parts, false);

        wsh_dev_hosts_copy<S>(at, parts->source + parts->off, parts->len);
        wsh_dev_sync<S>();
        if (wsh_dev_lane<S>() == 0)
            wsh_dev_put_post(*parts, nullptr);
    }
}

/* All lanes, behind a barrier: to symmetric address `dest` of a member. */
template <int S>
static WSH_DEV void wsh_dev_hosts_put(const struct wsh_dev_group &group, char *dest, const char *source, size_t len,
                                    int to)
{
    struct wsh_dev_parts parts = {dest, source, len, wsh_dev_member_pe(group, to), 0, 1, false, 0, 0, 0};
    uint64_t at;

    if (!len || (to == group.my_pe && dest == source))
        return;
    at = wsh_dev_reach_or_request(group.what, dest, len, parts.pe, false);
    if (at)
        wsh_dev_hosts_copy<S>(at, parts.source, parts.whole);
    else
        wsh_dev_hosts_ask<S>(&parts);
}

/* All lanes: puts this member's share for each member to that one's dest. A function of its own to save registers. */
template <int S> WSH_DEV_CALL void wsh_dev_hosts_scatter(const struct wsh_dev_hosts &call)
{
#pragma unroll 1
    for (unsigned i = 0; i < (unsigned)call.group.n_pes; i++) {
        int to = wsh_dev_after_me(call.group, i);

        wsh_dev_hosts_put<S>(call.group, call.dest, call.source + (size_t)to * call.shares.stride, call.shares.each,
                             to);
    }
}

/* Block i of source, or the one block of it where the stride is 0, to member i. */
template <int S> WSH_DEV_CALL void wsh_dev_hosts_exchange(struct wsh_dev_hosts &&call)
{
    wsh_dev_hosts_group_enter<S>(&call.group, call.group.what, call.team);
    call.dest += (size_t)call.group.my_pe * call.shares.each;
    wsh_dev_hosts_scatter<S>(call);
    wsh_dev_hosts_sync<S>(call.group, wsh_dev_done(call.group));
}

template <int S> WSH_DEV_CALL void wsh_dev_hosts_broadcast(struct wsh_dev_hosts &&call)
{
    wsh_dev_hosts_group_enter<S>(&call.group, call.group.what, call.team);
    if ((uint32_t)call.root >= (uint32_t)call.group.n_pes)
        wsh_dev_refuse(call.group.what, WSH_DEVICE_BAD_PE, call.root, (const void *)call.team, 0);
    if (call.group.my_pe == call.root)
        wsh_dev_hosts_scatter<S>(call);
    wsh_dev_hosts_sync<S>(call.group, wsh_dev_done(call.group));
}

static WSH_DEV size_t wsh_dev_stage_room(const struct wsh_dev_group &group)
{
    return ((const struct wsh_device_team_header *)group.area)->stage;
}

/* The buffer in the sync area for what member `from` sends in this epoch: a symmetric address. */
static WSH_DEV char *wsh_dev_stage_from(const struct wsh_dev_group &group, int from)
{
    uint64_t buffer = (group.epoch & 1) * (uint64_t)group.n_pes + (uint64_t)from;

    return (char *)(group.area + WSH_DEVICE_SYNC_AREA_LL(group.n_pes) + buffer * wsh_dev_stage_room(group));
}

/* One lane: sends the length of this member's part of a collect to all others. */
inline WSH_DEV_CALL void wsh_dev_hosts_send_len(const struct wsh_dev_hosts &call)
{
#pragma unroll 1
    for (unsigned i = 0; i + 1 < (unsigned)call.group.n_pes; i++)
        wsh_dev_p_any(call.group.what, wsh_dev_stage_from(call.group, call.group.my_pe), call.shares.each,
                      sizeof call.shares.each, wsh_dev_member_pe(call.group, wsh_dev_after_me(call.group, i)));
}

/* Bytes of the parts before this member's, once all lengths have come. */
inline WSH_DEV_CALL size_t wsh_dev_hosts_before(const struct wsh_dev_hosts &call)
{
    size_t len = 0;

#pragma unroll 1
    for (int from = 0; from < call.group.my_pe; from++)
        len += wsh_ptx_get((const uint64_t *)wsh_dev_stage_from(call.group, from));
    return len;
}

template <int S> WSH_DEV_CALL void wsh_dev_hosts_collect(struct wsh_dev_hosts &&call)
{
    wsh_dev_hosts_group_enter<S>(&call.group, call.group.what, call.team);
    if (wsh_dev_lane<S>() == 0)
        wsh_dev_hosts_send_len(call);
    wsh_dev_hosts_sync<S>(call.group, wsh_dev_arrived(call.group));
    call.dest += wsh_dev_hosts_before(call);
    wsh_dev_hosts_scatter<S>(call);
    wsh_dev_hosts_sync<S>(call.group, wsh_dev_done(call.group));
}

#endif

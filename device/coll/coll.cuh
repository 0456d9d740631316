/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives that move data, in device code: short data goes by LL lines, longer data directly to or from the peers'
 * arrays. Every call awaits a flag of every member, whatever it moves. A call with nothing to move does nothing.
 */
#ifndef WSH_DEVICE_COLL_CUH
#define WSH_DEVICE_COLL_CUH

#include "ll.cuh"
#include "choice.h"
#include "hosts.cuh"
#include "relay.cuh"

/* This PE's own part. */
template <int S> static WSH_DEV void wsh_dev_keep(char *dest, const char *source, size_t len)
{
    if (dest != source)
        wsh_dev_store<S>((uint64_t)dest, source, len);
}

/* All lanes: to symmetric address `dest` of a member. Out of line, so that loops over members hold little. */
template <int S>
WSH_DEV_CALL void wsh_dev_store_at(const struct wsh_dev_group &group, char *dest, const char *source, size_t len,
                                   int to)
{
    uint64_t at = (uint64_t)dest;

    if (to != group.my_pe)
        at = wsh_dev_member(group, dest, len, to);
    else if (dest == source)
        return;
    wsh_dev_store<S>(at, source, len);
}

/* The end of a call that stored or read: apart, since what it needs would be held in registers meanwhile. */
template <int S> WSH_DEV_CALL void wsh_dev_finish(const struct wsh_dev_group &group)
{
    wsh_dev_sync_members<S>(group, wsh_dev_done(group));
}

/* What a member sends: block i (`len` bytes) of source, or the one block of it where `stride` is 0, to member i. */
struct wsh_dev_block_exchange {
    char *dest;
    const char *source;
    size_t stride, len;
};

/* To block number my_pe of member i's dest. `blocks` is in memory: a loop's registers add to those of its copies. */
template <int S>
WSH_DEV_CALL void wsh_dev_exchange_long(const struct wsh_dev_group &group, const struct wsh_dev_block_exchange &blocks)
{
#pragma unroll 1
    for (unsigned i = 0; i < (unsigned)group.n_pes; i++) {
        int to = wsh_dev_after_me(group, i); /* this member comes last */

        wsh_dev_store_at<S>(group, blocks.dest + (size_t)group.my_pe * blocks.len,
                            blocks.source + (size_t)to * blocks.stride, blocks.len, to);
    }
    wsh_dev_sync_members<S>(group, wsh_dev_done(group));
}

template <int S>
static WSH_DEV void wsh_dev_exchange_ll(const struct wsh_dev_group &group, char *dest, const char *source,
                                        size_t stride, size_t len)
{
    wsh_dev_ll_send<S>(group, source, stride, len);
    wsh_dev_ll_keep<S>(dest + (size_t)group.my_pe * len, source + (size_t)group.my_pe * stride, len);
    wsh_dev_ll_receive<S>(group, dest, len, len, 0, (unsigned)group.n_pes - 1);
    wsh_dev_sync<S>();
}

template <int S>
WSH_DEV_CALL void wsh_dev_exchange(const char *what, shmem_team_t team, char *dest, const char *source, bool same,
                                   size_t len)
{
    struct wsh_dev_group group;
    size_t stride = same ? 0 : len;

    if (!len)
        return;
    if (wsh_dev_spans_hosts(what, team)) {
        wsh_dev_hosts_exchange<S>(wsh_dev_hosts_of(what, team, dest, source, stride, len));
        return;
    }
    group = wsh_dev_group_enter<S>(what, team);
    if (len > wsh_dev_ll_room<S>(group))
        wsh_dev_exchange_long<S>(wsh_dev_group(group), wsh_dev_block_exchange{dest, source, stride, len});
    else
        wsh_dev_exchange_ll<S>(group, dest, source, stride, len);
}

template <int S>
static WSH_DEV void wsh_dev_alltoall(const char *what, shmem_team_t team, void *dest, const void *source, size_t len)
{
    wsh_dev_exchange<S>(what, team, (char *)dest, (const char *)source, false, len);
}

template <int S>
static WSH_DEV void wsh_dev_fcollect(const char *what, shmem_team_t team, void *dest, const void *source, size_t len)
{
    wsh_dev_exchange<S>(what, team, (char *)dest, (const char *)source, true, len);
}

/* All but the root set their flags; the root's LL lines serve as its flag. */
template <int S>
static WSH_DEV void wsh_dev_broadcast_ll(const struct wsh_dev_group &group, char *dest, const char *source,
                                         size_t len, int root)
{
    unsigned at = (unsigned)(root - group.my_pe - 1 + group.n_pes) % (unsigned)group.n_pes; /* after me */

    if (group.my_pe == root) {
        wsh_dev_ll_send<S>(group, source, 0, len);
        wsh_dev_ll_keep<S>(dest, source, len);
    } else {
        if (wsh_dev_is_poller<S>())
            wsh_dev_signal_members<S>(group, wsh_dev_arrived(group));
        wsh_dev_ll_receive<S>(group, dest, 0, len, at, 1);
    }
    if (wsh_dev_is_poller<S>())
        wsh_dev_await_flags<S>(group, wsh_dev_arrived(group), root);
    wsh_dev_sync<S>();
}

template <int S>
WSH_DEV_CALL void wsh_dev_broadcast_read(const struct wsh_dev_group &group, struct wsh_dev_relay_plan *what)
{
    wsh_dev_sync_members<S>(group, wsh_dev_arrived(group));
    wsh_dev_relay_run<S, 1>(group, what);
}

/*
 * Whether the root stores all copies. While they are few and short that is faster than to synchronize, read and
 * synchronize again. With one other member each moves a half: that one reads, the root stores (relay.cuh).
 */
template <int S> static WSH_DEV bool wsh_dev_pushes(const struct wsh_dev_group &group, size_t len)
{
    if (group.n_pes == 2)
        return S != WSH_BLOCK || len <= WSH_DEVICE_CHOICE(BROADCAST_TWO, BLOCK, PUSH);
    return len * (size_t)(group.n_pes - 1) <= wsh_dev_by_scope<S>(WSH_DEVICE_CHOICE(BROADCAST, THREAD, PUSH),
                                                                  WSH_DEVICE_CHOICE(BROADCAST, WARP, PUSH),
                                                                  WSH_DEVICE_CHOICE(BROADCAST, BLOCK, PUSH));
}

/* The root sets its flags after its stores, and makes its own copy meanwhile; the others have nothing to release. */
template <int S>
WSH_DEV_CALL void wsh_dev_broadcast_push(const struct wsh_dev_group &group, const struct wsh_dev_relay_plan &what)
{
    bool root = group.my_pe == what.root;

#pragma unroll 1
    for (unsigned i = 0; root && i + 1 < (unsigned)group.n_pes; i++)
        wsh_dev_store_at<S>(group, what.dest, what.source, what.len, wsh_dev_after_me(group, i));
    wsh_dev_sync<S>();
    if (wsh_dev_is_poller<S>()) {
        if (root)
            wsh_ptx_release();
        wsh_dev_signal_members<S>(group, wsh_dev_done(group));
    }
    if (root)
        wsh_dev_keep<S>(what.dest, what.source, what.len);
    if (wsh_dev_is_poller<S>())
        wsh_dev_await_flags<S>(group, wsh_dev_done(group));
    wsh_dev_sync<S>();
}

/* A broadcast that is too long for LL lines. */
template <int S>
WSH_DEV_CALL void wsh_dev_broadcast_long(const struct wsh_dev_group &group, char *dest, const char *source, size_t len,
                                         int root)
{
    struct wsh_dev_relay_plan all = {dest, source, len, root, {0, 1}, {0, 0}, {0, 0}, {0, 0}};

    if (wsh_dev_pushes<S>(group, len)) {
        wsh_dev_broadcast_push<S>(group, all);
    } else {
        wsh_dev_broadcast_read<S>(group, &all);
        wsh_dev_finish<S>(group);
    }
}

template <int S>
WSH_DEV_CALL void wsh_dev_broadcast_to(const char *what, shmem_team_t team, void *dest, const void *source, size_t len,
                                       int root)
{
    struct wsh_dev_group group;

    if (!len)
        return;
    if (wsh_dev_spans_hosts(what, team)) {
        wsh_dev_hosts_broadcast<S>(wsh_dev_hosts_of(what, team, dest, source, 0, len, root));
        return;
    }
    group = wsh_dev_group_enter<S>(what, team);
    if ((uint32_t)root >= (uint32_t)group.n_pes)
        wsh_dev_refuse(what, WSH_DEVICE_BAD_PE, root, (const void *)team, 0);
    if (len > wsh_dev_ll_room<S, WSH_LL_CAST>(group))
        wsh_dev_broadcast_long<S>(wsh_dev_group(group), (char *)dest, (const char *)source, len, root);
    else
        wsh_dev_broadcast_ll<S>(group, (char *)dest, (const char *)source, len, root);
}

#endif

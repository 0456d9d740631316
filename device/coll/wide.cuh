/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives by all blocks of a kernel: those of middling size by LL lines, which all members choose alike, and large
 * ones. Other members see the same flags in the same epoch as from one block. Blocks move their shares and end; the
 * last to end sets the flags at the members and awaits theirs. No block waits for another of its kernel.
 *
 * In a call that begins with a synchronization each block awaits the flags that the first blocks of the others set.
 * Blocks that wait occupy the GPU: PEs that share one use so few blocks that those of all fit, and the first block of
 * each can always run.
 */
#ifndef WSH_DEVICE_WIDE_CUH
#define WSH_DEVICE_WIDE_CUH

#include "choice.h"
#include "scan.cuh"
#include "wide_ll.cuh"

/* Begins a call in the epoch after the stored one. All blocks find the same: the last one to end stores it. */
static WSH_DEV struct wsh_dev_group wsh_dev_wide_group(const char *what, shmem_team_t team)
{
    struct wsh_dev_group group = wsh_dev_group_of(what, team);

    group.epoch = wsh_dev_epoch(group) + 1;
    return group;
}

/* Ends a call by all blocks: the last block to come sets and awaits the flags. */
template <int S> WSH_DEV_CALL void wsh_dev_close(struct wsh_dev_group group)
{
    if (!wsh_dev_last_block<S>(group, true))
        return;
    if (wsh_dev_is_poller<S>())
        wsh_ptx_release();
    group.epoch--;
    wsh_dev_epoch_step<S>(&group);
    wsh_dev_sync_members_released<S>(group, wsh_dev_done(group));
}

/*
 * Begins a call in which members read from each other: awaits the flags of all. In an epoch in which LL lines are swept
 * the flags have the same values (wsh_dev_epoch_step).
 */
template <int S> WSH_DEV_CALL void wsh_dev_open(const struct wsh_dev_group &group)
{
    if (wsh_dev_is_poller<S>()) {
        if (blockIdx.x == 0) {
            wsh_ptx_release();
            wsh_dev_signal_members<S>(group, wsh_dev_arrived(group));
        }
        wsh_dev_await_flags<S>(group, wsh_dev_arrived(group));
    }
    wsh_dev_sync<S>();
}

#define WSH_WIDE_TILE 16384 /* bytes that a block moves at once, at least */

/* Each block moves the same part to every member, each beginning with another. */
template <int S>
WSH_DEV_CALL void wsh_dev_exchange_wide_long(const struct wsh_dev_group &group, char *dest, const char *source,
                                             size_t stride, size_t len)
{
    size_t tile = ((len + gridDim.x - 1) / gridDim.x + WSH_WIDE_TILE - 1) / WSH_WIDE_TILE * WSH_WIDE_TILE;
    unsigned n = (unsigned)group.n_pes, tiles = (unsigned)((len + tile - 1) / tile);

    dest += (size_t)group.my_pe * len;
#pragma unroll 1
    for (unsigned i = blockIdx.x; i < tiles * n; i += gridDim.x) {
        int to = wsh_dev_after_me(group, (i / tiles + i % tiles) % n);
        size_t at = i % tiles * tile, part = len - at < tile ? len - at : tile;
        const char *from = source + (size_t)to * stride + at;

        if (to == group.my_pe)
            wsh_dev_keep<S>(dest + at, from, part);
        else
            wsh_dev_store<S>(wsh_dev_member(group, dest + at, part, to), from, part);
    }
    wsh_dev_close<S>(group);
}

/* As wsh_dev_exchange. */
template <int S>
WSH_DEV_CALL void wsh_dev_exchange_wide(const char *what, shmem_team_t team, char *dest, const char *source,
                                        bool same, size_t len)
{
    struct wsh_dev_group group = wsh_dev_wide_group(what, team);
    size_t stride = same ? 0 : len;

    if (wsh_dev_wide_fits(group, len, WSH_DEVICE_CHOICE(MOVE, KERNEL, LL)))
        wsh_dev_exchange_wide_ll<S>(group, dest, source, stride, len);
    else
        wsh_dev_exchange_wide_long<S>(group, dest, source, stride, len);
}

#define WSH_WIDE_RELAYED 4 /* units of 16 bytes that a lane has in flight */

/* The root's blocks store their shares to all members; the other members have nothing to move. */
template <int S>
WSH_DEV_CALL void wsh_dev_broadcast_wide_push(const struct wsh_dev_group &group, char *dest, const char *source,
                                              size_t len)
{
    struct wsh_dev_range mine = wsh_dev_share(len);

#pragma unroll 1
    for (unsigned i = 0; i < (unsigned)group.n_pes; i++)
        wsh_dev_store_at<S>(group, dest + mine.begin, source + mine.begin, mine.end - mine.begin,
                            wsh_dev_after_me(group, i));
}

/* As wsh_dev_broadcast_to. */
template <int S>
WSH_DEV_CALL void wsh_dev_broadcast_wide(const char *what, shmem_team_t team, char *dest, const char *source,
                                         size_t len, int root)
{
    struct wsh_dev_group group = wsh_dev_wide_group(what, team);

    if ((uint32_t)root >= (uint32_t)group.n_pes)
        wsh_dev_refuse(what, WSH_DEVICE_BAD_PE, root, (const void *)team, 0);
    if (wsh_dev_wide_fits(group, len, WSH_DEVICE_CHOICE(BROADCAST, KERNEL, LL))) {
        wsh_dev_broadcast_wide_ll<S>(group, dest, source, len, root);
        return;
    }
    if (len * (size_t)(group.n_pes - 1) <= WSH_DEVICE_CHOICE(BROADCAST, KERNEL, PUSH)) {
        if (group.my_pe == root)
            wsh_dev_broadcast_wide_push<S>(group, dest, source, len);
    } else if (blockIdx.x < wsh_dev_openers()) {
        struct wsh_dev_relay_plan all = {dest,   source, len,    root, {blockIdx.x, wsh_dev_openers()},
                                         {0, 0}, {0, 0}, {0, 0}};

        wsh_dev_open<S>(group);
        wsh_dev_relay_run<S, WSH_WIDE_RELAYED>(group, &all);
    }
    wsh_dev_close<S>(group);
}

#define WSH_WIDE_UNITS 2 /* of 16 bytes, that a lane loads from each member at once */

/* Reduces by reading from all members, between two synchronizations. */
template <int S, class K>
static WSH_DEV void wsh_dev_reduce_wide_long(const struct wsh_dev_group &group, const struct wsh_dev_reduction &what)
{
    struct wsh_dev_range range = what.scatter ? wsh_dev_range{0, what.len} : wsh_dev_slice(group, what.len);
    size_t middle;

    if (blockIdx.x < wsh_dev_openers()) {
        range = wsh_dev_part(range, WSH_SHARE_UNIT, blockIdx.x, wsh_dev_openers());
        middle = wsh_dev_reduce_middle(group, what, range);
        wsh_dev_open<S>(group);
        wsh_dev_reduce_span<S, K, WSH_WIDE_UNITS, uint4>(group, what, wsh_dev_range{range.begin, middle});
        wsh_dev_reduce_narrow<S, K>(group, what, wsh_dev_range{middle, range.end});
    }
    wsh_dev_close<S>(group);
}

/* As wsh_dev_reduce_all: all to all where that is short, else each member reduces a slice and writes it to all. */
template <int S, class K>
static WSH_DEV void wsh_dev_reduce_wide(const char *what, shmem_team_t team, int op, void *dest, const void *source,
                                        size_t nelems)
{
    struct wsh_dev_group group = wsh_dev_wide_group(what, team);
    const size_t len = nelems * sizeof(typename K::bits), slice = wsh_dev_slice_len(group, len);
    const struct wsh_dev_reduction all = {op, (char *)dest, (const char *)source, len, false};
    const struct wsh_dev_scatter slices = {slice, slice, len};

    if (wsh_dev_wide_fits(group, len, WSH_DEVICE_CHOICE(REDUCE, KERNEL, LL))) {
        wsh_dev_reduce_wide_ll<S, K>(group, all, wsh_dev_scatter{0, len, len});
    } else if (wsh_dev_wide_fits(group, slice, WSH_DEVICE_CHOICE(REDUCE, KERNEL, SLICED))) {
        if (blockIdx.x < wsh_dev_openers()) {
            wsh_dev_wide_send<S>(group, all.source, slices);
            wsh_dev_wide_fold<S, K>(group, all, slices, true);
        }
        wsh_dev_close<S>(group);
    } else {
        wsh_dev_reduce_wide_long<S, K>(group, all);
    }
}

/* As wsh_dev_reduce_scatter. */
template <int S, class K>
static WSH_DEV void wsh_dev_scatter_wide(const char *what, shmem_team_t team, int op, void *dest, const void *source,
                                         size_t nelems)
{
    struct wsh_dev_group group = wsh_dev_wide_group(what, team);
    const size_t len = nelems * sizeof(typename K::bits);
    struct wsh_dev_reduction mine = {op, (char *)dest, (const char *)source, len, true};

    if (wsh_dev_wide_fits(group, len, WSH_DEVICE_CHOICE(SCATTER, KERNEL, LL))) {
        wsh_dev_reduce_wide_ll<S, K>(group, mine, wsh_dev_scatter{len, len, len * (size_t)group.n_pes});
        return;
    }
    mine.source += (size_t)group.my_pe * len;
    wsh_dev_reduce_wide_long<S, K>(group, mine);
}

/* As wsh_dev_scan. */
template <int S, class K>
static WSH_DEV void wsh_dev_scan_wide(const char *what, shmem_team_t team, void *dest, const void *source,
                                      size_t nelems, bool exclusive)
{
    struct wsh_dev_group group = wsh_dev_wide_group(what, team);
    size_t len = nelems * sizeof(typename K::bits);
    struct wsh_dev_reduction all = {WSH_SUM, (char *)dest, (const char *)source, len, false};

    if (blockIdx.x < wsh_dev_openers()) {
        wsh_dev_open<S>(group);
        wsh_dev_scan_range<S, K>(
            group, all, wsh_dev_part(wsh_dev_slice(group, len), WSH_SHARE_UNIT, blockIdx.x, wsh_dev_openers()),
            exclusive);
    }
    wsh_dev_close<S>(group);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows large collectives by all blocks of a kernel. To other members they are what one block does: the same words in
 * the same epoch, so that each member chooses for itself. Blocks move their shares and end; the last of them, whichever
 * that is, tells the members and awaits them. No block waits for another of its kernel.
 *
 * What begins with a meeting has each block await the others' first blocks. Blocks that wait hold their place on the
 * GPU: PEs that share one take part with so few that those of all have room, and the first one of each is never kept
 * out.
 */
#ifndef WSH_DEVICE_WIDE_CUH
#define WSH_DEVICE_WIDE_CUH

#include "scan.cuh"

/* True in all lanes of the last block of the kernel; a barrier. It sees what all blocks have stored. */
template <int S> static WSH_DEV bool wsh_dev_last_block(const struct wsh_dev_group &group)
{
    uint32_t *blocks = &((struct wsh_device_card *)group.pad)->blocks;
    bool last = false;

    wsh_dev_sync<S>();
    if (wsh_dev_lane<S>() == 0)
        last = wsh_ptx_count(blocks) == gridDim.x - 1;
    if (last)
        wsh_ptx_put(blocks, 0u);
    return wsh_dev_any_lane<S>(last);
}

/* The end of a call by all blocks, which is in the epoch after the one counted. */
template <int S> WSH_DEV_CALL void wsh_dev_close(struct wsh_dev_group group)
{
    if (!wsh_dev_last_block<S>(group))
        return;
    group.epoch = wsh_ptx_poll(&((const struct wsh_device_card *)group.pad)->epoch);
    wsh_dev_advance<S>(&group);
    wsh_dev_meet<S>(group, wsh_dev_done(group));
}

#define WSH_WIDE_WAITERS \
    128 /* blocks of all PEs of a GPU that may wait at once: it has 108 to 148 processors */

/* The blocks that take part in a call which begins with a meeting: the first ones. */
static WSH_DEV unsigned wsh_dev_openers()
{
    unsigned most = WSH_WIDE_WAITERS / (unsigned)wsh_device_view.sharers;

    return gridDim.x < most ? gridDim.x : most ? most : 1;
}

/*
 * Such a call's begin. No epoch is counted before the last block ends, so that all find the same one; where that is a
 * sweep's, its words say the same (wsh_dev_advance).
 */
template <int S> WSH_DEV_CALL void wsh_dev_open(struct wsh_dev_group group)
{
    if (wsh_dev_looks<S>()) {
        group.epoch = wsh_ptx_poll(&((const struct wsh_device_card *)group.pad)->epoch) + 1;
        if (blockIdx.x == 0) {
            wsh_ptx_release();
            wsh_dev_tell<S>(group, wsh_dev_arrived(group));
        }
        wsh_dev_await<S>(group, wsh_dev_arrived(group));
    }
    wsh_dev_sync<S>();
}

#define WSH_WIDE_TILE 16384 /* bytes that a block moves at once, at least */

/* As wsh_dev_exchange. Each block moves the same part to every member, each beginning with another. */
template <int S>
WSH_DEV_CALL void wsh_dev_exchange_wide(const char *what, shmem_team_t team, char *dest, const char *source,
                                        bool same, size_t len)
{
    struct wsh_dev_group group = wsh_dev_group_of(what, team);
    size_t stride = same ? 0 : len,
           tile = ((len + gridDim.x - 1) / gridDim.x + WSH_WIDE_TILE - 1) / WSH_WIDE_TILE;
    unsigned n = (unsigned)group.n_pes, tiles;

    tile *= WSH_WIDE_TILE;
    tiles = (unsigned)((len + tile - 1) / tile);
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

#define WSH_WIDE_RELAYED 4 /* units of 16 bytes, that a lane has under way */

/* As wsh_dev_broadcast_to. */
template <int S>
WSH_DEV_CALL void wsh_dev_broadcast_wide(const char *what, shmem_team_t team, char *dest, const char *source,
                                         size_t len, int root)
{
    struct wsh_dev_group group = wsh_dev_group_of(what, team);

    if ((uint32_t)root >= (uint32_t)group.n_pes)
        wsh_dev_refuse(what, WSH_DEVICE_BAD_PE, root, (const void *)team, 0);
    if (blockIdx.x < wsh_dev_openers()) {
        struct wsh_dev_spread all = {dest, source, len, root, {blockIdx.x, wsh_dev_openers()}, {0, 0}, {0, 0}};

        wsh_dev_open<S>(group);
        wsh_dev_spread_all<S, WSH_WIDE_RELAYED>(group, &all);
    }
    wsh_dev_close<S>(group);
}

#define WSH_WIDE_UNITS 2 /* of 16 bytes, that a lane loads from each member at once */

/* As wsh_dev_reduce_all, or with `scatter` wsh_dev_reduce_scatter. */
template <int S, class K>
static WSH_DEV void wsh_dev_reduce_wide(const char *what, shmem_team_t team, int op, bool scatter, void *dest,
                                        const void *source, size_t nelems)
{
    struct wsh_dev_group group = wsh_dev_group_of(what, team);
    size_t len = nelems * sizeof(typename K::bits), middle;
    struct wsh_dev_reduction mine = {op, (char *)dest, (const char *)source, len, scatter};
    struct wsh_dev_range range = {0, len};

    if (scatter)
        mine.source += (size_t)group.my_pe * len;
    else
        range = wsh_dev_slice(group, len);
    if (blockIdx.x < wsh_dev_openers()) {
        range = wsh_dev_part(range, WSH_SHARE_UNIT, blockIdx.x, wsh_dev_openers());
        middle = wsh_dev_reduce_middle(group, mine, range);
        wsh_dev_open<S>(group);
        wsh_dev_reduce_span<S, K, WSH_REDUCE_AHEAD, WSH_WIDE_UNITS, uint4>(
            group, mine, wsh_dev_range{range.begin, middle});
        wsh_dev_reduce_lean<S, K, typename K::bits>(group, mine, wsh_dev_range{middle, range.end});
    }
    wsh_dev_close<S>(group);
}

/* As wsh_dev_scan. */
template <int S, class K>
static WSH_DEV void wsh_dev_scan_wide(const char *what, shmem_team_t team, void *dest, const void *source,
                                      size_t nelems, bool exclusive)
{
    struct wsh_dev_group group = wsh_dev_group_of(what, team);
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

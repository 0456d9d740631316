/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows large collectives by all blocks of a kernel. To other members they are what one block does: the same words in
 * the same epoch, so that each member chooses for itself. Blocks move their shares and end; the last of them, whichever
 * that is, tells the members and awaits them. No block waits for another, so it does not matter how many have room on
 * the GPU, of how many PEs. What must begin with a meeting has it in a kernel in front: a barrier, whose epoch this
 * one completes.
 */
#ifndef WSH_DEVICE_WIDE_CUH
#define WSH_DEVICE_WIDE_CUH

#include "reduce.cuh"

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

/* `opened`: the call's epoch has begun in the kernel before. */
template <int S> WSH_DEV_CALL void wsh_dev_close(struct wsh_dev_group group, bool opened)
{
    if (!wsh_dev_last_block<S>(group))
        return;
    group.epoch = wsh_ptx_poll(&((const struct wsh_device_card *)group.pad)->epoch);
    if (!opened)
        wsh_dev_advance<S>(&group);
    wsh_dev_meet<S>(group, wsh_dev_done(group));
}

#define WSH_WIDE_TILE 16384 /* bytes that a block moves at once, at least */

/* As wsh_dev_exchange. Each block moves the same part to every member, each beginning with another. */
template <int S>
WSH_DEV_CALL void wsh_dev_exchange_wide(const char *what, shmem_team_t team, char *dest, const char *source, bool same,
                                        size_t len)
{
    struct wsh_dev_group group = wsh_dev_group_of(what, team);
    size_t stride = same ? 0 : len, tile = ((len + gridDim.x - 1) / gridDim.x + WSH_WIDE_TILE - 1) / WSH_WIDE_TILE;
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
    wsh_dev_close<S>(group, false);
}

/* As wsh_dev_broadcast_to, opened. */
template <int S>
WSH_DEV_CALL void wsh_dev_broadcast_wide(const char *what, shmem_team_t team, char *dest, const char *source,
                                         size_t len, int root)
{
    struct wsh_dev_group group = wsh_dev_group_of(what, team);
    struct wsh_dev_range mine = wsh_dev_share(len);
    size_t part = mine.end - mine.begin;

    if ((uint32_t)root >= (uint32_t)group.n_pes)
        wsh_dev_refuse(what, WSH_DEVICE_BAD_PE, root, (const void *)team, 0);
    if (group.my_pe == root)
        wsh_dev_keep<S>(dest + mine.begin, source + mine.begin, part);
    else
        wsh_dev_copy<S, wsh_dev_from_peer>(
            dest + mine.begin, (const char *)wsh_dev_member(group, source, len, root) + mine.begin, part);
    wsh_dev_close<S>(group, true);
}

#define WSH_WIDE_UNITS 4 /* of 16 bytes, that a lane loads from each member at once */

/* As wsh_dev_reduce_all, or with `scatter` wsh_dev_reduce_scatter; opened. */
template <int S, class K>
static WSH_DEV void wsh_dev_reduce_wide(const char *what, shmem_team_t team, int op, bool scatter, void *dest,
                                        const void *source, size_t nelems)
{
    struct wsh_dev_group group = wsh_dev_group_of(what, team);
    size_t len = nelems * sizeof(typename K::bits);
    struct wsh_dev_reduction mine = {op, (char *)dest, (const char *)source, len, scatter};
    struct wsh_dev_range range = {0, len};
    size_t middle;

    if (scatter)
        mine.source += (size_t)group.my_pe * len;
    else
        range = wsh_dev_slice(group, len);
    range = wsh_dev_part(range, WSH_SHARE_UNIT, blockIdx.x, gridDim.x);
    middle = wsh_dev_reduce_middle(group, mine, range);
    wsh_dev_reduce_span<S, K, WSH_WIDE_UNITS, uint4>(group, mine, wsh_dev_range{range.begin, middle});
    wsh_dev_reduce_lean<S, K, typename K::bits>(group, mine, wsh_dev_range{middle, range.end});
    wsh_dev_close<S>(group, true);
}

#endif

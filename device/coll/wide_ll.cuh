/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of middling size by all blocks of a kernel: each lane sends its data by LL lines (ll.cuh) and receives
 * what the others sent for its place, so that members do not synchronize before data moves and no block waits for
 * another of its own kernel. The last block counts the epoch.
 *
 * The rules of wide.cuh about blocks that wait hold here too. The epoch of a sweep has no LL lines: all members find
 * the same number, and move the data without LL lines.
 */
#ifndef WSH_DEVICE_WIDE_LL_CUH
#define WSH_DEVICE_WIDE_LL_CUH

#include "reduce.cuh"

#define WSH_WIDE_WAITERS \
    128 /* blocks of all PEs of a GPU that may wait at once: it has 108 to 148 processors */

/* The blocks that take part in a call in which they wait: the first ones. */
static WSH_DEV unsigned wsh_dev_openers_of(unsigned sharers)
{
    unsigned most = WSH_WIDE_WAITERS / sharers;

    return gridDim.x < most ? gridDim.x : most ? most : 1;
}

static WSH_DEV unsigned wsh_dev_openers()
{
    return wsh_dev_openers_of(wsh_device_view.sharers);
}

/* This lane among those of all such blocks, and how many they are. */
template <int S> static WSH_DEV size_t wsh_dev_wide_lane()
{
    return (size_t)blockIdx.x * wsh_dev_size<S>() + wsh_dev_lane<S>();
}

template <int S> static WSH_DEV size_t wsh_dev_wide_lanes()
{
    return (size_t)wsh_dev_openers() * wsh_dev_size<S>();
}

/* True in all lanes of the last block of the kernel; a barrier. With `sees`, it sees what all blocks have stored. */
template <int S> static WSH_DEV bool wsh_dev_last_block(const struct wsh_dev_group &group, bool sees)
{
    uint32_t *blocks = &((struct wsh_device_team_header *)group.area)->blocks;
    bool last = false;

    wsh_dev_sync<S>();
    if (wsh_dev_lane<S>() == 0)
        last = (sees ? wsh_ptx_count(blocks) : wsh_ptx_count_only(blocks)) == gridDim.x - 1;
    if (last)
        wsh_ptx_put(blocks, 0u);
    return wsh_dev_any_lane<S>(last);
}

/* Whether `len` bytes to each other member go by LL lines in the epoch that begins. */
static WSH_DEV bool wsh_dev_wide_fits(const struct wsh_dev_group &group, size_t len, size_t most)
{
    return len <= group.ll / 2 && len * (size_t)(group.n_pes - 1) <= most &&
           ((uint32_t)group.epoch & WSH_SWEEP_MASK) != 0;
}

/* This lane's slots of what all others get. */
template <int S>
WSH_DEV_CALL void wsh_dev_wide_send(const struct wsh_dev_group &group, const char *source,
                                    const struct wsh_dev_scatter &shares)
{
#pragma unroll 1
    for (size_t unit = wsh_dev_wide_lane<S>(); unit * WSH_LL_BYTES < shares.each; unit += wsh_dev_wide_lanes<S>()) {
#pragma unroll 1
        for (unsigned i = 0; i + 1 < (unsigned)group.n_pes; i++) {
            int to = wsh_dev_after_me(group, i);
            size_t off = unit * WSH_LL_BYTES, len = wsh_dev_scatter_len(shares, to);

            if (off < len)
                wsh_dev_ll_line_put(wsh_dev_ll_from(group, wsh_dev_member_area(group, to), group.my_pe) + unit,
                                    wsh_dev_load8(source + (size_t)to * shares.stride + off, len - off), group.epoch);
        }
    }
}

/* Its slots of `len` bytes from member `from`. */
template <int S>
WSH_DEV_CALL void wsh_dev_wide_take(const struct wsh_dev_group &group, char *dest, size_t len, int from)
{
    const struct wsh_ptx_pair *ll = wsh_dev_ll_from(group, group.area, from);

#pragma unroll 1
    for (size_t unit = wsh_dev_wide_lane<S>(); unit * WSH_LL_BYTES < len; unit += wsh_dev_wide_lanes<S>()) {
        size_t off = unit * WSH_LL_BYTES;

        wsh_dev_store8(dest + off, wsh_dev_ll_line_take(group, ll + unit, wsh_ptx_get(ll + unit)), len - off);
    }
}

/* Copies what this PE keeps, each lane its own units. */
template <int S> WSH_DEV_CALL void wsh_dev_wide_keep(char *dest, const char *source, size_t len)
{
    if (dest == source)
        return;
#pragma unroll 1
    for (size_t unit = wsh_dev_wide_lane<S>(); unit * WSH_LL_BYTES < len; unit += wsh_dev_wide_lanes<S>()) {
        size_t off = unit * WSH_LL_BYTES;

        wsh_dev_store8(dest + off, wsh_dev_load8(source + off, len - off), len - off);
    }
}

/* The last block stores the epoch; with `also` after it has seen the flags of all members but `but`. */
template <int S> WSH_DEV_CALL void wsh_dev_wide_end(const struct wsh_dev_group &group, bool also, int but)
{
    if (!wsh_dev_last_block<S>(group, false))
        return;
    if (also && wsh_dev_is_poller<S>())
        wsh_dev_await_flags<S>(group, wsh_dev_arrived(group), but);
    wsh_dev_epoch_count<S>(group);
}

template <int S>
WSH_DEV_CALL void wsh_dev_exchange_wide_ll(const struct wsh_dev_group &group, char *dest, const char *source,
                                           size_t stride, size_t len)
{
    if (blockIdx.x < wsh_dev_openers()) {
        wsh_dev_wide_send<S>(group, source, wsh_dev_scatter{stride, len, stride * (size_t)group.n_pes});
        wsh_dev_wide_keep<S>(dest + (size_t)group.my_pe * len, source + (size_t)group.my_pe * stride, len);
#pragma unroll 1
        for (unsigned i = 0; i + 1 < (unsigned)group.n_pes; i++) {
            int from = wsh_dev_after_me(group, i);

            wsh_dev_wide_take<S>(group, dest + (size_t)from * len, len, from);
        }
    }
    wsh_dev_wide_end<S>(group, false, -1);
}

/* As wsh_dev_broadcast_ll. */
template <int S>
WSH_DEV_CALL void wsh_dev_broadcast_wide_ll(const struct wsh_dev_group &group, char *dest, const char *source,
                                            size_t len, int root)
{
    if (group.my_pe != root && blockIdx.x == 0 && wsh_dev_is_poller<S>())
        wsh_dev_signal_members<S>(group, wsh_dev_arrived(group));
    if (blockIdx.x < wsh_dev_openers()) {
        if (group.my_pe == root) {
            wsh_dev_wide_send<S>(group, source, wsh_dev_scatter{0, len, len});
            wsh_dev_wide_keep<S>(dest, source, len);
        } else {
            wsh_dev_wide_take<S>(group, dest, len, root);
        }
    }
    wsh_dev_wide_end<S>(group, true, root);
}

/*
 * This member's part of a reduction, of every slot that it has been sent; to all members where `all`. dest may be
 * source: a member sends what lies in a slot before it takes what the others sent for it, and who writes there has
 * taken what it sent.
 */
template <int S, class K>
WSH_DEV_CALL void wsh_dev_wide_fold(const struct wsh_dev_group &group, const struct wsh_dev_reduction &what,
                                    const struct wsh_dev_scatter &shares, bool all)
{
    size_t at = (size_t)group.my_pe * shares.stride, len = wsh_dev_scatter_len(shares, group.my_pe);

#pragma unroll 1
    for (size_t unit = wsh_dev_wide_lane<S>(); unit * WSH_LL_BYTES < len; unit += wsh_dev_wide_lanes<S>()) {
        size_t off = unit * WSH_LL_BYTES, left = len - off;
        uint64_t own[] = {wsh_dev_load8(what.source + at + off, left)}, sum[1];

        wsh_dev_ll_fold<S, K, 1>(group, what.op, (unsigned)unit, 1, (unsigned)unit + 1, own, sum);
        if (!all)
            wsh_dev_store8(what.dest + off, sum[0], left);
#pragma unroll 1
        for (int i = 0; all && i < group.n_pes; i++)
            wsh_dev_store8((char *)wsh_dev_member(group, what.dest + at + off, left < 8 ? left : 8, i), sum[0], left);
    }
}

/* All that is to be reduced at every member, or (`scatter`) each member's part at that one: by LL lines alone. */
template <int S, class K>
WSH_DEV_CALL void wsh_dev_reduce_wide_ll(const struct wsh_dev_group &group, const struct wsh_dev_reduction &what,
                                         const struct wsh_dev_scatter &shares)
{
    if (blockIdx.x < wsh_dev_openers()) {
        wsh_dev_wide_send<S>(group, what.source, shares);
        wsh_dev_wide_fold<S, K>(group, what, shares, false);
    }
    wsh_dev_wide_end<S>(group, false, -1);
}

#endif

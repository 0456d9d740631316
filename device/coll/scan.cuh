/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scans in device code: sums over the members up to this one. They work as reductions do. Small ones go by LL lines
 * from all to all; each member combines those that it needs and reads the others for their flags alone. Of large ones
 * each member works out its slice for all. dest may be source: an element of a member is read before the same lane
 * writes it.
 */
#ifndef WSH_DEVICE_SCAN_CUH
#define WSH_DEVICE_SCAN_CUH

#include "reduce.cuh"

/* A part that fits LL lines, in one epoch. */
template <int S, class K>
static WSH_DEV void wsh_dev_scan_ll(const struct wsh_dev_group &group, const struct wsh_dev_reduction &what,
                                    bool exclusive)
{
    int last = group.my_pe - (exclusive ? 1 : 0);

    wsh_dev_ll_send<S>(group, what.source, 0, what.len);
    wsh_dev_sync<S>(); /* dest may be what other lanes were to send */
#pragma unroll 1
    for (unsigned unit = wsh_dev_lane<S>(); unit < wsh_dev_ll_for(what.len); unit += wsh_dev_size<S>()) {
        size_t off = (size_t)unit * WSH_LL_BYTES, left = what.len - off;
        uint64_t own[] = {wsh_dev_load8(what.source + off, left)}, sum[1];

        wsh_dev_ll_fold<S, K, 1, true>(group, what.op, unit, 1, unit + 1, own, sum, last);
        wsh_dev_store8(what.dest + off, sum[0], left);
    }
    wsh_dev_sync<S>();
}

/* A unit of type V a lane, of that range: every member's sum. */
template <int S, class K, class V>
WSH_DEV_CALL void wsh_dev_scan_span(const struct wsh_dev_group &group, const struct wsh_dev_reduction &what,
                                    struct wsh_dev_range range, bool exclusive)
{
#pragma unroll 1
    for (size_t at = range.begin + wsh_dev_lane<S>() * sizeof(V); at < range.end;
         at += wsh_dev_size<S>() * sizeof(V)) {
        V sum = V();

#pragma unroll 1
        for (int i = 0; i < group.n_pes; i++) {
            V value = wsh_ptx_get((const V *)wsh_dev_member(group, what.source + at, sizeof(V), i));
            V next = i ? wsh_dev_fold_one<K>(what.op, sum, value) : value;

            *(V *)wsh_dev_member(group, what.dest + at, sizeof(V), i) = exclusive ? sum : next;
            sum = next;
        }
    }
}

/* Computes `range` for all members, between two synchronizations of them. */
template <int S, class K>
WSH_DEV_CALL void wsh_dev_scan_range(const struct wsh_dev_group &group, const struct wsh_dev_reduction &what,
                                     struct wsh_dev_range range, bool exclusive)
{
    size_t middle = wsh_dev_reduce_middle(group, what, range);

    wsh_dev_scan_span<S, K, uint4>(group, what, wsh_dev_range{range.begin, middle}, exclusive);
    wsh_dev_scan_span<S, K, typename K::bits>(group, what, wsh_dev_range{middle, range.end}, exclusive);
}

template <int S, class K>
WSH_DEV_CALL void wsh_dev_scan(const char *what, shmem_team_t team, void *dest, const void *source, size_t nelems,
                               bool exclusive)
{
    struct wsh_dev_reduction all = {WSH_SUM, (char *)dest, (const char *)source, nelems * sizeof(typename K::bits),
                                    false};
    struct wsh_dev_group group;

    if (!nelems)
        return;
    if (wsh_dev_spans_hosts(what, team)) {
        wsh_dev_hosts_combined<S, K>(exclusive ? WSH_BEFORE_ME : WSH_UP_TO_ME, what, team, WSH_SUM, dest, source,
                                     nelems);
        return;
    }
    group = wsh_dev_group_enter<S>(what, team);
    if (all.len <= wsh_dev_ll_room<S, WSH_LL_COMBINE>(group)) {
        wsh_dev_scan_ll<S, K>(group, all, exclusive);
        return;
    }
    wsh_dev_sync_members<S>(group, wsh_dev_arrived(group));
    wsh_dev_scan_range<S, K>(wsh_dev_group(group), wsh_dev_reduction(all), wsh_dev_slice(group, all.len), exclusive);
    wsh_dev_sync_members<S>(group, wsh_dev_done(group));
}

#endif

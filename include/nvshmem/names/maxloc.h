/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions of pairs in kernels: a value and where it is, two doubles. The larger value wins, of equal ones the
 * smaller place, so that all members get the same pair whatever the order. The way of other reductions
 * (device/coll/reduce.cuh), whose numbers have 8 bytes at most: a pair takes two LL lines.
 */
#ifndef WSH_NV_MAXLOC_H
#define WSH_NV_MAXLOC_H

#include "shell.h"

#ifdef WSH_NV_KERNELS
#ifdef __CUDA_ARCH__

struct alignas(16) wsh_nv_value_at {
    double value, place;
};

static WSH_DEV struct wsh_nv_value_at wsh_ptx_get(const struct wsh_nv_value_at *g_from)
{
    return wsh_dev_as<wsh_nv_value_at>(wsh_ptx_get((const uint4 *)g_from));
}

/* As a kind of numbers. */
struct wsh_nv_maxloc {
    typedef struct wsh_nv_value_at bits;

    static WSH_DEV bits fold(int op, const bits &a, const bits &b)
    {
        (void)op;
        return b.value > a.value || (b.value == a.value && b.place < a.place) ? b : a;
    }
};

/* The pair from member `from` at byte `at` of what it sent: two LL lines. */
static WSH_DEV struct wsh_nv_value_at wsh_nv_maxloc_take(const struct wsh_dev_group &group, int from,
                                                         size_t at)
{
    const struct wsh_ptx_pair *line = wsh_dev_ll_from(group, group.area, from) + at / WSH_LL_BYTES;
    struct wsh_ptx_pair first = wsh_ptx_get(line), second = wsh_ptx_get(line + 1);
    uint64_t value = wsh_dev_ll_line_take(group, line, first),
             place = wsh_dev_ll_line_take(group, line + 1, second);

    return {wsh_dev_as<double>(value), wsh_dev_as<double>(place)};
}

/* By LL lines, in one epoch. */
template <int S>
WSH_DEV_CALL void wsh_nv_maxloc_near(const struct wsh_dev_group &group, const struct wsh_dev_reduction &what)
{
    wsh_dev_ll_send<S>(group, what.source, 0, what.len);
    wsh_dev_sync<S>(); /* dest may be what other lanes were to send */
#pragma unroll 1
    for (size_t at = wsh_dev_lane<S>() * sizeof(wsh_nv_value_at); at < what.len;
         at += wsh_dev_size<S>() * sizeof(wsh_nv_value_at)) {
        struct wsh_nv_value_at own = *(const struct wsh_nv_value_at *)(what.source + at), best = own;

#pragma unroll 1
        for (int from = 0; from < group.n_pes; from++) {
            struct wsh_nv_value_at next = from == group.my_pe ? own : wsh_nv_maxloc_take(group, from, at);

            best = from ? wsh_nv_maxloc::fold(0, best, next) : next;
        }
        *(struct wsh_nv_value_at *)(what.dest + at) = best;
    }
    wsh_dev_sync<S>();
}

/* Each member works out its slice and writes it to all. */
template <int S>
WSH_DEV_CALL void wsh_nv_maxloc_far(const struct wsh_dev_group &group, const struct wsh_dev_reduction &what)
{
    wsh_dev_sync_members<S>(group, wsh_dev_arrived(group));
    wsh_dev_reduce_span<S, wsh_nv_maxloc, 1, wsh_nv_value_at>(group, what, wsh_dev_slice(group, what.len));
    wsh_dev_sync_members<S>(group, wsh_dev_done(group));
}

/* dest and source, of `nelems` pairs, are aligned to 16 bytes; dest may be source. */
template <int S>
WSH_DEV_CALL void wsh_nv_maxloc_all(const char *what, shmem_team_t team, void *dest, const void *source,
                                    size_t nelems)
{
    struct wsh_dev_reduction all = {0, (char *)dest, (const char *)source, nelems * sizeof(wsh_nv_value_at),
                                    false};
    struct wsh_dev_group group;

    if (!nelems)
        return;
    if (wsh_dev_spans_hosts(what, team)) {
        wsh_dev_hosts_combined<S, wsh_nv_maxloc>(WSH_SLICES, what, team, 0, dest, source, nelems);
        return;
    }
    group = wsh_dev_group_enter<S>(what, team);
    if (all.len <= wsh_dev_ll_room<S, WSH_LL_COMBINE>(group))
        wsh_nv_maxloc_near<S>(wsh_dev_group(group), wsh_dev_reduction(all));
    else
        wsh_nv_maxloc_far<S>(wsh_dev_group(group), wsh_dev_reduction(all));
}

#endif

#ifdef WSH_NV_SYMBOLS
WSH_NV_KERNEL
#else
WSH_ONLY
#endif
int nvshmemx_double2_maxloc_reduce_block(nvshmem_team_t team, double2 *dest, const double2 *source,
                                         size_t nreduce)
    WSH_BODY(wsh_nv_maxloc_all<WSH_BLOCK>("nvshmemx_double2_maxloc_reduce_block", SHMEMX_TEAM(team), dest,
                                          source, nreduce);
             return 0;)

#endif
#endif

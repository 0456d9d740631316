/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alltoallv among members on several hosts: words say how much each has for each, or expects, and where it belongs;
 * then all blocks are put. And what alltoallv is made of on one host too.
 */
#ifndef WSH_DEVICE_VECTOR_HOSTS_CUH
#define WSH_DEVICE_VECTOR_HOSTS_CUH

#include "../coll.cuh"
#include "vector.h"

#define WSH_VECTOR_REFUSED (~(uint64_t)0) /* in place of a place */

static WSH_DEV size_t wsh_dev_vector_given(const struct wsh_dev_vector &v, int to)
{
    return v.counts[to] * v.width;
}

static WSH_DEV size_t wsh_dev_vector_taken(const struct wsh_dev_vector &v, int from)
{
    return v.dest_counts[from] * v.width;
}

static WSH_DEV const char *wsh_dev_vector_block(const struct wsh_dev_vector &v, int to)
{
    return v.source + v.offsets[to] * v.width;
}

/* Both sides of a block say how long it is; one that has failed says nothing. */
static WSH_DEV void wsh_dev_vector_agree(const struct wsh_dev_group &group, uint64_t given, uint64_t taken, int member)
{
    if (given != taken && !wsh_dev_pe_failed(wsh_dev_member_pe(group, member)))
        wsh_dev_refuse(group.what, WSH_DEVICE_BAD_COUNTS, wsh_dev_member_pe(group, member), (const void *)given, taken);
}

static WSH_DEV size_t wsh_dev_vector_aligned(size_t at, size_t align)
{
    if (!(align & (align - 1))) /* 0 too */
        return align ? (at + align - 1) & ~(align - 1) : at;
    return (at + align - 1) / align * align;
}

/* All lanes, once all counts are known: places side by side in order of the members. True: dest is too small. */
template <int S>
WSH_DEV_CALL bool wsh_dev_vector_pack(const struct wsh_dev_group &group, const struct wsh_dev_vector &v)
{
    size_t end = 0;

    wsh_dev_sync<S>();
#pragma unroll 1
    for (unsigned from = 0; from < (unsigned)group.n_pes; from++) {
        size_t at = wsh_dev_vector_aligned(end, v.align);

        if (from % wsh_dev_size<S>() == wsh_dev_lane<S>())
            v.dest_offsets[from] = at;
        end = at + v.dest_counts[from];
    }
    if (wsh_dev_lane<S>() == 0)
        *v.need = end;
    return end > v.dest_max;
}

/* Words from one member to another where there are no LL lines: the place of a block, and its count. */
enum { WSH_VECTOR_PLACE, WSH_VECTOR_COUNT };

static WSH_DEV const uint64_t *wsh_dev_vector_word(const struct wsh_dev_group &group, int from, int which)
{
    return (const uint64_t *)wsh_dev_stage_from(group, from) + which;
}

/* One lane: one of them to a member. */
inline WSH_DEV_CALL void wsh_dev_vector_tell(const struct wsh_dev_group &group, int which, uint64_t value, int to)
{
    wsh_dev_p_any(group.what, (void *)wsh_dev_vector_word(group, group.my_pe, which), value, sizeof value,
                  wsh_dev_member_pe(group, to));
}

/* All lanes: what this member has for the others, or expects of them. */
template <int S>
WSH_DEV_CALL void wsh_dev_vector_tell_counts(const struct wsh_dev_group &group, const struct wsh_dev_vector &v)
{
#pragma unroll 1
    for (unsigned i = 0; i < (unsigned)group.n_pes && wsh_dev_lane<S>() == 0; i++) {
        int to = wsh_dev_after_me(group, i);

        wsh_dev_vector_tell(group, WSH_VECTOR_COUNT, v.need ? v.counts[to] : v.dest_counts[to], to);
        if (!v.need)
            wsh_dev_vector_tell(group, WSH_VECTOR_PLACE, v.dest_offsets[to] * v.width, to);
    }
    wsh_dev_hosts_sync<S>(group, wsh_dev_arrived(group));
}

/* All lanes: takes counts and tells places. True: dest is too small, and so they have been told. */
template <int S>
WSH_DEV_CALL bool wsh_dev_vector_tell_places(const struct wsh_dev_group &group, const struct wsh_dev_vector &v)
{
    bool refuses;

#pragma unroll 1
    for (int from = (int)wsh_dev_lane<S>(); from < group.n_pes; from += (int)wsh_dev_size<S>())
        v.dest_counts[from] = wsh_ptx_get(wsh_dev_vector_word(group, from, WSH_VECTOR_COUNT));
    refuses = wsh_dev_vector_pack<S>(group, v);
    wsh_dev_sync<S>();
#pragma unroll 1
    for (unsigned i = 0; i < (unsigned)group.n_pes && wsh_dev_lane<S>() == 0; i++) {
        int to = wsh_dev_after_me(group, i);

        wsh_dev_vector_tell(group, WSH_VECTOR_PLACE, refuses ? WSH_VECTOR_REFUSED : v.dest_offsets[to] * v.width, to);
    }
    wsh_dev_hosts_sync<S>(group, wsh_dev_done(group));
    return refuses;
}

/* All lanes: puts the blocks to their places. */
template <int S>
WSH_DEV_CALL void wsh_dev_vector_put(const struct wsh_dev_group &group, const struct wsh_dev_vector &v)
{
#pragma unroll 1
    for (unsigned i = 0; i < (unsigned)group.n_pes; i++) {
        int to = wsh_dev_after_me(group, i);
        uint64_t place = wsh_ptx_get(wsh_dev_vector_word(group, to, WSH_VECTOR_PLACE));

        if (!v.need)
            wsh_dev_vector_agree(group, wsh_dev_vector_given(v, to),
                                 wsh_ptx_get(wsh_dev_vector_word(group, to, WSH_VECTOR_COUNT)) * v.width, to);
        if (place != WSH_VECTOR_REFUSED)
            wsh_dev_hosts_put<S>(group, v.dest + place, wsh_dev_vector_block(v, to), wsh_dev_vector_given(v, to), to);
    }
}

/* Among several hosts. Where counts have to be told first, the blocks take an epoch of their own. */
template <int S>
WSH_DEV_CALL bool wsh_dev_vector_hosts(const char *what, shmem_team_t team, const struct wsh_dev_vector &v)
{
    struct wsh_dev_group group;
    bool refuses = false;

    wsh_dev_hosts_group_enter<S>(&group, what, team);
    wsh_dev_vector_tell_counts<S>(group, v);
    if (v.need)
        refuses = wsh_dev_vector_tell_places<S>(group, v);
    wsh_dev_vector_put<S>(group, v);
    if (v.need)
        wsh_dev_hosts_group_enter<S>(&group, what, team);
    wsh_dev_hosts_sync<S>(group, wsh_dev_done(group));
    return refuses;
}

#endif

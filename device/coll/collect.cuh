/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives in device code whose data does not lie side by side in equal parts: collect, where each member sends as
 * much as it likes, and alltoalls, whose elements lie apart.
 *
 * In a collect each member's first LL line says how many bytes it has; what fits the others is in them. As all read all
 * lengths, all know alike where each part begins, and whether a longer one comes, stored straight into dest, so that
 * they meet once more.
 */
#ifndef WSH_DEVICE_COLLECT_CUH
#define WSH_DEVICE_COLLECT_CUH

#include "coll.cuh"
#include "../core/strided.cuh"

/* What a member sends by LL lines, behind the first one. */
template <int S> static WSH_DEV size_t wsh_dev_collect_room(const struct wsh_dev_group &group)
{
    return wsh_dev_ll_room<S>(group) - WSH_LL_BYTES;
}

/* How many bytes member `from` has; all lanes ask, of this member too. */
static WSH_DEV size_t wsh_dev_collect_len(const struct wsh_dev_group &group, int from, size_t mine)
{
    const struct wsh_ptx_pair *line = wsh_dev_ll_from(group, group.area, from);

    return from == group.my_pe ? mine : (size_t)wsh_dev_ll_line_take(group, line, wsh_ptx_get(line));
}

/*
 * Receives the parts that came by LL lines, and keeps this member's own at *at. True where a part is too long for them.
 */
template <int S>
WSH_DEV_CALL bool wsh_dev_collect_ll(const struct wsh_dev_group &group, char *dest, const char *source, size_t len,
                                     size_t *at)
{
    size_t room = wsh_dev_collect_room<S>(group), off = 0;
    bool longer = false;

#pragma unroll 1
    for (int from = 0; from < group.n_pes; from++) {
        size_t theirs = wsh_dev_collect_len(group, from, len);
        unsigned after = (unsigned)(from - group.my_pe - 1 + group.n_pes) % (unsigned)group.n_pes; /* after me */

        if (from == group.my_pe) {
            wsh_dev_keep<S>(dest + off, source, len);
            *at = off;
        } else if (theirs <= room) {
            wsh_dev_ll_receive<S>(group, dest + off, 0, theirs, after, 1, 1);
        }
        longer |= theirs > room;
        off += theirs;
    }
    return longer;
}

/* All members send their lengths and short parts by LL lines; each then stores a long part to all others. */
template <int S>
WSH_DEV_CALL void wsh_dev_collect(const char *what, shmem_team_t team, void *dest, const void *source, size_t len)
{
    struct wsh_dev_group group;
    size_t at = 0;
    bool fits;

    if (wsh_dev_spans_hosts(what, team)) {
        wsh_dev_hosts_collect<S>(wsh_dev_hosts_of(what, team, dest, source, 0, len));
        return;
    }
    group = wsh_dev_group_enter<S>(what, team);
    fits = len <= wsh_dev_collect_room<S>(group);
    wsh_dev_ll_send<S>(group, (const char *)&len, 0, sizeof len);
    if (fits)
        wsh_dev_ll_send<S>(group, (const char *)source, 0, len, 1);
    if (!wsh_dev_collect_ll<S>(group, (char *)dest, (const char *)source, len, &at)) {
        wsh_dev_sync<S>();
        return;
    }
#pragma unroll 1
    for (unsigned i = 0; !fits && i + 1 < (unsigned)group.n_pes; i++)
        wsh_dev_store<S>(wsh_dev_member(group, (char *)dest + at, len, wsh_dev_after_me(group, i)), source, len);
    wsh_dev_sync_members<S>(group, wsh_dev_done(group));
}

/* All lanes: this member's blocks of elements of WIDTH bytes, to members on several hosts. */
template <int S, unsigned WIDTH>
WSH_DEV_CALL void wsh_dev_hosts_strided(const struct wsh_dev_hosts &call, const struct wsh_dev_strides &s)
{
    typedef typename wsh_dev_bits_of<WIDTH>::type T;

#pragma unroll 1
    for (unsigned i = 0; i < (unsigned)call.group.n_pes; i++) {
        int to = wsh_dev_after_me(call.group, i);
        struct wsh_dev_parts parts = wsh_dev_parts_of<WIDTH>(
            call.dest, call.source + (size_t)to * s.nelems * (size_t)s.sst * WIDTH, s.nelems, s.dst,
            wsh_dev_member_pe(call.group, to));
        uint64_t at = wsh_dev_reach_or_request(call.group.what, parts.dest, wsh_dev_span(s.nelems, s.dst, WIDTH),
                                               parts.pe, false);

        if (at)
            wsh_dev_copy_strided<wsh_dev_from_generic>((T *)at, (const T *)parts.source, s, wsh_dev_lane<S>(),
                                                       wsh_dev_size<S>());
        else
            wsh_dev_iput_asked<S, T>(&parts, s);
    }
}

template <int S, unsigned WIDTH>
WSH_DEV_CALL void wsh_dev_hosts_alltoalls(struct wsh_dev_hosts &&call, const struct wsh_dev_strides &s)
{
    wsh_dev_hosts_group_enter<S>(&call.group, call.group.what, call.team);
    call.dest += (size_t)call.group.my_pe * s.nelems * (size_t)s.dst * WIDTH;
    wsh_dev_hosts_strided<S, WIDTH>(call, s);
    wsh_dev_hosts_sync<S>(call.group, wsh_dev_done(call.group));
}

/* What a member sends to all: a block of elements to each. */
struct wsh_dev_strided_exchange {
    void *dest;
    const void *source;
    struct wsh_dev_strides s;
};

/* All lanes: a block of elements of WIDTH bytes, straight into a member's array. */
template <int S, unsigned WIDTH>
WSH_DEV_CALL void wsh_dev_alltoalls_store_at(const struct wsh_dev_group &group,
                                             const struct wsh_dev_strided_exchange &all, int to)
{
    typedef typename wsh_dev_bits_of<WIDTH>::type T;
    const T *mine = (const T *)all.dest + (size_t)group.my_pe * all.s.nelems * (size_t)all.s.dst;
    uint64_t at = wsh_dev_member(group, mine, wsh_dev_span(all.s.nelems, all.s.dst, WIDTH), to);
    const T *from = (const T *)all.source + (size_t)to * all.s.nelems * (size_t)all.s.sst;

    wsh_dev_copy_strided<wsh_dev_from_generic>((T *)at, from, all.s, wsh_dev_lane<S>(), wsh_dev_size<S>());
}

/* To all members. `all` is in memory: a loop's registers add to those of its copies. */
template <int S, unsigned WIDTH>
WSH_DEV_CALL void wsh_dev_alltoalls_store(const struct wsh_dev_group &group,
                                          const struct wsh_dev_strided_exchange &all)
{
#pragma unroll 1
    for (unsigned i = 0; i < (unsigned)group.n_pes; i++)
        wsh_dev_alltoalls_store_at<S, WIDTH>(group, all, wsh_dev_after_me(group, i));
}

template <int S, unsigned WIDTH>
WSH_DEV_CALL void wsh_dev_alltoalls(const char *what, shmem_team_t team, void *dest, const void *source,
                                    struct wsh_dev_strides s)
{
    struct wsh_dev_group group;

    if (!s.nelems)
        return;
    wsh_dev_check_strides(what, s);
    if (wsh_dev_spans_hosts(what, team)) {
        wsh_dev_hosts_alltoalls<S, WIDTH>(wsh_dev_hosts_of(what, team, dest, source, 0, 0), wsh_dev_strides(s));
        return;
    }
    wsh_dev_hosts_group_enter<S>(&group, what, team);
    wsh_dev_alltoalls_store<S, WIDTH>(group, wsh_dev_strided_exchange{dest, source, s});
    wsh_dev_finish<S>(group);
}

#endif

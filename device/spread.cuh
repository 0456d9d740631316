/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows how one member's array comes to all others. The root has one way out, and to write n - 1 copies there would
 * take n - 1 times as long: each other member reads a slice of the array, and writes it to the rest.
 */
#ifndef WSH_DEVICE_SPREAD_CUH
#define WSH_DEVICE_SPREAD_CUH

#include "share.cuh"
#include "team.cuh"

/* Who does a share of a member's work: one of several blocks, or one scope alone. */
struct wsh_dev_crew {
    unsigned i, n;
};

#define WSH_RELAY_UNITS 4 /* of 16 bytes, that a lane loads at once */

/* Writes what a lane has loaded to all members but the root. */
static WSH_DEV void wsh_dev_relay_store(const struct wsh_dev_group &group,
                                        const uint4 (&value)[WSH_RELAY_UNITS], char *dest, size_t step,
                                        size_t left, int root)
{
#pragma unroll 1
    for (unsigned i = 0; i < (unsigned)group.n_pes; i++) {
        int to = wsh_dev_after_me(group, i);
        char *there = to == root ? nullptr : (char *)wsh_dev_member(group, dest, sizeof(uint4), to);

#pragma unroll
        for (unsigned u = 0; u < WSH_RELAY_UNITS; u++)
            if (there && u * step < left)
                *(uint4 *)(there + u * step) = value[u];
    }
}

/* That range of the root's array, in units of 16 bytes, to all other members. */
template <int S>
WSH_DEV_CALL void wsh_dev_relay(const struct wsh_dev_group &group, char *dest, const char *source,
                                struct wsh_dev_range range, int root)
{
    size_t step = wsh_dev_size<S>() * sizeof(uint4);
    const char *from = (const char *)wsh_dev_member(group, source, range.end, root);

#pragma unroll 1
    for (size_t at = range.begin + wsh_dev_lane<S>() * sizeof(uint4); at < range.end;
         at += WSH_RELAY_UNITS * step) {
        uint4 value[WSH_RELAY_UNITS];

#pragma unroll
        for (unsigned u = 0; u < WSH_RELAY_UNITS; u++)
            value[u] =
                at + u * step < range.end ? wsh_ptx_get((const uint4 *)(from + at + u * step)) : uint4();
        wsh_dev_relay_store(group, value, dest + at, step, range.end - at, root);
    }
}

/* How much of it goes in units of 16 bytes, which all members know alike: nothing where some array lies otherwise. */
static WSH_DEV size_t wsh_dev_relayed(const struct wsh_dev_group &group, const char *dest, const char *source,
                                      size_t len, int root)
{
    uint64_t bits = wsh_dev_member(group, source, len, root);

#pragma unroll 1
    for (int i = 0; i < group.n_pes; i++)
        bits |= wsh_dev_member(group, dest, len, i);
    return bits % 16 ? 0 : len / 16 * 16;
}

/* Between a meeting before and one behind. What is not relayed each member reads for itself. */
template <int S>
WSH_DEV_CALL void wsh_dev_spread(const struct wsh_dev_group &group, char *dest, const char *source,
                                 size_t len, int root, struct wsh_dev_crew me)
{
    unsigned after = (unsigned)(group.my_pe - root - 1 + group.n_pes) % (unsigned)group.n_pes; /* the root */
    size_t middle = group.my_pe == root ? 0 : wsh_dev_relayed(group, dest, source, len, root);
    struct wsh_dev_range rest = wsh_dev_part(wsh_dev_range{middle, len}, WSH_SHARE_UNIT, me.i, me.n);

    if (middle) {
        struct wsh_dev_range slice =
            wsh_dev_part(wsh_dev_range{0, middle}, 16, after, (unsigned)group.n_pes - 1);

        wsh_dev_relay<S>(group, dest, source, wsh_dev_part(slice, WSH_SHARE_UNIT, me.i, me.n), root);
    }
    if (group.my_pe != root)
        wsh_dev_copy<S, wsh_dev_from_peer>(
            dest + rest.begin, (const char *)wsh_dev_member(group, source, len, root) + rest.begin,
            rest.end - rest.begin);
    else if (dest != source)
        wsh_dev_store<S>((uint64_t)dest + rest.begin, source + rest.begin, rest.end - rest.begin);
}

#endif

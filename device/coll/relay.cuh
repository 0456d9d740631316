/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcasts of long arrays: a scatter, then an allgather. The root has one link, and to write n - 1 copies would take
 * n - 1 times as long: each other member reads a slice of the array, and writes it to the rest.
 */
#ifndef WSH_DEVICE_RELAY_CUH
#define WSH_DEVICE_RELAY_CUH

#include "choice.h"
#include "share.cuh"
#include "team.cuh"

/* Number i of n that share a member's work: blocks of a kernel, or one scope alone. */
struct wsh_dev_crew {
    unsigned i, n;
};

/* A broadcast. It lies in memory, since registers held by a caller add to those of all that it calls. */
struct wsh_dev_relay_plan {
    char *dest;
    const char *source;
    size_t len;
    int root;
    struct wsh_dev_crew me;
    struct wsh_dev_range slice, rest; /* what is relayed, and what each member reads for itself */
    struct wsh_dev_range half; /* what a root stores to the only other member */
};

/* Writes the U units of 16 bytes that a lane has loaded to all members but the root. */
template <unsigned U>
static WSH_DEV void wsh_dev_relay_store(const struct wsh_dev_group &group, const struct wsh_dev_relay_plan &what,
                                        size_t at, size_t step, const uint4 (&value)[U])
{
#pragma unroll 1
    for (unsigned i = 0; i < (unsigned)group.n_pes; i++) {
        int to = wsh_dev_after_me(group, i);
        char *there;

        if (to == what.root)
            continue;
        there = (char *)wsh_dev_member(group, what.dest + at, sizeof(uint4), to);
#pragma unroll
        for (unsigned u = 0; u < U; u++)
            if (at + u * step < what.slice.end)
                *(uint4 *)(there + u * step) = value[u];
    }
}

/* This member's slice of the root's array, in units of 16 bytes, to all other members. */
template <int S, unsigned U>
WSH_DEV_CALL void wsh_dev_relay(const struct wsh_dev_group &group, const struct wsh_dev_relay_plan &what)
{
    size_t step = wsh_dev_size<S>() * sizeof(uint4);

#pragma unroll 1
    for (size_t at = what.slice.begin + wsh_dev_lane<S>() * sizeof(uint4); at < what.slice.end;
         at += U * step) {
        const char *from = (const char *)wsh_dev_member(group, what.source + at, sizeof(uint4), what.root);
        uint4 value[U];

#pragma unroll
        for (unsigned u = 0; u < U; u++)
            value[u] = at + u * step < what.slice.end ? wsh_ptx_get((const uint4 *)(from + u * step)) : uint4();
        wsh_dev_relay_store(group, what, at, step, value);
    }
}

/*
 * The bytes that members relay in units of 16, the same on all members: none of a short array, nor where some member's
 * array is not aligned to 16.
 */
static WSH_DEV size_t wsh_dev_relayed(const struct wsh_dev_group &group, const struct wsh_dev_relay_plan &what)
{
    bool is_short = what.len <= WSH_DEVICE_CHOICE(BROADCAST, ANY, PULL);
    uint64_t bits = is_short ? 1 : wsh_dev_member(group, what.source, what.len, what.root);

#pragma unroll 1
    for (int i = 0; i < group.n_pes; i++)
        bits |= wsh_dev_member(group, what.dest, what.len, i);
    return bits % 16 ? 0 : what.len / 16 * 16;
}

/* With two members one link carries everything: each of the two moves a half. */
static WSH_DEV size_t wsh_dev_halved(const struct wsh_dev_group &group, const struct wsh_dev_relay_plan &what)
{
    return group.n_pes == 2 ? what.len / 2 / WSH_SHARE_UNIT * WSH_SHARE_UNIT : 0;
}

/* The shares of this member and crew: of the root's, its own copy. */
inline WSH_DEV_CALL void wsh_dev_relay_plan_fill(const struct wsh_dev_group &group, struct wsh_dev_relay_plan *what)
{
    unsigned after = (unsigned)(group.my_pe - what->root - 1 + group.n_pes) % (unsigned)group.n_pes; /* the root */
    bool root = group.my_pe == what->root;
    size_t half = wsh_dev_halved(group, *what), middle = root ? 0 : half;

    what->slice = wsh_dev_range{0, 0};
    what->half = wsh_dev_part(wsh_dev_range{0, root ? half : 0}, WSH_SHARE_UNIT, what->me.i, what->me.n);
    if (!root && group.n_pes > 2)
        middle = wsh_dev_relayed(group, *what);
    if (middle && !half)
        what->slice = wsh_dev_part(wsh_dev_part(wsh_dev_range{0, middle}, 16, after, (unsigned)group.n_pes - 1),
                                   WSH_SHARE_UNIT, what->me.i, what->me.n);
    what->rest = wsh_dev_part(wsh_dev_range{middle, what->len}, WSH_SHARE_UNIT, what->me.i, what->me.n);
}

/* Called between two synchronizations of the members. U: units that a lane has in flight. */
template <int S, unsigned U>
WSH_DEV_CALL void wsh_dev_relay_run(const struct wsh_dev_group &group, struct wsh_dev_relay_plan *what)
{
    const char *from;

    wsh_dev_relay_plan_fill(group, what);
    wsh_dev_relay<S, U>(group, *what);
    if (what->half.end > what->half.begin)
        wsh_dev_store<S>(wsh_dev_member(group, what->dest + what->half.begin, what->half.end - what->half.begin,
                                        1 - group.my_pe),
                         what->source + what->half.begin, what->half.end - what->half.begin);
    if (group.my_pe == what->root && what->dest == what->source)
        return;
    from = group.my_pe == what->root ? what->source
                                     : (const char *)wsh_dev_member(group, what->source, what->len, what->root);
    wsh_dev_copy<S, wsh_dev_from_peer>(what->dest + what->rest.begin, from + what->rest.begin,
                                       what->rest.end - what->rest.begin);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LL lines: small pieces of data that go from member to member in one access and without a fence. An LL line has 16
 * bytes; each half carries 4 bytes of data and the epoch as its flag. PTX guarantees that each half arrives whole, so
 * the data is there as soon as its flag is. Nothing else is ordered, nor needs to be: the receiver reads only LL lines.
 *
 * An LL line is written again two epochs later: this member awaits a flag of every other in each epoch, and they set
 * the flag of an epoch only after they have read all LL lines of the one before (their lanes meet at a barrier in
 * between).
 */
#ifndef WSH_DEVICE_LL_CUH
#define WSH_DEVICE_LL_CUH

#include "choice.h"
#include "team.cuh"

#define WSH_LL_BYTES (WSH_DEVICE_LL_LINE / 2) /* of data */

/* LL lines that a receiving lane has in flight: a thread of a block of 1024 has registers for few. */
template <int S> WSH_DEV constexpr unsigned wsh_dev_ahead()
{
    return S == WSH_BLOCK ? 2 : S == WSH_WARP ? 4 : 8;
}

enum wsh_ll_use { WSH_LL_MOVE, WSH_LL_CAST, WSH_LL_COMBINE };

/* Which of three rows of choice.h is for a call by this scope. */
template <int S> WSH_DEV constexpr uint32_t wsh_dev_by_scope(uint32_t thread, uint32_t warp, uint32_t block)
{
    return S == WSH_THREAD ? thread : S == WSH_WARP ? warp : block;
}

/*
 * Bytes that go by the LL lines of one epoch: what fits, and no more than is faster by LL lines than by copy and flags.
 */
template <int S, enum wsh_ll_use USE = WSH_LL_MOVE>
static WSH_DEV size_t wsh_dev_ll_room(const struct wsh_dev_group &group)
{
    constexpr uint32_t moved = wsh_dev_by_scope<S>(WSH_DEVICE_CHOICE(MOVE, THREAD, LL),
                                                   WSH_DEVICE_CHOICE(MOVE, WARP, LL),
                                                   WSH_DEVICE_CHOICE(MOVE, BLOCK, LL));
    constexpr uint32_t cast = wsh_dev_by_scope<S>(WSH_DEVICE_CHOICE(BROADCAST, THREAD, LL),
                                                  WSH_DEVICE_CHOICE(BROADCAST, WARP, LL),
                                                  WSH_DEVICE_CHOICE(BROADCAST, BLOCK, LL));
    constexpr uint32_t combined = wsh_dev_by_scope<S>(WSH_DEVICE_CHOICE(COMBINE, THREAD, LL),
                                                      WSH_DEVICE_CHOICE(COMBINE, WARP, LL),
                                                      WSH_DEVICE_CHOICE(COMBINE, BLOCK, LL));
    constexpr uint32_t most = USE == WSH_LL_COMBINE ? combined : USE == WSH_LL_CAST ? cast : moved;

    return group.ll / 2 < most ? group.ll / 2 : most;
}

/* The number of LL lines that `len` bytes take. */
static WSH_DEV unsigned wsh_dev_ll_for(size_t len)
{
    return (unsigned)((len + WSH_LL_BYTES - 1) / WSH_LL_BYTES);
}

/* The first LL line from member `from` in the sync area at `area`. */
static WSH_DEV struct wsh_ptx_pair *wsh_dev_ll_from(const struct wsh_dev_group &group, uint64_t area,
                                                    int from)
{
    unsigned buffer = (unsigned)(group.epoch & 1) * (unsigned)group.n_pes + (unsigned)from;

    return (struct wsh_ptx_pair *)(area + WSH_DEVICE_SYNC_AREA_LL(group.n_pes) + (uint64_t)buffer * group.ll);
}

/* Loads up to 8 bytes from any address; bytes beyond `left` are zero. */
static WSH_DEV uint64_t wsh_dev_load8(const char *from, size_t left)
{
    uint64_t value = 0;

    if (left >= 8 && (uint64_t)from % 8 == 0)
        return *(const uint64_t *)from;
    if (left >= 8 && (uint64_t)from % 4 == 0)
        return ((const uint32_t *)from)[0] | (uint64_t)((const uint32_t *)from)[1] << 32;
    if (left == 4 && (uint64_t)from % 4 == 0)
        return *(const uint32_t *)from;
#pragma unroll 1
    for (unsigned i = 0; i < 8 && i < left; i++)
        value |= (uint64_t)(uint8_t)from[i] << 8 * i;
    return value;
}

static WSH_DEV void wsh_dev_store8(char *to, uint64_t value, size_t left)
{
    if (left >= 8 && (uint64_t)to % 8 == 0) {
        *(uint64_t *)to = value;
    } else if (left >= 8 && (uint64_t)to % 4 == 0) {
        ((uint32_t *)to)[0] = (uint32_t)value;
        ((uint32_t *)to)[1] = (uint32_t)(value >> 32);
    } else if (left == 4 && (uint64_t)to % 4 == 0) {
        *(uint32_t *)to = (uint32_t)value;
    } else {
#pragma unroll 1
        for (unsigned i = 0; i < 8 && i < left; i++)
            to[i] = (char)(value >> 8 * i);
    }
}

/* Stores 8 bytes of data with the epoch as the flag of each half. */
static WSH_DEV void wsh_dev_ll_line_put(struct wsh_ptx_pair *g_line, uint64_t value, uint64_t epoch)
{
    uint64_t flag = epoch << 32;

    wsh_ptx_put(g_line, wsh_ptx_pair{(uint32_t)value | flag, value >> 32 | flag});
}

static WSH_DEV bool wsh_dev_ll_line_is(const struct wsh_ptx_pair &seen, uint64_t epoch)
{
    return (uint32_t)(seen.a >> 32) == (uint32_t)epoch && (uint32_t)(seen.b >> 32) == (uint32_t)epoch;
}

static WSH_DEV uint64_t wsh_dev_ll_line_data(const struct wsh_ptx_pair &seen)
{
    return (uint32_t)seen.a | seen.b << 32;
}

/* Waits until an LL line, last read as `seen`, carries this epoch; returns its 8 bytes of data. */
static WSH_DEV uint64_t wsh_dev_ll_line_take(const struct wsh_dev_group &group, const struct wsh_ptx_pair *line,
                                             struct wsh_ptx_pair seen)
{
    struct wsh_dev_patience patience = {{group.what, line, group.epoch, SHMEM_CMP_EQ, 0}, 0};

    while (!wsh_dev_ll_line_is(seen, group.epoch)) {
        wsh_dev_wait_longer(&patience);
        seen = wsh_ptx_get(line);
    }
    return wsh_dev_ll_line_data(seen);
}

/* An LL line of those to or from several members, `units` each: the member's turn after this one, and the LL line. */
struct wsh_dev_ll_slot {
    unsigned peer, unit;
};

/* LL line number `at` of `units` for each member. */
static WSH_DEV struct wsh_dev_ll_slot wsh_dev_ll_slot_of(unsigned at, unsigned units)
{
    unsigned peer = at < units ? 0 : at / units; /* a division takes as long as an access to memory */

    return wsh_dev_ll_slot{peer, at - peer * units};
}

/* The next slot of a lane, number `at` of all. One thread takes them all in turn, without a division. */
template <int S>
static WSH_DEV struct wsh_dev_ll_slot wsh_dev_ll_slot_next(struct wsh_dev_ll_slot last, unsigned at, unsigned units)
{
    if (S != WSH_THREAD)
        return wsh_dev_ll_slot_of(at, units);
    return last.unit + 1 < units ? wsh_dev_ll_slot{last.peer, last.unit + 1} : wsh_dev_ll_slot{last.peer + 1, 0};
}

/* All lanes: `len` bytes to each other member, from source + its number * stride, into its LL lines from `skip` on. */
template <int S>
static WSH_DEV void wsh_dev_ll_send(const struct wsh_dev_group &group, const char *source, size_t stride,
                                    size_t len, unsigned skip = 0)
{
    unsigned units = wsh_dev_ll_for(len), n = units * (unsigned)(group.n_pes - 1), lane = wsh_dev_lane<S>();
    constexpr unsigned ahead = S == WSH_BLOCK ? 2 : 1;
    struct wsh_dev_ll_slot next = wsh_dev_ll_slot_of(lane, units);

#pragma unroll 1
    for (unsigned i = lane; i < n; i += ahead * wsh_dev_size<S>()) {
        struct wsh_dev_ll_slot slot[ahead];
        uint64_t value[ahead];

#pragma unroll
        for (unsigned u = 0; u < ahead; u++) {
            size_t off = (size_t)next.unit * WSH_LL_BYTES;

            slot[u] = next;
            if (i + u * wsh_dev_size<S>() < n)
                value[u] = wsh_dev_load8(source + (size_t)wsh_dev_after_me(group, next.peer) * stride + off, len - off);
            next = wsh_dev_ll_slot_next<S>(next, i + (u + 1) * wsh_dev_size<S>(), units);
        }
#pragma unroll
        for (unsigned u = 0; u < ahead; u++)
            if (i + u * wsh_dev_size<S>() < n)
                wsh_dev_ll_line_put(wsh_dev_ll_from(group,
                                                    wsh_dev_member_area(group, wsh_dev_after_me(group, slot[u].peer)),
                                                    group.my_pe) +
                                        skip + slot[u].unit,
                                    value[u], group.epoch);
    }
}

/* All lanes: what this member keeps, in the units of LL lines. */
template <int S> static WSH_DEV void wsh_dev_ll_keep(char *dest, const char *source, size_t len)
{
#pragma unroll 1
    for (size_t off = wsh_dev_lane<S>() * WSH_LL_BYTES; dest != source && off < len;
         off += wsh_dev_size<S>() * WSH_LL_BYTES)
        wsh_dev_store8(dest + off, wsh_dev_load8(source + off, len - off), len - off);
}

/* All lanes: `len` bytes from each of `peers` members, `first` after this one and on, to dest + its number * stride. */
template <int S>
static WSH_DEV void wsh_dev_ll_receive(const struct wsh_dev_group &group, char *dest, size_t stride,
                                       size_t len, unsigned first, unsigned peers, unsigned skip = 0)
{
    unsigned units = wsh_dev_ll_for(len), n = units * peers, size = wsh_dev_size<S>(), lane = wsh_dev_lane<S>();
    constexpr unsigned ahead = wsh_dev_ahead<S>();
    struct wsh_dev_ll_slot next = wsh_dev_ll_slot_of(lane, units);

#pragma unroll 1
    for (unsigned i = lane; i < n; i += ahead * size) {
        struct wsh_ptx_pair seen[ahead];
        struct wsh_dev_ll_slot slot[ahead];

#pragma unroll
        for (unsigned u = 0; u < ahead; u++) {
            int from = wsh_dev_after_me(group, first + next.peer);

            slot[u] = next;
            if (i + u * size < n)
                seen[u] = wsh_ptx_get(wsh_dev_ll_from(group, group.area, from) + skip + next.unit);
            next = wsh_dev_ll_slot_next<S>(next, i + (u + 1) * size, units);
        }
#pragma unroll
        for (unsigned u = 0; u < ahead; u++) {
            int from = wsh_dev_after_me(group, first + slot[u].peer);
            size_t off = (size_t)slot[u].unit * WSH_LL_BYTES;

            if (i + u * size < n)
                wsh_dev_store8(dest + (size_t)from * stride + off,
                               wsh_dev_ll_line_take(group,
                                                    wsh_dev_ll_from(group, group.area, from) + skip + slot[u].unit,
                                                    seen[u]),
                               len - off);
        }
    }
}

#endif

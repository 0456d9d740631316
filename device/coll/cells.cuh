/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cells: small pieces of data that go from member to member in one access and without a fence. A cell has 16 bytes;
 * each half carries 4 bytes of data and the epoch as its flag. PTX guarantees that each half arrives whole, so the
 * data is there as soon as its flag is. Nothing else is ordered, nor needs to be: the receiver reads only cells.
 *
 * A cell is written again two epochs later: this member awaits a flag of every other in each epoch, and they set the
 * flag of an epoch only after they have read all cells of the one before (their lanes meet at a barrier in between).
 */
#ifndef WSH_DEVICE_CELLS_CUH
#define WSH_DEVICE_CELLS_CUH

#include "choice.h"
#include "team.cuh"

#define WSH_CELL_BYTES (WSH_DEVICE_CELL / 2) /* of data */

/* Cells that a receiving lane has in flight: a thread of a block of 1024 has registers for few. */
template <int S> WSH_DEV constexpr unsigned wsh_dev_ahead()
{
    return S == WSH_BLOCK ? 2 : S == WSH_WARP ? 4 : 8;
}

enum wsh_cells_use { WSH_CELLS_MOVE, WSH_CELLS_CAST, WSH_CELLS_COMBINE };

/* Which of three rows of choice.h is for a call by this scope. */
template <int S> WSH_DEV constexpr uint32_t wsh_dev_by_scope(uint32_t thread, uint32_t warp, uint32_t block)
{
    return S == WSH_THREAD ? thread : S == WSH_WARP ? warp : block;
}

/* Bytes that go by the cells of one epoch: what fits, and no more than is faster by cells than by copy and flags. */
template <int S, enum wsh_cells_use USE = WSH_CELLS_MOVE>
static WSH_DEV size_t wsh_dev_cells_room(const struct wsh_dev_group &group)
{
    constexpr uint32_t moved = wsh_dev_by_scope<S>(WSH_DEVICE_CHOICE(MOVE, THREAD, CELLS),
                                                   WSH_DEVICE_CHOICE(MOVE, WARP, CELLS),
                                                   WSH_DEVICE_CHOICE(MOVE, BLOCK, CELLS));
    constexpr uint32_t cast = wsh_dev_by_scope<S>(WSH_DEVICE_CHOICE(BROADCAST, THREAD, CELLS),
                                                  WSH_DEVICE_CHOICE(BROADCAST, WARP, CELLS),
                                                  WSH_DEVICE_CHOICE(BROADCAST, BLOCK, CELLS));
    constexpr uint32_t combined = wsh_dev_by_scope<S>(WSH_DEVICE_CHOICE(COMBINE, THREAD, CELLS),
                                                      WSH_DEVICE_CHOICE(COMBINE, WARP, CELLS),
                                                      WSH_DEVICE_CHOICE(COMBINE, BLOCK, CELLS));
    constexpr uint32_t most = USE == WSH_CELLS_COMBINE ? combined : USE == WSH_CELLS_CAST ? cast : moved;

    return group.cells / 2 < most ? group.cells / 2 : most;
}

/* The number of cells that `len` bytes take. */
static WSH_DEV unsigned wsh_dev_cells_for(size_t len)
{
    return (unsigned)((len + WSH_CELL_BYTES - 1) / WSH_CELL_BYTES);
}

/* The first cell from member `from` in the pad at `pad`. */
static WSH_DEV struct wsh_ptx_pair *wsh_dev_cells_from(const struct wsh_dev_group &group, uint64_t pad,
                                                       int from)
{
    unsigned buffer = (unsigned)(group.epoch & 1) * (unsigned)group.n_pes + (unsigned)from;

    return (struct wsh_ptx_pair *)(pad + WSH_DEVICE_PAD_CELLS(group.n_pes) + (uint64_t)buffer * group.cells);
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
static WSH_DEV void wsh_dev_cell_put(struct wsh_ptx_pair *g_cell, uint64_t value, uint64_t epoch)
{
    uint64_t flag = epoch << 32;

    wsh_ptx_put(g_cell, wsh_ptx_pair{(uint32_t)value | flag, value >> 32 | flag});
}

static WSH_DEV bool wsh_dev_cell_is(const struct wsh_ptx_pair &seen, uint64_t epoch)
{
    return (uint32_t)(seen.a >> 32) == (uint32_t)epoch && (uint32_t)(seen.b >> 32) == (uint32_t)epoch;
}

static WSH_DEV uint64_t wsh_dev_cell_data(const struct wsh_ptx_pair &seen)
{
    return (uint32_t)seen.a | seen.b << 32;
}

/* Waits until a cell, last read as `seen`, carries this epoch; returns its 8 bytes of data. */
static WSH_DEV uint64_t wsh_dev_cell_take(const struct wsh_dev_group &group, const struct wsh_ptx_pair *cell,
                                          struct wsh_ptx_pair seen)
{
    struct wsh_dev_patience patience = {{group.what, cell, group.epoch, SHMEM_CMP_EQ, 0}, 0};

    while (!wsh_dev_cell_is(seen, group.epoch)) {
        wsh_dev_wait_longer(&patience);
        seen = wsh_ptx_get(cell);
    }
    return wsh_dev_cell_data(seen);
}

/* A cell of those to or from several members, `units` each: the member's turn after this one, and the cell. */
struct wsh_dev_place {
    unsigned peer, unit;
};

/* Cell number `at` of `units` for each member. */
static WSH_DEV struct wsh_dev_place wsh_dev_place_of(unsigned at, unsigned units)
{
    unsigned peer = at < units ? 0 : at / units; /* a division takes as long as an access to memory */

    return wsh_dev_place{peer, at - peer * units};
}

/* The next place of a lane, number `at` of all. One thread takes them all in turn, without a division. */
template <int S>
static WSH_DEV struct wsh_dev_place wsh_dev_place_next(struct wsh_dev_place last, unsigned at, unsigned units)
{
    if (S != WSH_THREAD)
        return wsh_dev_place_of(at, units);
    return last.unit + 1 < units ? wsh_dev_place{last.peer, last.unit + 1} : wsh_dev_place{last.peer + 1, 0};
}

/* All lanes: `len` bytes to each other member, from source + its number * stride, into its cells from `skip` on. */
template <int S>
static WSH_DEV void wsh_dev_cells_send(const struct wsh_dev_group &group, const char *source, size_t stride,
                                       size_t len, unsigned skip = 0)
{
    unsigned units = wsh_dev_cells_for(len), n = units * (unsigned)(group.n_pes - 1), lane = wsh_dev_lane<S>();
    constexpr unsigned ahead = S == WSH_BLOCK ? 2 : 1;
    struct wsh_dev_place next = wsh_dev_place_of(lane, units);

#pragma unroll 1
    for (unsigned i = lane; i < n; i += ahead * wsh_dev_size<S>()) {
        struct wsh_dev_place place[ahead];
        uint64_t value[ahead];

#pragma unroll
        for (unsigned u = 0; u < ahead; u++) {
            size_t off = (size_t)next.unit * WSH_CELL_BYTES;

            place[u] = next;
            if (i + u * wsh_dev_size<S>() < n)
                value[u] = wsh_dev_load8(source + (size_t)wsh_dev_after_me(group, next.peer) * stride + off, len - off);
            next = wsh_dev_place_next<S>(next, i + (u + 1) * wsh_dev_size<S>(), units);
        }
#pragma unroll
        for (unsigned u = 0; u < ahead; u++)
            if (i + u * wsh_dev_size<S>() < n)
                wsh_dev_cell_put(wsh_dev_cells_from(group,
                                                    wsh_dev_member_pad(group, wsh_dev_after_me(group, place[u].peer)),
                                                    group.my_pe) +
                                     skip + place[u].unit,
                                 value[u], group.epoch);
    }
}

/* All lanes: what this member keeps, in the units of cells. */
template <int S> static WSH_DEV void wsh_dev_cells_keep(char *dest, const char *source, size_t len)
{
#pragma unroll 1
    for (size_t off = wsh_dev_lane<S>() * WSH_CELL_BYTES; dest != source && off < len;
         off += wsh_dev_size<S>() * WSH_CELL_BYTES)
        wsh_dev_store8(dest + off, wsh_dev_load8(source + off, len - off), len - off);
}

/* All lanes: `len` bytes from each of `peers` members, `first` after this one and on, to dest + its number * stride. */
template <int S>
static WSH_DEV void wsh_dev_cells_receive(const struct wsh_dev_group &group, char *dest, size_t stride,
                                          size_t len, unsigned first, unsigned peers, unsigned skip = 0)
{
    unsigned units = wsh_dev_cells_for(len), n = units * peers, size = wsh_dev_size<S>(), lane = wsh_dev_lane<S>();
    constexpr unsigned ahead = wsh_dev_ahead<S>();
    struct wsh_dev_place next = wsh_dev_place_of(lane, units);

#pragma unroll 1
    for (unsigned i = lane; i < n; i += ahead * size) {
        struct wsh_ptx_pair seen[ahead];
        struct wsh_dev_place place[ahead];

#pragma unroll
        for (unsigned u = 0; u < ahead; u++) {
            int from = wsh_dev_after_me(group, first + next.peer);

            place[u] = next;
            if (i + u * size < n)
                seen[u] = wsh_ptx_get(wsh_dev_cells_from(group, group.pad, from) + skip + next.unit);
            next = wsh_dev_place_next<S>(next, i + (u + 1) * size, units);
        }
#pragma unroll
        for (unsigned u = 0; u < ahead; u++) {
            int from = wsh_dev_after_me(group, first + place[u].peer);
            size_t off = (size_t)place[u].unit * WSH_CELL_BYTES;

            if (i + u * size < n)
                wsh_dev_store8(dest + (size_t)from * stride + off,
                               wsh_dev_cell_take(group,
                                                 wsh_dev_cells_from(group, group.pad, from) + skip + place[u].unit,
                                                 seen[u]),
                               len - off);
        }
    }
}

#endif

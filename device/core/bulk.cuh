/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies by the GPU's bulk-copy unit (sm_90 and later): one lane moves chunks through scratch in shared memory that
 * the caller gives, with several chunks in flight. Where the unit cannot serve (older GPU, sides of different residue
 * modulo 16, memory that is not global) the copy goes by loads and stores.
 *
 * Ordering: ordinary stores to the source and to the scratch come before the unit's accesses by fence.proxy.async in
 * every lane, before the barrier, and once more in the lane that issues. That lane waits until its group is complete at
 * the destination (wait_group without .read), so that whatever it releases afterwards covers the copy.
 */
#ifndef WSH_DEVICE_BULK_CUH
#define WSH_DEVICE_BULK_CUH

#include "put.cuh"

#define WSH_BULK_STAGES 6
#define WSH_BULK_AHEAD 5 /* chunks that are loaded before the one that is stored */
#define WSH_BULK_CHUNK 8192
#define WSH_BULK_BARRIERS 128 /* bytes at the start of the scratch */

/* Smallest scratch: chunks of 128 bytes. */
#define WSH_BULK_SCRATCH_MIN (WSH_BULK_BARRIERS + WSH_BULK_STAGES * 128)

static WSH_DEV void wsh_dev_check_scratch(const char *what, const void *scratch, size_t len)
{
    if (!__isShared(scratch) || (uint64_t)scratch % 16 || len < WSH_BULK_SCRATCH_MIN)
        wsh_dev_refuse(what, WSH_DEVICE_BAD_SCRATCH, -1, scratch, len);
}

#if __CUDA_ARCH__ >= 900

/* One side of a copy in flight, loads or stores: the next chunk. */
struct wsh_dev_bulk_side {
    uint64_t g_at;
    size_t left;
    uint32_t stage, parity; /* of the buffer: how often it was used, modulo 2 */
};

/* Where a copy's barriers and buffers are in shared memory; `chunk` bytes each. */
struct wsh_dev_bulk_room {
    uint32_t barriers, buffers, chunk;
};

static WSH_DEV uint32_t wsh_dev_bulk_bytes(const struct wsh_dev_bulk_room &room, const struct wsh_dev_bulk_side &side)
{
    return side.left < room.chunk ? (uint32_t)side.left : room.chunk;
}

/* Goes on to the next chunk and stage. Counted: a division for each chunk would take longer than the chunk. */
static WSH_DEV void wsh_dev_bulk_advance(struct wsh_dev_bulk_side *side, uint32_t bytes)
{
    side->g_at += bytes;
    side->left -= bytes;
    if (++side->stage == WSH_BULK_STAGES) {
        side->stage = 0;
        side->parity ^= 1;
    }
}

static WSH_DEV void wsh_dev_bulk_load(const struct wsh_dev_bulk_room &room, struct wsh_dev_bulk_side *from)
{
    uint32_t bytes = wsh_dev_bulk_bytes(room, *from), barrier = room.barriers + 8 * from->stage;

    wsh_ptx_barrier_expect(barrier, bytes);
    wsh_ptx_bulk_load(room.buffers + from->stage * room.chunk, from->g_at, bytes, barrier);
    wsh_dev_bulk_advance(from, bytes);
}

static WSH_DEV void wsh_dev_bulk_store(const struct wsh_dev_bulk_room &room, struct wsh_dev_bulk_side *to)
{
    uint32_t bytes = wsh_dev_bulk_bytes(room, *to);

    while (!wsh_ptx_barrier_passed(room.barriers + 8 * to->stage, to->parity))
        continue;
    wsh_ptx_bulk_store(to->g_at, room.buffers + to->stage * room.chunk, bytes);
    wsh_dev_bulk_advance(to, bytes);
}

/* One lane. A buffer is loaded again once the store out of it has read it, which later stores need not have. */
static WSH_DEV void wsh_dev_bulk_run(const struct wsh_dev_bulk_room &room, struct wsh_dev_bulk_side from,
                                     struct wsh_dev_bulk_side to)
{
#pragma unroll 1
    for (uint32_t s = 0; s < WSH_BULK_STAGES; s++)
        wsh_ptx_barrier_init(room.barriers + 8 * s);
    wsh_ptx_proxy_fence();
#pragma unroll 1
    for (int i = 0; i < WSH_BULK_AHEAD && from.left; i++)
        wsh_dev_bulk_load(room, &from);
#pragma unroll 1
    while (to.left) {
        wsh_dev_bulk_store(room, &to);
        if (from.left) {
            wsh_ptx_bulk_wait_read_but<WSH_BULK_STAGES - WSH_BULK_AHEAD>();
            wsh_dev_bulk_load(room, &from);
        }
    }
    wsh_ptx_bulk_wait();
#pragma unroll 1
    for (uint32_t s = 0; s < WSH_BULK_STAGES; s++)
        wsh_ptx_barrier_inval(room.barriers + 8 * s);
}

/* Both sides at a multiple of 16, len too. */
template <int S>
static WSH_DEV void wsh_dev_bulk_middle(uint64_t to, uint64_t from, size_t len, void *scratch, size_t scratch_len)
{
    uint32_t shared = (uint32_t)__cvta_generic_to_shared(scratch);
    uint32_t chunk = (uint32_t)(scratch_len - WSH_BULK_BARRIERS) / WSH_BULK_STAGES & ~127u;

    if (len && wsh_dev_lane<S>() == 0)
        wsh_dev_bulk_run(wsh_dev_bulk_room{shared, shared + WSH_BULK_BARRIERS,
                                           chunk < WSH_BULK_CHUNK ? chunk : WSH_BULK_CHUNK},
                         wsh_dev_bulk_side{from, len, 0, 0}, wsh_dev_bulk_side{to, len, 0, 0});
}

/* All lanes; no barrier. False: nothing was done. L: who the edges are read from. */
template <int S, class L>
WSH_DEV_CALL bool wsh_dev_bulk_copy(char *to, const char *from, size_t len, void *scratch,
                                               size_t scratch_len)
{
    size_t head = -(uint64_t)to & 15, middle;

    if (((uint64_t)to ^ (uint64_t)from) & 15 || !__isGlobal(to) || !__isGlobal(from) || len < head + 16)
        return false;
    middle = (len - head) & ~(size_t)15;
    wsh_dev_copy_narrow<1, L>(to, from, head, wsh_dev_lane<S>(), wsh_dev_size<S>());
    wsh_dev_copy_narrow<1, L>(to + head + middle, from + head + middle, len - head - middle, wsh_dev_lane<S>(),
                              wsh_dev_size<S>());
    wsh_dev_bulk_middle<S>((uint64_t)to + head, (uint64_t)from + head, middle, scratch, scratch_len);
    return true;
}

#else /* before sm_90 there is no bulk-copy unit */

static WSH_DEV void wsh_ptx_proxy_fence()
{
}

template <int S, class L>
static WSH_DEV bool wsh_dev_bulk_copy(char *, const char *, size_t, void *, size_t)
{
    return false;
}

#endif

/* 0: by the proxy, as without scratch. */
static WSH_DEV uint64_t wsh_dev_bulk_reach(const char *what, const void *sym, size_t len, int pe)
{
    uint64_t at;

    return wsh_dev_reach_fast(sym, len, pe, &at) ? at : wsh_dev_reach_or_request(what, sym, len, pe, false);
}

template <int S>
WSH_DEV_CALL void wsh_dev_bulk_put(const char *what, void *dest, const void *source, size_t len, int pe,
                                     void *scratch, size_t scratch_len)
{
    uint64_t to;

    if (!len)
        return;
    to = wsh_dev_bulk_reach(what, dest, len, pe);
    wsh_dev_check_scratch(what, scratch, scratch_len);
    wsh_ptx_proxy_fence();
    wsh_dev_sync<S>();
    if (!to) {
        wsh_dev_put_any<S, true>(what, dest, source, len, pe);
        return;
    }
    if (!wsh_dev_bulk_copy<S, wsh_dev_from_global>((char *)to, (const char *)source, len, scratch, scratch_len))
        wsh_dev_store<S>(to, source, len);
    wsh_dev_sync<S>();
}

template <int S>
WSH_DEV_CALL void wsh_dev_bulk_get(const char *what, void *dest, const void *source, size_t len, int pe,
                                     void *scratch, size_t scratch_len)
{
    uint64_t from;

    if (!len)
        return;
    from = wsh_dev_bulk_reach(what, source, len, pe);
    wsh_dev_check_scratch(what, scratch, scratch_len);
    wsh_ptx_proxy_fence();
    wsh_dev_sync<S>();
    if (!from) {
        wsh_dev_get_any<S, true>(what, dest, source, len, pe);
        return;
    }
    if (!wsh_dev_bulk_copy<S, wsh_dev_from_peer>((char *)dest, (const char *)from, len, scratch, scratch_len))
        wsh_dev_copy<S, wsh_dev_from_peer>((char *)dest, (const char *)from, len);
    wsh_dev_sync<S>();
}

#endif

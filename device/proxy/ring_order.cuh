/* SPDX-License-Identifier: BSD-3-Clause */
/* Fence, flush and quiet of what was asked of the proxy: over all rings. Included by ring_push.cuh. */
#ifndef WSH_DEVICE_RING_ORDER_CUH
#define WSH_DEVICE_RING_ORDER_CUH

#include "ring_push.cuh"

/* All rings have handed to transports what was pushed before; a new epoch begins. One lane, after a barrier. */
static WSH_DEV void wsh_dev_rings_fence(const struct wsh_dev_rings &rings)
{
    uint32_t used = wsh_ptx_poll(&rings.heads->used);

    if (!used)
        return;
#pragma unroll 1
    for (uint32_t r = 0; r < rings.n; r++)
        if (used >> r & 1)
            wsh_dev_ring_reach("shmem_fence", &rings.ring[r].started, wsh_dev_ring_reserved(rings, r));
    wsh_ptx_add(&rings.heads->epoch, 1u);
}

/* How far the ring has completed what it was asked for; SOURCES: has read the sources of that. */
template <bool SOURCES> static WSH_DEV const uint64_t *wsh_dev_ring_word(const struct wsh_ring *ring)
{
    return SOURCES ? &ring->read : &ring->done;
}

template <bool SOURCES> static WSH_DEV const char *wsh_dev_ring_routine()
{
    return SOURCES ? "shmemx_flush" : "shmem_quiet";
}

/* Whether rings first … end - 1 have come to their parts of `heads`: several questions to the host at a time. */
template <bool SOURCES>
inline WSH_DEV_CALL bool wsh_dev_rings_are_done(const struct wsh_dev_rings &rings, const uint64_t *heads,
                                                uint32_t first, uint32_t end)
{
    bool done = true;

#pragma unroll 4
    for (uint32_t r = first; r < end; r++) {
        uint64_t seen = heads[r];

        if (seen)
            seen = wsh_ptx_poll(wsh_dev_ring_word<SOURCES>(&rings.ring[r]));
        done &= seen >= heads[r];
    }
    return done;
}

/* All rings have handed to transports what `heads` counts. */
template <bool SOURCES>
static WSH_DEV void wsh_dev_rings_wait_started(const struct wsh_dev_rings &rings, const uint64_t *heads)
{
#pragma unroll 1
    for (uint32_t r = 0; r < rings.n; r++)
        if (heads[r])
            wsh_dev_ring_reach(wsh_dev_ring_routine<SOURCES>(), &rings.ring[r].started, heads[r]);
}

/* Out of line, so that a quiet holds few registers. Returns what wsh_dev_ring_word will reach. */
template <bool SOURCES> inline WSH_DEV_CALL uint64_t wsh_dev_ring_ask(const struct wsh_dev_rings &rings)
{
    const enum wsh_ring_kind kind = SOURCES ? WSH_RING_FLUSH : WSH_RING_QUIET;

    return wsh_dev_ring_send(rings, wsh_dev_request{wsh_dev_ring_kind(kind), 0, 0, 0, 0, 0, 0}, 0) + 1;
}

/* Asks every consumer that has not come to its part of `heads`, then waits for all of them. */
template <bool SOURCES>
static WSH_DEV void wsh_dev_rings_request(const struct wsh_dev_rings &rings, const uint64_t *heads)
{
    struct wsh_dev_rings one = rings;
    uint64_t asked[WSH_CONSUMERS_MAX];

#pragma unroll 1
    for (uint32_t c = 0; c < rings.n / rings.each; c++) {
        one.mine = c * rings.each + rings.mine % rings.each;
        asked[c] = wsh_dev_rings_are_done<SOURCES>(rings, heads, c * rings.each, (c + 1) * rings.each)
                       ? 0
                       : wsh_dev_ring_ask<SOURCES>(one);
    }
#pragma unroll 1
    for (uint32_t c = 0; c < rings.n / rings.each; c++)
        if (asked[c])
            wsh_dev_ring_reach(wsh_dev_ring_routine<SOURCES>(),
                               wsh_dev_ring_word<SOURCES>(&rings.ring[c * rings.each + rings.mine % rings.each]),
                               asked[c]);
}

/*
 * All that was pushed before the call, to any ring, is complete at its target; SOURCES: its sources may be written
 * again. A record of another producer that was reserved and not yet written may hide ours from the consumer when it
 * takes the request: so it is asked once more, when everything has been taken. One lane, after a barrier and
 * wsh_ptx_fence.
 */
template <bool SOURCES>
inline WSH_DEV_CALL void wsh_dev_rings_complete(const struct wsh_dev_rings &rings)
{
    uint64_t heads[WSH_RINGS_MAX];
    uint32_t used = wsh_ptx_poll(&rings.heads->used);

    if (!used)
        return;
#pragma unroll 4
    for (uint32_t r = 0; r < rings.n; r++)
        heads[r] = used >> r & 1 ? wsh_dev_ring_reserved(rings, r) : 0;
#pragma unroll 1
    for (bool again = false; !wsh_dev_rings_are_done<SOURCES>(rings, heads, 0, rings.n); again = true) {
        if (again)
            wsh_dev_rings_wait_started<SOURCES>(rings, heads);
        wsh_dev_rings_request<SOURCES>(rings, heads);
    }
    wsh_ptx_acquire();
}

static WSH_DEV void wsh_dev_rings_quiet(const struct wsh_dev_rings &rings)
{
    wsh_dev_rings_complete<false>(rings);
}

static WSH_DEV void wsh_dev_rings_flush(const struct wsh_dev_rings &rings)
{
    wsh_dev_rings_complete<true>(rings);
}

#endif

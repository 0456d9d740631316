/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fence and quiet of what kernels have posted to NICs themselves, and how a fence keeps it and what the proxy was asked
 * for apart. gda.h argues the order.
 */
#ifndef WSH_DEVICE_GDA_ORDER_CUH
#define WSH_DEVICE_GDA_ORDER_CUH

#include "gda_push.cuh"

/* Notes what has been posted and may not be complete; whether there is some. All calls have rung before this one. */
static WSH_DEV bool wsh_dev_gda_note(struct wsh_gda *gda)
{
    const uint32_t n = gda->n_all;
    bool open = false;

#pragma unroll 4
    for (uint32_t q = 0; q < n; q++) {
        uint64_t rung = wsh_ptx_poll(&gda->queue[q].rung), mark = wsh_ptx_poll(&gda->queue[q].mark);

        if (rung > mark) {
            wsh_ptx_raise(&gda->queue[q].fenced, rung);
            open = true;
        }
    }
    return open;
}

/* The same of what the rings that `used` has were asked for. */
static WSH_DEV bool wsh_dev_gda_note_rings(struct wsh_gda *gda, const struct wsh_dev_rings &rings, uint32_t used)
{
    bool open = false;

#pragma unroll 1
    for (uint32_t r = 0; r < rings.n; r++) {
        uint64_t head = used >> r & 1 ? wsh_dev_ring_reserved(rings, r) : 0;

        if (head > wsh_ptx_poll(&gda->ring_done[r])) {
            wsh_ptx_raise(&gda->ring_fenced[r], head);
            open = true;
        }
    }
    return open;
}

/*
 * One lane, after a release: what comes later, by either way, is behind what came before. A ring that nobody has used
 * has had no fence of its own; the epoch tells its consumer of ours.
 */
inline WSH_DEV_CALL void wsh_dev_gda_fence(struct wsh_gda *gda, const struct wsh_dev_rings &rings)
{
    uint32_t used = wsh_ptx_poll(&rings.heads->used);
    bool open = wsh_dev_gda_note(gda);

    open |= wsh_dev_gda_note_rings(gda, rings, used);
    if (!open)
        return;
    wsh_ptx_pass_on_add(&gda->fences, 1);
    if (!used)
        wsh_ptx_add(&rings.heads->epoch, 1u);
}

/* Whether the word of the host, or what was last seen of it, has come to `value`. */
static WSH_DEV bool wsh_dev_gda_has_come(const uint64_t *word, uint64_t *known, uint64_t value)
{
    uint64_t seen;

    if (wsh_ptx_poll(known) >= value)
        return true;
    seen = wsh_ptx_poll(word);
    if (seen < value)
        return false;
    wsh_ptx_put(known, seen);
    return true;
}

/* Whether the queues have come as far as fences have noted. */
static WSH_DEV bool wsh_dev_gda_queues_have(struct wsh_gda *gda)
{
#pragma unroll 1
    for (uint32_t q = 0; q < gda->n_all; q++)
        if (!wsh_dev_gda_has_come(&wsh_dev_gda_marks(&gda->queue[q])->mark, &gda->queue[q].mark,
                                  wsh_ptx_poll(&gda->queue[q].fenced)))
            return false;
    return true;
}

/* The first ring that has not, or their number. */
static WSH_DEV uint32_t wsh_dev_gda_ring_left(struct wsh_gda *gda, const struct wsh_dev_rings &rings)
{
    uint32_t r = 0;

#pragma unroll 1
    while (r < rings.n && wsh_dev_gda_has_come(&rings.ring[r].done, &gda->ring_done[r],
                                               wsh_ptx_poll(&gda->ring_fenced[r])))
        r++;
    return r;
}

/* What wsh_dev_gda_fences_end returns but for the number of a ring that has not come as far as fences have noted. */
#define WSH_GDA_OPEN (~0u)   /* all is complete: kernels may post */
#define WSH_GDA_CLOSED (~1u) /* a queue has not */

/*
 * Whether all is complete that a fence has put before what comes now. The number of fences is read first: what they
 * have noted, or more, is what is looked at then.
 */
inline WSH_DEV_CALL uint32_t wsh_dev_gda_fences_end(struct wsh_gda *gda, const struct wsh_dev_rings &rings)
{
    uint64_t fences = wsh_ptx_poll(&gda->fences);
    uint32_t r;

    wsh_ptx_acquire();
    if (!wsh_dev_gda_queues_have(gda))
        return WSH_GDA_CLOSED;
    r = wsh_dev_gda_ring_left(gda, rings);
    if (r < rings.n)
        return r;
    wsh_ptx_raise(&gda->fences_over, fences);
    return WSH_GDA_OPEN;
}

/* A ring has not come as far as fences have noted: whether the caller is to ask its consumer for a quiet. */
static WSH_DEV bool wsh_dev_gda_is_to_request(struct wsh_gda *gda)
{
    uint64_t fences = wsh_ptx_poll(&gda->fences), asked = wsh_ptx_poll(&gda->fences_asked);

    return asked < fences && wsh_ptx_compare_swap(&gda->fences_asked, asked, fences) == asked;
}

/* Looks at all queues that are not at their part of `ends` yet: the number of one that is not, or n_all. */
inline WSH_DEV_CALL uint32_t wsh_dev_gda_left(struct wsh_gda *gda, uint64_t *ends)
{
    const uint32_t n = gda->n_all;
    uint32_t left = n;

#pragma unroll 4
    for (uint32_t q = 0; q < n; q++) {
        uint64_t seen = ends[q];

        if (seen)
            seen = wsh_ptx_poll(&wsh_dev_gda_marks(&gda->queue[q])->mark);
        if (seen < ends[q])
            left = q;
    }
    return left;
}

/*
 * All that was posted before the call is complete at its target, and what was read is here. One lane, after a barrier
 * and wsh_ptx_fence.
 */
inline WSH_DEV_CALL void wsh_dev_gda_quiet(struct wsh_gda *gda)
{
    uint64_t ends[WSH_GDA_ALL_MAX];
    const uint32_t n = gda->n_all;
    bool some = false;
    uint32_t q;

#pragma unroll 4
    for (q = 0; q < n; q++) {
        uint64_t rung = wsh_ptx_poll(&gda->queue[q].rung), mark = wsh_ptx_poll(&gda->queue[q].mark);

        ends[q] = rung > mark ? rung : 0;
        some |= rung > mark;
    }
    if (!some)
        return;
#pragma unroll 1
    while ((q = wsh_dev_gda_left(gda, ends)) < n)
        wsh_dev_ring_reach("shmem_quiet", &wsh_dev_gda_marks(&gda->queue[q])->mark, ends[q]);
    wsh_ptx_acquire();
#pragma unroll 1
    for (q = 0; q < n; q++)
        if (ends[q])
            wsh_ptx_raise(&gda->queue[q].mark, ends[q]);
}

#endif

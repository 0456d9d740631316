/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts and gets that kernels post to NICs themselves (gda.h), by the view: which do, and the requests that they become.
 * All others are records for the proxy.
 */
#ifndef WSH_DEVICE_GDA_CUH
#define WSH_DEVICE_GDA_CUH

#include "proxied.cuh"

static WSH_DEV struct wsh_gda_queue *wsh_dev_gda_queue(struct wsh_gda *gda)
{
    return &gda->queue[(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)) % gda->n_queues];
}

/* The segment that holds [addr, addr + len), or -1. */
static WSH_DEV int wsh_dev_gda_seg(uint64_t addr, uint64_t len)
{
#pragma unroll
    for (int i = WSH_GDA_SEGS - 1; i >= 0; i--)
        if (wsh_dev_seg_holds(wsh_device_view.seg[i], addr, len))
            return i;
    return -1;
}

/* A transfer between symmetric and local memory. `counter`: of the one that counts it, its number + 1; or 0. */
struct wsh_dev_gda_transfer {
    const void *sym, *local;
    uint64_t len;
    int pe;
    uint32_t counter;
    bool gets;
};

static WSH_DEV const struct wsh_gda_target *wsh_dev_gda_target(const struct wsh_gda *gda, uint32_t rail,
                                                               const struct wsh_dev_gda_transfer &transfer)
{
    uint64_t row = transfer.counter ? (uint64_t)(transfer.counter - 1) * gda->n_rails + rail : rail;

    return (const struct wsh_gda_target *)(transfer.counter ? gda->counter_targets : gda->targets) +
           row * (uint32_t)wsh_device_view.n_pes + (uint32_t)transfer.pe;
}

/* Whether the view lets a NIC do it: between segments, to a PE that this GPU does not reach. */
static WSH_DEV bool wsh_dev_gda_is_far(const struct wsh_dev_gda_transfer &transfer, int there, int here)
{
    return there >= 0 && here >= 0 && (uint32_t)transfer.pe < (uint32_t)wsh_device_view.n_pes &&
           wsh_dev_slot(transfer.pe) == WSH_DEVICE_NO_SLOT;
}

/* Whether kernels post what is so long, and NICs have keys for it. All words are asked for before any is used. */
static WSH_DEV bool wsh_dev_gda_has_length(const struct wsh_gda *gda, const struct wsh_dev_gda_transfer &transfer,
                                           int there, int here)
{
    const uint64_t there_len = gda->length[there], here_len = gda->length[here], remote = gda->remote[there];
    const uint32_t from = transfer.gets ? gda->get_from : gda->put_from, usable = gda->local_usable,
                   counters = gda->n_counters;
    bool has = remote != 0;

    has &= from && transfer.len >= from && transfer.len <= WSH_GDA_LENGTH_MAX;
    has &= (uint64_t)transfer.sym - wsh_device_view.seg[there].base + transfer.len <= there_len;
    has &= (uint64_t)transfer.local - wsh_device_view.seg[here].base + transfer.len <= here_len;
    return has & (usable >> here & 1) & (transfer.counter <= counters);
}

/* Its request, in a queue of `rail`; false: the NICs do not take it. */
static WSH_DEV bool wsh_dev_gda_request_of(const struct wsh_gda *gda, uint32_t rail,
                                           const struct wsh_dev_gda_transfer &transfer,
                                           struct wsh_dev_gda_request *request)
{
    const int there = wsh_dev_gda_seg((uint64_t)transfer.sym, transfer.len),
              here = wsh_dev_gda_seg((uint64_t)transfer.local, transfer.len);
    struct wsh_gda_target target;
    struct wsh_gda_remote remote;

    if (!wsh_dev_gda_is_far(transfer, there, here) || !wsh_dev_gda_has_length(gda, transfer, there, here))
        return false;
    target = *wsh_dev_gda_target(gda, rail, transfer);
    remote = ((const struct wsh_gda_remote *)
                  gda->remote[there])[(uint64_t)rail * (uint32_t)wsh_device_view.n_pes + (uint32_t)transfer.pe];
    request->operation = (uint64_t)(transfer.gets ? WSH_GDA_READ : WSH_GDA_WRITE) << WSH_GDA_OPERATION_AT;
    request->target = (uint64_t)target.qkey << 32 | (uint64_t)target.qpn << 16 | target.ah;
    request->there = remote.base + ((uint64_t)transfer.sym - wsh_device_view.seg[there].base);
    request->here = (uint64_t)transfer.local;
    request->len = (uint32_t)transfer.len;
    request->key_there = remote.key;
    request->key_here = gda->local_key[here][rail];
    request->pe = (uint32_t)transfer.pe;
    return (target.qpn != 0) & (remote.usable != 0);
}

inline WSH_DEV_CALL uint32_t wsh_dev_gda_fences_end_here()
{
    return wsh_dev_gda_fences_end(wsh_dev_gda(), wsh_dev_rings_here(0));
}

/* What is before a fence is not complete: if because of ring r, its consumer is asked for a quiet. */
inline WSH_DEV_CALL void wsh_dev_gda_hasten(uint32_t r)
{
    struct wsh_dev_rings rings = wsh_dev_rings_here(0);

    rings.mine = r;
    if (r != WSH_GDA_CLOSED && wsh_dev_gda_is_to_ask(wsh_dev_gda()))
        wsh_dev_ring_send(rings, wsh_dev_ask{wsh_dev_ring_kind(WSH_RING_QUIET), 0, 0, 0, 0, 0, 0, 0}, 0);
}

/*
 * Whether kernels may post: all is complete that fences have put before what comes now. A fence comes before only if
 * the lane has synchronized with it, so that it knows of it.
 */
inline WSH_DEV_CALL bool wsh_dev_gda_is_open()
{
    const struct wsh_gda *gda = wsh_dev_gda();
    uint32_t r;

    if (wsh_ptx_known(&gda->fences) == wsh_ptx_known(&gda->fences_over))
        return true;
    r = wsh_dev_gda_fences_end_here();
    if (r == WSH_GDA_OPEN)
        return true;
    wsh_dev_gda_hasten(r);
    return false;
}

/*
 * Lanes that call it together, each with a transfer; behind a barrier, if others have stored to its memory here. Those
 * whose transfer was posted share a reservation and doorbells. False: nothing was done. What is asked of the GPU's
 * memory is asked for at once.
 */
template <bool ALONE> static WSH_DEV bool wsh_dev_gda_do(struct wsh_dev_gda_transfer transfer)
{
    struct wsh_gda *gda = wsh_dev_gda();
    struct wsh_gda_queue *queue = wsh_dev_gda_queue(gda);
    uint64_t fences = wsh_ptx_known(&gda->fences), over = wsh_ptx_known(&gda->fences_over);
    struct wsh_dev_gda_request request;

    if (fences != over) {
        struct wsh_dev_gda_transfer kept = transfer;
        uint32_t r = wsh_dev_gda_fences_end_here();

        if (r != WSH_GDA_OPEN) {
            wsh_dev_gda_hasten(r);
            return false;
        }
        wsh_ptx_again(&kept);
        transfer = kept;
    }
    if (!wsh_dev_gda_request_of(gda, queue->rail, transfer, &request))
        return false;
    if (ALONE)
        wsh_dev_gda_post_alone(queue, request);
    else
        wsh_dev_gda_post(queue, wsh_ptx_active(), request);
    return true;
}

/* By the first lane of a warp's or block's call, or by any threads that call it together. */
template <int S> WSH_DEV_CALL bool wsh_dev_gda_put(void *dest, const void *source, size_t len, int pe, uint32_t counter)
{
    return wsh_dev_gda_do<S != WSH_THREAD>(wsh_dev_gda_transfer{dest, source, len, pe, counter, false});
}

template <int S> WSH_DEV_CALL bool wsh_dev_gda_get(void *dest, const void *source, size_t len, int pe)
{
    return wsh_dev_gda_do<S != WSH_THREAD>(wsh_dev_gda_transfer{source, dest, len, pe, 0, true});
}

#endif

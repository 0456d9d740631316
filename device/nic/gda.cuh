/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts and gets that kernels post to NICs themselves (gda.h), by the view: which do, and the requests that they become.
 * All others are records for the proxy.
 */
#ifndef WSH_DEVICE_GDA_CUH
#define WSH_DEVICE_GDA_CUH

#include "gda_order.cuh"
#include "../proxy/proxied.cuh"

/* Whether kernels post to NICs themselves, and all they need for that. */
static WSH_DEV bool wsh_dev_has_gda()
{
    return wsh_device_view.flags & WSH_DEVICE_GDA;
}

static WSH_DEV struct wsh_gda *wsh_dev_gda()
{
    return (struct wsh_gda *)(wsh_device_view.ring_heads + sizeof(struct wsh_ring_heads));
}

static WSH_DEV uint32_t wsh_dev_gda_block()
{
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

static WSH_DEV struct wsh_gda_queue *wsh_dev_gda_queue(struct wsh_gda *gda)
{
    return &gda->queue[wsh_dev_gda_block() & (gda->n_queues - 1)];
}

/* Of those whose requests carry data. */
static WSH_DEV struct wsh_gda_queue *wsh_dev_gda_value_queue(struct wsh_gda *gda)
{
    return &gda->queue[gda->n_queues + (wsh_dev_gda_block() & (gda->n_values - 1))];
}

/* The segment in which [addr, addr + len) has keys, or -1. */
static WSH_DEV int wsh_dev_gda_seg(const struct wsh_gda *gda, uint64_t addr, uint64_t len)
{
#pragma unroll
    for (int i = WSH_GDA_SEGS - 1; i >= 0; i--) {
        const uint64_t off = addr - gda->local[i].base, length = gda->local[i].length;

        if (off < length && len <= length - off)
            return i;
    }
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

/* What transfers between the same two segments have in common, in one queue. */
struct wsh_dev_gda_pair {
    uint64_t there, there_len, here, here_len; /* where the segments begin here, and bytes of them that have keys */
    const struct wsh_gda_peer *peers;          /* [n_pes] */
    const struct wsh_gda_target *counts;       /* [n_pes]: of the counter; or NULL */
    uint32_t seg, key_here;
};

static WSH_DEV const struct wsh_gda_target *wsh_dev_gda_counts(const struct wsh_gda *gda, uint32_t rail,
                                                               uint32_t counter)
{
    uint64_t row = (uint64_t)(counter - 1) * gda->n_rails + rail;

    return counter ? (const struct wsh_gda_target *)gda->counter_targets + row * (uint32_t)wsh_device_view.n_pes
                   : nullptr;
}

/* That of a transfer; false: it has none. */
static WSH_DEV bool wsh_dev_gda_pair_of(const struct wsh_gda *gda, const struct wsh_gda_queue *queue,
                                       const struct wsh_dev_gda_transfer &transfer, struct wsh_dev_gda_pair *pair)
{
    const int there = wsh_dev_gda_seg(gda, (uint64_t)transfer.sym, transfer.len),
              here = wsh_dev_gda_seg(gda, (uint64_t)transfer.local, transfer.len);

    if (there < 0 || here < 0 || transfer.counter > gda->n_counters)
        return false;
    pair->there = gda->local[there].base;
    pair->there_len = gda->local[there].length;
    pair->here = gda->local[here].base;
    pair->here_len = gda->local[here].length;
    pair->peers = (const struct wsh_gda_peer *)queue->peers;
    pair->counts = transfer.counter ? wsh_dev_gda_counts(gda, queue->rail, transfer.counter) : nullptr;
    pair->seg = (uint32_t)there;
    pair->key_here = queue->key[here];
    return queue->usable >> here & 1;
}

/* Whether a transfer lies between the pair's segments. Without branches: lists ask it of each put. */
static WSH_DEV bool wsh_dev_gda_holds(const struct wsh_dev_gda_pair &pair, const struct wsh_dev_gda_transfer &transfer)
{
    const uint64_t there = (uint64_t)transfer.sym - pair.there, here = (uint64_t)transfer.local - pair.here;

    return (there < pair.there_len) & (transfer.len <= pair.there_len - there) & (here < pair.here_len) &
           (transfer.len <= pair.here_len - here);
}

/* Whether NICs take so much, and reach the PE: none where this GPU does. Without branches, likewise. */
static WSH_DEV bool wsh_dev_gda_takes(const struct wsh_dev_gda_pair &pair, const struct wsh_dev_gda_transfer &transfer)
{
    const uint32_t pe = (uint32_t)transfer.pe < (uint32_t)wsh_device_view.n_pes ? (uint32_t)transfer.pe : 0,
                   qpn = pair.counts ? pair.counts[pe].qpn : 1;
    const struct wsh_gda_peer *peer = pair.peers + pe;

    return (transfer.len - 1 < WSH_GDA_LENGTH_MAX) & (pe == (uint32_t)transfer.pe) & (peer->usable >> pair.seg & 1) &
           (peer->target.qpn != 0) & (qpn != 0);
}

/* The request of a transfer that they take. */
static WSH_DEV void wsh_dev_gda_make(const struct wsh_dev_gda_pair &pair, const struct wsh_dev_gda_transfer &transfer,
                                     struct wsh_dev_gda_request *request)
{
    const struct wsh_gda_peer *peer = pair.peers + transfer.pe;
    const struct wsh_gda_target target = pair.counts ? pair.counts[transfer.pe] : peer->target;

    request->operation = (uint64_t)(transfer.gets ? WSH_GDA_READ : WSH_GDA_WRITE) << WSH_GDA_OPERATION_AT;
    request->target = (uint64_t)target.qkey << 32 | (uint64_t)target.qpn << 16 | target.ah;
    request->there = peer->base[pair.seg] + ((uint64_t)transfer.sym - pair.there);
    request->here = (uint64_t)transfer.local;
    request->len = (uint32_t)transfer.len;
    request->key_there = peer->key[pair.seg];
    request->key_here = pair.key_here;
    request->pe = (uint32_t)transfer.pe;
}

/* Its request; false: the NICs do not take it. */
static WSH_DEV bool wsh_dev_gda_request_of(const struct wsh_gda *gda, const struct wsh_gda_queue *queue,
                                           const struct wsh_dev_gda_transfer &transfer,
                                           struct wsh_dev_gda_request *request)
{
    struct wsh_dev_gda_pair pair;

    if (!wsh_dev_gda_pair_of(gda, queue, transfer, &pair) || !wsh_dev_gda_takes(pair, transfer))
        return false;
    wsh_dev_gda_make(pair, transfer, request);
    return true;
}

/* A short put, not counted, whose request carries the data: `bits`, where transfer.local is NULL. */
struct wsh_dev_gda_value {
    struct wsh_dev_gda_transfer transfer;
    uint64_t bits;
};

/* Its request, and the data in words. In memory, where they hold no registers of all that waits call. */
struct wsh_dev_gda_carried {
    struct wsh_gda_queue *queue;
    struct wsh_dev_gda_request request;
    uint64_t data[WSH_GDA_INLINE_MAX / 8];
};

/* The data of a put, from any memory. */
static WSH_DEV void wsh_dev_gda_carry(const struct wsh_dev_gda_value *value, uint64_t *data)
{
    const unsigned char *from = (const unsigned char *)value->transfer.local;

    data[0] = value->bits;
#pragma unroll 1
    for (uint32_t i = 1; i < WSH_GDA_INLINE_MAX / 8; i++)
        data[i] = 0;
#pragma unroll 1
    for (uint32_t i = 0; from && i < (uint32_t)value->transfer.len; i++)
        data[i / 8] |= (uint64_t)from[i] << i % 8 * 8;
}

/* The request; false: the NICs do not take it. */
inline WSH_DEV_CALL bool wsh_dev_gda_carried_of(const struct wsh_dev_gda_value *value,
                                                struct wsh_dev_gda_carried *carried)
{
    struct wsh_gda *gda = wsh_dev_gda();
    const struct wsh_dev_gda_transfer &transfer = value->transfer;
    const int there = wsh_dev_gda_seg(gda, (uint64_t)transfer.sym, transfer.len);
    struct wsh_gda_queue *queue = carried->queue = wsh_dev_gda_value_queue(gda);
    struct wsh_dev_gda_pair pair = {};

    if (there < 0)
        return false;
    pair.there = gda->local[there].base;
    pair.peers = (const struct wsh_gda_peer *)queue->peers;
    pair.seg = (uint32_t)there;
    if (!wsh_dev_gda_takes(pair, transfer))
        return false;
    wsh_dev_gda_make(pair, transfer, &carried->request);
    wsh_dev_gda_carry(value, carried->data);
    return true;
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
    if (r != WSH_GDA_CLOSED && wsh_dev_gda_is_to_request(wsh_dev_gda()))
        wsh_dev_ring_send(rings, wsh_dev_request{wsh_dev_ring_kind(WSH_RING_QUIET), 0, 0, 0, 0, 0, 0, 0}, 0);
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
    if (!wsh_dev_gda_request_of(gda, queue, transfer, &request))
        return false;
    if (ALONE)
        wsh_dev_gda_post_alone(queue, request);
    else
        wsh_dev_gda_post(queue, wsh_ptx_active(), request);
    return true;
}

/* Of lanes that are here together: those that share a run with this one, of at most `batch`. */
static WSH_DEV uint32_t wsh_dev_gda_run_of(uint32_t lanes, uint32_t batch)
{
    uint32_t rest = lanes;

    for (;;) {
#pragma unroll 1
        for (uint32_t i = 0; i < batch; i++)
            rest &= rest - 1;
        if ((lanes & ~rest) >> wsh_ptx_lane() & 1)
            return lanes & ~rest;
        lanes = rest;
    }
}

/* Lanes that call it together. What a request is made of is read when it has a number, so that no wait holds it. */
inline WSH_DEV_CALL void wsh_dev_gda_post_carried(const struct wsh_dev_gda_carried *carried)
{
    struct wsh_gda_queue *queue = carried->queue;
    const uint32_t lanes = wsh_dev_gda_run_of(wsh_ptx_active(), wsh_dev_gda_max_batch(queue)),
                   rank = (uint32_t)__popc(lanes & ((1u << wsh_ptx_lane()) - 1));
    struct wsh_dev_gda_entry entry;
    struct wsh_dev_gda_run run = {};

    if (rank == 0)
        run = wsh_dev_gda_reserve(queue, (uint32_t)__popc(lanes));
    run.first = wsh_ptx_party_from(lanes, run.first, (uint32_t)__ffs((int)lanes) - 1);
    entry = wsh_dev_gda_entry_of(wsh_dev_gda_ring_of(queue), run.first + rank, carried->request);
    entry.w0 ^= (uint64_t)1 << WSH_GDA_PIECES_AT; /* bytes in place of a piece */
    entry.w0 |= WSH_GDA_INLINE | (uint64_t)carried->request.len << WSH_GDA_PIECES_AT;
    entry.w6 = carried->data[0];
    entry.w7 = carried->data[1];
    wsh_dev_gda_store(entry, carried->data + 2);
    wsh_ptx_party_sync(lanes);
    if (rank == 0)
        wsh_dev_gda_ring(queue, run, (uint32_t)__popc(lanes));
}

/*
 * Lanes that call it together, each with a put of at most WSH_GDA_INLINE_MAX bytes; they may overwrite the source at
 * once. False: nothing was done.
 */
inline WSH_DEV_CALL bool wsh_dev_gda_put_inline(const struct wsh_dev_gda_value *value)
{
    struct wsh_dev_gda_carried carried;

    if (!wsh_dev_gda()->n_values || value->transfer.len - 1 >= WSH_GDA_INLINE_MAX || !wsh_dev_gda_is_open() ||
        !wsh_dev_gda_carried_of(value, &carried))
        return false;
    wsh_dev_gda_post_carried(&carried);
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

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of puts, counted or not, in device code: what is zero-copy is posted in runs, with one reservation in a
 * ring and one release for a run; the rest is put as by calls of its own.
 */
#ifndef WSH_DEVICE_LIST_CUH
#define WSH_DEVICE_LIST_CUH

#include "counter.cuh"

#define WSH_LIST_RUN 32u /* puts for one reservation in a ring, and one release */

/* One lane: so many puts from the first on that are zero-copy records in one ring; *pieces of them. */
static WSH_DEV uint32_t wsh_dev_list_run(const shmemx_put_t *puts, size_t n, uint32_t *pieces)
{
    uint32_t run = 0, mine = 0;

    *pieces = 0;
#pragma unroll 1
    for (; run < n && run < WSH_LIST_RUN && wsh_dev_list_is_zero_copy(puts[run]); run++) {
        uint32_t ring = wsh_dev_rings_here(puts[run].pe).mine;

        if (run && ring != mine)
            break;
        mine = ring;
        *pieces += puts[run].counter ? 3 : 2;
    }
    return run;
}

/* One lane posts them. The release is that of all sources. */
inline WSH_DEV_CALL void wsh_dev_list_post(const shmemx_put_t *puts, uint32_t n, uint32_t pieces)
{
    struct wsh_dev_rings rings = wsh_dev_rings_here(puts[0].pe);
    uint32_t epoch;
    uint64_t at = wsh_dev_ring_slots<true>(&rings, &pieces, &epoch);

#pragma unroll 1
    for (uint32_t i = 0; i < n; i++) {
        unsigned words;
        struct wsh_dev_request request = wsh_dev_list_request(puts[i], &words);

        wsh_dev_ring_pieces(rings, at, epoch, request, words);
        at += words + 1;
    }
}

/* As a kernel posts it to a NIC itself. */
static WSH_DEV struct wsh_dev_gda_transfer wsh_dev_list_transfer(const shmemx_put_t &put)
{
    return wsh_dev_gda_transfer{put.dest, put.source, put.nelems, put.pe, (uint32_t)put.counter, false};
}

/* Whether NICs take it so. */
inline WSH_DEV_CALL bool wsh_dev_list_takes(const shmemx_put_t *put)
{
    struct wsh_gda *gda = wsh_dev_gda();
    struct wsh_dev_gda_request request;

    return wsh_dev_gda_request_of(gda, wsh_dev_gda_queue(gda), wsh_dev_list_transfer(*put), &request);
}

/* What is left of a list. In memory, since registers held by a loop add to those of all that it calls. */
struct wsh_dev_list_rest {
    const char *what;
    const shmemx_put_t *puts, *end;
    bool posted; /* those that NICs take have been posted by the kernel */
};

/* The word that a put of a list counts at; NULL: at none. */
inline WSH_DEV_CALL uint64_t *wsh_dev_list_word(const char *what, const shmemx_put_t *put)
{
    if (!put->counter)
        return nullptr;
    return wsh_dev_counter_word(put->dest, put->nelems, wsh_dev_counter_number(what, put->counter), put->pe);
}

/* All threads, in the order of the list. */
template <int S> WSH_DEV_CALL void wsh_dev_list_others(struct wsh_dev_list_rest *rest)
{
    WSH_DEV_SAVES(wsh_dev_list_others<S>);
#pragma unroll 1
    for (; rest->puts != rest->end; rest->puts++) {
        const shmemx_put_t *put = rest->puts;

        if (wsh_dev_list_is_zero_copy(*put) || (rest->posted && wsh_dev_list_takes(put)))
            continue;
        if (uint64_t *word = wsh_dev_list_word(rest->what, put))
            wsh_dev_put_signal_any<S, false>(rest->what, put->dest, put->source, put->nelems, word, 1,
                                             SHMEM_SIGNAL_ADD, put->pe);
        else
            wsh_dev_put_any<S, false>(rest->what, put->dest, put->source, put->nelems, put->pe);
    }
}

/* The lanes that post records: one, or those of a warp or of a block's first warp. */
template <int S> static WSH_DEV unsigned wsh_dev_list_lanes()
{
    return S == WSH_THREAD ? 1 : wsh_dev_sure_lanes<WSH_WARP>();
}

/* One lane: posts the runs of its share, whole runs at a time. Whether something else is left. */
template <int S> WSH_DEV_CALL bool wsh_dev_list_records(const shmemx_put_t *puts, size_t n)
{
    const unsigned lanes = wsh_dev_list_lanes<S>(), lane = wsh_dev_lane<S>();
    const size_t share = (n + lanes - 1) / lanes, first = lane * share < n ? lane * share : n,
                 end = first + share < n ? first + share : n;
    bool others = false;

    WSH_DEV_SAVES(wsh_dev_list_records<S>);
#pragma unroll 1
    for (size_t i = first; i < end;) {
        uint32_t pieces, run = wsh_dev_list_run(puts + i, end - i, &pieces);

        if (run)
            wsh_dev_list_post(puts + i, run, pieces);
        others |= !run;
        i += run ? run : 1;
    }
    return others;
}

/* One lane: so many puts from the first on that make a run for a NIC: they go the same pair. */
static WSH_DEV uint32_t wsh_dev_list_batch(const struct wsh_gda *gda, const struct wsh_gda_queue *queue,
                                           const shmemx_put_t *puts, size_t n, struct wsh_dev_gda_pair *pair)
{
    const uint32_t max_batch = wsh_dev_gda_max_batch(queue);
    const size_t most = n < max_batch ? n : max_batch;
    const shmemx_counter_t counter = puts->counter;
    uint32_t run = 0;

    if (!wsh_dev_gda_pair_of(gda, queue, wsh_dev_list_transfer(*puts), pair))
        return 0;
#pragma unroll 1
    while (run < most) {
        const struct wsh_dev_gda_transfer transfer = wsh_dev_list_transfer(puts[run]);

        if (puts[run].counter != counter || !wsh_dev_gda_holds(*pair, transfer) || !wsh_dev_gda_takes(*pair, transfer))
            break;
        run++;
    }
    return run;
}

/* One lane: posts the run that the list begins with, by one doorbell; so many puts. */
inline WSH_DEV_CALL uint32_t wsh_dev_list_post_batch(const shmemx_put_t *puts, size_t n)
{
    struct wsh_gda *gda = wsh_dev_gda();
    struct wsh_gda_queue *queue = wsh_dev_gda_queue(gda);
    const struct wsh_dev_gda_ring ring = wsh_dev_gda_ring_of(queue);
    struct wsh_dev_gda_pair pair;
    const uint32_t batch = wsh_dev_list_batch(gda, queue, puts, n, &pair);
    struct wsh_dev_gda_run run;

    if (!batch)
        return 0;
    run = wsh_dev_gda_reserve(queue, batch);
#pragma unroll 1
    for (uint32_t i = 0; i < batch; i++) {
        struct wsh_dev_gda_request request;

        wsh_dev_gda_make(pair, wsh_dev_list_transfer(puts[i]), &request);
        wsh_dev_gda_store(wsh_dev_gda_entry_of(ring, run.first + i, request));
    }
    wsh_dev_gda_ring(queue, run, batch);
    return batch;
}

/*
 * Full warps, at once: the puts of those lanes that have one and whose NICs take it share a reservation. Whether this
 * lane's was posted.
 */
inline WSH_DEV_CALL bool wsh_dev_list_post_each(const shmemx_put_t *put)
{
    struct wsh_gda *gda = wsh_dev_gda();
    struct wsh_gda_queue *queue = wsh_dev_gda_queue(gda);
    struct wsh_dev_gda_request request;
    bool takes = put && wsh_dev_gda_request_of(gda, queue, wsh_dev_list_transfer(*put), &request);

    wsh_ptx_warp_sync();
    if (takes)
        wsh_dev_gda_post(queue, wsh_ptx_active(), request);
    return takes;
}

/* A put that NICs do not take: whether it was a record. */
inline WSH_DEV_CALL bool wsh_dev_list_record(const shmemx_put_t *put)
{
    uint32_t pieces;

    if (!wsh_dev_list_run(put, 1, &pieces))
        return false;
    wsh_dev_list_post(put, 1, pieces);
    return true;
}

/* One lane. Whether something is left that is neither. */
inline WSH_DEV_CALL bool wsh_dev_list_gda_by_one(const shmemx_put_t *puts, size_t n)
{
    bool others = false;

#pragma unroll 1
    for (size_t i = 0; i < n;) {
        uint32_t run = wsh_dev_list_post_batch(puts + i, n - i);

        if (!run)
            others |= !wsh_dev_list_record(puts + i);
        i += run ? run : 1;
    }
    return others;
}

/* The lanes of a full warp, each one put at a time. */
inline WSH_DEV_CALL bool wsh_dev_list_gda_by_warp(const shmemx_put_t *puts, size_t n)
{
    bool others = false;

#pragma unroll 1
    for (size_t i = wsh_ptx_lane(); i - wsh_ptx_lane() < n; i += 32) {
        const shmemx_put_t *put = i < n ? puts + i : nullptr;

        if (!wsh_dev_list_post_each(put) && put)
            others |= !wsh_dev_list_record(put);
    }
    return others;
}

/*
 * All threads, behind a barrier: what NICs take is posted by the kernel. False: nothing was done. Whether fences let
 * the list do so is looked at once: those that come meanwhile put nothing before it.
 */
template <int S> WSH_DEV_CALL bool wsh_dev_list_gda(struct wsh_dev_list_rest *rest)
{
    const size_t n = (size_t)(rest->end - rest->puts);
    bool others = false;

    WSH_DEV_SAVES(wsh_dev_list_gda<S>);
    if (!wsh_dev_any_lane<S>(wsh_dev_lane<S>() == 0 && wsh_dev_gda_is_open()))
        return false;
    if (wsh_dev_list_lanes<S>() > 1 && wsh_dev_lane<S>() < 32)
        others = wsh_dev_list_gda_by_warp(rest->puts, n);
    else if (wsh_dev_lane<S>() == 0)
        others = wsh_dev_list_gda_by_one(rest->puts, n);
    rest->posted = true;
    if (wsh_dev_any_lane<S>(others))
        wsh_dev_list_others<S>(rest);
    return true;
}

/* The barrier lets every lane's sources be read by all, and the list itself. */
template <int S> static WSH_DEV void wsh_dev_list(const char *what, const shmemx_put_t *puts, size_t n)
{
    struct wsh_dev_list_rest rest = {what, puts, puts + n, false};
    bool others = false;

    wsh_dev_sync<S>();
    if (wsh_dev_has_gda() && wsh_dev_list_gda<S>(&rest))
        return;
    if (wsh_dev_lane<S>() < wsh_dev_list_lanes<S>())
        others = wsh_dev_list_records<S>(puts, n);
    if (wsh_dev_any_lane<S>(others))
        wsh_dev_list_others<S>(&rest);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counted puts, their counters, and lists of puts, in device code.
 *
 * A counter is two words, whose sum is its value: one in the device heap, to which GPUs add that reach both it and the
 * data's place, and one in the host heap, to which the target's CPU adds for all others. A put of the first kind is a
 * put with a signal; one of the second kind is the same record for the proxy, which knows the word.
 */
#ifndef WSH_DEVICE_COUNTER_CUH
#define WSH_DEVICE_COUNTER_CUH

#include "signal.cuh"
#include "wait.cuh"

static WSH_DEV uint64_t *wsh_dev_counter_host(uint32_t number)
{
    return (uint64_t *)(wsh_device_view.seg[WSH_DEVICE_SEG_HEAP].base +
                        (uint64_t)wsh_device_view.counters_host * WSH_DEVICE_COUNTERS_ALIGN) +
           number;
}

static WSH_DEV uint64_t *wsh_dev_counter_device(uint32_t number)
{
    return (uint64_t *)(wsh_device_view.seg[WSH_DEVICE_SEG_DEVICE].base +
                        (uint64_t)wsh_device_view.counters_device * WSH_DEVICE_COUNTERS_ALIGN) +
           number;
}

/* Of a counter that there can be; whether it has been destroyed only the host knows. */
static WSH_DEV uint32_t wsh_dev_counter_number(const char *what, shmemx_counter_t counter)
{
    uint32_t number = (uint32_t)counter - 1;

    if (number >= wsh_device_view.n_counters)
        wsh_dev_refuse(what, WSH_DEVICE_BAD_HANDLE, -1, (const void *)counter, 0);
    return number;
}

/* Whether this GPU reaches both; no refusal. */
inline WSH_DEV_CALL bool wsh_dev_counter_reaches(const void *dest, uint64_t len, const void *word, int pe)
{
    uint64_t at = 0;

    return !wsh_dev_target_find(wsh_dev_target{word, sizeof(uint64_t), pe, true}, &at) &&
           (!len || !wsh_dev_target_find(wsh_dev_target{dest, len, pe, false}, &at));
}

/* The word to add to. */
static WSH_DEV uint64_t *wsh_dev_counter_word(const void *dest, uint64_t len, uint32_t number, int pe)
{
    uint64_t *word = wsh_dev_counter_device(number);
    uint64_t at;

    if (wsh_dev_reach_fast(word, sizeof *word, pe, &at) && wsh_dev_reach_fast(dest, len, pe, &at))
        return word;
    return wsh_dev_counter_reaches(dest, len, word, pe) ? word : wsh_dev_counter_host(number);
}

/* Whether the put is one record by reference, as most between hosts are. */
static WSH_DEV bool wsh_dev_list_refers(const shmemx_put_t &put)
{
    return wsh_device_view.ref_from && put.nelems >= wsh_device_view.ref_from && put.nelems <= WSH_RING_REF_MAX &&
           (uint32_t)put.pe < (uint32_t)wsh_device_view.n_pes && wsh_dev_slot(put.pe) == WSH_DEVICE_NO_SLOT &&
           wsh_device_view.rings && wsh_dev_are_in_heaps(put.dest, put.source, put.nelems) &&
           (!put.counter || (uint32_t)put.counter <= wsh_device_view.n_counters);
}

/* *words: its further pieces. */
static WSH_DEV struct wsh_dev_ask wsh_dev_list_ask(const shmemx_put_t &put, unsigned *words)
{
    struct wsh_dev_ask ask =
        wsh_dev_ask_by_reference(false, (uint64_t)put.dest, put.source, (uint32_t)put.nelems, put.pe, false);

    if (put.counter)
        wsh_dev_ask_add_signal(&ask, WSH_DEV_AMO_ADD, (uint64_t)wsh_dev_counter_host((uint32_t)put.counter - 1), 1,
                               false);
    *words = put.counter ? 2 : 1;
    return ask;
}

/*
 * All lanes, behind a barrier: the counted put that programs make most, as wsh_dev_put_refer_plain. False: nothing was
 * done.
 */
template <int S> WSH_DEV_CALL bool wsh_dev_put_refer_counted(shmemx_put_t put)
{
    if (!wsh_dev_list_refers(put))
        return false;
    if (wsh_dev_lane<S>() == 0) {
        unsigned words;
        struct wsh_dev_ask ask = wsh_dev_list_ask(put, &words);

        wsh_dev_ring_send(wsh_dev_rings_here(put.pe), ask, 2);
    }
    wsh_dev_sync<S>();
    return true;
}

template <int S>
static WSH_DEV void wsh_dev_put_counted_nbi(const char *what, void *dest, const void *source, size_t len,
                                            shmemx_counter_t counter, int pe)
{
    uint32_t number;

    if (wsh_device_view.ref_from) {
        wsh_dev_sync<S>();
        if (wsh_dev_put_refer_counted<S>(shmemx_put_t{dest, source, len, counter, pe}))
            return;
    }
    number = wsh_dev_counter_number(what, counter);
    wsh_dev_put_signal<S, false>(what, dest, source, len, wsh_dev_counter_word(dest, len, number, pe), 1,
                                 SHMEM_SIGNAL_ADD, pe);
}

/* This PE's own, without order. */
static WSH_DEV uint64_t wsh_dev_counter_poll(uint32_t number)
{
    uint64_t host = wsh_device_view.seg[WSH_DEVICE_SEG_HEAP].len ? wsh_ptx_poll(wsh_dev_counter_host(number)) : 0;

    return host + wsh_ptx_poll(wsh_dev_counter_device(number));
}

static WSH_DEV uint64_t wsh_dev_counter_fetch(const char *what, shmemx_counter_t counter)
{
    uint64_t seen = wsh_dev_counter_poll(wsh_dev_counter_number(what, counter));

    wsh_ptx_acquire();
    return seen;
}

/* Out of line: a wait may take its time. */
inline WSH_DEV_CALL void wsh_dev_counter_poll_until(const char *what, uint32_t number, uint64_t value)
{
    uint64_t since = 0;
    unsigned left = wsh_device_view.look_mask;

#pragma unroll 1
    while (wsh_dev_counter_poll(number) < value)
        if (!left--) {
            since = wsh_dev_wait_idle(what, wsh_dev_counter_device(number), value, SHMEM_CMP_GE, since);
            left = wsh_device_view.look_mask;
        }
    wsh_ptx_acquire();
}

template <int S>
static WSH_DEV void wsh_dev_counter_wait_until(const char *what, shmemx_counter_t counter, uint64_t value)
{
    uint32_t number = wsh_dev_counter_number(what, counter);

    if (wsh_dev_is_poller<S>())
        wsh_dev_counter_poll_until(what, number, value);
    wsh_dev_sync<S>();
}

#define WSH_LIST_RUN 32u /* puts for one reservation in a ring, and one release */

/* One lane: so many puts from the first on that are records by reference in one ring; *pieces of them. */
static WSH_DEV uint32_t wsh_dev_list_run(const shmemx_put_t *puts, size_t n, uint32_t *pieces)
{
    uint32_t run = 0, mine = 0;

    *pieces = 0;
#pragma unroll 1
    for (; run < n && run < WSH_LIST_RUN && wsh_dev_list_refers(puts[run]); run++) {
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
    uint64_t at = wsh_dev_ring_places<true>(rings, pieces, &epoch);

#pragma unroll 1
    for (uint32_t i = 0; i < n; i++) {
        unsigned words;
        struct wsh_dev_ask ask = wsh_dev_list_ask(puts[i], &words);

        wsh_dev_ring_pieces(rings, at, epoch, ask, words);
        at += words + 1;
    }
}

/* What is left of a list. In memory, since registers held by a loop add to those of all that it calls. */
struct wsh_dev_list_rest {
    const char *what;
    const shmemx_put_t *puts, *end;
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
#pragma unroll 1
    for (; rest->puts != rest->end; rest->puts++) {
        const shmemx_put_t *put = rest->puts;

        if (wsh_dev_list_refers(*put))
            continue;
        if (uint64_t *word = wsh_dev_list_word(rest->what, put))
            wsh_dev_put_signal_any<S, false>(rest->what, put->dest, put->source, put->nelems, word, 1,
                                             SHMEM_SIGNAL_ADD, put->pe);
        else
            wsh_dev_put_any<S, false>(rest->what, put->dest, put->source, put->nelems, put->pe, nullptr);
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

/*
 * The barrier lets every lane's sources be read by all, and the list itself. It takes 84 registers by a block: a kernel
 * of 1024 threads says __launch_bounds__(1024).
 */
template <int S> static WSH_DEV void wsh_dev_list(const char *what, const shmemx_put_t *puts, size_t n)
{
    bool others = false;

    wsh_dev_sync<S>();
    if (wsh_dev_lane<S>() < wsh_dev_list_lanes<S>())
        others = wsh_dev_list_records<S>(puts, n);
    if (wsh_dev_any_lane<S>(others)) {
        struct wsh_dev_list_rest rest = {what, puts, puts + n};

        wsh_dev_list_others<S>(&rest);
    }
}

#endif

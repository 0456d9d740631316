/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations by a queue. To a mapped peer they are the stores and loads of all others, which a release orders whatever
 * queue they name. What the proxy serves goes by the queue's own ring, which has a consumer and a context of its own on
 * the host: a quiet of the queue waits for nothing else. A queue without a ring is the default one.
 */
#ifndef WSH_DEVICE_QUEUE_CUH
#define WSH_DEVICE_QUEUE_CUH

#include "../core/amo.cuh"
#include "../core/order.cuh"
#include "../core/signal.cuh"

/* A transfer in parts whose records go by these rings. */
struct wsh_dev_queued_parts : wsh_dev_parts {
    struct wsh_dev_rings rings;
};

struct wsh_dev_queued_signal : wsh_dev_signal {
    int queue;
};

static WSH_DEV uint64_t wsh_dev_parts_reserve(const struct wsh_dev_queued_parts &parts, uint32_t n)
{
    return wsh_dev_ring_reserve(parts.rings, n);
}

static WSH_DEV void wsh_dev_parts_post(const struct wsh_dev_queued_parts &parts, const struct wsh_dev_request &request,
                                       unsigned words, uint64_t at)
{
    wsh_dev_ring_post(parts.rings, at, request, words);
}

static WSH_DEV uint64_t wsh_dev_parts_send(const struct wsh_dev_queued_parts &parts,
                                           const struct wsh_dev_request &request, unsigned words)
{
    return wsh_dev_ring_send(parts.rings, request, words);
}

static WSH_DEV void wsh_dev_parts_await(const struct wsh_dev_queued_parts &parts)
{
    wsh_dev_ring_await(parts.rings, parts.at);
}

static WSH_DEV void wsh_dev_parts_take(const struct wsh_dev_queued_parts &parts)
{
    wsh_dev_ring_take(parts.rings, parts.at);
}

static WSH_DEV struct wsh_dev_rings wsh_dev_parts_rings(const struct wsh_dev_queued_parts &parts)
{
    return parts.rings;
}

static WSH_DEV const struct wsh_device_root *wsh_dev_root()
{
    return (const struct wsh_device_root *)wsh_device_view.ranges;
}

/* As shmemx_queue_number. */
static WSH_DEV int wsh_dev_queue_number(int i)
{
    uint32_t n = wsh_dev_queue_rows();

    return n ? WSH_DEVICE_QUEUE_FIRST + (int)((uint32_t)i % n) : SHMEMX_QUEUE_DEFAULT;
}

/* The row of a queue with a ring of its own, or -1: it is the default one. */
inline WSH_DEV_CALL int wsh_dev_queue_find(const char *what, int queue, int pe)
{
    int row = queue - WSH_DEVICE_QUEUE_FIRST;

    if (queue == SHMEMX_QUEUE_ALL || (queue >= 0 && row < 0))
        return -1;
    if (queue < 0 || row >= (int)wsh_dev_queue_rows())
        wsh_dev_refuse(what, WSH_DEVICE_BAD_HANDLE, pe, (const void *)(int64_t)queue, 0);
    return wsh_dev_queue_row(wsh_dev_root(), (uint32_t)row).n ? row : -1;
}

inline WSH_DEV_CALL struct wsh_dev_rings wsh_dev_queue_rings(const char *what, int queue, int pe)
{
    int row = wsh_dev_queue_find(what, queue, pe);

    return row < 0 ? wsh_dev_rings_here(pe) : wsh_dev_queue_row(wsh_dev_root(), (uint32_t)row);
}

static WSH_DEV void wsh_dev_queued(struct wsh_dev_queued_parts *queued, const char *what, int queue,
                                   const struct wsh_dev_parts &parts)
{
    (struct wsh_dev_parts &)*queued = parts;
    queued->rings = wsh_dev_queue_rings(what, queue, parts.pe);
}

/* A record without payload, with `words` further pieces: its answer where it has one. */
static WSH_DEV uint64_t wsh_dev_queue_word(const char *what, const struct wsh_dev_request &request, unsigned words,
                                           int queue)
{
    struct wsh_dev_rings rings = wsh_dev_queue_rings(what, queue, request.pe);
    uint64_t at = wsh_dev_ring_send(rings, request, words), word = 0;

    if (request.first_a & WSH_RING_ANSWER) {
        word = wsh_dev_ring_await(rings, at);
        wsh_dev_ring_take(rings, at);
    }
    return word;
}

/* An atomic that the proxy does. `behind`: behind what the queue was asked before for the same PE. */
inline WSH_DEV_CALL uint64_t wsh_dev_queue_amo(const char *what, enum wsh_amo_op op, bool fetch, bool behind,
                                               const void *sym, uint64_t value, uint32_t width, int pe, int queue)
{
    unsigned words;
    struct wsh_dev_request request = wsh_dev_request_of_amo(op, fetch, (uint64_t)sym, value, 0, width, pe, &words);

    if (behind)
        request.first_a |= WSH_RING_FENCED;
    return wsh_dev_queue_word(what, request, words, queue);
}

/* Behind a barrier. As wsh_dev_put_far, whose comment holds. */
template <int S, bool WAITS>
static WSH_DEV void wsh_dev_queue_put_far(const char *what, void *dest, const void *source, size_t len, int pe,
                                          const struct wsh_dev_signal *with, int queue)
{
    struct wsh_dev_queued_parts parts;

    wsh_dev_queued(&parts, what, queue, wsh_dev_parts{(char *)dest, (const char *)source, len, pe, 0, 1,
                                                      with != nullptr, 0, 0, 0, WAITS});
    wsh_dev_put_parts<S, WAITS>(&parts, with);
}

/* Behind a barrier. As wsh_dev_put_any, whose comment holds. */
template <int S, bool WAITS>
WSH_DEV_CALL void wsh_dev_queue_put_any(const char *what, void *dest, const void *source, size_t len, int pe, int queue)
{
    uint64_t to = wsh_dev_reach_or_request(what, dest, len, pe, false);

    wsh_dev_check_local(what, source, len);
    if (!to) {
        wsh_dev_queue_put_far<S, WAITS>(what, dest, source, len, pe, nullptr, queue);
        return;
    }
    wsh_dev_store<S>(to, source, len);
    wsh_dev_sync<S>();
}

template <int S, bool WAITS>
static WSH_DEV void wsh_dev_queue_put(const char *what, void *dest, const void *source, size_t len, int pe, int queue)
{
    uint64_t to;
    bool fast = wsh_dev_reach_fast(dest, len, pe, &to);

    if (fast || !len) {
        wsh_dev_put<S, WAITS>(what, dest, source, len, pe);
        return;
    }
    wsh_dev_sync<S>();
    wsh_dev_queue_put_any<S, WAITS>(what, dest, source, len, pe, queue);
}

template <int S, bool WAITS>
WSH_DEV_CALL void wsh_dev_queue_get_any(const char *what, void *dest, const void *source, size_t len, int pe, int queue)
{
    uint64_t from = wsh_dev_reach_or_request(what, source, len, pe, false);

    wsh_dev_check_local(what, dest, len);
    if (!from) {
        struct wsh_dev_queued_parts parts;

        wsh_dev_queued(&parts, what, queue,
                       wsh_dev_parts{(char *)dest, (const char *)source, len, pe, 0, 1, false, 0, 0, 0, WAITS});
        wsh_dev_get_parts<S, WAITS>(&parts);
        return;
    }
    wsh_dev_copy<S, wsh_dev_from_peer>((char *)dest, (const char *)from, len);
    wsh_dev_sync<S>();
}

template <int S, bool WAITS>
static WSH_DEV void wsh_dev_queue_get(const char *what, void *dest, const void *source, size_t len, int pe, int queue)
{
    uint64_t from;

    if (wsh_dev_reach_fast(source, len, pe, &from) || !len)
        wsh_dev_get<S, WAITS>(what, dest, source, len, pe);
    else
        wsh_dev_queue_get_any<S, WAITS>(what, dest, source, len, pe, queue);
}

/* The signal of a queue, alone; not ordered behind earlier puts. */
static WSH_DEV void wsh_dev_queue_signal(const char *what, const struct wsh_dev_signal &signal, int pe, int queue)
{
    if (wsh_dev_signal_reach(what, signal, pe))
        wsh_dev_signal_send(what, signal, pe);
    else
        wsh_dev_queue_amo(what, wsh_dev_request_signal_op(signal.op), false, false, signal.sym, signal.value,
                          sizeof *signal.sym, pe, queue);
}

/* As wsh_dev_put_signal_stored; what is asked of the proxy comes behind what the queue was asked before. */
template <int S>
WSH_DEV_CALL void wsh_dev_queue_put_signal_stored(uint64_t to, const void *source, size_t len,
                                                  const struct wsh_dev_queued_signal *signal, int pe)
{
    if (len)
        wsh_dev_store<S>(to, source, len);
    wsh_dev_sync<S>();
    if (wsh_dev_lane<S>() == 0) {
        if (signal->at)
            wsh_dev_signal_release(signal->at, signal->value, signal->op);
        else
            wsh_dev_queue_amo("a signal by a queue", wsh_dev_request_signal_op(signal->op), false, len != 0,
                              signal->sym, signal->value, sizeof *signal->sym, pe, signal->queue);
    }
    wsh_dev_sync<S>();
}

template <int S, bool WAITS>
WSH_DEV_CALL void wsh_dev_queue_put_signal_any(const char *what, void *dest, const void *source, size_t len,
                                               uint64_t *sym, uint64_t value, int op, int pe, int queue)
{
    struct wsh_dev_queued_signal signal;
    uint64_t to = 0;

    (struct wsh_dev_signal &)signal = wsh_dev_signal{sym, value, op, 0};
    signal.queue = queue;
    signal.at = wsh_dev_signal_reach(what, signal, pe);
    wsh_ptx_again(&signal);
    if (len) {
        to = wsh_dev_reach_or_request(what, dest, len, pe, false);
        wsh_dev_check_local(what, source, len);
    }
    if (len && !to) {
        wsh_dev_queue_put_far<S, WAITS>(what, dest, source, len, pe, &signal, queue);
        wsh_dev_sync<S>();
    } else {
        wsh_dev_queue_put_signal_stored<S>(to, source, len, &signal, pe);
    }
}

template <int S, bool WAITS>
static WSH_DEV void wsh_dev_queue_put_signal(const char *what, void *dest, const void *source, size_t len,
                                             uint64_t *sym, uint64_t value, int op, int pe, int queue)
{
    uint64_t flag, to;

    if (wsh_dev_reach_fast(sym, sizeof *sym, pe, &flag) && wsh_dev_reach_fast(dest, len, pe, &to)) {
        wsh_dev_put_signal<S, WAITS>(what, dest, source, len, sym, value, op, pe);
        return;
    }
    wsh_dev_sync<S>();
    wsh_dev_queue_put_signal_any<S, WAITS>(what, dest, source, len, sym, value, op, pe, queue);
}

/* `behind`: behind what the calling thread, and the queue, did before for the same PE. */
template <class T>
static WSH_DEV void wsh_dev_queue_p(const char *what, T *dest, T value, int pe, int queue, bool behind = false)
{
    uint64_t to = wsh_dev_reach_word<sizeof(T)>(what, dest, pe, false);
    wsh_dev_bits<T> bits = wsh_dev_as<wsh_dev_bits<T>>(value);
    uint64_t kind = wsh_dev_request_kind(WSH_RING_PUT_WORD, 0, false) | (behind ? WSH_RING_FENCED : 0);

    if (to && behind)
        wsh_ptx_release();
    if (to)
        wsh_ptx_put((wsh_dev_bits<T> *)to, bits);
    else
        wsh_dev_queue_word(what, wsh_dev_request{kind, (uint64_t)dest, bits, 0, 0, sizeof(T), pe}, 1, queue);
}

template <class T> static WSH_DEV T wsh_dev_queue_g(const char *what, const T *source, int pe, int queue)
{
    uint64_t from = wsh_dev_reach_word<sizeof(T)>(what, source, pe, false), word;

    if (from)
        return wsh_dev_as<T>(wsh_ptx_get((const wsh_dev_bits<T> *)from));
    word = wsh_dev_queue_word(
        what, wsh_dev_request{wsh_dev_request_kind(WSH_RING_GET_WORD, 0, true), (uint64_t)source, 0, 0, 0, sizeof(T),
                              pe}, 0,
        queue);
    return wsh_dev_as<T>((wsh_dev_bits<T>)word);
}

/* `behind`: as of wsh_dev_queue_p. */
template <class T>
static WSH_DEV void wsh_dev_queue_atomic_add(const char *what, T *dest, T value, int pe, int queue, bool behind)
{
    wsh_dev_bits<T> *at = wsh_dev_word_at<true>(what, dest, pe), bits = wsh_dev_as<wsh_dev_bits<T>>(value);

    if (at && behind)
        wsh_ptx_release();
    if (at)
        wsh_ptx_add(at, bits);
    else
        wsh_dev_queue_amo(what, WSH_AMO_ADD, false, behind, dest, bits, sizeof(T), pe, queue);
}

template <class T>
static WSH_DEV T wsh_dev_queue_atomic_fetch_add(const char *what, T *dest, T value, int pe, int queue)
{
    wsh_dev_bits<T> *at = wsh_dev_word_at<true>(what, dest, pe), bits = wsh_dev_as<wsh_dev_bits<T>>(value);

    return wsh_dev_as<T>(at ? wsh_ptx_fetch_add(at, bits)
                            : (wsh_dev_bits<T>)wsh_dev_queue_amo(what, WSH_AMO_ADD, true, false, dest, bits,
                                                                 sizeof(T), pe, queue));
}

/* One lane, after a full fence or a release. */
static WSH_DEV void wsh_dev_queue_request(const char *what, int queue, bool quiet)
{
    int row = wsh_dev_queue_find(what, queue, -1);

    if (row < 0)
        wsh_dev_ask_order(quiet);
    else
        wsh_dev_ask_queue((uint32_t)row, quiet);
}

static WSH_DEV void wsh_dev_queues_request(const char *what, const int *queues, int n, bool quiet)
{
    if (n == SHMEMX_QUEUE_ALL || (n > 0 && queues[0] == SHMEMX_QUEUE_ALL)) {
        if (!quiet && wsh_dev_queue_rows()) { /* as wsh_dev_request_order_all */
            wsh_ptx_fence();
            quiet = true;
        }
        wsh_dev_ask_order(quiet);
        wsh_dev_request_queues(quiet);
        return;
    }
#pragma unroll 1
    for (int i = 0; i < n; i++)
        wsh_dev_queue_request(what, queues[i], quiet);
}

/* n queues, or all there are with the default one: n or the first number is SHMEMX_QUEUE_ALL. */
template <int S> static WSH_DEV void wsh_dev_queues_order(const char *what, const int *queues, int n, bool quiet)
{
    wsh_dev_sync<S>();
    if (wsh_dev_lane<S>() == 0) {
        if (quiet)
            wsh_ptx_fence();
        else
            wsh_ptx_release();
        if (wsh_device_view.rings)
            wsh_dev_queues_request(what, queues, n, quiet);
    }
    wsh_dev_sync<S>();
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The four ways of a transfer from a kernel to or from memory of a PE. A put or get takes the first that may be:
 *
 * 1. Mapped: stores or loads, where this GPU maps the PE's memory (reach.cuh). Nobody else takes part. put.cuh and
 *    signal.cuh do short ones in line.
 * 2. GDA: a request that the kernel posts to a NIC itself (nic/gda.cuh). For puts and gets that are nonblocking and
 *    have no signal, counted puts among them, between memory that NICs access, when all that a fence has put before
 *    them is complete: a NIC keeps no order. Saves the proxy's time. Where the NIC's requests carry data, likewise p,
 *    and blocking puts of up to WSH_GDA_INLINE_MAX bytes, from any memory.
 * 3. Zero-copy: a record for the proxy that has the address of the local memory (proxy/zero_copy.cuh), where the
 *    transports of the host access that. For lengths that take longer to copy: posting costs the same for any.
 * 4. Copied: a record for the proxy that has the payload (proxy/proxied.cuh). For all others.
 *
 * Transfers by a queue (proxy/queue.cuh) take the queue's own ring, so never 2. Strided ones (strided.cuh) are mapped
 * or copied. An element alone (put.cuh) is one access or one record.
 */
#ifndef WSH_DEVICE_FAR_CUH
#define WSH_DEVICE_FAR_CUH

#include "copy.cuh"
#include "../nic/gda.cuh"
#include "../proxy/zero_copy.cuh"

/* All lanes: from `source`, which may lie in global, shared or local memory, to the peer's memory at `to`. */
template <int S> static WSH_DEV void wsh_dev_store(uint64_t to, const void *source, size_t len)
{
    if (__isGlobal(source))
        wsh_dev_copy<S, wsh_dev_from_global>((char *)to, (const char *)source, len);
    else
        wsh_dev_copy_narrow<4, wsh_dev_from_generic>((char *)to, (const char *)source, len, wsh_dev_lane<S>(),
                                                     wsh_dev_size<S>());
}

/* All lanes: a nonblocking get, posted to a NIC; false: it was not. */
template <int S> WSH_DEV_CALL bool wsh_dev_get_gda(void *dest, const void *source, size_t len, int pe)
{
    bool done = false;

    wsh_dev_sync<S>(); /* what lanes have stored to dest comes before */
    if (wsh_dev_lane<S>() == 0)
        done = wsh_dev_gda_get<S>(dest, source, len, pe);
    return wsh_dev_any_lane<S>(done);
}

/* All lanes: a counted put likewise, which the target's NIC counts. */
template <int S>
WSH_DEV_CALL bool wsh_dev_counted_gda(void *dest, const void *source, size_t len, uint32_t number, int pe)
{
    bool done = false;

    wsh_dev_sync<S>();
    if (wsh_dev_lane<S>() == 0)
        done = wsh_dev_gda_put<S>(dest, source, len, pe, number + 1);
    return wsh_dev_any_lane<S>(done);
}

/* A payload into its record. A block has lanes enough to use the copy that takes fewest registers. */
template <int S> static WSH_DEV void wsh_dev_store_asked(uint64_t at, const char *source, size_t len)
{
    if constexpr (S == WSH_BLOCK)
        wsh_dev_copy_narrow<4, wsh_dev_from_generic>((char *)at, source, len, wsh_dev_lane<S>(), wsh_dev_size<S>());
    else
        wsh_dev_store<S>(at, source, len);
}

/* A put in parts, each with its payload. All records have their places in the ring when the last barrier ends. */
template <int S, class P> WSH_DEV_CALL void wsh_dev_put_asked(P *parts, const struct wsh_dev_signal *with)
{
#pragma unroll 1
    for (; parts->off < parts->whole; parts->off += parts->len) {
        uint64_t at = wsh_dev_parts_next<S>(parts, false);

        wsh_dev_store_asked<S>(at, parts->source + parts->off, parts->len);
        wsh_dev_sync<S>();
        if (wsh_dev_lane<S>() == 0)
            wsh_dev_put_post(*parts, with);
    }
}

/*
 * A payload out of its record, likewise. Lane 0 has acquired it, so it is loaded as memory of the caller's own: the
 * copy from peers, which takes most registers, then has only callers that hold few.
 */
template <int S> static WSH_DEV void wsh_dev_take_asked(char *dest, const char *at, size_t len)
{
    if constexpr (S == WSH_BLOCK)
        wsh_dev_copy_narrow<4, wsh_dev_from_global>(dest, at, len, wsh_dev_lane<S>(), wsh_dev_size<S>());
    else
        wsh_dev_copy<S, wsh_dev_from_global>(dest, at, len);
}

/* A get in parts: the proxy stores the payload of each, the lanes copy it. */
template <int S, class P> WSH_DEV_CALL void wsh_dev_get_asked(P *parts)
{
#pragma unroll 1
    for (; parts->off < parts->whole; parts->off += parts->len) {
        const char *at = (const char *)wsh_dev_parts_next<S>(parts, true);

        wsh_dev_take_asked<S>(parts->dest + parts->off, at, parts->len);
        wsh_dev_sync<S>();
        if (wsh_dev_lane<S>() == 0) {
            wsh_ptx_release();
            wsh_dev_parts_take(*parts);
        }
    }
}

/*
 * A put by the proxy: zero-copy or copied. A block copies as fast as a NIC reads, and with what awaits an answer,
 * kernels of 1024 threads would need more registers than there are: its blocking puts are copied.
 */
template <int S, bool WAITS, class P>
static WSH_DEV void wsh_dev_put_parts(P *parts, const struct wsh_dev_signal *with)
{
    if ((WAITS && S == WSH_BLOCK) || !wsh_dev_nocopy(parts, false)) {
        wsh_dev_put_asked<S>(parts, with);
        return;
    }
    if (wsh_dev_lane<S>() == 0)
        wsh_dev_zcopy(parts, with, false);
    wsh_dev_sync<S>();
}

/* A get by the proxy, likewise. */
template <int S, bool WAITS, class P> static WSH_DEV void wsh_dev_get_parts(P *parts)
{
    if ((WAITS && S == WSH_BLOCK) || !wsh_dev_nocopy(parts, true)) {
        wsh_dev_get_asked<S>(parts);
        return;
    }
    wsh_dev_sync<S>(); /* what lanes have stored to dest comes before */
    if (wsh_dev_lane<S>() == 0)
        wsh_dev_zcopy(parts, nullptr, true);
    wsh_dev_sync<S>();
}

/* All lanes, behind a barrier: a nonblocking put, posted to a NIC; else by a record where it is plain; else false. */
template <int S> static WSH_DEV bool wsh_dev_put_gda(void *dest, const void *source, size_t len, int pe)
{
    bool done = false;

    if (wsh_dev_lane<S>() == 0) {
        done = wsh_dev_gda_put<S>(dest, source, len, pe, 0);
        if (!done && wsh_dev_is_plain_zero_copy(dest, source, len, pe)) {
            wsh_dev_zero_copy_put(dest, source, len, pe);
            done = true;
        }
    }
    return wsh_dev_any_lane<S>(done);
}

/* All lanes, behind a barrier: a short put whose request carries the data; false: it was not posted. */
template <int S> WSH_DEV_CALL bool wsh_dev_put_inline(const struct wsh_dev_parts *parts)
{
    bool done = false;

    if (wsh_dev_lane<S>() == 0) {
        struct wsh_dev_gda_value value = {{parts->dest, parts->source, parts->whole, parts->pe, 0, false}, 0};

        done = wsh_dev_gda_put_inline(&value);
    }
    return wsh_dev_any_lane<S>(done);
}

/*
 * All lanes, behind a barrier: the nonblocking put that programs make most, in one call and without memory of its own,
 * since those take a lane longer than the record itself. False: nothing was done, for whatever reason.
 */
template <int S> WSH_DEV_CALL bool wsh_dev_put_nbi_at_once(void *dest, const void *source, size_t len, int pe)
{
    if (wsh_dev_has_gda())
        return wsh_dev_put_gda<S>(dest, source, len, pe);
    if (!wsh_dev_is_plain_zero_copy(dest, source, len, pe))
        return false;
    if (wsh_dev_lane<S>() == 0)
        wsh_dev_zero_copy_put(dest, source, len, pe);
    wsh_dev_sync<S>();
    return true;
}

/* Likewise with a signal, or counted: then the word is the counter's in the host heap. */
template <int S>
WSH_DEV_CALL bool wsh_dev_put_plain_signal(void *dest, const void *source, size_t len, uint64_t *sym, uint64_t value,
                                           int op, int pe)
{
    if (!wsh_dev_is_plain_zero_copy(dest, source, len, pe) || !wsh_dev_is_plain_signal(sym, op))
        return false;
    if (wsh_dev_lane<S>() == 0) {
        struct wsh_dev_request request =
            wsh_dev_request_zero_copy(false, (uint64_t)dest, source, (uint32_t)len, pe, false);

        wsh_dev_request_add_signal(&request, wsh_dev_request_signal_op(op), (uint64_t)sym, value, false);
        wsh_dev_ask_send(request, 2);
    }
    wsh_dev_sync<S>();
    return true;
}

/*
 * All lanes, behind a barrier: a put to memory that this GPU does not reach. `with`: a signal behind the data, or NULL;
 * it goes by the proxy like them, or it could come first.
 */
template <int S, bool WAITS>
static WSH_DEV void wsh_dev_put_far(void *dest, const void *source, size_t len, int pe,
                                    const struct wsh_dev_signal *with)
{
    struct wsh_dev_parts parts = {
        (char *)dest, (const char *)source, len, pe, 0, 1, with != nullptr, 0, 0, 0, WAITS};

    wsh_ptx_again(&parts);
    if (WAITS && !with && len <= WSH_GDA_INLINE_MAX && wsh_dev_has_gda() && wsh_dev_put_inline<S>(&parts))
        return;
    wsh_dev_put_parts<S, WAITS>(&parts, with);
}

/*
 * The put in every case, called after a barrier. The barrier at the end lets the source be reused, and makes the quiet
 * of any lane wait for what was asked of the proxy. WAITS: blocking; else the source is reused after a quiet only.
 * `to`: where this GPU reaches dest; 0: to be found.
 */
template <int S, bool WAITS>
WSH_DEV_CALL void wsh_dev_put_any(const char *what, void *dest, const void *source, size_t len, int pe,
                                  uint64_t to = 0)
{
    if (!len)
        return;
    if (!to)
        to = wsh_dev_reach_or_request(what, dest, len, pe, false);
    wsh_dev_check_local(what, source, len);
    if (!to) {
        wsh_dev_put_far<S, WAITS>(dest, source, len, pe, nullptr);
        return;
    }
    wsh_dev_store<S>(to, source, len);
    wsh_dev_sync<S>();
}

/*
 * The get in every case. It needs no barrier before: no lane may read `dest` until the call has returned, or, where not
 * WAITS, until a quiet. `from`: likewise.
 */
template <int S, bool WAITS>
WSH_DEV_CALL void wsh_dev_get_any(const char *what, void *dest, const void *source, size_t len, int pe,
                                  uint64_t from = 0)
{
    if (!len)
        return;
    if (!from)
        from = wsh_dev_reach_or_request(what, source, len, pe, false);
    wsh_dev_check_local(what, dest, len);
    if (!from) {
        if (!WAITS && wsh_dev_has_gda() && wsh_dev_get_gda<S>(dest, source, len, pe))
            return;
        struct wsh_dev_parts parts = {(char *)dest, (const char *)source, len, pe, 0, 1, false, 0, 0, 0, WAITS};

        wsh_dev_get_parts<S, WAITS>(&parts);
        return;
    }
    wsh_dev_copy<S, wsh_dev_from_peer>((char *)dest, (const char *)from, len);
    wsh_dev_sync<S>();
}

#endif

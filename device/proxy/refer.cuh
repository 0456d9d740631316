/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts and gets by reference, between memory that this GPU does not reach and memory that the host's transports read
 * and write themselves: the proxy is given its address, and a NIC or the host's CPU does the rest. Posting one costs
 * the same for any length.
 */
#ifndef WSH_DEVICE_REFER_CUH
#define WSH_DEVICE_REFER_CUH

#include "../nic/gda.cuh"

/* Whether the host's transports read and write all of [local, local + len) themselves. */
static WSH_DEV bool wsh_dev_is_referable(const void *local, uint64_t len)
{
    const struct wsh_device_range *buffer;

#pragma unroll 1
    for (int i = WSH_DEVICE_SEGS - 1; i >= 0; i--)
        if (wsh_dev_seg_holds(wsh_device_view.seg[i], (uint64_t)local, len))
            return wsh_device_view.ref_segs >> i & 1;
    buffer = wsh_dev_buffer((uint64_t)local, len);
    return buffer && buffer->refers;
}

/*
 * The same in all lanes. A transfer that must end on return is copied up to a greater length, which is done sooner. Out
 * of line, as what it calls, so that a transfer which needs neither holds few registers.
 */
inline WSH_DEV_CALL bool wsh_dev_refers(const struct wsh_dev_parts *parts, bool gets)
{
    uint64_t from = gets ? wsh_device_view.ref_get_from : wsh_device_view.ref_from;

    if (parts->waits)
        from = wsh_device_view.ref_waits_from;
    return from && parts->whole >= from && wsh_dev_is_referable(gets ? parts->dest : parts->source, parts->whole);
}

/* The record of the present part: its position. The last one brings the signal, fenced from the parts before it. */
template <class P>
WSH_DEV_CALL uint64_t wsh_dev_refer_send(const P &parts, const struct wsh_dev_signal *with, bool gets)
{
    uint64_t there = (uint64_t)(gets ? parts.source : parts.dest) + parts.off;
    const char *here = (gets ? parts.dest : parts.source) + parts.off;
    struct wsh_dev_ask ask = wsh_dev_ask_by_reference(gets, there, here, parts.len, parts.pe, parts.waits);
    bool signal = parts.signal && parts.off + parts.len == parts.whole;

    if (signal)
        wsh_dev_ask_add_signal(&ask, wsh_dev_ask_signal_op(with->op), (uint64_t)with->sym, with->value, parts.off != 0);
    return wsh_dev_parts_send(parts, ask, signal ? 2 : 1);
}

/*
 * Lane 0. Of a put, behind a barrier, which ordered the stores of all lanes to the source before the release of the
 * record; of a get that waits, the barrier that follows lets all lanes see what was written.
 */
template <class P> WSH_DEV_CALL void wsh_dev_refer(P *parts, const struct wsh_dev_signal *with, bool gets)
{
#pragma unroll 1
    for (; parts->off < parts->whole; parts->off += parts->len) {
        size_t left = parts->whole - parts->off;

        parts->len = left < WSH_RING_REF_MAX ? (uint32_t)left : (uint32_t)WSH_RING_REF_MAX;
        parts->at = wsh_dev_refer_send(*parts, with, gets);
        if (parts->waits) {
            wsh_dev_parts_await(*parts);
            wsh_dev_parts_take(*parts);
            if (gets)
                wsh_ptx_acquire();
        }
    }
}

/* Whether both lie in the device heap or the host heap, and the transports read the latter one. */
static WSH_DEV bool wsh_dev_are_in_heaps(const void *dest, const void *source, uint64_t len)
{
    const struct wsh_device_seg &device = wsh_device_view.seg[WSH_DEVICE_SEG_DEVICE],
                                &host = wsh_device_view.seg[WSH_DEVICE_SEG_HEAP];
    const uint32_t refers = wsh_device_view.ref_segs;

    return (wsh_dev_seg_holds(device, (uint64_t)dest, len) || wsh_dev_seg_holds(host, (uint64_t)dest, len)) &&
           ((wsh_dev_seg_holds(device, (uint64_t)source, len) && refers >> WSH_DEVICE_SEG_DEVICE & 1) ||
            (wsh_dev_seg_holds(host, (uint64_t)source, len) && refers >> WSH_DEVICE_SEG_HEAP & 1));
}

/* Whether a nonblocking put is one record by reference between heaps, to a PE that this GPU does not reach. */
static WSH_DEV bool wsh_dev_is_plain_reference(const void *dest, const void *source, size_t len, int pe)
{
    return wsh_device_view.ref_from && len >= wsh_device_view.ref_from && len <= WSH_RING_REF_MAX &&
           (uint32_t)pe < (uint32_t)wsh_device_view.n_pes && wsh_dev_slot(pe) == WSH_DEVICE_NO_SLOT &&
           wsh_device_view.rings && wsh_dev_are_in_heaps(dest, source, len);
}

static WSH_DEV void wsh_dev_put_refer_record(void *dest, const void *source, size_t len, int pe)
{
    wsh_dev_ask_send(wsh_dev_ask_by_reference(false, (uint64_t)dest, source, (uint32_t)len, pe, false), 1);
}

/* All lanes, behind a barrier: the put by a kernel that posts to a NIC itself, else by a record where it is plain. */
template <int S> static WSH_DEV bool wsh_dev_put_gda(void *dest, const void *source, size_t len, int pe)
{
    bool done = false;

    if (wsh_dev_lane<S>() == 0) {
        done = wsh_dev_gda_put<S>(dest, source, len, pe, 0);
        if (!done && wsh_dev_is_plain_reference(dest, source, len, pe)) {
            wsh_dev_put_refer_record(dest, source, len, pe);
            done = true;
        }
    }
    return wsh_dev_any_lane<S>(done);
}

/*
 * All lanes, behind a barrier: the nonblocking put that programs make most, in one call and without memory of its own,
 * since those take a lane longer than the record itself. False: nothing was done, for whatever reason.
 */
template <int S> WSH_DEV_CALL bool wsh_dev_put_refer_plain(void *dest, const void *source, size_t len, int pe)
{
    if (wsh_dev_has_gda())
        return wsh_dev_put_gda<S>(dest, source, len, pe);
    if (!wsh_dev_is_plain_reference(dest, source, len, pe))
        return false;
    if (wsh_dev_lane<S>() == 0)
        wsh_dev_put_refer_record(dest, source, len, pe);
    wsh_dev_sync<S>();
    return true;
}

/* Whether `op` on the word is a signal that needs no check; the proxy looks the word up. */
static WSH_DEV bool wsh_dev_is_plain_signal(const uint64_t *sym, int op)
{
    return !((uint64_t)sym & 7) && (op == SHMEM_SIGNAL_SET || op == SHMEM_SIGNAL_ADD) &&
           (wsh_dev_seg_holds(wsh_device_view.seg[WSH_DEVICE_SEG_DEVICE], (uint64_t)sym, sizeof *sym) ||
            wsh_dev_seg_holds(wsh_device_view.seg[WSH_DEVICE_SEG_HEAP], (uint64_t)sym, sizeof *sym));
}

/* Likewise with a signal, or counted: then the word is the counter's in the host heap. */
template <int S>
WSH_DEV_CALL bool wsh_dev_put_refer_signal(void *dest, const void *source, size_t len, uint64_t *sym, uint64_t value,
                                           int op, int pe)
{
    if (!wsh_dev_is_plain_reference(dest, source, len, pe) || !wsh_dev_is_plain_signal(sym, op))
        return false;
    if (wsh_dev_lane<S>() == 0) {
        struct wsh_dev_ask ask =
            wsh_dev_ask_by_reference(false, (uint64_t)dest, source, (uint32_t)len, pe, false);

        wsh_dev_ask_add_signal(&ask, wsh_dev_ask_signal_op(op), (uint64_t)sym, value, false);
        wsh_dev_ask_send(ask, 2);
    }
    wsh_dev_sync<S>();
    return true;
}

#endif

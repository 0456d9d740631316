/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Zero-copy puts and gets, between memory that this GPU does not reach and memory that the host's transports read and
 * write themselves: the proxy is given its address, and a NIC or the host's CPU does the rest. Posting one costs the
 * same for any length.
 *
 * What is out of line here has names (zcopy, nocopy) by which ptxas keeps few registers (docs/design/gpu-facts.md).
 */
#ifndef WSH_DEVICE_ZERO_COPY_CUH
#define WSH_DEVICE_ZERO_COPY_CUH

#include "proxied.cuh"

/* Whether the host's transports read and write all of [local, local + len) themselves. */
static WSH_DEV bool wsh_dev_zero_copy_covers(const void *local, uint64_t len)
{
    const struct wsh_device_range *buffer;

#pragma unroll 1
    for (int i = WSH_DEVICE_SEGS - 1; i >= 0; i--)
        if (wsh_dev_seg_holds(wsh_device_view.seg[i], (uint64_t)local, len))
            return wsh_device_view.zero_copy_segs >> i & 1;
    buffer = wsh_dev_buffer((uint64_t)local, len);
    return buffer && buffer->zero_copy;
}

/*
 * Whether a transfer is zero-copy; the same in all lanes. One that must end on return is copied up to a greater length,
 * which is done sooner. Out of line, as what it calls, so that a transfer which needs neither holds few registers.
 */
inline WSH_DEV_CALL bool wsh_dev_nocopy(const struct wsh_dev_parts *parts, bool gets)
{
    uint64_t from = gets ? wsh_device_view.zero_copy_get_from : wsh_device_view.zero_copy_from;

    if (parts->waits)
        from = wsh_device_view.zero_copy_waits_from;
    return from && parts->whole >= from && wsh_dev_zero_copy_covers(gets ? parts->dest : parts->source, parts->whole);
}

/* The record of the present part: its position. The last one brings the signal, fenced from the parts before it. */
template <class P>
WSH_DEV_CALL uint64_t wsh_dev_zcopy_send(const P &parts, const struct wsh_dev_signal *with, bool gets)
{
    uint64_t there = (uint64_t)(gets ? parts.source : parts.dest) + parts.off;
    const char *here = (gets ? parts.dest : parts.source) + parts.off;
    struct wsh_dev_request request = wsh_dev_request_zero_copy(gets, there, here, parts.len, parts.pe, parts.waits);
    bool signal = parts.signal && parts.off + parts.len == parts.whole;

    if (signal)
        wsh_dev_request_add_signal(&request, wsh_dev_request_signal_op(with->op), (uint64_t)with->sym, with->value,
                                   parts.off != 0);
    return wsh_dev_parts_send(parts, request, signal ? 2 : 1);
}

/*
 * Lane 0: all parts. Of a put, behind a barrier, which ordered the stores of all lanes to the source before the release
 * of the record; of a get that waits, the barrier that follows lets all lanes see what was written.
 */
template <class P> WSH_DEV_CALL void wsh_dev_zcopy(P *parts, const struct wsh_dev_signal *with, bool gets)
{
#pragma unroll 1
    for (; parts->off < parts->whole; parts->off += parts->len) {
        size_t left = parts->whole - parts->off;

        parts->len = left < WSH_RING_ZERO_COPY_MAX ? (uint32_t)left : (uint32_t)WSH_RING_ZERO_COPY_MAX;
        parts->at = wsh_dev_zcopy_send(*parts, with, gets);
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
    const uint32_t segs = wsh_device_view.zero_copy_segs;

    return (wsh_dev_seg_holds(device, (uint64_t)dest, len) || wsh_dev_seg_holds(host, (uint64_t)dest, len)) &&
           ((wsh_dev_seg_holds(device, (uint64_t)source, len) && segs >> WSH_DEVICE_SEG_DEVICE & 1) ||
            (wsh_dev_seg_holds(host, (uint64_t)source, len) && segs >> WSH_DEVICE_SEG_HEAP & 1));
}

/* Whether a nonblocking put is one zero-copy record between heaps, to a PE that this GPU does not reach. */
static WSH_DEV bool wsh_dev_is_plain_zero_copy(const void *dest, const void *source, size_t len, int pe)
{
    return wsh_device_view.zero_copy_from && len >= wsh_device_view.zero_copy_from && len <= WSH_RING_ZERO_COPY_MAX &&
           (uint32_t)pe < (uint32_t)wsh_device_view.n_pes && wsh_dev_slot(pe) == WSH_DEVICE_NO_SLOT &&
           wsh_device_view.rings && wsh_dev_are_in_heaps(dest, source, len);
}

/* That record. */
static WSH_DEV void wsh_dev_zero_copy_put(void *dest, const void *source, size_t len, int pe)
{
    wsh_dev_ask_send(wsh_dev_request_zero_copy(false, (uint64_t)dest, source, (uint32_t)len, pe, false), 1);
}

/* Whether `op` on the word is a signal that needs no check; the proxy looks the word up. */
static WSH_DEV bool wsh_dev_is_plain_signal(const uint64_t *sym, int op)
{
    return !((uint64_t)sym & 7) && (op == SHMEM_SIGNAL_SET || op == SHMEM_SIGNAL_ADD) &&
           (wsh_dev_seg_holds(wsh_device_view.seg[WSH_DEVICE_SEG_DEVICE], (uint64_t)sym, sizeof *sym) ||
            wsh_dev_seg_holds(wsh_device_view.seg[WSH_DEVICE_SEG_HEAP], (uint64_t)sym, sizeof *sym));
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fence, flush and quiet in device code. Stores to mapped peers are not ordered until a release; one release covers the
 * stores of all lanes that met the calling one at a barrier, to every PE and in every context. Then come the records of
 * the proxy's rings and queues (ring_order.cuh), and what kernels have posted to NICs (gda_order.cuh).
 */
#ifndef WSH_DEVICE_ORDER_CUH
#define WSH_DEVICE_ORDER_CUH

#include "../nic/gda.cuh"

/* One lane: completes or orders what the queue of row i was asked for, after a full fence or a release. */
inline WSH_DEV_CALL void wsh_dev_ask_queue(uint32_t i, bool quiet)
{
    struct wsh_dev_rings rings = wsh_dev_queue_row((const struct wsh_device_root *)wsh_device_view.ranges, i);

    if (rings.n && quiet)
        wsh_dev_ring_complete<false>(rings);
    else if (rings.n)
        wsh_dev_rings_fence(rings);
}

/* In line, since loops in what is called add registers to all that they call. */
static WSH_DEV void wsh_dev_request_queues(bool quiet)
{
#pragma unroll 1
    for (uint32_t i = wsh_dev_queue_rows(); i > 0; i--)
        wsh_dev_ask_queue(i - 1, quiet);
}

/* The same of what kernels have posted to NICs. */
inline WSH_DEV_CALL void wsh_dev_gda_order(bool quiet)
{
    if (quiet)
        wsh_dev_gda_quiet(wsh_dev_gda());
    else
        wsh_dev_gda_fence(wsh_dev_gda(), wsh_dev_rings_here(0));
}

/* The same of what was asked for without a queue, and of that. */
inline WSH_DEV_CALL void wsh_dev_ask_order(bool quiet)
{
    if (quiet)
        wsh_dev_rings_quiet(wsh_dev_rings_here(0));
    else
        wsh_dev_rings_fence(wsh_dev_rings_here(0));
    if (wsh_dev_has_gda())
        wsh_dev_gda_order(quiet);
}

/*
 * Both, where the unit wants that. Contexts of queues know nothing of each other, nor of what kernels post to NICs:
 * where there are queues, only a quiet keeps what has gone by one apart from what will go by another.
 */
static WSH_DEV void wsh_dev_request_order_all(bool quiet)
{
    if (SHMEMX_QUIET_COVERS_QUEUES && !quiet && wsh_dev_queue_rows()) {
        wsh_ptx_fence();
        quiet = true;
    }
    wsh_dev_ask_order(quiet);
    if (SHMEMX_QUIET_COVERS_QUEUES)
        wsh_dev_request_queues(quiet);
}

/* The same of a flush. */
inline WSH_DEV_CALL void wsh_dev_flush_queue(uint32_t i)
{
    struct wsh_dev_rings rings = wsh_dev_queue_row((const struct wsh_device_root *)wsh_device_view.ranges, i);

    if (rings.n)
        wsh_dev_ring_complete<true>(rings);
}

/* What kernels have posted has been read when it is complete. */
static WSH_DEV void wsh_dev_request_flush()
{
    wsh_dev_rings_flush(wsh_dev_rings_here(0));
    if (wsh_dev_has_gda())
        wsh_dev_gda_order(true);
#pragma unroll 1
    for (uint32_t i = SHMEMX_QUIET_COVERS_QUEUES ? wsh_dev_queue_rows() : 0; i > 0; i--)
        wsh_dev_flush_queue(i - 1);
}

template <int S> static WSH_DEV void wsh_dev_fence()
{
    wsh_dev_sync<S>();
    if (wsh_dev_lane<S>() == 0) {
        wsh_ptx_release();
        if (wsh_device_view.rings)
            wsh_dev_request_order_all(false);
    }
    wsh_dev_sync<S>();
}

/* Acquires too: a loop of atomic fetches and a quiet is a way to wait. */
template <int S> static WSH_DEV void wsh_dev_quiet()
{
    wsh_dev_sync<S>();
    if (wsh_dev_lane<S>() == 0) {
        wsh_ptx_fence();
        if (wsh_device_view.rings)
            wsh_dev_request_order_all(true);
    }
    wsh_dev_sync<S>();
}

/* The sources of puts may be written again; what was stored has been read already. */
template <int S> static WSH_DEV void wsh_dev_flush()
{
    wsh_dev_sync<S>();
    if (wsh_dev_lane<S>() == 0 && wsh_device_view.rings) {
        wsh_ptx_fence();
        wsh_dev_request_flush();
    }
    wsh_dev_sync<S>();
}

#endif

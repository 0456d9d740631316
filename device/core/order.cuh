/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fence and quiet in device code. Stores to mapped peers are not ordered until a release; one release covers the
 * stores of all lanes that met the calling one at a barrier, to every PE and in every context.
 */
#ifndef WSH_DEVICE_ORDER_CUH
#define WSH_DEVICE_ORDER_CUH

#include "../proxy/proxied.cuh"

template <int S> static WSH_DEV void wsh_dev_fence()
{
    wsh_dev_sync<S>();
    if (wsh_dev_lane<S>() == 0) {
        wsh_ptx_release();
        if (wsh_device_view.rings)
            wsh_dev_ask_order_all(false);
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
            wsh_dev_ask_order_all(true);
    }
    wsh_dev_sync<S>();
}

#endif

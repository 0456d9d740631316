/* SPDX-License-Identifier: BSD-3-Clause */
/* What the device state has of the proxy: its rings and queues, and which transfers are zero-copy. */
#include "device/view/view.h"

#include "runtime/gpu/proxy/proxy.h"
#include "runtime/gpu/proxy/state.h"
#include "runtime/gpu/segments.h"
#include "runtime/job/job.h"

/*
 * Sizes from which a kernel posts the address (zero-copy) instead of copying the payload: for nonblocking transfers,
 * and for blocking ones, which must wait for the answer. A nonblocking get that is copied waits for its data.
 */
enum { ZERO_COPY_FROM = 512, ZERO_COPY_GET_FROM = 1, ZERO_COPY_WAITS_FROM = 32 << 10 };

static void state_zero_copy(const struct wsh_job *job, struct wsh_device *device)
{
    device->zero_copy_segs = 0;
    for (int seg = 0; seg < WSH_DEVICE_SEGS; seg++)
        if (wsh_segment_is_zero_copy(job, seg))
            device->zero_copy_segs |= (uint16_t)(1u << seg);
    device->zero_copy_from = ZERO_COPY_FROM;
    device->zero_copy_get_from = ZERO_COPY_GET_FROM;
    device->zero_copy_waits_from = ZERO_COPY_WAITS_FROM;
}

void wsh_proxy_device_state(const struct wsh_job *job, struct wsh_device *device)
{
    const struct wsh_proxy *proxy = job->device.proxy;

    state_zero_copy(job, device);
    device->consumers = proxy ? (uint16_t)proxy->n_threads : 0;
    device->rings_each = proxy ? (uint16_t)proxy->each : 0;
    device->rings = proxy ? (uint64_t)(uintptr_t)proxy->rings : 0;
    device->ring_heads = proxy ? proxy->heads : 0;
}

void wsh_proxy_rows(const struct wsh_job *job, struct wsh_device_root *root)
{
    const struct wsh_proxy *proxy = job->device.proxy;

    root->n_queues = wsh_proxy_n_rows(job);
    root->n_named = job->device.n_queues;
    for (unsigned i = 0; proxy && i < proxy->n_queues; i++)
        root->queue[i] =
            (struct wsh_device_queue){(uint64_t)(uintptr_t)proxy->queue[i]->ring, proxy->queue[i]->heads};
}

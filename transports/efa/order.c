/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows what a fence asks of one context's operations to one peer. Pure bookkeeping without libfabric. */
#include "transports/efa/order.h"

#define EFA_ORDERED_KINDS (1 << EFA_WRITE | 1 << EFA_MSG | 1 << EFA_PARKED)

/*
 * A message after a message is always in order: the target applies those of one source by their numbers. Nothing
 * but a message stays behind a message: it is applied later than it arrives.
 */
void wsh_efa_native_set(struct wsh_efa_native *native, bool waw, bool saw, bool raw)
{
    *native = (struct wsh_efa_native){{0}};
    native->after[EFA_WRITE] = waw ? 1 << EFA_WRITE : 0;
    native->after[EFA_MSG] = (uint8_t)(1 << EFA_MSG | (saw ? 1 << EFA_WRITE : 0));
    native->after[EFA_READ] = raw ? 1 << EFA_WRITE : 0;
}

static uint8_t kinds_under_way(const struct wsh_efa_order *order)
{
    uint8_t kinds = 0;

    for (unsigned kind = 0; kind < EFA_KINDS; kind++)
        if (order->out[kind])
            kinds |= (uint8_t)(1 << kind);
    return kinds & EFA_ORDERED_KINDS;
}

/*
 * `behind` only loses a kind when that kind has drained wholly: completions may come in any order, so that a count
 * of them says nothing about the operations before the fence.
 */
bool wsh_efa_order_settle(struct wsh_efa_order *order, uint64_t epoch, uint8_t kinds)
{
    if (order->epoch != epoch) {
        order->epoch = epoch;
        order->behind = kinds_under_way(order);
    } else {
        order->behind &= kinds_under_way(order);
    }
    return !(order->behind & kinds);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows what a fence asks of one context's operations to one peer. Pure bookkeeping without libfabric: the place
 * of the SRD ordering engine.
 *
 * A fence costs one increment of the context's epoch. The first operation to a peer in a new epoch notes which
 * kinds of operation are still under way there (`behind`); an operation may start if each of these kinds has
 * drained, or if the provider itself keeps an operation of the new kind behind one of that kind.
 */
#ifndef WSH_EFA_ORDER_H
#define WSH_EFA_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wsh_efa_kind {
    EFA_WRITE,  /* remote writes, until delivered */
    EFA_MSG,    /* messages (atomics, signals, small puts), until applied by the target */
    EFA_PARKED, /* operations of which a part was not yet given to the provider */
    EFA_READ,   /* remote reads: nothing is ever ordered behind them */
    EFA_KINDS
};

/* What the provider orders by itself: native.after[kind] = bits of the kinds that `kind` stays behind. */
struct wsh_efa_native {
    uint8_t after[EFA_KINDS];
};

/* The operations of one context to one peer. */
struct wsh_efa_order {
    uint32_t
        out[EFA_KINDS]; /* started and not yet complete; changed under the transport's lock, read without */
    uint64_t epoch;     /* of the context, when `behind` was noted */
    uint8_t behind;     /* bits of kinds that were under way at the last fence */
};

void wsh_efa_native_set(struct wsh_efa_native *native, bool waw, bool saw, bool raw);

/* Whether an operation of `kind` may start now without overtaking what the fence before `epoch` covers. */
bool wsh_efa_order_settle(struct wsh_efa_order *order, uint64_t epoch, uint8_t kinds);

static inline bool wsh_efa_order_may(struct wsh_efa_order *order, uint64_t epoch,
                                     const struct wsh_efa_native *native, enum wsh_efa_kind kind)
{
    if (order->epoch == epoch && !order->behind)
        return true;
    return wsh_efa_order_settle(order, epoch, (uint8_t)~native->after[kind]);
}

/* Counters that other threads read without the lock; partners: the acquire loads in wsh_efa_count_read. */
static inline void wsh_efa_count_add(uint32_t *count)
{
    __atomic_store_n(count, *count + 1, __ATOMIC_RELAXED);
}

static inline void wsh_efa_count_sub(uint32_t *count)
{
    __atomic_store_n(count, *count - 1, __ATOMIC_RELEASE);
}

/* Pairs with the release in wsh_efa_count_sub: who sees 0 sees what the completions brought. */
static inline uint32_t wsh_efa_count_read(const uint32_t *count)
{
    return __atomic_load_n(count, __ATOMIC_ACQUIRE);
}

#endif

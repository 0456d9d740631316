/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a consumer of the device rings, and what reports say of it. */
#include "runtime/gpu/proxy/record.h"
#include "runtime/gpu/proxy/ring.h"
#include "runtime/gpu/proxy/spans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t wsh_consumer_size(unsigned n)
{
    return sizeof(struct wsh_consumer) + n * sizeof(struct wsh_consumer_ring);
}

void wsh_consumer_init(struct wsh_consumer *consumer, struct wsh_ring *rings, unsigned n,
                       const struct wsh_consumer_ops *ops, void *arg)
{
    memset(consumer, 0, wsh_consumer_size(n));
    consumer->ops = ops;
    consumer->arg = arg;
    consumer->n_rings = n;
    consumer->waits_for = -1;
    for (unsigned r = 0; r < n; r++)
        consumer->ring[r].ring = &rings[r];
}

struct wsh_consumer *wsh_consumer_open(struct wsh_ring *rings, unsigned n, const struct wsh_consumer_ops *ops,
                                       void *arg)
{
    struct wsh_consumer *consumer = malloc(wsh_consumer_size(n));

    if (consumer)
        wsh_consumer_init(consumer, rings, n, ops, arg);
    return consumer;
}

void wsh_consumer_trace(struct wsh_consumer *consumer, unsigned number)
{
    for (unsigned r = 0; wsh_trace_span && r < consumer->n_rings; r++) {
        struct wsh_ring_spans *spans = consumer->ring[r].spans = calloc(1, sizeof *spans);

        if (spans)
            snprintf(spans->line, sizeof spans->line, "proxy thread %u", number);
    }
}

void wsh_consumer_close(struct wsh_consumer *consumer)
{
    for (unsigned r = 0; consumer && r < consumer->n_rings; r++)
        free(consumer->ring[r].spans);
    free(consumer);
}

struct wsh_consumer_snapshot wsh_consumer_snapshot(const struct wsh_consumer *consumer)
{
    struct wsh_consumer_snapshot snapshot = {.aside = consumer->n_aside, .waits_for = consumer->waits_for};
    struct wsh_ring_piece piece;

    for (unsigned r = 0; r < consumer->n_rings; r++) {
        const struct wsh_consumer_ring *ring = &consumer->ring[r];

        snapshot.in_use += (unsigned)(ring->started - ring->freed);
        snapshot.owed += ring->n_due;
        snapshot.deferred += wsh_record_piece(ring->ring, ring->started, &piece);
    }
    return snapshot;
}

/* Acquire: partner is the consumer's release of each. */
bool wsh_rings_are_idle(const struct wsh_ring *rings, unsigned n)
{
    struct wsh_ring_piece piece;

    for (unsigned r = 0; r < n; r++) {
        uint64_t started = __atomic_load_n(&rings[r].started, __ATOMIC_ACQUIRE);

        if (__atomic_load_n(&rings[r].done, __ATOMIC_ACQUIRE) != started ||
            wsh_record_piece(&rings[r], started, &piece))
            return false;
    }
    return true;
}

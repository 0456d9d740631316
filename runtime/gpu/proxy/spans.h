/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records in a trace: from where one was taken until it was posted, a slice of the proxy thread; and from then until it
 * is complete, as far as the thread sees that: records of a ring are freed in order, and a nonblocking zero-copy one is
 * complete with its quiet alone, so that it has no such end.
 */
#ifndef WSH_PROXY_SPANS_H
#define WSH_PROXY_SPANS_H

#include "base/span.h"
#include "runtime/gpu/proxy/record.h"

#include <time.h>

/* Of a ring; NULL where nothing is traced. */
struct wsh_ring_spans {
    char line[32];
    struct wsh_ring_span {
        uint64_t posted; /* 0: nothing to say at its end */
        uint64_t len;
        int pe;
        enum wsh_ring_kind kind;
    } slot[WSH_RING_PIECES];
};

static inline const char *wsh_ring_kind_name(enum wsh_ring_kind kind)
{
    static const char *const names[WSH_RING_KINDS] = {
        [WSH_RING_PUT] = "put",
        [WSH_RING_SIGNAL] = "put_signal",
        [WSH_RING_PUT_WORD] = "put of a word",
        [WSH_RING_GET] = "get",
        [WSH_RING_GET_WORD] = "get of a word",
        [WSH_RING_AMO] = "atomic",
        [WSH_RING_AMO_SHORT] = "atomic",
        [WSH_RING_IPUT] = "iput",
        [WSH_RING_IGET] = "iget",
        [WSH_RING_QUIET] = "quiet",
        [WSH_RING_FLUSH] = "flush",
        [WSH_RING_PUT_ZERO_COPY] = "zero-copy put",
        [WSH_RING_SIGNAL_ZERO_COPY] = "zero-copy put_signal",
        [WSH_RING_GET_ZERO_COPY] = "zero-copy get",
    };

    return names[kind];
}

static inline uint64_t wsh_ring_spans_now(const struct wsh_consumer_ring *ring)
{
    struct timespec ts = {0, 0};

    if (wsh_unlikely(ring->spans))
        clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The record at `at`, seen at `taken`, was handed to a transport, or set aside; `ends`: its slot tells its end. */
static inline void wsh_ring_spans_posted(const struct wsh_consumer_ring *ring,
                                         const struct wsh_ring_request *request, uint64_t at, uint64_t taken,
                                         bool ends)
{
    struct wsh_ring_spans *spans = ring->spans;
    uint64_t now;

    if (!wsh_unlikely(spans) || request->kind == WSH_RING_PAD)
        return;
    now = wsh_ring_spans_now(ring);
    wsh_trace_span(spans->line, wsh_ring_kind_name(request->kind), taken, now,
                   wsh_record_is_request(request->kind) ? -1 : request->pe, request->len, false);
    spans->slot[at % WSH_RING_PIECES] = (struct wsh_ring_span){
        ends && !wsh_record_is_request(request->kind) ? now : 0, request->len, request->pe, request->kind};
}

static inline void wsh_ring_spans_over(const struct wsh_consumer_ring *ring, uint64_t at)
{
    const struct wsh_ring_span *span;

    if (!wsh_unlikely(ring->spans))
        return;
    span = &ring->spans->slot[at % WSH_RING_PIECES];
    if (span->posted)
        wsh_trace_span(ring->spans->line, wsh_ring_kind_name(span->kind), span->posted,
                       wsh_ring_spans_now(ring), span->pe, span->len, true);
}

#endif

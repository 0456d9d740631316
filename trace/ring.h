/* SPDX-License-Identifier: BSD-3-Clause */
/* The ring of this PE's events. */
#ifndef WSH_TRACE_RING_H
#define WSH_TRACE_RING_H

#include "trace/clocks.h"
#include "trace/trace.h"

/*
 * Of the PE; the block of `clocks` lies at the same place of every PE's symmetric heap. 0 or an error, which the PE or
 * the first of its host has logged.
 */
int wsh_trace_ring_open(const char *file, const struct wsh_trace_clocks *clocks, long events);
/* NULL while there is none. */
struct wsh_trace_head *wsh_trace_ring_head(void);
/* By which path PE `pe` is reached. */
void wsh_trace_ring_path(int pe, enum wsh_trace_path path);
void wsh_trace_ring_pause(bool pause);
/* Of base/span.h, whose name and line have these numbers. */
void wsh_trace_ring_span(unsigned line, unsigned name, uint64_t start, uint64_t end, int pe, uint64_t bytes,
                         enum wsh_trace_kind kind);
/* Nothing is noted any more; the file has all. */
void wsh_trace_ring_close(void);

#endif

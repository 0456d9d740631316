/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a trace: their files, and their clocks, which become one. */
#ifndef WSH_TRACE_PARTS_H
#define WSH_TRACE_PARTS_H

#include "trace/format.h"

#include <stdbool.h>
#include <stddef.h>

struct wsh_trace_part {
    const struct wsh_trace_head *head; /* NULL: no part of this PE */
    const union wsh_trace_record *record;
    const struct wsh_trace_head *leader; /* whose clock was compared; or this one */
    size_t len;
    double ns_per_tick;
};

struct wsh_trace_parts {
    struct wsh_trace_part *part;
    int n, missing;
    int64_t origin; /* time 0 */
};

/* 0 or a negative errno: no part is there, or no memory. */
int wsh_trace_parts_open(struct wsh_trace_parts *parts, const char *file);
/* With `remove`, their files too. */
void wsh_trace_parts_close(struct wsh_trace_parts *parts, const char *file, bool remove);

/* ns from the begin of the trace by the clock of PE 0's host. */
int64_t wsh_trace_time(const struct wsh_trace_parts *parts, const struct wsh_trace_part *part,
                       uint64_t ticks);
/* The same of ns by CLOCK_MONOTONIC of the part's host. */
int64_t wsh_trace_time_ns(const struct wsh_trace_parts *parts, const struct wsh_trace_part *part,
                          uint64_t ns);
/* By how many ns it may be wrong against PE 0's; -1: not known. */
int64_t wsh_trace_error(const struct wsh_trace_part *part);

/* The events that are left, 0 the oldest. */
uint64_t wsh_trace_count(const struct wsh_trace_part *part);
const union wsh_trace_record *wsh_trace_at(const struct wsh_trace_part *part, uint64_t i);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Phases of calls in a trace: where one is made, the first lane of a kernel notes the GPU's time at each mark
 * (EP_CLOCK) in the next row of a ring; when the instance ends the host reads the rows, maps their times to its own
 * clock by two readings of both, and gives them to the trace.
 */
#ifndef WSH_EP_DEVICE_MARKS_H
#define WSH_EP_DEVICE_MARKS_H

#include <stdbool.h>
#include <stdint.h>

/* Marks 0 to 7 are of a dispatch, the others of a combine; 0 and 8 begin a call, and no time of another is 0. */
enum { EP_MARKS = 16, EP_MARK_COMBINE = 8, EP_MARK_ROWS = 2048, EP_MARK_READINGS = 16 };

struct ep_mark_row {
    uint64_t at[EP_MARKS];
};

struct ep_marks {
    uint64_t n; /* rows so far; more than EP_MARK_ROWS: the oldest are gone */
    struct ep_mark_row row[EP_MARK_ROWS];
};

/* A reading of both clocks, in ns, and by how much it may be wrong. */
struct ep_moment {
    uint64_t gpu, host, error;
};

/* libwarpshmem-trace's (base/span.h); NULL where that is not loaded. */
#ifdef __cplusplus
extern "C"
#endif
    void
    wsh_trace_span(const char *line, const char *name, uint64_t start, uint64_t end, int pe, uint64_t bytes,
                   bool overlaps) __attribute__((weak, visibility("default")));

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the library's own threads, kernels and headers do, for a trace: the routines are libwarpshmem-trace's, and NULL
 * where that is not loaded.
 */
#ifndef WSH_SPAN_H
#define WSH_SPAN_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Notes what was done from `start` to `end`, by CLOCK_MONOTONIC in ns. line: whose it is, a line of the picture.
 * pe: -1: none. overlaps: others of its line may be under way at the same time. By any thread.
 */
void wsh_trace_span(const char *line, const char *name, uint64_t start, uint64_t end, int pe, uint64_t bytes,
                    bool overlaps) __attribute__((weak, visibility("default")));

/* A call begins on this thread, as an NVTX range; NULL: the one that began last ends. */
void wsh_trace_range(const char *name) __attribute__((weak, visibility("default")));

#ifdef __cplusplus
}
#endif

#endif

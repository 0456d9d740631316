/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments of this PE: those of device memory that all PEs add while the job runs, and take away again; zero-copy. */
#ifndef WSH_GPU_SEGMENTS_H
#define WSH_GPU_SEGMENTS_H

#include "transports/transport.h"

struct wsh_job;

/* The number of the next one: the same on all PEs. WSH_SEGS: there is none left. */
int wsh_segment_next(const struct wsh_job *job);

/*
 * Collective, after the attach, with the same number on all PEs: makes the memory of every PE reachable for all. `rc`:
 * 0, or the logged error for which this PE has none. 0; else a negative errno on every PE, and nothing is left, after a
 * line from each PE that failed and from one that did not.
 */
int wsh_segment_add(struct wsh_job *job, const struct wsh_mem *mem, int rc, const char *routine);

/* Local, while nobody uses it any more. */
void wsh_segment_withdraw(struct wsh_job *job, int seg);

/* Whether kernels may give the proxy addresses in segment `seg` of this PE: its transports read and write it. */
bool wsh_segment_is_zero_copy(const struct wsh_job *job, int seg);

/* 0, or -EOWNERDEAD after a line: a PE has failed, and what all PEs exchange for `routine` does not come together. */
int wsh_segments_all_live(struct wsh_job *job, const char *routine);

#endif

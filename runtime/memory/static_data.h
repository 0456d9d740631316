/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns the program's own global and static variables into shared memory, and keeps them private across fork().
 *
 * A program may have several ranges of them, with read-only memory between (large constants, where it is compiled for
 * -mcmodel=medium). They are one segment, from the first byte of the first range to the last of the last, so that
 * offsets are the same on all PEs wherever their programs are loaded. No address in a gap is symmetric.
 */
#ifndef WSH_STATIC_DATA_H
#define WSH_STATIC_DATA_H

#include "runtime/memory/heap.h"

/*
 * Replaces the writable data of the executable, in place, by a shared mapping with the same bytes. *seg stays
 * empty when the setting is off, or is `auto` and the executable does not need this library (an interpreter). *ranges:
 * where it has gaps, its parts, until close; else NULL. Call while the process has one thread. 0 or a logged error.
 */
int wsh_static_open(struct wsh_segment *seg, const struct wsh_static_ranges **ranges,
                    const struct wsh_env *env);

/* Puts private memory with the present bytes back in place. */
void wsh_static_close(struct wsh_segment *seg);

/*
 * Before and after a network registers the segment, which it can only where all of it is writable memory: for that time
 * the gaps are, and shared memory from then on. 0 or a logged error.
 */
int wsh_static_fill_gaps(const struct wsh_segment *seg);
void wsh_static_protect_gaps(void);

/* A number that is equal on PEs that run the same executable. */
uint64_t wsh_static_fingerprint(void);

#endif

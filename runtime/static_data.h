/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns the program's own global and static variables into shared memory, and keeps them private across fork(). */
#ifndef WSH_STATIC_DATA_H
#define WSH_STATIC_DATA_H

#include "runtime/heap.h"

/*
 * Replaces the writable data of the executable, in place, by a shared mapping with the same bytes. *seg stays
 * empty when the setting is off, or is `auto` and the executable does not link this library itself (an
 * interpreter). Call while the process has one thread. 0 or a logged error.
 */
int wsh_static_open(struct wsh_segment *seg, const struct wsh_env *env);

/* Puts private memory with the present bytes back in place. */
void wsh_static_close(struct wsh_segment *seg);

/* A number that is equal on PEs that run the same executable. */
uint64_t wsh_static_fingerprint(void);

#endif

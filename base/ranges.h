/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranges of addresses that do not overlap, found by address. One thread changes them at a time, while any others
 * search.
 */
#ifndef WSH_BASE_RANGES_H
#define WSH_BASE_RANGES_H

#include <stdbool.h>
#include <stddef.h>

struct wsh_ranges;

/* With room for so many. NULL without memory. */
struct wsh_ranges *wsh_ranges_open(unsigned room);
void wsh_ranges_close(struct wsh_ranges *ranges);

/* With a number of the caller's. 0; -EEXIST: a part of it is there already; -ENOSPC: no room. */
int wsh_ranges_add(struct wsh_ranges *ranges, const void *base, size_t len, int number);

/* The number of the range that begins at `base` and is there no more; -ENOENT: there was none. */
int wsh_ranges_remove(struct wsh_ranges *ranges, const void *base);

/* O(log n), without a lock. The number of the range that holds [addr, addr + len), or -1; of NULL -1. */
int wsh_ranges_find(const struct wsh_ranges *ranges, const void *addr, size_t len);

/* The i-th by address, for the thread that changes them; false: there are fewer. */
bool wsh_ranges_at(const struct wsh_ranges *ranges, unsigned i, const void **base, size_t *len, int *number);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts, with SHMEM_DEBUG=check, puts that write where an earlier put of the same context to the same PE may not have
 * arrived: over a network, only a fence orders the two. The first is reported, all are counted by routine. It remembers
 * the last WSH_OVERWRITE_PUTS contiguous puts; it does not check older or strided ones.
 */
#ifndef WSH_API_OVERWRITE_H
#define WSH_API_OVERWRITE_H

#include <stddef.h>

#define WSH_OVERWRITE_PUTS 256

struct wsh_ctx;

/* A put of `len` bytes to `sym` of `pe` (of ctx's team) is about to start. `what` as in api.h. */
void wsh_overwrite_note(const char *what, const struct wsh_ctx *ctx, const void *sym, size_t len, int pe);

/*
 * What ctx (NULL: any context) has put is ordered before all that it puts from now on: by a fence, or because this PE
 * has waited for, or read, what another may have written after it saw the put.
 */
void wsh_overwrite_forget(const struct wsh_ctx *ctx);

/* One line with all counts, if there are any; then they are 0. */
void wsh_overwrite_report(void);

#endif

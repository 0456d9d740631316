/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An allocator of ranges of offsets. All its metadata lies outside the range, so that a program that writes past its
 * allocation cannot corrupt it, and so that it can serve memory the CPU cannot touch. Any thread may call.
 */
#ifndef WSH_ALLOC_H
#define WSH_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wsh_alloc;

#define WSH_ALLOC_NONE ((size_t)-1)
#define WSH_ALLOC_GRAIN 64 /* every range starts and ends on such a boundary: a cache line */

/* Serves offsets [0, len). NULL without memory. */
struct wsh_alloc *wsh_alloc_open(size_t len);
void wsh_alloc_close(struct wsh_alloc *alloc);

/* O(log n). `align` is a power of two. Offset of a range of at least `len` > 0 bytes, or WSH_ALLOC_NONE. */
size_t wsh_alloc_get(struct wsh_alloc *alloc, size_t len, size_t align);

/* O(log n). Bytes released, or 0 when `off` is not the start of a live range. */
size_t wsh_alloc_put(struct wsh_alloc *alloc, size_t off);

/*
 * O(log n). Marks the live range that starts at `off` as one that this PE will not use any more; it stays taken
 * until wsh_alloc_put. Its number, which grows from 1 with each wsh_alloc_get; 0 when no live range starts there, or it
 * was marked before.
 */
uint64_t wsh_alloc_release(struct wsh_alloc *alloc, size_t off);

/* Size asked for at wsh_alloc_get (or last resize) of the live range, not released, that starts at `off`; or 0. */
size_t wsh_alloc_size(struct wsh_alloc *alloc, size_t off);

/* Whether the `len` bytes at `off` are of one live range, not released, and were asked for. */
bool wsh_alloc_is_live(struct wsh_alloc *alloc, size_t off, size_t len);

/* O(log n). Grows or shrinks the live range in place. 0, -ENOMEM (no room behind it) or -EINVAL. */
int wsh_alloc_resize(struct wsh_alloc *alloc, size_t off, size_t len);

/*
 * From now on no range reaches across `off`, which is larger than that of any call before and a multiple of the grain;
 * no live range may do so already. 0 or -ENOMEM.
 */
int wsh_alloc_wall(struct wsh_alloc *alloc, size_t off);

/* The live ranges in order, malloc'd, with `released` as bit 0 of `number`; *n of them. NULL without memory. */
struct wsh_alloc_range {
    uint64_t off, len, asked, number;
};
struct wsh_alloc_range *wsh_alloc_list(struct wsh_alloc *alloc, size_t *n, uint64_t *numbers);

/*
 * From now on these are the live ranges, and `numbers` have been given. What is live here and there keeps its mark of
 * wsh_alloc_release. 0 or -ENOMEM, with nothing changed.
 */
int wsh_alloc_restore(struct wsh_alloc *alloc, const struct wsh_alloc_range *list, size_t n,
                      uint64_t numbers);

/* Bytes in no live range, and the largest single free range. */
size_t wsh_alloc_free_bytes(const struct wsh_alloc *alloc);
size_t wsh_alloc_largest(const struct wsh_alloc *alloc);

#endif

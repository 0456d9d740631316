/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symmetric memory of which some of the PEs take a part together, such as the sync area of a team: consecutive units
 * that are free at every PE that takes part. Free units are zero.
 */
#ifndef WSH_COLL_POOL_H
#define WSH_COLL_POOL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wsh_heap;

#define WSH_POOL_UNITS 4096
#define WSH_POOL_WORDS (WSH_POOL_UNITS / 64)
#define WSH_POOL_BYTES (WSH_POOL_WORDS * sizeof(uint64_t))

struct wsh_pool {
    char *base; /* symmetric */
    size_t unit;
    int n_units;
    uint64_t *map;        /* [WSH_POOL_WORDS] symmetric; bits of the units that are free here */
    pthread_mutex_t lock; /* of the map */
};

/* `len` bytes of the heap, in units of `least` bytes at least. 0 or -ENOMEM (logged). */
int wsh_pool_open(struct wsh_pool *pool, struct wsh_heap *heap, size_t len, size_t least);

/* A copy of the map. */
void wsh_pool_read(struct wsh_pool *pool, uint64_t *map);

/*
 * A row of units for `len` bytes among those free in `map`, which is what all have in common: the first from unit
 * `from` on, or the first of all; takes it out of the map. -1 = there is none.
 */
int wsh_pool_find(const struct wsh_pool *pool, uint64_t *map, size_t len, int from);

/* take: the units are used here from now on (false: another thread was faster). give: they are free again, and zero. */
bool wsh_pool_take(struct wsh_pool *pool, int unit, size_t len);
void wsh_pool_give(struct wsh_pool *pool, int unit, size_t len);

#endif

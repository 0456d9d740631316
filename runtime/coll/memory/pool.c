/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts, finds and takes units of the pool. */
#include "runtime/coll/memory/pool.h"

#include "base/invariant.h"
#include "runtime/coll/memory/sync_area.h"
#include "runtime/memory/heap.h"

#include <string.h>

/* Of a page: else the speed of a team hangs on the length of what lies before (broadcast of 8 bytes 1.09 times). */
#define POOL_ALIGN 4096

int wsh_pool_open(struct wsh_pool *pool, struct wsh_heap *heap, size_t len, size_t least)
{
    size_t share = len / WSH_POOL_UNITS;

    pthread_mutex_init(&pool->lock, NULL);
    pool->unit = share > least ? share & ~(least / 4 - 1) : least;
    pool->n_units = (int)(len / pool->unit);
    if (pool->n_units > WSH_POOL_UNITS)
        pool->n_units = WSH_POOL_UNITS;
    pool->map = wsh_heap_reserve(heap, WSH_POOL_BYTES, WSH_SYNC_AREA_LINE);
    pool->base = wsh_heap_reserve(heap, (size_t)pool->n_units * pool->unit + 1, POOL_ALIGN);
    if (!pool->map || !pool->base)
        return -ENOMEM;
    for (int unit = 0; unit < pool->n_units; unit++)
        pool->map[unit / 64] |= UINT64_C(1) << unit % 64;
    return 0;
}

static int count_units(const struct wsh_pool *pool, size_t len)
{
    return (int)((len + pool->unit - 1) / pool->unit);
}

static void set_row(uint64_t *map, int unit, int n, bool freed)
{
    for (; n--; unit++) {
        uint64_t bit = UINT64_C(1) << unit % 64;

        map[unit / 64] = freed ? map[unit / 64] | bit : map[unit / 64] & ~bit;
    }
}

void wsh_pool_read(struct wsh_pool *pool, uint64_t *map)
{
    pthread_mutex_lock(&pool->lock);
    memcpy(map, pool->map, WSH_POOL_BYTES);
    pthread_mutex_unlock(&pool->lock);
}

static bool is_free(const uint64_t *map, int unit)
{
    return map[unit / 64] >> unit % 64 & 1;
}

static int find_from(const struct wsh_pool *pool, const uint64_t *map, int n, int from)
{
    int row = 0;

    for (int unit = from; unit < pool->n_units; unit++) {
        row = is_free(map, unit) ? row + 1 : 0;
        if (row == n)
            return unit + 1 - n;
    }
    return -1;
}

int wsh_pool_find(const struct wsh_pool *pool, uint64_t *map, size_t len, int from)
{
    int n = count_units(pool, len), unit = find_from(pool, map, n, from);

    if (unit < 0)
        unit = find_from(pool, map, n, 0);
    if (unit >= 0)
        set_row(map, unit, n, false);
    WSH_INVARIANT(unit < 0 || unit + n <= pool->n_units);
    return unit;
}

bool wsh_pool_take(struct wsh_pool *pool, int unit, size_t len)
{
    int n = count_units(pool, len);
    bool ok = true;

    pthread_mutex_lock(&pool->lock);
    for (int i = 0; i < n; i++)
        ok &= is_free(pool->map, unit + i);
    if (ok)
        set_row(pool->map, unit, n, false);
    pthread_mutex_unlock(&pool->lock);
    return ok;
}

void wsh_pool_give(struct wsh_pool *pool, int unit, size_t len)
{
    memset(pool->base + (size_t)unit * pool->unit, 0, len);
    pthread_mutex_lock(&pool->lock);
    WSH_INVARIANT(!is_free(pool->map, unit));
    set_row(pool->map, unit, count_units(pool, len), true);
    pthread_mutex_unlock(&pool->lock);
}

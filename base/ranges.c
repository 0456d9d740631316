/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two sorted tables: a change writes the one that nobody searches, then makes it the current one. A search that finds
 * the version changed at its end, so that its table may have been written meanwhile, is repeated.
 */
#include "base/ranges.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

struct range {
    uintptr_t base;
    size_t len;
    int number;
};

struct table {
    unsigned n;
    struct range *at;
};

struct wsh_ranges {
    unsigned version; /* its last bit: the current table */
    unsigned room;
    struct table table[2];
    struct range rows[];
};

struct wsh_ranges *wsh_ranges_open(unsigned room)
{
    struct wsh_ranges *ranges = calloc(1, sizeof *ranges + 2 * room * sizeof ranges->rows[0]);

    if (!ranges)
        return NULL;
    ranges->room = room;
    ranges->table[0].at = ranges->rows;
    ranges->table[1].at = ranges->rows + room;
    return ranges;
}

void wsh_ranges_close(struct wsh_ranges *ranges)
{
    free(ranges);
}

/* A search may read these while they are written; it then reads them again. */
#define READ(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define WRITE(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)

/* How many of the table begin at or below `addr`. */
static unsigned count_below(const struct table *table, unsigned room, uintptr_t addr)
{
    unsigned low = 0, high = READ(table->n);

    high = high < room ? high : room;
    while (low < high) {
        unsigned mid = (low + high) / 2;

        if (READ(table->at[mid].base) <= addr)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static int search(const struct wsh_ranges *ranges, const struct table *table, uintptr_t addr, size_t len)
{
    unsigned below = count_below(table, ranges->room, addr);
    const struct range *range = below ? &table->at[below - 1] : NULL;
    size_t off = range ? addr - READ(range->base) : 0, whole = range ? READ(range->len) : 0;

    return off < whole && len <= whole - off ? READ(range->number) : -1;
}

int wsh_ranges_find(const struct wsh_ranges *ranges, const void *addr, size_t len)
{
    unsigned version, after;
    int number;

    if (!ranges)
        return -1;
    do {
        version = __atomic_load_n(&ranges->version, __ATOMIC_ACQUIRE); /* partner: table_publish */
        number = search(ranges, &ranges->table[version & 1], (uintptr_t)addr, len);
        __atomic_thread_fence(__ATOMIC_ACQUIRE); /* what was read is older than the version that follows */
        after = __atomic_load_n(&ranges->version, __ATOMIC_RELAXED);
    } while (after != version);
    return number;
}

static struct table *current(struct wsh_ranges *ranges)
{
    return &ranges->table[ranges->version & 1];
}

/*
 * The other table, as the current one but for the rows from `from` on, which move by `shift`. The fence: whoever reads
 * a row that is written here reads a version that is no longer the one it began with.
 */
static struct table *table_next(struct wsh_ranges *ranges, unsigned from, int shift)
{
    const struct table *now = current(ranges);
    struct table *next = &ranges->table[~ranges->version & 1];

    __atomic_thread_fence(__ATOMIC_RELEASE);
    for (unsigned i = 0; i < now->n; i++) {
        unsigned to = i < from ? i : i + (unsigned)shift;

        if (shift < 0 && i < from + (unsigned)-shift && i >= from)
            continue;
        WRITE(next->at[to].base, now->at[i].base);
        WRITE(next->at[to].len, now->at[i].len);
        WRITE(next->at[to].number, now->at[i].number);
    }
    WRITE(next->n, now->n + (unsigned)shift);
    return next;
}

static void table_publish(struct wsh_ranges *ranges)
{
    __atomic_store_n(&ranges->version, ranges->version + 1, __ATOMIC_RELEASE); /* partner: wsh_ranges_find */
}

int wsh_ranges_add(struct wsh_ranges *ranges, const void *base, size_t len, int number)
{
    const struct table *now = current(ranges);
    uintptr_t first = (uintptr_t)base;
    unsigned below = count_below(now, ranges->room, first);
    struct table *next;

    if ((below && first - now->at[below - 1].base < now->at[below - 1].len) ||
        (below < now->n && now->at[below].base - first < len))
        return -EEXIST;
    if (now->n == ranges->room)
        return -ENOSPC;
    next = table_next(ranges, below, 1);
    WRITE(next->at[below].base, first);
    WRITE(next->at[below].len, len);
    WRITE(next->at[below].number, number);
    table_publish(ranges);
    return 0;
}

int wsh_ranges_remove(struct wsh_ranges *ranges, const void *base)
{
    const struct table *now = current(ranges);
    unsigned below = count_below(now, ranges->room, (uintptr_t)base);
    int number;

    if (!below || now->at[below - 1].base != (uintptr_t)base)
        return -ENOENT;
    number = now->at[below - 1].number;
    table_next(ranges, below - 1, -1);
    table_publish(ranges);
    return number;
}

bool wsh_ranges_at(const struct wsh_ranges *ranges, unsigned i, const void **base, size_t *len, int *number)
{
    const struct table *now = &ranges->table[ranges->version & 1];

    if (i >= now->n)
        return false;
    *base = (const void *)now->at[i].base;
    *len = now->at[i].len;
    *number = now->at[i].number;
    return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The offset allocator hands out aligned ranges that do not overlap, takes them back whole, and stays logarithmic. */
#include "runtime/memory/alloc.h"

#include "test/common/unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define LEN ((size_t)1 << 20)
#define RANGES 256

static uint64_t state = 1;

static size_t random_below(size_t limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % limit;
}

static void gives_aligned_ranges(void)
{
    struct wsh_alloc *alloc = wsh_alloc_open(LEN);

    for (size_t align = 1; align <= 65536; align *= 2) {
        size_t off = wsh_alloc_get(alloc, 100, align);

        CU_ASSERT(off != WSH_ALLOC_NONE && off % align == 0 && off % WSH_ALLOC_GRAIN == 0);
        CU_ASSERT_EQUAL(wsh_alloc_size(alloc, off), 100);
    }
    wsh_alloc_close(alloc);
}

static void takes_everything_back(void)
{
    struct wsh_alloc *alloc = wsh_alloc_open(LEN);
    size_t offs[RANGES], before = wsh_alloc_free_bytes(alloc);

    CU_ASSERT_EQUAL(before, LEN);
    CU_ASSERT_EQUAL(wsh_alloc_largest(alloc), LEN);
    for (int i = 0; i < RANGES; i++)
        offs[i] = wsh_alloc_get(alloc, 1000, 64);
    for (int i = 0; i < RANGES; i += 2)
        CU_ASSERT(wsh_alloc_put(alloc, offs[i]) >= 1000);
    CU_ASSERT(wsh_alloc_largest(alloc) < LEN);
    for (int i = 1; i < RANGES; i += 2)
        CU_ASSERT(wsh_alloc_put(alloc, offs[i]) >= 1000);
    CU_ASSERT_EQUAL(wsh_alloc_free_bytes(alloc), before);
    CU_ASSERT_EQUAL(wsh_alloc_largest(alloc), LEN);
    wsh_alloc_close(alloc);
}

static void knows_what_is_live(void)
{
    struct wsh_alloc *alloc = wsh_alloc_open(LEN);
    size_t a = wsh_alloc_get(alloc, 128, 64), b = wsh_alloc_get(alloc, 128, 64),
           c = wsh_alloc_get(alloc, 128, 64);

    CU_ASSERT(wsh_alloc_is_live(alloc, a, 128) && wsh_alloc_is_live(alloc, a + 5, 1));
    CU_ASSERT(!wsh_alloc_is_live(alloc, a, c + 128 - a));
    CU_ASSERT(!wsh_alloc_is_live(alloc, c, 129) && !wsh_alloc_is_live(alloc, c + 128, 1));
    CU_ASSERT(!wsh_alloc_is_live(alloc, a, SIZE_MAX));
    wsh_alloc_put(alloc, b);
    CU_ASSERT(!wsh_alloc_is_live(alloc, b, 1) && !wsh_alloc_is_live(alloc, b + 127, 2));
    CU_ASSERT(!wsh_alloc_is_live(alloc, a, 129) && wsh_alloc_is_live(alloc, a, 128));
    wsh_alloc_close(alloc);
}

static void refuses_what_does_not_fit(void)
{
    struct wsh_alloc *alloc = wsh_alloc_open(LEN);

    CU_ASSERT_EQUAL(wsh_alloc_get(alloc, LEN + 1, 64), WSH_ALLOC_NONE);
    CU_ASSERT_EQUAL(wsh_alloc_get(alloc, SIZE_MAX, 64), WSH_ALLOC_NONE);
    CU_ASSERT_EQUAL(wsh_alloc_get(alloc, SIZE_MAX - 10, 4096), WSH_ALLOC_NONE);
    CU_ASSERT_EQUAL(wsh_alloc_get(alloc, SIZE_MAX / 2 + 1, 64), WSH_ALLOC_NONE);
    CU_ASSERT_EQUAL(wsh_alloc_get(alloc, LEN, 64), 0);
    CU_ASSERT_EQUAL(wsh_alloc_get(alloc, 1, 64), WSH_ALLOC_NONE);
    CU_ASSERT_EQUAL(wsh_alloc_free_bytes(alloc), 0);
    wsh_alloc_close(alloc);
}

static void knows_only_starts_of_live_ranges(void)
{
    struct wsh_alloc *alloc = wsh_alloc_open(LEN);
    size_t off = wsh_alloc_get(alloc, 1000, 64);

    CU_ASSERT_EQUAL(wsh_alloc_size(alloc, off + 64), 0);
    CU_ASSERT_EQUAL(wsh_alloc_put(alloc, off + 64), 0);
    CU_ASSERT_EQUAL(wsh_alloc_put(alloc, LEN + 5), 0);
    CU_ASSERT(wsh_alloc_put(alloc, off) > 0);
    CU_ASSERT_EQUAL(wsh_alloc_put(alloc, off), 0);
    CU_ASSERT_EQUAL(wsh_alloc_size(alloc, off), 0);
    CU_ASSERT_EQUAL(wsh_alloc_resize(alloc, off, 10), -EINVAL);
    wsh_alloc_close(alloc);
}

static void resizes_in_place(void)
{
    struct wsh_alloc *alloc = wsh_alloc_open(LEN);
    size_t a = wsh_alloc_get(alloc, 1000, 64), b = wsh_alloc_get(alloc, 1000, 64);

    CU_ASSERT_EQUAL(wsh_alloc_resize(alloc, a, 5000), -ENOMEM);
    CU_ASSERT_EQUAL(wsh_alloc_size(alloc, a), 1000);
    CU_ASSERT_EQUAL(wsh_alloc_resize(alloc, b, 5000), 0);
    CU_ASSERT_EQUAL(wsh_alloc_size(alloc, b), 5000);
    CU_ASSERT(wsh_alloc_resize(alloc, b, SIZE_MAX - 5) < 0);
    CU_ASSERT_EQUAL(wsh_alloc_resize(alloc, b, 10), 0);
    CU_ASSERT(wsh_alloc_put(alloc, b) >= 10);
    CU_ASSERT_EQUAL(wsh_alloc_resize(alloc, a, LEN), 0);
    CU_ASSERT_EQUAL(wsh_alloc_free_bytes(alloc), 0);
    CU_ASSERT_EQUAL(wsh_alloc_resize(alloc, a, LEN + 1), -ENOMEM);
    wsh_alloc_close(alloc);
}

struct live {
    size_t off, len;
};

static bool overlaps(const struct live *live, int skip, size_t off, size_t len)
{
    for (int i = 0; i < RANGES; i++) {
        if (i != skip && live[i].len && off < live[i].off + live[i].len && live[i].off < off + len)
            return true;
    }
    return false;
}

static void agrees_with_a_model(void)
{
    struct wsh_alloc *alloc = wsh_alloc_open(LEN);
    struct live live[RANGES] = {0};
    bool sane = true;

    for (int n = 0; n < 20000; n++) {
        int i = (int)random_below(RANGES);
        size_t len = 1 + random_below(20000), align = (size_t)1 << random_below(13);

        if (!live[i].len) {
            live[i].off = wsh_alloc_get(alloc, len, align);
            live[i].len = live[i].off == WSH_ALLOC_NONE ? 0 : len;
            sane &= !live[i].len || (live[i].off % align == 0 && live[i].off + len <= LEN);
        } else if (random_below(3)) {
            sane &= wsh_alloc_put(alloc, live[i].off) >= live[i].len;
            live[i].len = 0;
        } else if (!wsh_alloc_resize(alloc, live[i].off, len)) {
            live[i].len = len;
        }
        sane &= !live[i].len || !overlaps(live, i, live[i].off, live[i].len);
        sane &= !live[i].len || wsh_alloc_size(alloc, live[i].off) == live[i].len;
    }
    CU_ASSERT(sane);
    for (int i = 0; i < RANGES; i++) {
        if (live[i].len)
            wsh_alloc_put(alloc, live[i].off);
    }
    CU_ASSERT_EQUAL(wsh_alloc_largest(alloc), LEN);
    wsh_alloc_close(alloc);
}

static double seconds_for(size_t ranges)
{
    struct wsh_alloc *alloc = wsh_alloc_open(ranges * 64);
    clock_t start = clock();

    for (size_t i = 0; i < ranges; i++)
        wsh_alloc_get(alloc, 64, 64);
    for (size_t i = 0; i < ranges; i += 2)
        wsh_alloc_put(alloc, i * 64);
    for (size_t i = 0; i < ranges; i += 2)
        wsh_alloc_get(alloc, 64, 64);
    start = clock() - start;
    wsh_alloc_close(alloc);
    return (double)start / CLOCKS_PER_SEC;
}

/* 16 times the ranges may cost 16 * (1 + 4 / log) of the time, and a quadratic way would cost 256 times. */
static void stays_logarithmic(void)
{
    double few = seconds_for(4096), many = seconds_for(16 * 4096);

    CU_ASSERT(many < 100 * few + 0.05);
}

static void serves_the_same_offsets_again(void)
{
    struct wsh_alloc *a = wsh_alloc_open(LEN), *b = wsh_alloc_open(LEN);
    bool same = true;

    for (int n = 0; n < 2000; n++) {
        size_t len = 1 + random_below(3000), off = wsh_alloc_get(a, len, 64);

        same &= wsh_alloc_get(b, len, 64) == off;
        if (n % 3)
            same &= wsh_alloc_put(a, off) == wsh_alloc_put(b, off);
    }
    CU_ASSERT(same);
    wsh_alloc_close(a);
    wsh_alloc_close(b);
}

static void keeps_ranges_behind_walls(void)
{
    const size_t wall = LEN / 4;
    struct wsh_alloc *alloc = wsh_alloc_open(LEN);
    size_t first = wsh_alloc_get(alloc, wall / 2, 64), second, third;

    CU_ASSERT_EQUAL(wsh_alloc_wall(alloc, wall), 0);
    second = wsh_alloc_get(alloc, wall, 64); /* more than there is before the wall */
    third = wsh_alloc_get(alloc, wall / 2, 64);
    CU_ASSERT_EQUAL(first, 0);
    CU_ASSERT_EQUAL(second, wall);
    CU_ASSERT_EQUAL(third, wall / 2);
    CU_ASSERT(wsh_alloc_put(alloc, second) > 0);
    CU_ASSERT_EQUAL(wsh_alloc_resize(alloc, third, wall),
                    -ENOMEM); /* the room behind it is behind the wall */
    CU_ASSERT_EQUAL(wsh_alloc_wall(alloc, 2 * wall), 0);
    CU_ASSERT(wsh_alloc_put(alloc, first) > 0);
    CU_ASSERT(wsh_alloc_put(alloc, third) > 0);
    CU_ASSERT_EQUAL(wsh_alloc_free_bytes(alloc), LEN);
    CU_ASSERT_EQUAL(wsh_alloc_largest(alloc), LEN - 2 * wall);
    CU_ASSERT_EQUAL(wsh_alloc_get(alloc, wall, 64), 0);
    CU_ASSERT_EQUAL(wsh_alloc_get(alloc, wall + 1, 64), 2 * wall);
    wsh_alloc_close(alloc);
}

static void serves_tiny_and_empty_spaces(void)
{
    struct wsh_alloc *empty = wsh_alloc_open(0), *tiny = wsh_alloc_open(WSH_ALLOC_GRAIN);

    CU_ASSERT_PTR_NOT_NULL(empty);
    CU_ASSERT_EQUAL(wsh_alloc_get(empty, 1, 1), WSH_ALLOC_NONE);
    CU_ASSERT_EQUAL(wsh_alloc_get(tiny, 1, 1), 0);
    CU_ASSERT_EQUAL(wsh_alloc_get(tiny, 1, 1), WSH_ALLOC_NONE);
    wsh_alloc_close(empty);
    wsh_alloc_close(tiny);
    wsh_alloc_close(NULL);
}

const struct unit_test unit_tests[] = {
    {"gives aligned ranges", gives_aligned_ranges},
    {"takes everything back", takes_everything_back},
    {"bytes are of one live range or not", knows_what_is_live},
    {"refuses what does not fit", refuses_what_does_not_fit},
    {"knows only starts of live ranges", knows_only_starts_of_live_ranges},
    {"resizes in place", resizes_in_place},
    {"agrees with a model", agrees_with_a_model},
    {"stays logarithmic", stays_logarithmic},
    {"serves the same offsets again", serves_the_same_offsets_again},
    {"serves tiny and empty spaces", serves_tiny_and_empty_spaces},
    {"keeps ranges behind walls", keeps_ranges_behind_walls},
    {NULL, NULL},
};

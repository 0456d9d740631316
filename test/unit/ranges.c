/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranges are found by address, refused where they overlap, and found by a thread that searches while they change. */
#include "base/ranges.h"

#include "test/common/unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { ROOM = 64, LEN = 16, GAP = 64 };

static char memory[ROOM * GAP];

static char *base_of(int i)
{
    return memory + i * GAP;
}

static void found_by_address(void)
{
    struct wsh_ranges *ranges = wsh_ranges_open(ROOM);

    CU_ASSERT_EQUAL(wsh_ranges_find(NULL, memory, 1), -1);
    CU_ASSERT_EQUAL(wsh_ranges_find(ranges, memory, 1), -1);
    for (int i = 0; i < ROOM; i++) /* in an order that is none */
        CU_ASSERT_EQUAL(wsh_ranges_add(ranges, base_of(i * 37 % ROOM), LEN, i * 37 % ROOM), 0);
    CU_ASSERT_EQUAL(wsh_ranges_add(ranges, base_of(0) + 32, LEN, 99), -ENOSPC);
    for (int i = 0; i < ROOM; i++) {
        CU_ASSERT_EQUAL(wsh_ranges_find(ranges, base_of(i), LEN), i);
        CU_ASSERT_EQUAL(wsh_ranges_find(ranges, base_of(i) + LEN - 1, 1), i);
        CU_ASSERT_EQUAL(wsh_ranges_find(ranges, base_of(i) + 1, LEN), -1);
        CU_ASSERT_EQUAL(wsh_ranges_find(ranges, base_of(i) + LEN, 1), -1);
        CU_ASSERT_EQUAL(wsh_ranges_find(ranges, base_of(i), SIZE_MAX), -1);
    }
    CU_ASSERT_EQUAL(wsh_ranges_find(ranges, (const void *)1, 1), -1);
    wsh_ranges_close(ranges);
}

static void overlaps_are_refused(void)
{
    struct wsh_ranges *ranges = wsh_ranges_open(ROOM);

    CU_ASSERT_EQUAL(wsh_ranges_add(ranges, memory + 32, 32, 1), 0);
    CU_ASSERT_EQUAL(wsh_ranges_add(ranges, memory + 32, 32, 2), -EEXIST);
    CU_ASSERT_EQUAL(wsh_ranges_add(ranges, memory + 63, 1, 2), -EEXIST);
    CU_ASSERT_EQUAL(wsh_ranges_add(ranges, memory, 33, 2), -EEXIST);
    CU_ASSERT_EQUAL(wsh_ranges_add(ranges, memory, 128, 2), -EEXIST);
    CU_ASSERT_EQUAL(wsh_ranges_add(ranges, memory + 64, 8, 2), 0);
    CU_ASSERT_EQUAL(wsh_ranges_add(ranges, memory, 32, 3), 0);
    CU_ASSERT_EQUAL(wsh_ranges_find(ranges, memory + 64, 8), 2);
    wsh_ranges_close(ranges);
}

static void removed_by_their_start(void)
{
    struct wsh_ranges *ranges = wsh_ranges_open(ROOM);
    const void *base;
    size_t len;
    int number;

    for (int i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(wsh_ranges_add(ranges, base_of(i), LEN, i), 0);
    CU_ASSERT_EQUAL(wsh_ranges_remove(ranges, base_of(2) + 1), -ENOENT);
    CU_ASSERT_EQUAL(wsh_ranges_remove(ranges, base_of(2)), 2);
    CU_ASSERT_EQUAL(wsh_ranges_remove(ranges, base_of(2)), -ENOENT);
    CU_ASSERT_EQUAL(wsh_ranges_remove(ranges, base_of(4)), 4);
    CU_ASSERT_EQUAL(wsh_ranges_remove(ranges, base_of(0)), 0);
    CU_ASSERT(wsh_ranges_at(ranges, 1, &base, &len, &number) && base == base_of(3) && len == LEN &&
              number == 3);
    CU_ASSERT(!wsh_ranges_at(ranges, 2, &base, &len, &number));
    CU_ASSERT_EQUAL(wsh_ranges_find(ranges, base_of(1), 1), 1);
    wsh_ranges_close(ranges);
}

/* One range stays; the others come and go around it. */
static void *keep_searching(void *arg)
{
    struct wsh_ranges *ranges = arg;
    intptr_t wrong = 0;

    for (int i = 0; i < 200000; i++) {
        wrong += wsh_ranges_find(ranges, base_of(ROOM / 2) + i % LEN, 1) != ROOM / 2;
        wrong += wsh_ranges_find(ranges, base_of(ROOM / 2) + LEN, 1) != -1;
    }
    return (void *)wrong;
}

static void found_while_others_change(void)
{
    struct wsh_ranges *ranges = wsh_ranges_open(ROOM);
    pthread_t thread;
    void *wrong;

    CU_ASSERT_EQUAL(wsh_ranges_add(ranges, base_of(ROOM / 2), LEN, ROOM / 2), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, keep_searching, ranges), 0);
    for (int round = 0; round < 300; round++) {
        for (int i = 0; i < ROOM; i++)
            if (i != ROOM / 2)
                wsh_ranges_add(ranges, base_of(i), LEN, i);
        for (int i = 0; i < ROOM; i++)
            if (i != ROOM / 2)
                wsh_ranges_remove(ranges, base_of(i));
    }
    CU_ASSERT(!pthread_join(thread, &wrong) && !wrong);
    wsh_ranges_close(ranges);
}

const struct unit_test unit_tests[] = {
    {"found by address", found_by_address},
    {"overlaps are refused", overlaps_are_refused},
    {"removed by their start", removed_by_their_start},
    {"found while others change", found_while_others_change},
    {NULL, NULL},
};

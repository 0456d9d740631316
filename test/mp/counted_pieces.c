/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long counted puts over several NICs: at most one piece a NIC and no message beside them, and the counter counts puts,
 * not pieces, each when all of it is there, while others to the same counter and to another one are under way.
 * paths: efa:2 rails:2 setsefa:2 tcp:2
 */
#include "test/common/mp.h"

#include <shmemx.h>

#include <string.h>

enum { NICS = 4, AREAS = 3, LEN = 1 << 20, TRIES = 5 };

static shmemx_counter_t counter[2];
static uint64_t expected[2];
static char *data, *src;

static bool is_whole(int area, uint64_t seed)
{
    return !mp_wrong(data + (size_t)area * LEN, LEN, seed + (uint64_t)area);
}

/* Two with one counter, one with another, to each other; of the two, either may be the first to be whole. */
static void counts_are_puts(void)
{
    for (long n = 0; n < mp_rounds(8, 500); n++) {
        uint64_t seed = 100 + 10 * (uint64_t)n;

        for (int area = 0; area < AREAS; area++) {
            mp_fill(src + (size_t)area * LEN, LEN, seed + (uint64_t)area);
            memset(data + (size_t)area * LEN, 0, LEN);
        }
        shmem_barrier_all();
        for (int area = 0; area < AREAS; area++)
            shmemx_putmem_counted_nbi(data + (size_t)area * LEN, src + (size_t)area * LEN, LEN,
                                      counter[area / 2], mp_right());
        shmemx_counter_wait_until(counter[0], expected[0] + 1);
        mp_check(is_whole(0, seed) || is_whole(1, seed), "round %ld: counted before any put was there", n);
        shmemx_counter_wait_until(counter[0], expected[0] += 2);
        mp_check(is_whole(0, seed) && is_whole(1, seed), "round %ld: two counted, and not there", n);
        shmemx_counter_wait_until(counter[1], expected[1] += 1);
        mp_check(is_whole(2, seed), "round %ld: counted by the other counter, and not there", n);
        shmem_quiet();
        shmem_barrier_all();
        for (int i = 0; i < 2; i++)
            mp_check(shmemx_counter_fetch(counter[i]) == expected[i], "round %ld: %llu counted, not %llu", n,
                     (unsigned long long)shmemx_counter_fetch(counter[i]), (unsigned long long)expected[i]);
        shmem_barrier_all();
    }
}

static uint64_t operations(void)
{
    uint64_t n, bytes;

    mp_network_counts(&n, &bytes);
    return n;
}

/* The library may have something of its own to send meanwhile: the least of several. */
static void pieces_are_few(void)
{
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < TRIES; i++) {
        uint64_t before;

        shmem_quiet();
        shmem_barrier_all();
        before = operations();
        if (mp_me == 0) {
            shmemx_putmem_counted_nbi(data, src, (size_t)AREAS * LEN, counter[0], mp_right());
            shmemx_flush();
            before = operations() - before;
            least = before < least ? before : least;
        } else if (mp_left() == 0) {
            shmemx_counter_wait_until(counter[0], expected[0] += 1);
            mp_check(is_whole(0, 0) && is_whole(2, 0), "try %d: counted, and not there", i);
        }
        shmem_barrier_all();
    }
    mp_check(mp_me || least <= NICS, "a counted put of %d MiB was %llu requests", AREAS,
             (unsigned long long)least);
}

int main(void)
{
    mp_begin();
    data = mp_alloc((size_t)AREAS * LEN);
    src = mp_alloc((size_t)AREAS * LEN);
    mp_check(!shmemx_counter_create(SHMEM_TEAM_WORLD, 2, counter), "no counters");
    counts_are_puts();
    for (int area = 0; area < AREAS; area++)
        mp_fill(src + (size_t)area * LEN, LEN, (uint64_t)area);
    shmem_barrier_all();
    pieces_are_few();
    mp_check(!shmemx_counter_destroy(SHMEM_TEAM_WORLD, 2, counter), "not destroyed");
    return mp_end();
}

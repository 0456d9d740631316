/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counted puts that the target's NIC counts: with the target outside of the library they are complete and counted; one
 * counter is fed by all ways at once, through the wrap of the NIC's words; counters that are made again begin at 0;
 * those for which NICs have no room are counted by CPUs.
 * Runs where WSH_TEST_NIC_COUNTERS says that NICs count (emulator/tests/counters.sh).
 * paths: efa:2 rails:2 setsefa:2
 * long paths: efa:4
 * env: SHMEM_PROGRESS=call
 */
#include "test/common/mp.h"

#include <shmemx.h>

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 16, SLOT = 700, PUTS = 500, LARGE = 300000, MANY = 40 };

static uint64_t flag;

/* PE 1 looks at its memory alone, for as long as PE 0 may take. */
static bool comes(double seconds)
{
    double end = mp_now() + seconds;

    while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE) && mp_now() < end)
        ;
    return __atomic_load_n(&flag, __ATOMIC_ACQUIRE);
}

static void no_cpu_of_the_target(char *data, char *source)
{
    uint64_t before[2], after[2];
    shmemx_counter_t counter;

    mp_check(!shmemx_counter_create(SHMEM_TEAM_WORLD, 1, &counter), "no counter");
    mp_fill(source, SLOT, 7);
    shmem_barrier_all();
    mp_network_counts(&before[0], &before[1]);
    if (mp_me == 0) {
        for (int i = 0; i < PUTS; i++)
            shmemx_putmem_counted_nbi(data + i % SLOTS * SLOT, source, SLOT, counter, 1);
        shmem_quiet();
        shmem_uint64_p(&flag, 1, 1);
        shmem_quiet();
    } else if (mp_me == 1) {
        mp_check(comes(20), "a quiet of counted puts waits for the target's CPU");
        mp_network_counts(&after[0], &after[1]);
        mp_check(after[0] == before[0], "the target has sent %llu messages",
                 (unsigned long long)(after[0] - before[0]));
        mp_check(shmemx_counter_fetch(counter) == PUTS, "counted %llu of %d puts",
                 (unsigned long long)shmemx_counter_fetch(counter), PUTS);
        for (int i = 0; i < SLOTS; i++)
            mp_check(!mp_wrong(data + i * SLOT, SLOT, 7), "the data of slot %d", i);
    }
    mp_check(!shmemx_counter_destroy(SHMEM_TEAM_WORLD, 1, &counter), "not destroyed");
}

/* By a NIC; by a message; by immediate data, from memory that no NIC knows; in pieces; by a CPU of this host. */
static int put_by_all(char *data, const char *source, const char *foreign, shmemx_counter_t counter)
{
    int n = 0;

    for (int i = 0; i < 4; i++, n++)
        shmemx_putmem_counted_nbi(data + i * SLOT, source, SLOT, counter, mp_right());
    for (int i = 4; i < 6; i++, n++)
        shmemx_putmem_counted_nbi(data, source, 0, counter, mp_right());
    for (int i = 6; i < 8; i++, n++)
        shmemx_putmem_counted_nbi(data + i * SLOT, foreign, SLOT, counter, mp_right());
    shmemx_putmem_counted_nbi(data + SLOTS * SLOT, source, LARGE, counter, mp_right());
    shmemx_putmem_counted_nbi(data + 9 * SLOT, source, SLOT, counter, mp_me);
    return n + 2;
}

static void all_at_once(char *data, char *source)
{
    static const int slots[] = {0, 1, 2, 3, 6, 7};
    char *foreign = malloc(SLOT);
    shmemx_counter_t counter;
    uint64_t expected = 0;

    mp_check(!shmemx_counter_create(SHMEM_TEAM_WORLD, 1, &counter), "no counter");
    for (long n = 0; n < mp_rounds(60, 5000); n++) {
        uint64_t seed = (uint64_t)(n * 8), from = seed + (uint64_t)mp_left(), last = expected, now;

        mp_fill(source, LARGE, seed + (uint64_t)mp_me);
        mp_fill(foreign, SLOT, seed + (uint64_t)mp_me);
        expected += (uint64_t)put_by_all(data, source, foreign, counter);
        do {
            now = shmemx_counter_fetch(counter);
            mp_check(now >= last && now <= expected, "round %ld: the count goes from %llu to %llu", n,
                     (unsigned long long)last, (unsigned long long)now);
            last = now;
        } while (n % 2 && now < expected);
        if (n % 4 == 0)
            shmemx_counter_wait_until(counter, expected);
        if (n % 4 == 2)
            shmem_barrier_all();
        mp_check(shmemx_counter_fetch(counter) == expected, "round %ld: counted %llu of %llu", n,
                 (unsigned long long)shmemx_counter_fetch(counter), (unsigned long long)expected);
        for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++)
            mp_check(!mp_wrong(data + slots[i] * SLOT, SLOT, from), "round %ld: slot %d", n, slots[i]);
        mp_check(!mp_wrong(data + SLOTS * SLOT, LARGE, from), "round %ld: the large one", n);
        shmem_barrier_all();
    }
    mp_check(!shmemx_counter_destroy(SHMEM_TEAM_WORLD, 1, &counter), "not destroyed");
    free(foreign);
}

static void lives(char *data, char *source)
{
    for (int round = 0; round < 10; round++) {
        shmemx_counter_t row[3];

        mp_check(!shmemx_counter_create(SHMEM_TEAM_WORLD, 3, row), "no counters");
        for (int i = 0; i < 3; i++) {
            mp_check(!shmemx_counter_fetch(row[i]), "counter %d of life %d begins at %llu", i, round,
                     (unsigned long long)shmemx_counter_fetch(row[i]));
        }
        shmem_barrier_all();
        for (int i = 0; i < 30; i++)
            shmemx_putmem_counted_nbi(data, source, SLOT, row[i % 3], mp_right());
        for (int i = 0; i < 3; i++)
            shmemx_counter_wait_until(row[i], 10);
        mp_check(!shmemx_counter_destroy(SHMEM_TEAM_WORLD, 3, row), "not destroyed");
    }
}

/* More than the NICs' queue pairs are enough for. */
static void many(char *data, char *source)
{
    shmemx_counter_t row[MANY];

    mp_check(!shmemx_counter_create(SHMEM_TEAM_WORLD, MANY, row), "no counters");
    for (int i = 0; i < 3 * MANY; i++)
        shmemx_putmem_counted_nbi(data, source, SLOT, row[i % MANY], mp_right());
    shmem_barrier_all();
    for (int i = 0; i < MANY; i++)
        mp_check(shmemx_counter_fetch(row[i]) == 3, "counter %d of %d has %llu", i, MANY,
                 (unsigned long long)shmemx_counter_fetch(row[i]));
    mp_check(!shmemx_counter_destroy(SHMEM_TEAM_WORLD, MANY, row), "not destroyed");
}

int main(void)
{
    char *data, *source;

    mp_begin();
    if (!getenv("WSH_TEST_NIC_COUNTERS"))
        mp_skip("NICs count over libfabric 2.6 and later (emulator/tests/counters.sh)");
    data = mp_alloc(SLOTS * SLOT + LARGE);
    source = mp_alloc(LARGE);
    no_cpu_of_the_target(data, source);
    all_at_once(data, source);
    lives(data, source);
    many(data, source);
    return mp_end();
}

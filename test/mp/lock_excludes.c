/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Under set_lock, or a test_lock that says 0, one PE at a time works on what the lock protects, and sees all that its
 * predecessor did: counters at another PE that are read, changed and written back lose nothing. PEs that wait are
 * served in the order in which they came. Locks in the heap and in static data, many at a time.
 * paths: local:1,2,3,4,8 tcp:3 efa:2 shm:2 mixed:4 split:2 splitback:2 single
 * long paths: tcp:2
 */
#include "test/common/mp.h"

#define LOCKS 4
#define COUNTERS 16 /* counters under one lock */

static long in_static_data[LOCKS];
static long counters[LOCKS][COUNTERS];
static int order[64], arrived;

/* Nobody else writes a counter meanwhile: each is read and written at the PE that its number says. */
static void work(int lock)
{
    for (int i = 0; i < COUNTERS; i++) {
        int pe = (lock + i) % mp_npes;

        shmem_long_p(&counters[lock][i], shmem_long_g(&counters[lock][i], pe) + 1, pe);
    }
}

static void take(long *lock, bool by_test)
{
    if (!by_test) {
        shmem_set_lock(lock);
        return;
    }
    while (shmem_test_lock(lock))
        mp_sleep(0.0002);
}

static void check_counters(long *locks, long rounds)
{
    for (long round = 0; round < rounds; round++) {
        int lock = (int)((round + mp_me) % LOCKS);

        take(&locks[lock], round % 3 == 0);
        work(lock);
        shmem_clear_lock(&locks[lock]);
    }
    shmem_barrier_all();
    for (int lock = 0; lock < LOCKS; lock++) {
        for (int i = 0; i < COUNTERS; i++) {
            long wanted = (lock + i) % mp_npes == mp_me ? rounds / LOCKS * mp_npes : 0;

            mp_check(counters[lock][i] == wanted, "lock %d, counter %d: %ld of %ld", lock, i,
                     counters[lock][i], wanted);
            counters[lock][i] = 0;
        }
    }
    shmem_barrier_all();
}

/* Looks behind the interface: the lock's first half names, at one PE, who came last. */
static void wait_for_tail(long *lock, int last)
{
    for (int pe = 0; shmem_uint32_atomic_fetch((uint32_t *)lock, pe) != (uint32_t)last + 1;)
        pe = (pe + 1) % mp_npes;
}

/* PE 0 holds the lock until all others wait, who came by their numbers. */
static void check_order(long *lock)
{
    if (mp_me)
        wait_for_tail(lock, mp_me - 1);
    shmem_set_lock(lock);
    if (!mp_me)
        wait_for_tail(lock, mp_npes - 1);
    order[mp_me] = shmem_int_g(&arrived, 0);
    shmem_int_p(&arrived, order[mp_me] + 1, 0);
    shmem_clear_lock(lock);
    shmem_barrier_all();
    mp_check(order[mp_me] == mp_me, "came as number %d", order[mp_me]);
    arrived = 0;
    shmem_barrier_all();
}

/* While PE 0 holds it, nobody else gets it and nobody waits. */
static void check_test(long *lock)
{
    if (!mp_me)
        mp_check(shmem_test_lock(lock) == 0, "a free lock");
    shmem_barrier_all();
    if (mp_me)
        mp_check(shmem_test_lock(lock) == 1, "a lock that PE 0 holds");
    shmem_barrier_all();
    if (!mp_me)
        shmem_clear_lock(lock);
    shmem_barrier_all();
}

int main(void)
{
    long rounds, *locks;

    mp_begin();
    locks = mp_alloc(LOCKS * sizeof *locks);
    rounds =
        LOCKS * (mp_path_is("local") || mp_path_is("single") ? mp_rounds(100, 20000) : mp_rounds(6, 2000));
    check_counters(locks, rounds);
    check_counters(in_static_data, rounds);
    for (int i = 0; i < LOCKS; i++) {
        check_order(&locks[i]);
        check_test(&in_static_data[i]);
    }
    shmem_free(locks);
    return mp_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A counted put, a fence and a put: the second one starts and ends without a quiet, although its target has nothing to
 * send to its source. By turns, one PE puts to its right neighbour, which only looks for what comes: once the put is
 * blocking, once the source goes on to wait for the target's answer, and once a put with signal takes the put's place.
 * paths: local:2 tcp:4 sockets:2 shm:2 sets:2 efa:2 rails:2 setsefa:2 mixed:4 mixedefa:4
 * long paths: tcp:2
 */
#include "test/common/mp.h"

#include <shmemx.h>

enum { LEN = 100000, SMALL = 700, KINDS = 3 };

static char counted[SMALL];
static uint64_t signal_word, answer;

static void put(char *data, char *src, int kind, uint64_t round)
{
    mp_fill(src, LEN, round);
    if (kind == 0)
        shmem_putmem(data, src, LEN, mp_right());
    if (kind == 1)
        shmem_putmem_nbi(data, src, LEN, mp_right());
    if (kind == 2) {
        shmem_putmem_signal(data, src, LEN, &signal_word, round, SHMEM_SIGNAL_SET, mp_right());
        return;
    }
    shmem_fence();
    shmem_signal_set(&signal_word, round, mp_right());
}

static void turn(char *data, char *src, shmemx_counter_t counter, int kind, uint64_t round)
{
    int from = (int)(round % (uint64_t)mp_npes);

    if (mp_me == from) {
        shmemx_putmem_counted_nbi(counted, src, SMALL, counter, mp_right());
        shmem_fence();
        put(data, src, kind, round);
        shmem_uint64_wait_until(&answer, SHMEM_CMP_EQ, round);
        shmem_quiet();
    } else if (mp_left() == from) {
        shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, round);
        mp_check(!mp_wrong(data, LEN, round), "kind %d, round %d: the data were to come before the signal",
                 kind, (int)round);
        mp_check(shmemx_counter_fetch(counter), "kind %d, round %d: not counted", kind, (int)round);
        shmem_uint64_p(&answer, round, from);
        shmem_quiet();
    }
}

int main(void)
{
    shmemx_counter_t counter;
    char *data, *src;

    mp_begin();
    data = mp_alloc(LEN);
    src = mp_alloc(LEN);
    mp_check(!shmemx_counter_create(SHMEM_TEAM_WORLD, 1, &counter), "no counter");
    shmem_barrier_all();
    for (int round = 1; round <= mp_rounds(60, 3000); round++) {
        turn(data, src, counter, round % KINDS, (uint64_t)round);
        shmem_sync_all();
    }
    mp_check(!shmemx_counter_destroy(SHMEM_TEAM_WORLD, 1, &counter), "not destroyed");
    return mp_end();
}

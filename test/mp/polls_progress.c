/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that polls its own memory serves its peers and lets them run, whichever routine it polls by, also where
 * only calls make progress.
 * paths: local:2,4 tcp:4 mixed:4
 * more paths: efa:2
 * long paths: tcp:2
 * env: SHMEM_PROGRESS=call
 * timeout: 60
 */
#include "test/common/mp.h"

enum { BY_TEST, BY_TEST_ANY, BY_FETCH, BY_G, BY_GET, BY_ATOMIC, BY_SWAP, ROUTINES };

static long word;
static uint64_t sig;

static bool has_come(int by, long round)
{
    long seen = 0;

    switch (by) {
    case BY_TEST: return shmem_long_test(&word, SHMEM_CMP_EQ, round);
    case BY_TEST_ANY: return shmem_long_test_any(&word, 1, NULL, SHMEM_CMP_EQ, round) != SIZE_MAX;
    case BY_FETCH: return shmem_signal_fetch(&sig) == (uint64_t)round;
    case BY_G: return shmem_long_g(&word, mp_me) == round;
    case BY_GET: return shmem_long_get(&seen, &word, 1, mp_me), seen == round;
    case BY_ATOMIC: return shmem_long_atomic_fetch(&word, mp_me) == round;
    default: return shmem_long_atomic_compare_swap(&word, -1, 0, mp_me) == round;
    }
}

/* A token goes round; its bytes come by a get of the next PE, which this one has to serve. */
static void pass_round(int by, long round)
{
    static long data[4096];
    static long copy[4096];

    for (int i = 0; i < 4096; i++)
        data[i] = 1000 * round + mp_me;
    shmem_barrier_all();
    if (mp_me)
        while (!has_come(by, round))
            ;
    shmem_long_get(copy, data, 4096, mp_left());
    mp_check(copy[4095] == 1000 * round + mp_left(), "by %d, round %ld: got %ld", by, round, copy[4095]);
    shmem_long_p(&word, round, mp_right());
    shmem_fence();
    shmem_uint64_p(&sig, (uint64_t)round, mp_right());
    if (!mp_me)
        while (!has_come(by, round))
            ;
    shmem_barrier_all();
}

int main(void)
{
    long round = 1, rounds;

    mp_begin();
    rounds = mp_rounds(5, 1000);
    for (int by = 0; by < ROUTINES; by++)
        for (long i = 0; i < rounds; i++)
            pass_round(by, round++);
    return mp_end();
}

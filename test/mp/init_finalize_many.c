/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shmem_init and shmem_finalize are counted, and the library starts again after the last finalize, with the same
 * PEs and with static data that keeps its values.
 * paths: local:1,2,4 tcp:4 sets:2 efa:2 setsefa:2 shm:2 mixed:4 mixedshm:4 single
 * long paths: tcp:2
 */
#include "test/common/mp.h"

static long kept = 3;

static bool initialized(void)
{
    int flag = -1;

    shmem_query_initialized(&flag);
    return flag != 0;
}

static void check_use(long round)
{
    long *word = mp_alloc(sizeof *word);

    shmem_long_p(word, round * 100 + mp_me, mp_right());
    shmem_long_p(&kept, round, mp_right());
    shmem_barrier_all();
    mp_check(*word == round * 100 + mp_left(), "round %ld: heap word %ld", round, *word);
    mp_check(kept == round, "round %ld: static word %ld", round, kept);
    shmem_free(word);
}

int main(void)
{
    long rounds = mp_rounds(4, 50);
    int me = -1, npes = -1;

    mp_check(!initialized(), "initialized before shmem_init");
    for (long round = 0; round < rounds; round++) {
        mp_begin();
        mp_check(round == 0 || (me == mp_me && npes == mp_npes), "another number after %ld rounds", round);
        me = mp_me, npes = mp_npes;
        mp_check(round == 0 || kept == round - 1, "static data lost its value over finalize and init");
        shmem_init();
        check_use(round);
        shmem_finalize();
        mp_check(initialized(), "the first of two finalizes ended the library");
        check_use(round);
        if (round < rounds - 1)
            shmem_finalize();
        mp_check(initialized() == (round == rounds - 1), "still initialized after the last finalize");
    }
    return mp_end();
}

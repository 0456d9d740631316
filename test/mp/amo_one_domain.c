/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The owner, PEs on its host and PEs behind the network update the same words with every kind of atomic: no
 * update is lost.
 * paths: local:1,2,4,8 tcp:4 efa:4 shm:2 mixed:6 mixedshm:4 single split:2 splitback:2
 * long paths: tcp:2 shm:4 mixed:4
 */
#include "test/common/mp.h"

struct words {
    long sum;
    long swapped;   /* by compare_swap loops */
    unsigned bits;  /* toggled by xor */
    int narrow;     /* 4 bytes */
    long exchanged; /* every value swapped in comes out once */
};

static void add_with_compare_swap(long *word, int pe)
{
    long old = shmem_long_atomic_fetch(word, pe), seen;

    while ((seen = shmem_long_atomic_compare_swap(word, old, old + 1, pe)) != old)
        old = seen;
}

static long hammer(struct words *words, long rounds, int pe)
{
    long given = 0, taken = 0;

    for (long n = 1; n <= rounds; n++) {
        shmem_long_atomic_add(&words->sum, 2, pe);
        shmem_long_atomic_inc(&words->sum, pe);
        shmem_long_atomic_fetch_add(&words->sum, 3, pe);
        shmem_long_atomic_fetch_inc(&words->sum, pe);
        add_with_compare_swap(&words->swapped, pe);
        shmem_uint_atomic_xor(&words->bits, 1u << (mp_me % 32), pe);
        shmem_int_atomic_fetch_add(&words->narrow, 1, pe);
        taken += shmem_long_atomic_swap(&words->exchanged, n, pe);
        given += n;
    }
    return given - taken;
}

int main(void)
{
    struct words *words;
    long rounds, *balance, left = 0;

    mp_begin();
    rounds = mp_rounds(mp_path_is("local") ? 2000 : 200, 20000) | 1;
    words = mp_alloc(sizeof *words);
    balance = mp_alloc(sizeof *balance);
    shmem_long_atomic_add(balance, hammer(words, rounds, 0), 0);
    shmem_barrier_all();
    if (mp_me == 0) {
        unsigned all = mp_npes >= 32 ? ~0u : (1u << mp_npes) - 1;

        left = words->exchanged;
        mp_check(words->sum == 7 * rounds * mp_npes, "sum %ld, not %ld", words->sum, 7 * rounds * mp_npes);
        mp_check(words->swapped == rounds * mp_npes, "%ld compare_swaps, not %ld", words->swapped,
                 rounds * mp_npes);
        mp_check(words->narrow == rounds * mp_npes, "narrow %d, not %ld", words->narrow, rounds * mp_npes);
        mp_check(words->bits == all, "bits %x, not %x", words->bits, all);
        mp_check(*balance == left, "swapped in and not out: %ld, not %ld", *balance, left);
    }
    return mp_end();
}

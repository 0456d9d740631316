/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exercise 3 of the tutorial: a token goes around the ring of all PEs three times.
 *
 *   oshcc -O2 -o token token.c && oshrun -n 4 ./token
 */
#include <shmem.h>

#include <stdio.h>

enum { ROUNDS = 3, VISITS = 0, SUM, WORDS };

static long token[WORDS]; /* how many PEs it has been at, and the sum of their numbers */
static uint64_t arrived;  /* the round in which the token has come last */

static void pass_on(int me, int n, uint64_t round)
{
    long next[WORDS] = {token[VISITS] + 1, token[SUM] + me};

    shmem_put_signal(token, next, WORDS, &arrived, round, SHMEM_SIGNAL_SET, (me + 1) % n);
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();

    for (uint64_t round = 1; round <= ROUNDS; round++) {
        if (me == 0)
            pass_on(me, n, round);
        shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, round); /* the token is here then, too */
        if (me != 0)
            pass_on(me, n, round);
        else
            printf("round %d: the token has been at %ld PEs, sum %ld\n", (int)round, token[VISITS],
                   token[SUM]);
    }
    shmem_finalize();
    return 0;
}

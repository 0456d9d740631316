/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exercise 1 of the tutorial: PE 0 reads a number of every PE.
 *
 *   oshcc -O2 -o numbers numbers.c && oshrun -n 4 ./numbers
 */
#include <shmem.h>

#include <stdio.h>

static long number; /* symmetric: every PE has one, and all PEs can name it */

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();

    number = 10L * me;
    shmem_barrier_all(); /* now every PE has set its own */

    if (me == 0) {
        printf("PE 0 of %d reads", n);
        for (int pe = 0; pe < n; pe++)
            printf(" %ld", shmem_g(&number, pe));
        printf("\n");
    }
    shmem_finalize(); /* waits for all PEs: no number is gone while PE 0 reads */
    return 0;
}

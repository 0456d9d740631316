/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The smallest program: every PE writes its number into an array of PE 0, which looks at all of them.
 *
 *   oshcc -O2 -o hello hello.c && oshrun -n 4 ./hello
 */
#include <shmem.h>

#include <stdio.h>

int main(void)
{
    int me, n, wrong = 0;
    long *seen;

    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();

    /* Symmetric memory: all PEs call with the same size, and each has the array at a symmetric address. */
    seen = shmem_calloc((size_t)n, sizeof *seen);
    if (!seen)
        shmem_global_exit(1);
    shmem_long_p(&seen[me], 100 + me, 0);
    shmem_barrier_all(); /* all puts of all PEs have arrived when it returns */

    if (me == 0) {
        for (int pe = 0; pe < n; pe++)
            wrong += seen[pe] != 100 + pe;
        printf("hello: %d PEs, %d wrong\n", n, wrong);
    }
    shmem_free(seen);
    shmem_finalize();
    return wrong != 0;
}

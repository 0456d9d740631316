/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exercise 2 of the tutorial: every PE puts a row of numbers into a table of every PE.
 *
 *   oshcc -O2 -o powers powers.c && oshrun -n 4 ./powers
 */
#include <shmem.h>

#include <stdio.h>

enum { COLUMNS = 3 };

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    long row[COLUMNS] = {me, (long)me * me, (long)me * me * me}; /* a local variable may be the source */
    long *table = shmem_malloc((size_t)n * sizeof row);          /* n rows, on every PE */

    if (!table)
        shmem_global_exit(1);
    for (int pe = 0; pe < n; pe++)
        shmem_put(table + me * COLUMNS, row, COLUMNS, pe);
    shmem_barrier_all(); /* now all rows of all PEs have arrived */

    if (me == n - 1)
        for (int pe = 0; pe < n; pe++)
            printf("PE %d has from PE %d: %ld %ld %ld\n", me, pe, table[pe * COLUMNS],
                   table[pe * COLUMNS + 1], table[pe * COLUMNS + 2]);
    shmem_free(table);
    shmem_finalize();
    return 0;
}

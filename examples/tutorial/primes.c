/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exercise 5 of the tutorial: the PEs count primes; whoever has nothing to do takes the next task from a queue.
 *
 *   oshcc -O2 -o primes primes.c && oshrun -n 4 ./primes
 */
#include "primes.h"

#include <shmem.h>

#include <stdio.h>

static int next_task;   /* those of PE 0 are used: the queue, */
static long all_primes; /* what has been found, */
static int all_tasks;   /* and in how many tasks */

int main(void)
{
    int tasks = 0, task;
    long primes = 0;

    shmem_init();
    while ((task = shmem_atomic_fetch_inc(&next_task, 0)) < TASKS) {
        primes += primes_count(task, 1, 0);
        tasks++;
    }
    shmem_atomic_add(&all_primes, primes, 0);
    shmem_atomic_add(&all_tasks, tasks, 0);
    shmem_barrier_all(); /* all PEs have added theirs */

    if (shmem_my_pe() == 0)
        printf("%ld primes below %d, in %d tasks\n", all_primes, LIMIT, all_tasks);
    shmem_finalize();
    return 0;
}

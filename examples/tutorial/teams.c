/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exercise 6 of the tutorial: PEs of even numbers count primes 4k + 1, those of odd numbers primes 4k + 3.
 *
 *   oshcc -O2 -o teams teams.c && oshrun -n 4 ./teams
 */
#include "primes.h"

#include <shmem.h>

#include <stdio.h>

static int next_task; /* the queue of a team: that of its first PE */
static long primes, team_primes, most;

/* The team of this PE: that of even or of odd numbers. All PEs make both, each is in one of them. */
static shmem_team_t team_make(int me, int n)
{
    shmem_team_t even, odd;

    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (n + 1) / 2, NULL, 0, &even);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, n / 2, NULL, 0, &odd);
    return me % 2 ? odd : even; /* where this PE is no member the handle is SHMEM_TEAM_INVALID */
}

int main(void)
{
    int task;

    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();

    if (n < 2) {
        fprintf(stderr, "teams: start it with two PEs or more\n");
        shmem_global_exit(2);
    }
    shmem_team_t team = team_make(me, n);
    int first = shmem_team_translate_pe(team, 0, SHMEM_TEAM_WORLD);

    while ((task = shmem_atomic_fetch_inc(&next_task, first)) < TASKS)
        primes += primes_count(task, 4, me % 2 ? 3 : 1);
    shmem_sum_reduce(team, &team_primes, &primes, 1);           /* of the PEs of this team */
    shmem_max_reduce(SHMEM_TEAM_WORLD, &most, &team_primes, 1); /* of all PEs */

    if (me == first)
        printf("primes 4k + %d below %d: %ld, the %s\n", me % 2 ? 3 : 1, LIMIT, team_primes,
               team_primes == most ? "most" : "fewest");
    shmem_team_destroy(team);
    shmem_finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A work queue whose worker dies, and the others go on. Every PE takes the next task by an atomic on a counter of the
 * first PE, and puts the result to all. Where a PE has failed, the survivors shrink the world, compare which results
 * they have, and begin another round with the tasks that are left. The argument is the PE that dies.
 *
 *   oshcc -O2 -o survive survive.c && oshrun -n 4 --on-pe-failure continue ./survive 1
 */
#include <shmem.h>
#include <shmemx.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASKS = 400, ROUNDS = 64 /* each but the first begins with a failure */, DIES_AFTER = 10 };

/* Symmetric: results, 0 where there is none yet; what all survivors have; a counter for each round. */
static long result[TASKS], merged[TASKS], next[ROUNDS];

static long compute(long task)
{
    long sum = 1;

    for (long i = 0; i < 20000; i++)
        sum = (sum * 31 + task) % 1000003;
    return sum + 1;
}

static void pass_on(long task, long value)
{
    for (int pe = 0; pe < shmem_n_pes(); pe++) /* a put to a PE that has failed goes nowhere, and ends */
        shmem_long_p(&result[task], value, pe);
}

/* The tasks that `merged` lacks. Leaves early where a PE has failed: its counter may be gone. */
static int round_work(shmem_team_t team, int number, int dies)
{
    const int first = shmem_team_translate_pe(team, 0, SHMEM_TEAM_WORLD);
    long list[TASKS], n = 0, at, done = 0;

    for (long task = 0; task < TASKS; task++)
        if (!merged[task])
            list[n++] = task;
    while (!shmemx_team_broken(team) && (at = shmem_long_atomic_fetch_inc(&next[number], first)) < n) {
        if (dies && ++done == DIES_AFTER)
            raise(SIGKILL);
        pass_on(list[at], compute(list[at]));
    }
    return shmemx_team_barrier(team);
}

int main(int argc, char **argv)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;
    int number = 0, rc, dies;
    long wrong = 0;

    shmem_init();
    dies = argc > 1 && atoi(argv[1]) == shmem_my_pe();
    for (;;) {
        rc = round_work(team, number, dies);
        if (!rc) /* all have put what they have: every survivor gets the same */
            rc = shmem_long_max_reduce(team, merged, result, TASKS);
        if (!rc)
            break;
        do { /* another one may fail meanwhile */
            if (++number == ROUNDS || shmemx_team_shrink(SHMEM_TEAM_WORLD, &team))
                shmem_global_exit(1);
        } while (shmem_long_max_reduce(team, merged, result, TASKS));
    }
    for (long task = 0; task < TASKS; task++)
        wrong += merged[task] != compute(task);
    if (shmem_team_my_pe(team) == 0)
        printf("survive: %d PEs, %d at the end, %d tasks, %ld wrong\n", shmem_n_pes(), shmem_team_n_pes(team),
               TASKS, wrong);
    shmem_finalize();
    return wrong != 0;
}

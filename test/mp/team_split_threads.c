/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that split different parents at the same time get teams that do not disturb each other.
 * paths: local:2,4 tcp:2 mixed:4
 */
#include "test/common/mp.h"

#include <pthread.h>

enum { THREADS = 3, ROUNDS = 60 };

static shmem_team_t parents[THREADS];
static long dest[THREADS], src[THREADS];

static void *split_often(void *arg)
{
    int i = (int)(intptr_t)arg;

    for (long round = 0; round < mp_rounds(ROUNDS, 2000); round++) {
        shmem_team_t team = SHMEM_TEAM_INVALID;

        if (!mp_check(shmem_team_split_strided(parents[i], 0, 1, mp_npes, NULL, 0, &team) == 0, "no team"))
            break;
        src[i] = round + mp_me;
        shmem_long_max_reduce(team, &dest[i], &src[i], 1);
        mp_check(dest[i] == round + mp_npes - 1, "thread %d, round %ld: max is %ld", i, round, dest[i]);
        shmem_team_destroy(team);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    mp_begin_thread(SHMEM_THREAD_MULTIPLE);
    for (int i = 0; i < THREADS; i++)
        mp_check(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, mp_npes, NULL, 0, &parents[i]) == 0,
                 "no parent");
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, split_often, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return mp_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of nonblocking collectives may have any value, also that of words by which the library knows that a member has
 * begun a later one: no sync and no sum is complete before all have.
 * paths: local:2,3,17 tcp:2 efa:2 mixed:4
 * long paths: tcp:2
 * timeout: 60
 */
#include "test/common/mp.h"

#include <shmemx.h>

#define APART_MIN 8 /* collectives between a block and the one whose number it has */
#define APART_MAX 26
#define TERMS 32 /* more than what a reduction sends with its words */

static uint64_t go, terms[TERMS], sums[TERMS];
static uint64_t number; /* of the team's collective begun last */

/* PE 0 begins it alone: it is not complete, however often that is asked. */
static void begin_one(shmem_team_t team, bool sum, uint64_t round)
{
    shmemx_req_h request;

    if (mp_me)
        shmem_uint64_wait_until(&go, SHMEM_CMP_EQ, round);
    for (uint64_t i = 0; i < TERMS; i++)
        terms[i] = round + i;
    if (sum)
        shmemx_uint64_sum_reduce_nb(team, sums, terms, TERMS, &request);
    else
        shmemx_sync_nb(team, &request);
    for (int i = 0; i < 5 && !mp_me; i++)
        mp_check(shmemx_req_test(&request) > 0, "number %lu is complete before the others have begun it",
                 (unsigned long)number);
    for (int pe = 1; pe < mp_npes && !mp_me; pe++)
        shmem_uint64_p(&go, round, pe);
    mp_check(shmemx_req_wait(&request) == 0, "wait");
    for (uint64_t i = 0; i < TERMS && sum; i++)
        mp_check(sums[i] == (round + i) * (uint64_t)mp_npes, "term %lu is %lu", (unsigned long)i,
                 (unsigned long)sums[i]);
}

static void blocks_of_numbers(shmem_team_t team, uint64_t apart)
{
    static uint64_t to[64], from[64];

    for (uint64_t i = 0; i < apart; i++) {
        shmemx_req_h request;

        number++;
        for (int pe = 0; pe < mp_npes; pe++)
            from[pe] = number + apart;
        if (i % 2)
            shmemx_uint64_alltoall_nb(team, to, from, 1, &request);
        else
            shmemx_uint64_fcollect_nb(team, to, from, 1, &request);
        mp_check(shmemx_req_wait(&request) == 0, "wait");
    }
}

int main(void)
{
    shmem_team_t team;
    uint64_t round = 0;

    mp_begin();
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, mp_npes, NULL, 0, &team);
    for (uint64_t apart = APART_MIN; apart <= APART_MAX; apart++) {
        blocks_of_numbers(team, apart);
        for (uint64_t i = 0; i < apart; i++) {
            number++;
            begin_one(team, i % 3 == 1, ++round);
            shmem_sync_all(); /* nobody changes its terms before all have read them */
        }
    }
    shmem_team_destroy(team);
    return mp_end();
}

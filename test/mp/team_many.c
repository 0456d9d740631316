/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hundreds of teams at the same time each work; teams made and destroyed in any order leave no room behind; when there
 * is no room, all PEs get none, and can go on.
 * paths: local:1,2,4,8 tcp:4 mixed:4 single
 * long paths: tcp:2
 */
#include "test/common/teams.h"

enum { MANY = 240, LIMIT = 6000 };

static shmem_team_t teams[LIMIT];

/* Each round another shape: all, reversed, or the first few. */
static int make(int i)
{
    int size = i % 3 == 2 ? 1 + i % mp_npes : mp_npes;

    return shmem_team_split_strided(SHMEM_TEAM_WORLD, i % 3 == 1 ? mp_npes - 1 : 0, i % 3 == 1 ? -1 : 1, size,
                                    NULL, 0, &teams[i]);
}

static void check_many(void)
{
    for (int i = 0; i < MANY; i++)
        mp_check(make(i) == 0, "no team number %d", i);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < MANY; i++)
            if (teams[i] != SHMEM_TEAM_INVALID)
                shmem_team_sync(teams[i]);
    for (int i = 0; i < MANY; i += 2)
        shmem_team_destroy(teams[i]);
    for (int i = 0; i < MANY; i += 2)
        mp_check(make(i) == 0, "no team number %d again", i);
    for (int i = 0; i < MANY; i++) {
        if (teams[i] != SHMEM_TEAM_INVALID)
            shmem_team_sync(teams[i]);
        shmem_team_destroy(teams[i]);
    }
}

/* How many fit; all PEs alike. */
static int fill_up(void)
{
    static int count, common;
    int made = 0;

    while (made < LIMIT &&
           shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, mp_npes, NULL, 0, &teams[made]) == 0)
        made++;
    mp_check(made < LIMIT, "%d teams and still room", made);
    mp_check(teams[made] == SHMEM_TEAM_INVALID, "a failed split gave a team");
    count = made;
    shmem_barrier_all();
    shmem_int_get(&common, &count, 1, 0);
    mp_check(common == made, "PE 0 made %d teams, I %d", common, made);
    for (int i = 0; i < made; i++)
        shmem_team_destroy(teams[i]);
    shmem_barrier_all();
    return made;
}

int main(void)
{
    int first, rounds = (int)mp_rounds(1, 5);

    mp_begin();
    check_many();
    first = fill_up();
    for (int i = 0; i < rounds; i++)
        mp_check(fill_up() == first, "room was lost");
    mp_note("%d teams of %d PEs fit", first, mp_npes);
    return mp_end();
}

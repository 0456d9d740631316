/* SPDX-License-Identifier: BSD-3-Clause */
/* The splits that make each shape. */
#include "test/common/teams.h"

static shmem_team_t *add(struct teams *teams, const char *name, shmem_team_t handle)
{
    teams->team[teams->n].name = name;
    teams->team[teams->n].handle = handle;
    return &teams->team[teams->n++].handle;
}

static void split(struct teams *teams, const char *name, shmem_team_t parent, int start, int stride, int size)
{
    shmem_team_t *team = add(teams, name, SHMEM_TEAM_INVALID);

    mp_check(shmem_team_split_strided(parent, start, stride, size, NULL, 0, team) == 0, "no team '%s'", name);
}

void teams_open(struct teams *teams)
{
    int n = mp_npes;

    teams->n = 0;
    add(teams, "world", SHMEM_TEAM_WORLD);
    add(teams, "shared", SHMEM_TEAM_SHARED);
    split(teams, "world again", SHMEM_TEAM_WORLD, 0, 1, n);
    split(teams, "reversed", SHMEM_TEAM_WORLD, n - 1, -1, n);
    split(teams, "even", SHMEM_TEAM_WORLD, 0, 2, (n + 1) / 2);
    split(teams, "last alone", SHMEM_TEAM_WORLD, n - 1, 0, 1);
    if (n > 1)
        split(teams, "all but the first", SHMEM_TEAM_WORLD, 1, 1, n - 1);
    if (n > 3) {
        shmem_team_t *row = add(teams, "row", SHMEM_TEAM_INVALID);
        shmem_team_t *column = add(teams, "column", SHMEM_TEAM_INVALID);

        mp_check(shmem_team_split_2d(SHMEM_TEAM_WORLD, 3, NULL, 0, row, NULL, 0, column) == 0,
                 "no rows of 3");
        if (teams->team[4].handle != SHMEM_TEAM_INVALID)
            split(teams, "even ones reversed", teams->team[4].handle, (n + 1) / 2 - 1, -1, (n + 1) / 2);
        else
            add(teams, "even ones reversed", SHMEM_TEAM_INVALID);
    }
}

void teams_close(struct teams *teams)
{
    for (int i = teams->n; i-- > 2;)
        shmem_team_destroy(teams->team[i].handle);
}

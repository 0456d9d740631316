/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams of many shapes, for tests that do the same on each. */
#ifndef WSH_TEST_TEAMS_H
#define WSH_TEST_TEAMS_H

#include "test/common/mp.h"

enum { TEAMS_MAX = 12 };

/* Teams of all PEs together; handle is SHMEM_TEAM_INVALID where this PE is no member. */
struct teams {
    int n;
    struct {
        const char *name;
        shmem_team_t handle;
    } team[TEAMS_MAX];
};

/* Collective over the world: the predefined teams and split ones of every shape that so many PEs allow. */
void teams_open(struct teams *teams);
void teams_close(struct teams *teams);

/* Global number of a team's PE. */
static inline int teams_world(shmem_team_t team, int pe)
{
    return shmem_team_translate_pe(team, pe, SHMEM_TEAM_WORLD);
}

#endif

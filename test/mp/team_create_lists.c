/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shmemx_team_create makes a team of the PEs of a list, in its order, also from a team that is not the world; who is
 * not in the list gets no team; lists that name no PEs, or one twice, give none to anybody.
 * paths: local:1,2,3,4,7 tcp:4 mixed:3 single
 * long paths: tcp:2 mixed:4
 */
#include "test/common/teams.h"

#include <shmemx.h>

/* All PEs of the parent but number `out` (-1: all), beginning with number `first`, backwards. */
static int list_fill(int *pes, int n_parent, int first, int out)
{
    int n = 0;

    for (int i = 0; i < n_parent; i++) {
        int pe = (first + n_parent - i) % n_parent;

        if (pe != out)
            pes[n++] = pe;
    }
    return n;
}

static void check_list(shmem_team_t parent, const int *pes, int n)
{
    static long from, to[64];
    const shmem_team_config_t config = {.num_contexts = 5};
    shmem_team_config_t read = {0};
    shmem_team_t team = SHMEM_TEAM_WORLD;
    int mine = -1, rc = shmemx_team_create(parent, pes, n, &config, SHMEM_TEAM_NUM_CONTEXTS, &team);

    for (int i = 0; i < n; i++)
        mine = pes[i] == shmem_team_my_pe(parent) ? i : mine;
    mp_check(rc == 0, "create of %d returned %d", n, rc);
    mp_check((team != SHMEM_TEAM_INVALID) == (mine >= 0), "member or not: %d", mine);
    mp_check(shmem_team_my_pe(team) == mine, "I am number %d instead of %d", shmem_team_my_pe(team), mine);
    if (mine < 0)
        return;
    for (int i = 0; i < n; i++)
        mp_check(shmem_team_translate_pe(team, i, parent) == pes[i], "number %d is %d in the parent", i,
                 shmem_team_translate_pe(team, i, parent));
    mp_check(!shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &read) && read.num_contexts == 5,
             "num_contexts is %d", read.num_contexts);
    from = 100 + mine;
    shmem_long_fcollect(team, to, &from, 1);
    for (int i = 0; i < n; i++)
        mp_check(to[i] == 100 + i, "member %d sent %ld", i, to[i]);
    shmem_team_destroy(team);
}

static void check_refused(shmem_team_t parent, const int *pes, int n)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;

    mp_check(shmemx_team_create(parent, pes, n, NULL, 0, &team) != 0, "a list of %d was taken", n);
    mp_check(team == SHMEM_TEAM_INVALID, "a list of %d gave a team", n);
}

int main(void)
{
    int pes[64], n;
    const int twice[] = {0, 0};
    const int negative = -1;
    shmem_team_t rest;

    mp_begin();
    for (int first = 0; first < mp_npes; first++)
        check_list(SHMEM_TEAM_WORLD, pes, list_fill(pes, mp_npes, first, -1));
    for (int out = 0; out < mp_npes && mp_npes > 1; out++)
        check_list(SHMEM_TEAM_WORLD, pes, list_fill(pes, mp_npes, out, out));
    check_refused(SHMEM_TEAM_WORLD, pes, 0);
    check_refused(SHMEM_TEAM_WORLD, &mp_npes, 1);
    check_refused(SHMEM_TEAM_WORLD, &negative, 1);
    check_refused(SHMEM_TEAM_WORLD, twice, 2);
    check_refused(SHMEM_TEAM_INVALID, twice, 1);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, mp_npes / 2, 1, mp_npes - mp_npes / 2, NULL, 0, &rest);
    n = shmem_team_n_pes(rest);
    if (rest != SHMEM_TEAM_INVALID)
        check_list(rest, pes, list_fill(pes, n, n - 1, n > 1 ? 0 : -1));
    return mp_end();
}

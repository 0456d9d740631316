/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups of PEs that have experts of their own, side by side: halves of the world, each on one host, and PEs of equal
 * remainder, some of each; the team may be gone when calls are made. One copy is refused where PEs of hosts alternate.
 * paths: local:4 mixed:8
 */
#include "test/ep/calls.h"

enum { CALLS = 5 };

static void group_calls(shmem_team_t team, int hosts, enum ref_route route, int group)
{
    struct ref_job job = {.pes = shmem_team_n_pes(team),
                          .hosts = hosts,
                          .experts = 2 * shmem_team_n_pes(team),
                          .topk = 3,
                          .tokens = 25,
                          .hidden = 256,
                          .dtype = REF_BF16,
                          .routing = REF_MIXED,
                          .seed = 7 + (uint64_t)group};
    struct calls_options options = {.window = 6};

    for (int mode = 0; mode < REF_MODES; mode++) {
        shmem_team_t own = SHMEM_TEAM_INVALID;
        struct calls calls;

        shmem_team_split_strided(team, 0, 1, job.pes, NULL, 0, &own);
        if (!calls_open(&calls, own, &job, (enum ref_mode)mode, route, &options))
            return;
        shmem_team_destroy(own);
        for (int64_t call = 0; call < CALLS + group; call++) /* groups do not wait for each other */
            calls_round(&calls, call);
        calls_close(&calls);
    }
}

/* PE p is in team p * teams / n (blocks), or p % teams. */
static shmem_team_t split(int teams, bool blocks)
{
    int size = mp_npes / teams;
    shmem_team_t mine = SHMEM_TEAM_INVALID;

    for (int i = 0; i < teams; i++) {
        shmem_team_t team = SHMEM_TEAM_INVALID;

        shmem_team_split_strided(SHMEM_TEAM_WORLD, blocks ? i * size : i, blocks ? 1 : teams, size, NULL, 0,
                                 &team);
        if (team != SHMEM_TEAM_INVALID)
            mine = team;
    }
    return mine;
}

/* Pairs of a PE of the first host and one of the second: each PE is a host. */
static void refused(shmem_team_t team)
{
    shmemx_ep_config_t config = SHMEMX_EP_CONFIG_INITIALIZER;
    shmemx_ep_t ep;

    config.hidden = 128;
    config.experts = mp_npes;
    config.topk = 1;
    config.tokens = 1;
    config.route = SHMEMX_EP_ONE_COPY;
    mp_check(shmemx_ep_create(team, &config, &ep), "one copy is taken for hosts that have their PEs in turn");
    mp_check(!ep, "a handle of nothing");
}

/* PEs of both hosts in turn: 0 4 1 5 of 8. */
static shmem_team_t in_turn(void)
{
    shmem_team_t team = SHMEM_TEAM_INVALID;
    int pes[64];

    for (int i = 0; i < mp_npes; i++)
        pes[i] = i / 2 + i % 2 * (mp_npes / 2);
    shmemx_team_create(SHMEM_TEAM_WORLD, pes, mp_npes, NULL, 0, &team);
    return team;
}

int main(void)
{
    bool mixed;
    shmem_team_t team;

    mp_begin();
    mixed = mp_path_is("mixed");
    team = split(2, true);
    group_calls(team, 1, REF_DIRECT, mp_me >= mp_npes / 2);
    shmem_team_destroy(team);
    team = split(2, false);
    group_calls(team, mixed ? 2 : 1, REF_ONE_COPY, mp_me % 2);
    shmem_team_destroy(team);
    if (mixed) {
        team = in_turn();
        group_calls(team, mp_npes, REF_DIRECT, 0);
        refused(team);
        shmem_team_destroy(team);
    }
    return mp_end();
}

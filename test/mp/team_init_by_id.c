/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shmemx_team_init makes a team of those alone who call it with an id: pairs side by side, all PEs backwards, one after
 * another with members that come at different times, and one that overlaps the last; who does not fit is refused.
 * paths: local:1,2,4,7 tcp:4 mixed:3 single
 * long paths: tcp:2 mixed:4
 */
#include "test/common/teams.h"

#include <shmemx.h>

static uint64_t ids[64]; /* symmetric: from the PE that made it */

static void id_share(int from, const int *pes, int n)
{
    uint64_t id;

    if (mp_me != from)
        return;
    mp_check(!shmemx_team_get_id(&id), "no id");
    for (int i = 0; i < n; i++)
        shmem_uint64_p(&ids[from], id, pes[i]);
    shmem_quiet();
}

static uint64_t id_await(int from)
{
    uint64_t id;

    shmem_uint64_wait_until(&ids[from], SHMEM_CMP_NE, 0);
    id = ids[from];
    ids[from] = 0;
    return id;
}

/* Of pes[0 … n), in this order; the root is pes[root]. Only they call. */
static void check_team(const int *pes, int n, int root)
{
    static int from, to[64];
    int me = -1;
    uint64_t id;
    shmem_team_t team;

    for (int i = 0; i < n; i++)
        me = pes[i] == mp_me ? i : me;
    if (me < 0)
        return;
    id_share(pes[root], pes, n);
    id = id_await(pes[root]);
    if (me == n - 1)
        mp_sleep(0.02);
    mp_check(!shmemx_team_init(id, n, me, NULL, 0, &team), "init of %d failed", n);
    mp_check(shmem_team_my_pe(team) == me && shmem_team_n_pes(team) == n, "I am number %d of %d",
             shmem_team_my_pe(team), shmem_team_n_pes(team));
    from = mp_me;
    shmem_int_fcollect(team, to, &from, 1);
    for (int i = 0; i < n; i++)
        mp_check(to[i] == pes[i] && teams_world(team, i) == pes[i], "number %d is PE %d", i, to[i]);
    shmem_team_destroy(team);
}

/* Both come as number 0. */
static void check_refused(void)
{
    const int both[] = {0, 1};
    shmem_team_t team = SHMEM_TEAM_WORLD;
    uint64_t id = 0;

    mp_check(shmemx_team_init(0, 1, 0, NULL, 0, &team) != 0 && team == SHMEM_TEAM_INVALID, "an id of nobody");
    if (mp_npes < 2 || mp_me > 1)
        return;
    id_share(0, both, 2);
    id = id_await(0);
    mp_check(shmemx_team_init(id, 2, 0, NULL, 0, &team) != 0 && team == SHMEM_TEAM_INVALID, "two first PEs");
    mp_check(shmemx_team_init(id, 2, 2, NULL, 0, &team) != 0, "number 2 of 2");
}

int main(void)
{
    int pes[64], pair[2];

    mp_begin();
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < mp_npes; i++)
            pes[i] = mp_npes - 1 - i;
        pair[0] = mp_me & ~1;
        pair[1] = mp_me | 1;
        check_team(pair, pair[1] < mp_npes ? 2 : 1, 0);
        check_team(pes, mp_npes, round % mp_npes);
        check_team(pes, (mp_npes + 1) / 2, 0);
        check_team(pes + mp_npes / 2, mp_npes - mp_npes / 2, 0);
    }
    shmem_barrier_all();
    check_refused();
    shmem_barrier_all();
    return mp_end();
}

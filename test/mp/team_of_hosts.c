/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SHMEMX_TEAM_NODE is the PEs of this host, whatever carries data between them, and SHMEMX_TEAM_SAME_MYPE_NODE those
 * with this PE's number on theirs; both have collectives and contexts. A team's number is alike on all members, and the
 * handle made of it is as good as the first one; a number is free again when its team is destroyed.
 * paths: local:1,2,4 tcp:4 mixed:3,6 single
 * long paths: tcp:2 mixed:4
 */
#include "test/common/teams.h"

#include <shmemx.h>
#include <stdlib.h>

static int *hosts; /* symmetric: [pe] */

static void hosts_exchange(void)
{
    const char *emulated = getenv("SHMEM_NODE_EMULATED");
    int mine = emulated ? atoi(emulated) : 0;

    hosts = mp_alloc((size_t)mp_npes * sizeof *hosts);
    for (int pe = 0; pe < mp_npes; pe++)
        shmem_int_p(&hosts[mp_me], mine, pe);
    shmem_barrier_all();
}

static int number_on_host(int pe)
{
    int n = 0;

    for (int i = 0; i < pe; i++)
        n += hosts[i] == hosts[pe];
    return n;
}

/* Members in the order of their numbers in the world; a reduction of these; a put by a context of the team. */
static void check(const char *name, shmem_team_t team, bool (*is_member)(int pe))
{
    static int from, to;
    int n = 0, sum = 0;
    shmem_team_t found = SHMEM_TEAM_INVALID;
    shmem_ctx_t ctx;

    for (int pe = 0; pe < mp_npes; pe++) {
        int number = shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, team);

        mp_check(number == (is_member(pe) ? n : -1), "%s: PE %d has number %d", name, pe, number);
        sum += is_member(pe) ? pe : 0;
        n += is_member(pe);
    }
    mp_check(shmem_team_n_pes(team) == n, "%s: %d members instead of %d", name, shmem_team_n_pes(team), n);
    from = mp_me;
    mp_check(!shmemx_team_barrier(team), "%s: the barrier failed", name);
    shmem_int_sum_reduce(team, &to, &from, 1);
    mp_check(to == sum, "%s: the sum is %d instead of %d", name, to, sum);
    mp_check(!shmem_team_create_ctx(team, 0, &ctx), "%s: no context", name);
    shmem_ctx_int_put(ctx, &to, &from, 1, shmem_team_my_pe(team));
    shmem_ctx_quiet(ctx);
    mp_check(to == mp_me, "%s: my own put brought %d", name, to);
    shmem_ctx_get_team(ctx, &found);
    mp_check(found == team, "%s: the context is of another team", name);
    shmem_ctx_destroy(ctx);
}

static bool is_on_host(int pe)
{
    return hosts[pe] == hosts[mp_me];
}

static bool has_my_number(int pe)
{
    return number_on_host(pe) == number_on_host(mp_me);
}

static void check_predefined_numbers(void)
{
    const shmem_team_t teams[] = {SHMEM_TEAM_INVALID, SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED, SHMEMX_TEAM_NODE,
                                  SHMEMX_TEAM_SAME_MYPE_NODE};

    for (int i = 0; i < 5; i++) {
        mp_check(shmemx_team_of_number(i - 1) == teams[i], "the team of number %d", i - 1);
        mp_check(shmemx_team_number(teams[i]) == i - 1, "the number of team %d is %d", i - 1,
                 shmemx_team_number(teams[i]));
        mp_check(SHMEMX_TEAM(i - 1) == teams[i], "another handle of team %d", i - 1);
    }
}

/* Even PEs and odd ones. */
static int check_split_numbers(void)
{
    static int from, to[1000];
    shmem_team_t team = SHMEM_TEAM_INVALID, parts[2], named;
    int number;

    for (int i = 0; i < 2; i++) {
        shmem_team_split_strided(SHMEM_TEAM_WORLD, i < mp_npes ? i : 0, 2,
                                 (mp_npes + 1 - i) / 2 + (i == mp_npes), NULL, 0, &parts[i]);
        team = parts[i] == SHMEM_TEAM_INVALID ? team : parts[i];
    }
    number = shmemx_team_number(team);
    named = SHMEMX_TEAM(number);
    mp_check(number >= 4, "number %d", number);
    mp_check(shmemx_team_number(named) == number, "the handle of number %d has number %d", number,
             shmemx_team_number(named));
    mp_check(shmem_team_my_pe(named) == shmem_team_my_pe(team) &&
                 shmem_team_n_pes(named) == shmem_team_n_pes(team),
             "number %d is another team", number);
    mp_check(shmemx_team_of_number(number) == named, "number %d gives no handle", number);
    from = number;
    shmem_int_fcollect(named, to, &from, 1);
    for (int i = 0; i < shmem_team_n_pes(team); i++)
        mp_check(to[i] == number, "member %d calls it number %d, I call it %d", i, to[i], number);
    for (int i = 0; i < 2; i++)
        shmem_team_destroy(parts[i] == SHMEM_TEAM_INVALID ? parts[i]
                                                          : SHMEMX_TEAM(shmemx_team_number(parts[i])));
    mp_check(shmemx_team_of_number(number) == SHMEM_TEAM_INVALID, "number %d outlives its team", number);
    mp_check(shmemx_team_of_number(1 << 30) == SHMEM_TEAM_INVALID, "a team of any number");
    return number;
}

int main(void)
{
    int first;

    mp_begin();
    hosts_exchange();
    check_predefined_numbers();
    check("node", SHMEMX_TEAM_NODE, is_on_host);
    check("same number", SHMEMX_TEAM_SAME_MYPE_NODE, has_my_number);
    first = check_split_numbers();
    shmem_barrier_all();
    mp_check(check_split_numbers() == first, "the number was not given again");
    return mp_end();
}

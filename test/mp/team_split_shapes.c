/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams have the members that their split names, in its order, for strides of either sign, rows and columns, and splits
 * of splits; numbers translate both ways; configurations are kept; who is no member gets no team; triplets that name no
 * PEs, and invalid teams, give none to anybody.
 * paths: local:1,2,3,4,7,8 tcp:4 mixed:3,6 single
 * long paths: tcp:2 mixed:4
 */
#include "test/common/teams.h"

static void check_members(shmem_team_t team, const char *name, int start, int stride, int size)
{
    int index = stride ? (mp_me - start) / stride : 0;
    bool member = stride ? (mp_me - start) % stride == 0 && index >= 0 && index < size : mp_me == start;

    mp_check((team != SHMEM_TEAM_INVALID) == member, "%s: PE %d should %sbe in it", name, mp_me,
             member ? "" : "not ");
    mp_check(shmem_team_my_pe(team) == (member ? index : -1), "%s: I am number %d", name,
             shmem_team_my_pe(team));
    mp_check(shmem_team_n_pes(team) == (member ? size : -1), "%s: it has %d", name, shmem_team_n_pes(team));
    for (int i = 0; member && i < size; i++) {
        mp_check(teams_world(team, i) == start + i * stride, "%s: number %d is PE %d", name, i,
                 teams_world(team, i));
        mp_check(shmem_team_translate_pe(SHMEM_TEAM_WORLD, start + i * stride, team) == i,
                 "%s: not number %d", name, i);
    }
    mp_check(shmem_team_translate_pe(team, size, SHMEM_TEAM_WORLD) == -1, "%s: has a number %d", name, size);
}

static void check_strided(int start, int stride, int size)
{
    const shmem_team_config_t config = {.num_contexts = 3};
    shmem_team_config_t read = {.num_contexts = -7};
    shmem_team_t team = SHMEM_TEAM_WORLD;
    int rc = shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, &config, SHMEM_TEAM_NUM_CONTEXTS,
                                      &team);

    mp_check(rc == 0, "split %d, %d, %d returned %d", start, stride, size, rc);
    check_members(team, "strided", start, stride, size);
    rc = shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &read);
    if (team != SHMEM_TEAM_INVALID) {
        mp_check(rc == 0 && read.num_contexts == 3, "num_contexts is %d", read.num_contexts);
        mp_check(shmem_team_ptr(team, &read, 0) == NULL, "a pointer to what is not symmetric");
        shmem_team_sync(team);
    } else {
        mp_check(rc != 0 && read.num_contexts == -7, "the configuration of no team");
    }
    shmem_team_destroy(team);
}

static void check_refused(shmem_team_t parent, int start, int stride, int size)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;

    mp_check(shmem_team_split_strided(parent, start, stride, size, NULL, 0, &team) != 0,
             "split %d, %d, %d returned 0", start, stride, size);
    mp_check(team == SHMEM_TEAM_INVALID, "split %d, %d, %d gave a team", start, stride, size);
}

static void check_2d(int xrange)
{
    int x = xrange > mp_npes ? mp_npes : xrange, row = mp_me / x, column = mp_me % x;
    int in_row = mp_npes - row * x < x ? mp_npes - row * x : x;
    shmem_team_t xaxis, yaxis;

    mp_check(shmem_team_split_2d(SHMEM_TEAM_WORLD, xrange, NULL, 0, &xaxis, NULL, 0, &yaxis) == 0,
             "no 2d split by %d", xrange);
    check_members(xaxis, "row", row * x, 1, in_row);
    check_members(yaxis, "column", column, x, (mp_npes - column + x - 1) / x);
    shmem_team_sync(yaxis);
    shmem_team_sync(xaxis);
    shmem_team_destroy(xaxis);
    shmem_team_destroy(yaxis);
}

/* Halves of halves, down to one PE. */
static void check_splits_of_splits(void)
{
    shmem_team_t team = SHMEM_TEAM_WORLD, chain[16];
    int n = mp_npes, depth = 0;

    while (n > 1 && team != SHMEM_TEAM_INVALID && depth < 16) {
        n = (n + 1) / 2;
        mp_check(shmem_team_split_strided(team, n - 1, -1, n, NULL, 0, &chain[depth]) == 0,
                 "no half of a half");
        team = chain[depth++];
        if (team != SHMEM_TEAM_INVALID)
            mp_check(shmem_team_n_pes(team) == n, "half has %d PEs, not %d", shmem_team_n_pes(team), n);
    }
    while (depth--)
        shmem_team_destroy(chain[depth]);
}

static void check_invalid(void)
{
    shmem_team_t xaxis = SHMEM_TEAM_WORLD, yaxis = SHMEM_TEAM_WORLD;

    check_refused(SHMEM_TEAM_WORLD, 0, 1, mp_npes + 1);
    check_refused(SHMEM_TEAM_WORLD, -1, 1, 1);
    check_refused(SHMEM_TEAM_WORLD, mp_npes, 1, 1);
    check_refused(SHMEM_TEAM_WORLD, 0, 1, 0);
    check_refused(SHMEM_TEAM_WORLD, 0, -1, 2);
    check_refused(SHMEM_TEAM_INVALID, 0, 1, 1);
    mp_check(shmem_team_split_2d(SHMEM_TEAM_INVALID, 1, NULL, 0, &xaxis, NULL, 0, &yaxis) != 0,
             "2d of no team");
    mp_check(xaxis == SHMEM_TEAM_INVALID && yaxis == SHMEM_TEAM_INVALID, "2d of no team gave teams");
    mp_check(shmem_team_translate_pe(SHMEM_TEAM_INVALID, 0, SHMEM_TEAM_WORLD) == -1, "a number in no team");
    shmem_team_destroy(SHMEM_TEAM_INVALID);
}

int main(void)
{
    mp_begin();
    for (int stride = -mp_npes; stride <= mp_npes; stride++) {
        for (int size = 1; size <= mp_npes && (stride || size == 1); size++)
            for (int start = 0; start < mp_npes; start++)
                if (start + (size - 1) * stride >= 0 && start + (size - 1) * stride < mp_npes)
                    check_strided(start, stride, size);
    }
    for (int xrange = 1; xrange <= mp_npes + 1; xrange++)
        check_2d(xrange);
    check_splits_of_splits();
    check_invalid();
    return mp_end();
}

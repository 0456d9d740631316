/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions and scans are right for any number of elements up to 1 MiB, into another array and in place, on teams of
 * every shape; arrays behind the last element stay as they are, and the source may be changed at once.
 * paths: local:1,2,3,4,7,8 tcp:3,4 mixed:3,4 splitback:2 split:2 single
 * long paths: tcp:2 mixed:6
 * timeout: 120
 */
#include "test/common/teams.h"

#include <string.h>

#define NELEMS_MAX ((size_t)1 << 17)

static const size_t sizes[] = {0, 1, 3, 63, 64, 65, 129, 1000, 8192, NELEMS_MAX};

static uint64_t *dest, *src, round_no;

static uint64_t value(int pe, size_t j)
{
    return ((uint64_t)pe + 3) * (j + 1) * UINT64_C(0x9e3779b97f4a7c15) + round_no;
}

enum kind { SUM, XOR, MAX, INSCAN, EXSCAN, KINDS };

static const char *const names[KINDS] = {"sum", "xor", "max", "inscan", "exscan"};

static uint64_t expected(shmem_team_t team, enum kind kind, size_t j)
{
    int last = kind < INSCAN ? shmem_team_n_pes(team) - 1 : shmem_team_my_pe(team) - (kind == EXSCAN);
    uint64_t all = 0;

    for (int i = 0; i <= last; i++) {
        uint64_t one = value(teams_world(team, i), j);

        all = kind == XOR ? all ^ one : kind == MAX ? (one > all ? one : all) : all + one;
    }
    return all;
}

static int call(shmem_team_t team, enum kind kind, uint64_t *to, size_t nelems)
{
    switch (kind) {
    case SUM: return shmem_uint64_sum_reduce(team, to, src, nelems);
    case XOR: return shmem_uint64_xor_reduce(team, to, src, nelems);
    case MAX: return shmem_uint64_max_reduce(team, to, src, nelems);
    case INSCAN: return shmem_uint64_sum_inscan(team, to, src, nelems);
    default: return shmem_uint64_sum_exscan(team, to, src, nelems);
    }
}

static void check(shmem_team_t team, const char *name, enum kind kind, size_t nelems, bool in_place)
{
    uint64_t *to = in_place ? src : dest;
    size_t step = nelems > 2000 ? 61 : 1, wrong = 0;

    round_no++;
    for (size_t j = 0; j < nelems; j++)
        src[j] = value(mp_me, j);
    to[nelems] = 0xabcdef;
    shmem_team_sync(team);
    mp_check(call(team, kind, to, nelems) == 0, "%s on %s failed", names[kind], name);
    if (!in_place)
        memset(src, 0x33, nelems * sizeof *src);
    for (size_t j = 0; j < nelems; j += step)
        wrong += to[j] != expected(team, kind, j);
    mp_check(!wrong, "%s on %s%s: %zu of %zu elements wrong", names[kind], name, in_place ? " in place" : "",
             wrong, nelems);
    mp_check(to[nelems] == 0xabcdef, "%s on %s wrote past the end", names[kind], name);
    shmem_team_sync(team);
}

/* The largest on the world team only; of many PEs not every size on every team. */
static bool is_wanted(int team, size_t size)
{
    if (mp_npes > 16)
        return (int)size % 3 == team % 3 && sizes[size] <= 1000;
    return team == 0 || sizes[size] < NELEMS_MAX;
}

MP_MAIN(coll_reduce_sizes)
{
    struct teams teams;

    mp_begin();
    dest = mp_alloc((NELEMS_MAX + 1) * sizeof *dest);
    src = mp_alloc((NELEMS_MAX + 1) * sizeof *src);
    teams_open(&teams);
    for (int i = 0; i < teams.n; i++) {
        round_no = (uint64_t)i * 1000; /* all members count alike, also those who are in fewer teams */
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0] && teams.team[i].handle != SHMEM_TEAM_INVALID;
             s++)
            for (int kind = 0; kind < KINDS && is_wanted(i, s); kind++) {
                check(teams.team[i].handle, teams.team[i].name, kind, sizes[s], false);
                check(teams.team[i].handle, teams.team[i].name, kind, sizes[s], true);
            }
    }
    teams_close(&teams);
    return mp_end();
}

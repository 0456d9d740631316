/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every collective that moves data gives the right bytes, and no others, at every size from nothing to 1 MiB, on
 * teams of every shape; the source may be changed at once.
 * paths: local:1,2,3,4,7,8,12 tcp:4 mixed:3,6 splitback:2 split:2 single
 * long paths: tcp:2 mixed:4
 * timeout: 120
 */
#include "test/common/teams.h"

#include <string.h>

#define LEN_MAX ((size_t)1 << 20)

static const size_t lens[] = {0, 1, 7, 48, 49, 512, 513, 4096, 4097, 65536, LEN_MAX};

static char *dest, *src;
static size_t area; /* bytes of each */
static uint64_t round_no;

/* What PE `from` (global) gives to `to`. */
static uint64_t seed(int from, int to)
{
    return (uint64_t)from * 1000 + (uint64_t)to + round_no * 77;
}

static void check_block(const char *what, const char *name, size_t at, size_t len, int from, int to)
{
    size_t wrong = mp_wrong(dest + at, len, seed(from, to));

    mp_check(!wrong, "%s on %s: %zu of %zu bytes from PE %d wrong", what, name, wrong, len, from);
}

/* dest is untouched and everybody is ready; src holds what I give to nobody in particular. */
static void begin(shmem_team_t team, size_t dest_len, size_t len)
{
    round_no++;
    memset(dest, 0xee, dest_len + 1);
    mp_fill(src, len, seed(mp_me, 0));
    shmem_team_sync(team);
}

static void end(shmem_team_t team, const char *what, const char *name, size_t dest_len, size_t src_len)
{
    memset(src, 0x11, src_len);
    mp_check((unsigned char)dest[dest_len] == 0xee, "%s on %s: %zu bytes and one more", what, name, dest_len);
    shmem_team_sync(team); /* nobody begins anew before all have looked */
}

static void broadcast(shmem_team_t team, const char *name, size_t len)
{
    int root = (int)(round_no % (uint64_t)shmem_team_n_pes(team)), rc;

    begin(team, len, len);
    rc = shmem_broadcastmem(team, dest, src, len, root);
    mp_check(rc == 0, "broadcast on %s returned %d", name, rc);
    memset(src, 0x22, len);
    check_block("broadcast", name, 0, len, teams_world(team, root), 0);
    end(team, "broadcast", name, len, len);
}

static void fcollect(shmem_team_t team, const char *name, size_t len)
{
    int n = shmem_team_n_pes(team), rc;

    begin(team, len * (size_t)n, len);
    rc = shmem_fcollectmem(team, dest, src, len);
    mp_check(rc == 0, "fcollect on %s returned %d", name, rc);
    memset(src, 0x22, len);
    for (int pe = 0; pe < n; pe++)
        check_block("fcollect", name, (size_t)pe * len, len, teams_world(team, pe), 0);
    end(team, "fcollect", name, len * (size_t)n, len);
}

/* Everybody another length, some nothing. */
static size_t part(int pe, size_t len)
{
    return (pe + (int)round_no) % 3 ? len / (size_t)((pe + (int)round_no) % 3) : 0;
}

static void collect(shmem_team_t team, const char *name, size_t len)
{
    int n = shmem_team_n_pes(team), me = shmem_team_my_pe(team), rc;
    size_t total = 0, at = 0;

    begin(team, len * (size_t)n, len);
    for (int pe = 0; pe < n; pe++)
        total += part(pe, len);
    rc = shmem_collectmem(team, dest, src, part(me, len));
    mp_check(rc == 0, "collect on %s returned %d", name, rc);
    memset(src, 0x22, len);
    for (int pe = 0; pe < n; pe++) {
        check_block("collect", name, at, part(pe, len), teams_world(team, pe), 0);
        at += part(pe, len);
    }
    end(team, "collect", name, total, len);
}

static void alltoall(shmem_team_t team, const char *name, size_t len)
{
    int n = shmem_team_n_pes(team), rc;

    begin(team, len * (size_t)n, len);
    for (int pe = 0; pe < n; pe++)
        mp_fill(src + (size_t)pe * len, len, seed(mp_me, teams_world(team, pe)));
    rc = shmem_alltoallmem(team, dest, src, len);
    mp_check(rc == 0, "alltoall on %s returned %d", name, rc);
    memset(src, 0x22, len * (size_t)n);
    for (int pe = 0; pe < n; pe++)
        check_block("alltoall", name, (size_t)pe * len, len, teams_world(team, pe), mp_me);
    end(team, "alltoall", name, len * (size_t)n, len * (size_t)n);
}

/* Elements of 8 bytes, 3 and 2 apart; nothing between them is touched. */
static void alltoalls(shmem_team_t team, const char *name, size_t len)
{
    int n = shmem_team_n_pes(team), me = shmem_team_my_pe(team);
    size_t nelems = len / 64, all = nelems * (size_t)n;
    int64_t *to = (int64_t *)dest, *from = (int64_t *)src;

    begin(team, len * (size_t)n, len);
    for (size_t i = 0; i < all; i++)
        from[2 * i] = (int64_t)(seed(mp_me, 0) * 1000000 + i);
    mp_check(shmem_int64_alltoalls(team, to, from, 3, 2, nelems) == 0, "alltoalls on %s failed", name);
    for (size_t i = 0; i < all; i++) {
        int pe = (int)(i / nelems);
        int64_t want = (int64_t)(seed(teams_world(team, pe), 0) * 1000000 + (size_t)me * nelems + i % nelems);

        mp_check(to[3 * i] == want, "alltoalls on %s: element %zu from %d", name, i % nelems, pe);
        mp_check(to[3 * i + 1] == (int64_t)0xeeeeeeeeeeeeeeee, "alltoalls on %s: wrote between elements",
                 name);
    }
    end(team, "alltoalls", name, len * (size_t)n, len);
}

/* The largest on the world team only; of many PEs not every size on every team. */
static bool is_wanted(uint64_t team, size_t size)
{
    if (mp_npes > 8)
        return (size % 5 == team % 5 && lens[size] <= 4097) || (mp_npes <= 16 && team == 0);
    return team == 0 || lens[size] < LEN_MAX;
}

/* All members count the rounds alike, also those who are in fewer teams. */
static void check_team(shmem_team_t team, const char *name, uint64_t index)
{
    size_t n = (size_t)shmem_team_n_pes(team);

    round_no = index * 1000;
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
        if (!is_wanted(index, i))
            continue;
        broadcast(team, name, lens[i]);
        if (lens[i] * n > area)
            continue;
        fcollect(team, name, lens[i]);
        collect(team, name, lens[i]);
        alltoall(team, name, lens[i]);
        if (lens[i] < LEN_MAX)
            alltoalls(team, name, lens[i]);
    }
}

MP_MAIN(coll_sizes)
{
    struct teams teams;

    mp_begin();
    area = mp_npes > 16 ? LEN_MAX : 8 * LEN_MAX;
    dest = mp_alloc(area + 1);
    src = mp_alloc(area);
    teams_open(&teams);
    for (int i = 0; i < teams.n; i++)
        if (teams.team[i].handle != SHMEM_TEAM_INVALID)
            check_team(teams.team[i].handle, teams.team[i].name, (uint64_t)i);
    teams_close(&teams);
    return mp_end();
}

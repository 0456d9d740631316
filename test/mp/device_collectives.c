/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host's collectives move what lies in device memory, on one side or both, at every size and on teams of every
 * shape: the right bytes and no others, and the source may be changed at once.
 *
 * paths: fakegpu:1,2,3,4 fakegpuipc:2 fakegpu1:2,4 fakegpumixed:4 gpu:2,4 gpuipc:2 gpu1:2,4
 * timeout: 120
 */
#include "test/common/teams.h"

#include <shmemx.h>

#include <stdlib.h>
#include <string.h>

enum { MOST = 600001 }; /* more than who shares memory reads instead of sending it */

static const size_t lens[] = {1, 8, 48, 49, 513, 4096, 70001, MOST};

static char *dest, *src; /* one of `host` or `device` each */
static char *out, *in;   /* what goes into src, and has come to dest */
static uint64_t round_no;
static const char *where; /* dest and src are */

static uint64_t seed(int from, int to)
{
    return (uint64_t)from * 1000 + (uint64_t)to + round_no * 77;
}

/* src holds what I give to each of n members; dest one byte more than will come, to be left alone. */
static void begin(shmem_team_t team, size_t len, int n, size_t dest_len)
{
    round_no++;
    for (int i = 0; i < n; i++)
        mp_fill(out + (size_t)i * len, len, seed(mp_me, n > 1 ? teams_world(team, i) : 0));
    memset(in, 0xee, dest_len + 1);
    shmem_putmem(src, out, len * (size_t)n, mp_me);
    shmem_putmem(dest, in, dest_len + 1, mp_me);
    shmem_quiet();
    shmem_team_sync(team);
}

/* After a change of the source; the caller then looks at `in`. */
static void end(shmem_team_t team, const char *what, size_t src_len, size_t dest_len)
{
    memset(out, 0x11, src_len);
    shmem_putmem(src, out, src_len, mp_me);
    shmem_getmem(in, dest, dest_len + 1, mp_me);
    mp_check((unsigned char)in[dest_len] == 0xee, "%s: %zu bytes and one more", what, dest_len);
    shmem_team_sync(team);
}

static void check_block(const char *what, size_t at, size_t len, int from, int to)
{
    size_t wrong = mp_wrong(in + at, len, seed(from, to));

    mp_check(!wrong, "%s of %zu bytes, %s: %zu from PE %d are wrong", what, len, where, wrong, from);
}

static void broadcasts(shmem_team_t team, size_t len)
{
    for (int root = 0; root < shmem_team_n_pes(team); root++) {
        begin(team, len, 1, len);
        mp_check(!shmem_broadcastmem(team, dest, src, len, root), "broadcast");
        end(team, "broadcast", len, len);
        check_block("broadcast", 0, len, teams_world(team, root), 0);
    }
}

static void fcollects(shmem_team_t team, size_t len)
{
    int n = shmem_team_n_pes(team);

    begin(team, len, 1, len * (size_t)n);
    mp_check(!shmem_fcollectmem(team, dest, src, len), "fcollect");
    end(team, "fcollect", len, len * (size_t)n);
    for (int i = 0; i < n; i++)
        check_block("fcollect", (size_t)i * len, len, teams_world(team, i), 0);
}

/* Member i has i bytes less, at least none. */
static size_t part(int i, size_t len)
{
    return len > (size_t)i ? len - (size_t)i : 0;
}

static void collects(shmem_team_t team, size_t len)
{
    size_t whole = 0, at = 0;
    int n = shmem_team_n_pes(team);

    for (int i = 0; i < n; i++)
        whole += part(i, len);
    begin(team, len, 1, whole);
    mp_check(!shmem_collectmem(team, dest, src, part(shmem_team_my_pe(team), len)), "collect");
    end(team, "collect", len, whole);
    for (int i = 0; i < n; at += part(i, len), i++)
        check_block("collect", at, part(i, len), teams_world(team, i), 0);
}

static void alltoalls(shmem_team_t team, size_t len)
{
    int n = shmem_team_n_pes(team);

    begin(team, len, n, len * (size_t)n);
    mp_check(!shmem_alltoallmem(team, dest, src, len), "alltoall");
    end(team, "alltoall", len * (size_t)n, len * (size_t)n);
    for (int i = 0; i < n; i++)
        check_block("alltoall", (size_t)i * len, len, teams_world(team, i), n > 1 ? mp_me : 0);
}

/* Rounds begin anew: PEs that are not of the team count none. */
static void on_team(shmem_team_t team)
{
    round_no = 0;
    for (size_t i = 0; team != SHMEM_TEAM_INVALID && i < sizeof lens / sizeof lens[0]; i++) {
        broadcasts(team, lens[i]);
        fcollects(team, lens[i]);
        collects(team, lens[i]);
        alltoalls(team, lens[i]);
    }
}

int main(void)
{
    shmem_team_t odd = SHMEM_TEAM_INVALID;
    size_t area;
    char *host[2], *device[2];

    mp_begin();
    area = (size_t)mp_npes * MOST + 1;
    out = malloc(area);
    in = malloc(area);
    for (int i = 0; i < 2; i++) {
        host[i] = shmem_malloc(area);
        device[i] = shmemx_malloc_device(area);
    }
    if (!mp_check(host[1] && device[1] && out && in, "no memory"))
        return mp_end();
    if (mp_npes > 1)
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, mp_npes / 2, NULL, 0, &odd);
    for (int i = 1; i < 4; i++) {
        where = (const char *const[]){"", "device and host", "host and device", "device"}[i];
        dest = i & 1 ? device[0] : host[0];
        src = i & 2 ? device[1] : host[1];
        on_team(SHMEM_TEAM_WORLD);
        on_team(odd);
        shmem_barrier_all();
    }
    return mp_end();
}

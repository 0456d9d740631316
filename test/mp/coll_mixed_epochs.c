/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thousands of collectives of all kinds and sizes follow each other on several teams without a barrier between them,
 * while some PEs are late: nobody sees data of an earlier or a later one. Every one writes to memory that none has used
 * since the last barrier, and its source is changed as soon as it returns.
 * paths: local:2,3,7,16 tcp:4 mixed:6 mixedshm:4
 * long paths: local:4,8 tcp:2 mixed:4
 * timeout: 120
 */
#include "test/common/teams.h"

#include <string.h>

#define ARENA ((size_t)2 << 20)
#define LEN_MAX \
    ((size_t)120000) /* of the blocks of all PEs: over a network some are messages, others writes */
#define STRIDED_MAX 300

static char *arena, *src;
static size_t used;
static uint64_t step;

static uint64_t seed(int pe)
{
    return step * 131 + (uint64_t)pe;
}

static void check_block(const char *what, const char *at, size_t len, int from)
{
    size_t wrong = mp_wrong(at, len, seed(from));

    mp_check(!wrong, "step %lu, %s: %zu of %zu bytes from PE %d wrong", (unsigned long)step, what, wrong, len,
             from);
}

static void broadcast(shmem_team_t team, char *dest, size_t len, int root)
{
    shmem_broadcastmem(team, dest, src, len, root);
    memset(src, 0x44, len);
    check_block("broadcast", dest, len, teams_world(team, root));
}

static void fcollect(shmem_team_t team, char *dest, size_t len, bool same)
{
    int n = shmem_team_n_pes(team), me = shmem_team_my_pe(team);

    if (same)
        shmem_fcollectmem(team, dest, src, len);
    else
        shmem_collectmem(team, dest, src, me % 2 ? len / 2 : len);
    memset(src, 0x44, len);
    for (int pe = 0; pe < n; pe++) {
        size_t part = same || pe % 2 == 0 ? len : len / 2;

        check_block(same ? "fcollect" : "collect", dest, part, teams_world(team, pe));
        dest += part;
    }
}

static void alltoall(shmem_team_t team, char *dest, size_t len)
{
    int n = shmem_team_n_pes(team);

    for (int pe = 0; pe < n; pe++)
        mp_fill(src + (size_t)pe * len, len, seed(mp_me));
    shmem_alltoallmem(team, dest, src, len);
    memset(src, 0x44, len * (size_t)n);
    for (int pe = 0; pe < n; pe++)
        check_block("alltoall", dest + (size_t)pe * len, len, teams_world(team, pe));
}

/* Blocks of every other byte; what lies between is left alone. */
static void alltoalls(shmem_team_t team, char *dest, size_t len)
{
    char block[STRIDED_MAX];
    int n = shmem_team_n_pes(team);

    mp_fill(block, len, seed(mp_me));
    for (size_t j = 0; j < len * (size_t)n; j++)
        src[2 * j] = block[j % len];
    memset(dest, 0x33, 2 * len * (size_t)n);
    shmem_team_sync(team);
    shmem_char_alltoalls(team, dest, src, 2, 2, len);
    memset(src, 0x44, 2 * len * (size_t)n);
    for (int pe = 0; pe < n; pe++) {
        for (size_t j = 0; j < len; j++) {
            block[j] = dest[2 * ((size_t)pe * len + j)];
            mp_check(dest[2 * ((size_t)pe * len + j) + 1] == 0x33, "step %lu: a byte between",
                     (unsigned long)step);
        }
        check_block("alltoalls", block, len, teams_world(team, pe));
    }
}

static void reduce(shmem_team_t team, char *dest, size_t len, bool scan)
{
    int n = shmem_team_n_pes(team), last = scan ? shmem_team_my_pe(team) : n - 1;
    uint32_t *to = (uint32_t *)dest, *from = (uint32_t *)src;
    size_t nelems = len / 4, wrong = 0;

    for (size_t j = 0; j < nelems; j++)
        from[j] = (uint32_t)(seed(mp_me) * (j + 1));
    if (scan)
        shmem_uint32_sum_inscan(team, to, from, nelems);
    else
        shmem_uint32_sum_reduce(team, to, from, nelems);
    memset(src, 0x44, len);
    for (size_t j = 0; j < nelems; j += 17) {
        uint32_t want = 0;

        for (int i = 0; i <= last; i++)
            want += (uint32_t)(seed(teams_world(team, i)) * (j + 1));
        wrong += to[j] != want;
    }
    mp_check(!wrong, "step %lu, %s of %zu: %zu wrong", (unsigned long)step, scan ? "scan" : "reduce", nelems,
             wrong);
}

/* One collective, the same at all members: the numbers come from a state that all PEs share. */
static void one(const struct teams *teams, uint64_t *state)
{
    int which = (int)mp_random_below(state, (size_t)teams->n), kind = (int)mp_random_below(state, 9);
    size_t len = mp_random_below(state, mp_random_below(state, 2) ? 700 : LEN_MAX / (size_t)mp_npes);
    uint64_t late = mp_random(state), root = mp_random(state);
    shmem_team_t team = teams->team[which].handle;
    char *dest = arena + used;

    if (kind == 7)
        len = 1 + len % STRIDED_MAX;
    step++;
    used += ((kind == 7 ? 2 : 1) * len * (size_t)mp_npes + 64) & ~(size_t)63;
    if (team == SHMEM_TEAM_INVALID)
        return;
    if (late % 16 == 0 && (int)(late / 16 % (uint64_t)mp_npes) == mp_me)
        mp_sleep(0.0005);
    mp_fill(src, len, seed(mp_me));
    switch (kind) {
    case 0:
    case 1: broadcast(team, dest, len, (int)(root % (uint64_t)shmem_team_n_pes(team))); break;
    case 2: fcollect(team, dest, len, true); break;
    case 3: fcollect(team, dest, len, false); break;
    case 4: alltoall(team, dest, len); break;
    case 5: reduce(team, dest, len, false); break;
    case 6: reduce(team, dest, len, true); break;
    case 7: alltoalls(team, dest, len); break;
    default: shmem_team_sync(team);
    }
}

/* Far more of the rooted kind than a team keeps slots for: the root is soon ahead. */
static void many_broadcasts(void)
{
    for (int i = 0; i < 200; i++) {
        char *dest = arena + i * 64;

        step++;
        mp_fill(src, 40, seed(mp_me));
        if (i % 50 == 1 && mp_me == mp_npes - 1)
            mp_sleep(0.002);
        broadcast(SHMEM_TEAM_WORLD, dest, i % 3 ? 8 : 40, 0);
    }
    shmem_barrier_all();
}

MP_MAIN(coll_mixed_epochs)
{
    uint64_t state = mp_seed();
    struct teams teams;

    mp_begin();
    arena = mp_alloc(ARENA);
    src = mp_alloc(LEN_MAX);
    teams_open(&teams);
    many_broadcasts();
    for (long i = 0; i < mp_rounds(mp_npes > 16 ? 60 : mp_path_is("local") ? 4000 : 800, 100000); i++) {
        if (used + LEN_MAX + 64 * (size_t)mp_npes > ARENA) {
            shmem_barrier_all();
            used = 0;
        }
        one(&teams, &state);
    }
    shmem_barrier_all();
    teams_close(&teams);
    return mp_end();
}

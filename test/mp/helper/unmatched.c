/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Three PEs call collectives that do not match, in the way that the argument names, for checked_collectives.sh. Exit
 * status 9: it was not noticed; "none": they match, though they come near to not doing so; then 0.
 */
#include "test/common/mp.h"

#include <stdlib.h>
#include <string.h>

#define N 64

static long *words, *more; /* [N] */
static long *psync;
static bool odd; /* the PE that does otherwise: the last one */

static void barrier_broadcast(void)
{
    if (odd)
        shmem_long_broadcast(SHMEM_TEAM_WORLD, words, words + 8, 4, 1);
    else
        shmem_barrier_all();
}

static void barrier_sync(void)
{
    if (odd)
        shmem_sync_all();
    else
        shmem_barrier_all();
}

static void roots(void)
{
    shmem_long_broadcast(SHMEM_TEAM_WORLD, words, words + 8, 4, odd);
}

static void nelems(void)
{
    shmem_long_alltoall(SHMEM_TEAM_WORLD, words, more, odd ? 2 : 3);
}

static void nothing(void)
{
    shmem_long_fcollect(SHMEM_TEAM_WORLD, words, more, odd ? 0 : 3);
}

static void places(void)
{
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, words + odd, more, 2);
}

static void operations(void)
{
    if (odd)
        shmem_int_max_reduce(SHMEM_TEAM_WORLD, (int *)words, (int *)more, 2);
    else
        shmem_int_min_reduce(SHMEM_TEAM_WORLD, (int *)words, (int *)more, 2);
}

static void strides(void)
{
    shmem_long_alltoalls(SHMEM_TEAM_WORLD, words, more, 2, odd ? 3 : 2, 2);
}

static void mallocs(void)
{
    shmem_malloc(odd ? 64 : 128);
}

static void aligns(void)
{
    if (odd)
        shmem_align(64, 64);
    else
        shmem_malloc(64);
}

static void frees(void)
{
    shmem_free(odd ? words : more);
}

static void reallocs(void)
{
    words = shmem_realloc(words, odd ? 8 : 4096);
}

static void splits(void)
{
    shmem_team_t team;

    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, odd ? 3 : 2, NULL, 0, &team);
}

static void finalize(void)
{
    if (odd)
        shmem_finalize();
    else
        shmem_barrier_all();
}

/* PEs 1 and 2 are 0 and 1 of the team: the line has their numbers in the job. */
static void of_a_team(void)
{
    shmem_team_t team;

    shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, 2, NULL, 0, &team);
    if (mp_me == 0)
        return;
    if (odd)
        shmem_team_sync(team);
    else
        shmem_long_collect(team, words, more, 1);
}

static void active_set(void)
{
    if (odd)
        shmem_barrier(0, 0, 3, psync);
    else
        shmem_sync(0, 0, 3, psync);
}

static void active_roots(void)
{
    shmem_broadcast64(words, more, 2, odd, 0, 0, 3, psync);
}

/* The first PE of both sets is the same, and so is their work array. */
static void active_sizes(void)
{
    if (!odd)
        shmem_barrier(0, 0, mp_me ? 2 : 3, psync);
}

/* PE 1 waits in one team for PE 2, which waits in another for PE 1: no pair of calls, but a hang that names both. */
static void crossed(void)
{
    shmem_team_t team;

    shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, 2, NULL, 0, &team);
    if (odd)
        shmem_team_sync(team);
    else
        shmem_barrier_all();
}

/* All of it is allowed. */
static void none(void)
{
    shmem_team_t team, one;
    void *ptr;

    shmem_long_collect(SHMEM_TEAM_WORLD, words, more, (size_t)mp_me);
    shmem_long_collect(SHMEM_TEAM_WORLD, words, odd ? words + 32 : more, odd ? 0 : 2);
    if (odd) {
        shmem_free(NULL);
        mp_check(!shmem_malloc(0), "memory of no size");
    }
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &team);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, mp_npes - 1, 1, 1, NULL, 0, &one);
    if (odd)
        shmem_long_sum_reduce(one, words, words, 2);
    else
        shmem_team_sync(team);
    shmem_long_broadcast(SHMEM_TEAM_WORLD, words, more, 0, 1);
    ptr = shmem_calloc(3, 8);
    ptr = shmem_realloc(ptr, 1 << 16);
    shmem_free(ptr);
    if (odd)
        shmem_team_destroy(one);
    else
        shmem_team_destroy(team);
    for (int round = 0; round < 100; round++) {
        shmem_sync(0, 0, 3, psync);
        shmem_long_sum_to_all(words, more, 4, 0, 0, 3, words + 32, psync);
        shmem_broadcast64(words, more, 2, round % 3, 0, 0, 3, psync);
    }
}

static const struct {
    const char *name;
    void (*call)(void);
} cases[] = {
    {"active_roots", active_roots},
    {"active_set", active_set},
    {"active_sizes", active_sizes},
    {"aligns", aligns},
    {"barrier_broadcast", barrier_broadcast},
    {"barrier_sync", barrier_sync},
    {"crossed", crossed},
    {"finalize", finalize},
    {"frees", frees},
    {"mallocs", mallocs},
    {"nelems", nelems},
    {"none", none},
    {"nothing", nothing},
    {"of_a_team", of_a_team},
    {"operations", operations},
    {"places", places},
    {"reallocs", reallocs},
    {"roots", roots},
    {"splits", splits},
    {"strides", strides},
};

int main(int argc, char **argv)
{
    const char *name = argc == 2 ? argv[1] : "";

    mp_begin();
    odd = mp_me == mp_npes - 1;
    words = mp_alloc(N * sizeof *words);
    more = mp_alloc(N * sizeof *more);
    psync = mp_alloc(SHMEM_COLLECT_SYNC_SIZE * sizeof *psync);
    for (int i = 0; i < SHMEM_COLLECT_SYNC_SIZE; i++)
        psync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (!strcmp(name, cases[i].name))
            cases[i].call();
    if (!strcmp(name, "none"))
        return mp_end();
    mp_sleep(10); /* nobody ends before it was noticed elsewhere */
    exit(9);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Mistakes that all PEs make alike: teams that are gone, memory, active sets, the time after shmem_finalize. */
#include "test/mp/helper/mistakes.h"

#include "test/common/mp.h"

#include <shmemx.h>
#include <stdlib.h>

#define HALF_HEAP ((size_t)40 << 20) /* more than half of the 64 MiB of the tests' heap */

static long psync[SHMEM_SYNC_SIZE];

static long *words(void)
{
    return mistake_args.sym;
}

static shmem_team_t dead_team(void)
{
    shmem_team_t team;

    mp_check(!shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &team), "no team");
    shmem_team_destroy(team);
    return team;
}

/* A context ends with its team. */
static shmem_ctx_t dead_team_ctx(void)
{
    shmem_team_t team;
    shmem_ctx_t ctx;

    mp_check(!shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &team), "no team");
    mp_check(!shmem_team_create_ctx(team, 0, &ctx), "no context");
    shmem_team_destroy(team);
    return ctx;
}

static void to_all_negative(void)
{
    shmem_long_sum_to_all(words(), words() + 8, -5, 0, 0, 2, NULL, psync);
}

static void broadcast64_wrap(void)
{
    shmem_broadcast64(words(), words() + 8, MISTAKE_HUGE, 0, 0, 0, 2, psync);
}

static void collect64_wrap(void)
{
    shmem_collect64(words(), words() + 8, MISTAKE_HUGE, 0, 0, 2, psync);
}

static void fcollect64_wrap(void)
{
    shmem_fcollect64(words(), words() + 8, MISTAKE_HUGE, 0, 0, 2, psync);
}

static void alltoall64_wrap(void)
{
    shmem_alltoall64(words(), words() + 8, MISTAKE_HUGE, 0, 0, 2, psync);
}

static void alltoalls64_wrap(void)
{
    shmem_alltoalls64(words(), words() + 8, (ptrdiff_t)MISTAKE_HUGE, 1, 2, 0, 0, 2, psync);
}

static void collect_sum(void)
{
    shmem_collectmem(SHMEM_TEAM_WORLD, words(), words(), HALF_HEAP);
}

static void team_destroyed_twice(void)
{
    shmem_team_t team = dead_team();

    shmem_team_destroy(team);
}

static void team_sync_destroyed(void)
{
    shmem_team_t team = dead_team();

    shmem_team_sync(team);
}

static void team_broadcast_destroyed(void)
{
    shmem_team_t team = dead_team();

    shmem_long_broadcast(team, words(), words() + 8, 1, 0);
}

static void team_my_pe_destroyed(void)
{
    shmem_team_t team = dead_team();

    shmem_team_my_pe(team);
}

static void team_n_pes_destroyed(void)
{
    shmem_team_t team = dead_team();

    shmem_team_n_pes(team);
}

static void team_translate_destroyed(void)
{
    shmem_team_t team = dead_team();

    shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, team);
}

static void team_ptr_destroyed(void)
{
    shmem_team_t team = dead_team();

    shmem_team_ptr(team, words(), 0);
}

static void team_config_destroyed(void)
{
    shmem_team_config_t config;
    shmem_team_t team = dead_team();

    shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &config);
}

static void team_ctx_destroyed(void)
{
    shmem_ctx_t ctx;
    shmem_team_t team = dead_team();

    shmem_team_create_ctx(team, 0, &ctx);
}

static void team_split_destroyed(void)
{
    shmem_team_t team = dead_team();

    shmem_team_split_strided(team, 0, 1, 1, NULL, 0, &team);
}

static void team_split_2d_destroyed(void)
{
    shmem_team_t axes[2];
    shmem_team_t team = dead_team();

    shmem_team_split_2d(team, 1, NULL, 0, &axes[0], NULL, 0, &axes[1]);
}

static void ctx_of_destroyed_team(void)
{
    shmem_ctx_long_p(dead_team_ctx(), words(), 1, 0);
}

static void split_wrong(void)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;

    mp_check(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 9, NULL, 0, &team) &&
                 team == SHMEM_TEAM_INVALID,
             "a team of 9");
}

static void split_stride_zero(void)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;

    mp_check(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 0, 2, NULL, 0, &team) &&
                 team == SHMEM_TEAM_INVALID,
             "a team of one PE twice");
}

static void split_2d_xrange(void)
{
    shmem_team_t axes[2];

    mp_check(shmem_team_split_2d(SHMEM_TEAM_WORLD, 0, NULL, 0, &axes[0], NULL, 0, &axes[1]),
             "rows of no PEs");
}

static void malloc_most(void)
{
    mp_check(!shmem_malloc(SIZE_MAX) && !shmem_malloc(SIZE_MAX / 2) && !shmem_malloc(0),
             "memory of that size");
}

static void calloc_wrap(void)
{
    mp_check(!shmem_calloc(SIZE_MAX / 8 + 2, 8) && !shmem_calloc(SIZE_MAX, SIZE_MAX), "memory of that size");
}

static void align_most(void)
{
    mp_check(!shmem_align((size_t)1 << 63, 8) && !shmem_align(64, SIZE_MAX), "memory of that size");
}

static void realloc_most(void)
{
    mp_check(!shmem_realloc(shmem_malloc(8), SIZE_MAX), "memory of that size");
}

/* With a bit that this library does not know, ours asks for nothing. */
static void hints_unknown(void)
{
    mp_check(shmem_malloc_with_hints(64, ~0L) && shmem_malloc_with_hints(64, 1L << 20) &&
                 shmem_malloc_with_hints(64, SHMEMX_MALLOC_DEVICE | 1L << 40),
             "no memory");
}

/* What has been freed may be allocated again: only SHMEM_DEBUG=check looks. */
static void put_freed(void)
{
    long *at = shmem_malloc(64);

    shmem_free(at);
    shmem_long_p(at, 1, mp_right());
}

static void get_freed(void)
{
    long *at = shmem_malloc(64);

    shmem_free(at);
    shmem_long_get(mistake_args.local, at, 2, mp_right());
}

static void atomic_freed(void)
{
    long *at = shmem_malloc(64);

    shmem_free(at);
    shmem_long_atomic_inc(at, mp_right());
}

static void free_null(void)
{
    shmem_free(NULL);
}

static void free_twice(void)
{
    char *at = shmem_malloc(64);

    shmem_free(at);
    shmem_free(at);
}

static void free_middle(void)
{
    shmem_free((char *)shmem_malloc(64) + 16);
}

static void free_local(void)
{
    shmem_free(mistake_args.value);
}

static void realloc_freed(void)
{
    char *at = shmem_malloc(64);

    shmem_free(at);
    shmem_realloc(at, 128);
}

static void after_finalize(void)
{
    shmem_finalize();
    shmem_my_pe();
}

static void team_after_finalize(void)
{
    shmem_finalize();
    shmem_team_sync(SHMEM_TEAM_WORLD);
}

static void put_after_finalize(void)
{
    shmem_finalize();
    shmem_long_p(words(), 1, 0);
}

const struct mistake mistakes_of_all[] = {
    {"to_all_negative", to_all_negative, "nreduce is negative", NULL},
    {"broadcast64_wrap", broadcast64_wrap, MISTAKE_MUCH, NULL},
    {"collect64_wrap", collect64_wrap, MISTAKE_MUCH, NULL},
    {"fcollect64_wrap", fcollect64_wrap, MISTAKE_MUCH, NULL},
    {"alltoall64_wrap", alltoall64_wrap, MISTAKE_MUCH, NULL},
    {"alltoalls64_wrap", alltoalls64_wrap, MISTAKE_MUCH, NULL},
    {"collect_sum", collect_sum, "reach beyond the end of symmetric memory", "are not allocated"},
    {"team_destroyed_twice", team_destroyed_twice, "team has been destroyed", "team .* is no team"},
    {"team_sync_destroyed", team_sync_destroyed, "team has been destroyed", "team .* is no team"},
    {"team_broadcast_destroyed", team_broadcast_destroyed, "team has been destroyed", "team .* is no team"},
    {"team_my_pe_destroyed", team_my_pe_destroyed, "team has been destroyed", "team .* is no team"},
    {"team_n_pes_destroyed", team_n_pes_destroyed, "team has been destroyed", "team .* is no team"},
    {"team_translate_destroyed", team_translate_destroyed, "team has been destroyed", "team .* is no team"},
    {"team_ptr_destroyed", team_ptr_destroyed, "team has been destroyed", "team .* is no team"},
    {"team_config_destroyed", team_config_destroyed, "team has been destroyed", "team .* is no team"},
    {"team_ctx_destroyed", team_ctx_destroyed, "team has been destroyed", "team .* is no team"},
    {"team_split_destroyed", team_split_destroyed, "team has been destroyed", "team .* is no team"},
    {"team_split_2d_destroyed", team_split_2d_destroyed, "team has been destroyed", "team .* is no team"},
    {"ctx_of_destroyed_team", ctx_of_destroyed_team, "ctx has been destroyed", "ctx .* is no context"},
    {"split_wrong", split_wrong, NULL, NULL},
    {"split_stride_zero", split_stride_zero, NULL, NULL},
    {"split_2d_xrange", split_2d_xrange, NULL, NULL},
    {"malloc_most", malloc_most, NULL, NULL},
    {"calloc_wrap", calloc_wrap, NULL, NULL},
    {"align_most", align_most, NULL, NULL},
    {"realloc_most", realloc_most, NULL, NULL},
    {"hints_unknown", hints_unknown, NULL, NULL},
    {"put_freed", put_freed, NULL, "are not allocated"},
    {"get_freed", get_freed, NULL, "are not allocated"},
    {"atomic_freed", atomic_freed, NULL, "are not allocated"},
    {"free_null", free_null, NULL, NULL},
    {"free_twice", free_twice, "not the start of a live symmetric allocation", NULL},
    {"free_middle", free_middle, "not the start of a live symmetric allocation", NULL},
    {"free_local", free_local, "not the start of a live symmetric allocation", NULL},
    {"realloc_freed", realloc_freed, "not the start of a live symmetric allocation", NULL},
    {"after_finalize", after_finalize, "called outside shmem_init", NULL},
    {"team_after_finalize", team_after_finalize, "called outside shmem_init", NULL},
    {"put_after_finalize", put_after_finalize, "called outside shmem_init", NULL},
    {0},
};

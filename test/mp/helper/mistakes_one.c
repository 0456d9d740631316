/* SPDX-License-Identifier: BSD-3-Clause */
/* Mistakes of one PE that are no wrong argument of a transfer: contexts, results that go nowhere, waits, locks. */
#include "test/mp/helper/mistakes.h"

#include "test/common/mp.h"

#include <stdlib.h>

static long psync[SHMEM_SYNC_SIZE];

static long *words(void)
{
    return mistake_args.sym;
}

static shmem_ctx_t dead_ctx(void)
{
    shmem_ctx_t ctx;

    mp_check(!shmem_ctx_create(0, &ctx), "no context");
    shmem_ctx_destroy(ctx);
    return ctx;
}

static void ctx_put_destroyed(void)
{
    shmem_ctx_t ctx = dead_ctx();

    shmem_ctx_long_p(ctx, words(), 1, 0);
}

static void ctx_get_destroyed(void)
{
    shmem_ctx_t ctx = dead_ctx();

    shmem_ctx_long_g(ctx, words(), 0);
}

static void ctx_atomic_destroyed(void)
{
    shmem_ctx_t ctx = dead_ctx();

    shmem_ctx_long_atomic_inc(ctx, words(), 0);
}

static void ctx_iput_destroyed(void)
{
    shmem_ctx_t ctx = dead_ctx();

    shmem_ctx_long_iput(ctx, words(), words() + 8, 1, 1, 2, 0);
}

static void ctx_signal_destroyed(void)
{
    shmem_ctx_t ctx = dead_ctx();

    shmem_ctx_signal_add(ctx, mistake_args.bell, 1, 0);
}

static void ctx_put_signal_destroyed(void)
{
    shmem_ctx_t ctx = dead_ctx();

    shmem_ctx_long_put_signal(ctx, words(), words() + 8, 1, mistake_args.bell, 1, SHMEM_SIGNAL_SET, 0);
}

static void ctx_quiet_destroyed(void)
{
    shmem_ctx_t ctx = dead_ctx();

    shmem_ctx_quiet(ctx);
}

static void ctx_fence_destroyed(void)
{
    shmem_ctx_t ctx = dead_ctx();

    shmem_ctx_fence(ctx);
}

static void ctx_pe_quiet_destroyed(void)
{
    const int pe = 0;
    shmem_ctx_t ctx = dead_ctx();

    shmem_ctx_pe_quiet(ctx, &pe, 1);
}

static void ctx_session_destroyed(void)
{
    shmem_ctx_t ctx = dead_ctx();

    shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, NULL, 0);
}

static void ctx_session_stop_destroyed(void)
{
    shmem_ctx_t ctx = dead_ctx();

    shmem_ctx_session_stop(ctx);
}

static void ctx_get_team_destroyed(void)
{
    shmem_team_t team;
    shmem_ctx_t ctx = dead_ctx();

    shmem_ctx_get_team(ctx, &team);
}

static void ctx_destroyed_twice(void)
{
    shmem_ctx_t ctx = dead_ctx();

    shmem_ctx_destroy(ctx);
}

static void ctx_invalid_put(void)
{
    shmem_ctx_long_p(SHMEM_CTX_INVALID, words(), 1, 0);
}

static void ctx_invalid_destroy(void)
{
    shmem_ctx_destroy(SHMEM_CTX_INVALID);
}

static void ctx_invalid_quiet(void)
{
    shmem_ctx_quiet(SHMEM_CTX_INVALID);
}

static void ctx_destroy_default(void)
{
    shmem_ctx_destroy(SHMEM_CTX_DEFAULT);
}

static void ctx_create_null(void)
{
    shmem_ctx_create(0, NULL);
}

static void ctx_get_team_null(void)
{
    shmem_ctx_get_team(SHMEM_CTX_DEFAULT, NULL);
}

static void info_name_null(void)
{
    shmem_info_get_name(NULL);
}

static void info_version_null(void)
{
    int major;

    shmem_info_get_version(&major, NULL);
}

static void query_thread_null(void)
{
    shmem_query_thread(NULL);
}

static void query_initialized_null(void)
{
    shmem_query_initialized(NULL);
}

static void split_null(void)
{
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, NULL);
}

static void split_2d_null(void)
{
    shmem_team_t team;

    shmem_team_split_2d(SHMEM_TEAM_WORLD, 1, NULL, 0, &team, NULL, 0, NULL);
}

static void split_mask_without_config(void)
{
    shmem_team_t team;

    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, SHMEM_TEAM_NUM_CONTEXTS, &team);
}

static void get_config_null(void)
{
    shmem_team_get_config(SHMEM_TEAM_WORLD, SHMEM_TEAM_NUM_CONTEXTS, NULL);
}

static void destroy_world(void)
{
    shmem_team_destroy(SHMEM_TEAM_WORLD);
}

static void destroy_invalid_team(void)
{
    shmem_team_destroy(SHMEM_TEAM_INVALID);
}

static void translate_wrong(void)
{
    mp_check(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 7, SHMEM_TEAM_WORLD) == -1, "PE 7 was translated");
    mp_check(shmem_team_my_pe(SHMEM_TEAM_INVALID) == -1, "a PE of no team");
    mp_check(!shmem_team_ptr(SHMEM_TEAM_WORLD, words(), -1), "an address of PE -1");
}

static void sync_invalid_team(void)
{
    shmem_team_sync(SHMEM_TEAM_INVALID);
}

static void broadcast_root(void)
{
    shmem_long_broadcast(SHMEM_TEAM_WORLD, words(), words() + 8, 1, -1);
}

static void signal_null(void)
{
    shmem_long_put_signal(words(), words() + 8, 1, NULL, 1, SHMEM_SIGNAL_SET, 0);
}

static void signal_op(void)
{
    shmem_long_put_signal(words(), words() + 8, 1, mistake_args.bell, 1, 77, 0);
}

static void signal_fetch_null(void)
{
    shmem_signal_fetch(NULL);
}

static void signal_wait_cmp(void)
{
    shmem_signal_wait_until(mistake_args.bell, 77, 0);
}

static void wait_cmp(void)
{
    shmem_long_wait_until(words(), -1, 0);
}

static void wait_values_null(void)
{
    shmem_long_wait_until_all_vector(words(), 2, NULL, SHMEM_CMP_EQ, NULL);
}

static void wait_indices_null(void)
{
    shmem_long_wait_until_some(words(), 2, NULL, NULL, SHMEM_CMP_EQ, 0);
}

static void pe_quiet_null(void)
{
    shmem_pe_quiet(NULL, 1);
}

static void pe_quiet_pe(void)
{
    const int pe = 9;

    shmem_pe_quiet(&pe, 1);
}

static void lock_null(void)
{
    shmem_set_lock(NULL);
}

static void lock_malloc(void)
{
    shmem_test_lock(malloc(8));
}

static void lock_twice(void)
{
    shmem_set_lock(words());
    shmem_set_lock(words());
}

static void lock_clear_foreign(void)
{
    shmem_clear_lock(words());
}

static void alltoallmem_wrap(void)
{
    shmem_alltoallmem(SHMEM_TEAM_WORLD, words(), words() + 8, SIZE_MAX / 2 + 9);
}

static void collectmem_most(void)
{
    shmem_collectmem(SHMEM_TEAM_WORLD, words(), words() + 8, SIZE_MAX);
}

static void barrier_stride(void)
{
    shmem_barrier(0, 31, 2, psync);
}

static void barrier_set(void)
{
    shmem_barrier(0, 1, 2, psync);
}

static void barrier_psync_null(void)
{
    shmem_barrier(0, 0, 2, NULL);
}

static void accessible_wrong(void)
{
    mp_check(!shmem_pe_accessible(-1) && !shmem_addr_accessible(NULL, 0) && !shmem_ptr(words(), 99),
             "reached");
}

const struct mistake mistakes_of_one[] = {
    {"ctx_put_destroyed", ctx_put_destroyed, "ctx has been destroyed", "ctx .* is no context"},
    {"ctx_get_destroyed", ctx_get_destroyed, "ctx has been destroyed", "ctx .* is no context"},
    {"ctx_atomic_destroyed", ctx_atomic_destroyed, "ctx has been destroyed", "ctx .* is no context"},
    {"ctx_iput_destroyed", ctx_iput_destroyed, "ctx has been destroyed", "ctx .* is no context"},
    {"ctx_signal_destroyed", ctx_signal_destroyed, "ctx has been destroyed", "ctx .* is no context"},
    {"ctx_put_signal_destroyed", ctx_put_signal_destroyed, "ctx has been destroyed", "ctx .* is no context"},
    {"ctx_quiet_destroyed", ctx_quiet_destroyed, "ctx has been destroyed", "ctx .* is no context"},
    {"ctx_fence_destroyed", ctx_fence_destroyed, "ctx has been destroyed", "ctx .* is no context"},
    {"ctx_pe_quiet_destroyed", ctx_pe_quiet_destroyed, "ctx has been destroyed", "ctx .* is no context"},
    {"ctx_session_destroyed", ctx_session_destroyed, "ctx has been destroyed", "ctx .* is no context"},
    {"ctx_session_stop_destroyed", ctx_session_stop_destroyed, "ctx has been destroyed",
     "ctx .* is no context"},
    {"ctx_get_team_destroyed", ctx_get_team_destroyed, "ctx has been destroyed", "ctx .* is no context"},
    {"ctx_destroyed_twice", ctx_destroyed_twice, "ctx has been destroyed", "ctx .* is no context"},
    {"ctx_invalid_put", ctx_invalid_put, "ctx is SHMEM_CTX_INVALID", NULL},
    {"ctx_invalid_destroy", ctx_invalid_destroy, NULL, NULL},
    {"ctx_invalid_quiet", ctx_invalid_quiet, NULL, NULL},
    {"ctx_destroy_default", ctx_destroy_default, "lives until shmem_finalize", NULL},
    {"ctx_create_null", ctx_create_null, "ctx is NULL", NULL},
    {"ctx_get_team_null", ctx_get_team_null, "team is NULL", NULL},
    {"info_name_null", info_name_null, "shmem_info_get_name: name is NULL", NULL},
    {"info_version_null", info_version_null, "major or minor is NULL", NULL},
    {"query_thread_null", query_thread_null, "provided is NULL", NULL},
    {"query_initialized_null", query_initialized_null, "initialized is NULL", NULL},
    {"split_null", split_null, "new_team is NULL", NULL},
    {"split_2d_null", split_2d_null, "yaxis_team is NULL", NULL},
    {"split_mask_without_config", split_mask_without_config, "configuration is NULL", NULL},
    {"get_config_null", get_config_null, "config is NULL", NULL},
    {"destroy_world", destroy_world, "predefined teams cannot be destroyed", NULL},
    {"destroy_invalid_team", destroy_invalid_team, NULL, NULL},
    {"translate_wrong", translate_wrong, NULL, NULL},
    {"sync_invalid_team", sync_invalid_team, "SHMEM_TEAM_INVALID", NULL},
    {"broadcast_root", broadcast_root, "PE_root", NULL},
    {"signal_null", signal_null, "sig_addr: the symmetric address is NULL", NULL},
    {"signal_op", signal_op, "sig_op is neither", NULL},
    {"signal_fetch_null", signal_fetch_null, "the symmetric address is NULL", NULL},
    {"signal_wait_cmp", signal_wait_cmp, "cmp is none of", NULL},
    {"wait_cmp", wait_cmp, "cmp is none of", NULL},
    {"wait_values_null", wait_values_null, "cmp_values is NULL", NULL},
    {"wait_indices_null", wait_indices_null, "indices is NULL", NULL},
    {"pe_quiet_null", pe_quiet_null, "target_pes is NULL", NULL},
    {"pe_quiet_pe", pe_quiet_pe, "PE 9 is out of range", NULL},
    {"lock_null", lock_null, "the symmetric address is NULL", NULL},
    {"lock_malloc", lock_malloc, "not a symmetric address", NULL},
    {"lock_twice", lock_twice, "locks do not nest", NULL},
    {"lock_clear_foreign", lock_clear_foreign, "does not hold the lock", NULL},
    {"alltoallmem_wrap", alltoallmem_wrap, MISTAKE_MUCH, NULL},
    {"collectmem_most", collectmem_most, MISTAKE_MUCH, NULL},
    {"barrier_stride", barrier_stride, "logPE_stride is not between", NULL},
    {"barrier_set", barrier_set, "active set", NULL},
    {"barrier_psync_null", barrier_psync_null, "the symmetric address is NULL", NULL},
    {"accessible_wrong", accessible_wrong, NULL, NULL},
    {0},
};

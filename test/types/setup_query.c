/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The set-up and query routines agree with one another and with the constants: numbers of PEs, versions, thread
 * level, teams and their translation, accessible PEs and addresses, shmem_ptr, counted initialization.
 * paths: local:2,3 tcp:2 shm:2 mixed:4 single
 */
#include "test/types/values.h"

#include <pshmem.h>
#include <string.h>

static volatile long in_static_data = 5;

static void check_numbers(void)
{
    char name[SHMEM_MAX_NAME_LEN];
    int major, minor;

    shmem_info_get_version(&major, &minor);
    mp_check(major == SHMEM_MAJOR_VERSION && minor == SHMEM_MINOR_VERSION, "version %d.%d", major, minor);
    shmem_info_get_name(name);
    mp_check(!strcmp(name, SHMEM_VENDOR_STRING), "name %s", name);
    mp_check(shmem_my_pe() >= 0 && shmem_my_pe() < shmem_n_pes(), "PE %d of %d", shmem_my_pe(),
             shmem_n_pes());
    mp_check(_my_pe() == shmem_my_pe() && _num_pes() == shmem_n_pes(), "old names");
    shmem_pcontrol(2, "a profiler's own", 1.0);
    mp_check(pshmem_my_pe() == shmem_my_pe() && pshmem__my_pe() == shmem_my_pe(), "profiling names");
}

/* Every start is matched by an end; between the first and the last the library stays as it is. */
static void check_counting(void)
{
    int initialized = 0, provided = -1, level = -1;

    shmem_query_initialized(&initialized);
    mp_check(initialized == 1, "initialized %d", initialized);
    shmem_query_thread(&level);
    mp_check(level >= SHMEM_THREAD_SINGLE && level <= SHMEM_THREAD_MULTIPLE, "level %d", level);
    shmem_init();
    mp_check(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0, "second shmem_init_thread");
    mp_check(provided == level, "level %d became %d", level, provided);
    mp_check(shmem_init_thread(SHMEM_THREAD_MULTIPLE + 1, &provided) != 0, "there is no such level");
    start_pes(0);
    shmem_finalize();
    shmem_finalize();
    shmem_query_initialized(&initialized);
    mp_check(initialized == 1, "finalized too early");
}

static void check_team(shmem_team_t team)
{
    int me = shmem_team_my_pe(team), n = shmem_team_n_pes(team);
    shmem_team_config_t config = {.num_contexts = -1};

    mp_check(me >= 0 && me < n && n <= mp_npes, "member %d of %d", me, n);
    mp_check(shmem_team_translate_pe(team, me, SHMEM_TEAM_WORLD) == mp_me, "my number in the world");
    mp_check(shmem_team_translate_pe(SHMEM_TEAM_WORLD, mp_me, team) == me, "my number in the team");
    mp_check(shmem_team_translate_pe(team, n, SHMEM_TEAM_WORLD) == -1, "a number of nobody");
    mp_check(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &config) == 0 && config.num_contexts >= 0,
             "num_contexts %d", config.num_contexts);
    mp_check(shmem_team_get_config(team, 0, NULL) == 0, "an empty mask");
}

static void check_invalid(void)
{
    shmem_team_config_t config;
    shmem_team_t team = SHMEM_TEAM_WORLD;
    shmem_ctx_t none = SHMEM_CTX_DEFAULT;

    mp_check(shmem_team_my_pe(SHMEM_TEAM_INVALID) == -1, "a member of nothing");
    mp_check(shmem_team_n_pes(SHMEM_TEAM_INVALID) == -1, "members of nothing");
    mp_check(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, SHMEM_TEAM_INVALID) == -1, "translated to nothing");
    mp_check(shmem_team_get_config(SHMEM_TEAM_INVALID, 1, &config) != 0, "configuration of nothing");
    mp_check(shmem_team_ptr(SHMEM_TEAM_INVALID, area, 0) == NULL, "memory of nobody");
    mp_check(shmem_ctx_get_team(SHMEM_CTX_INVALID, &team) != 0 && team == SHMEM_TEAM_INVALID,
             "team of nothing");
    mp_check(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &none) != 0 && none == SHMEM_CTX_INVALID,
             "ctx of nobody");
    shmem_ctx_destroy(SHMEM_CTX_INVALID);
    shmem_ctx_fence(SHMEM_CTX_INVALID);
    shmem_ctx_quiet(SHMEM_CTX_INVALID);
    shmem_ctx_pe_quiet(SHMEM_CTX_INVALID, NULL, 0);
}

/* PE numbers of a team's context are the team's. */
static void check_team_ctx(shmem_team_t team)
{
    int me = shmem_team_my_pe(team), n = shmem_team_n_pes(team), *word = (int *)area, next = (me + 1) % n;
    shmem_ctx_t mine;
    shmem_team_t of = SHMEM_TEAM_INVALID;

    mp_check(shmem_team_create_ctx(team, SHMEM_CTX_SERIALIZED, &mine) == 0, "no context of the team");
    mp_check(shmem_ctx_get_team(mine, &of) == 0 && of == team, "a context of another team");
    shmem_ctx_int_p(mine, word, me, next);
    shmem_ctx_pe_quiet(mine, &next, 1);
    shmem_team_sync(team);
    mp_check(*word == (me + n - 1) % n, "the word of member %d", *word);
    shmem_team_sync(team);
    shmem_ctx_destroy(mine);
}

/* What shmem_ptr gives is the peer's memory; members of the shared team all have it. */
static void check_ptr(void)
{
    int n = shmem_team_n_pes(SHMEM_TEAM_SHARED);

    for (int i = 0; i < n; i++) {
        int pe = shmem_team_translate_pe(SHMEM_TEAM_SHARED, i, SHMEM_TEAM_WORLD);
        const int *there = shmem_ptr(area, pe);

        mp_check(there != NULL, "no shmem_ptr to PE %d of the shared team", pe);
        mp_check(shmem_team_ptr(SHMEM_TEAM_SHARED, area, i) == (const void *)there,
                 "shmem_team_ptr of member %d", i);
    }
    for (int pe = 0; pe < mp_npes; pe++) {
        const int *there = shmem_ptr(area + 64, pe);

        mp_check(!there || *there == pe, "shmem_ptr to PE %d leads to PE %d", pe, there ? *there : -1);
    }
}

static void check_accessible(void)
{
    int here = 0;

    for (int pe = 0; pe < mp_npes; pe++) {
        mp_check(shmem_pe_accessible(pe) == 1, "PE %d", pe);
        mp_check(shmem_addr_accessible(area, pe) == 1, "the heap of PE %d", pe);
        mp_check(shmem_addr_accessible((const void *)&in_static_data, pe) == 1, "static data of PE %d", pe);
        mp_check(shmem_addr_accessible(&here, pe) == 0, "my stack at PE %d", pe);
    }
    mp_check(shmem_pe_accessible(-1) == 0 && shmem_pe_accessible(mp_npes) == 0, "PEs that do not exist");
    mp_check(shmem_addr_accessible(area, mp_npes) == 0, "memory of a PE that does not exist");
    mp_check(shmem_ptr(&here, mp_me) == NULL && shmem_ptr(area, -1) == NULL, "pointers to nothing");
}

int main(void)
{
    int initialized = -1;

    shmem_query_initialized(&initialized);
    mp_check(initialized == 0, "initialized %d before shmem_init", initialized);
    types_begin();
    *(int *)(area + 64) = mp_me;
    check_numbers();
    check_counting();
    shmem_barrier_all();
    check_team(SHMEM_TEAM_WORLD);
    check_team(SHMEM_TEAM_SHARED);
    check_invalid();
    check_accessible();
    check_ptr();
    check_team_ctx(SHMEM_TEAM_WORLD);
    shmem_barrier_all();
    check_team_ctx(SHMEM_TEAM_SHARED);
    shmem_barrier_all();
    return types_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the one mistake that its argument names, which only SHMEM_DEBUG=check notices, for checked_input.sh. Exit
 * status 9: it was not noticed; "none" makes none, and uses what comes near to being one: then 0.
 */
#include "test/common/mp.h"

#include <shmemx.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define N 64

static long *words; /* [N] */
static uint64_t *bell;
static shmem_ctx_t ctx;

static void overlap_put(void)
{
    shmem_long_put(words, words + 1, 2, mp_me);
}

static void overlap_get(void)
{
    shmem_long_get_nbi(words + 2, words, 3, mp_me);
}

/* The same memory by its two names, where the path maps it. */
static void overlap_ptr(void)
{
    long *alias = shmem_ptr(words, mp_right());

    shmem_long_put(words, alias ? alias : words, 1, alias ? mp_right() : mp_me);
}

static void overlap_strided(void)
{
    shmem_long_iput(words, words + 2, 4, 2, 4, mp_me);
}

static void overlap_blocks(void)
{
    shmem_long_ibget(words, words + 1, 4, 4, 2, 3, mp_me);
}

static void overlap_signal(void)
{
    long source[2] = {1, 2};

    shmem_long_put_signal((long *)bell, source, 2, bell + 1, 1, SHMEM_SIGNAL_SET, mp_right());
}

static void overlap_fetch(void)
{
    shmem_long_atomic_fetch_nbi(words, words, mp_me);
}

static void overlap_indices(void)
{
    shmem_long_test_some(words, 4, (size_t *)(words + 3), NULL, SHMEM_CMP_EQ, 0);
}

static void overlap_alltoallv(void)
{
    const size_t ones[2] = {1, 1}, places[2] = {0, 1};
    shmemx_req_h request;

    shmemx_long_alltoallv_nb(SHMEM_TEAM_WORLD, words, ones, places, words + 1, ones, places, &request);
}

/* Both are written. */
static void overlap_counts(void)
{
    const size_t ones[2] = {1, 1}, places[2] = {0, 1};
    size_t found[2], need;
    shmemx_req_h request;

    shmemx_alltoallvmem_packed_nelems_nb(SHMEM_TEAM_WORLD, words, found, found, sizeof words, 1, &need, words,
                                         ones, places, &request);
}

/* Written while they are read. */
static void overlap_outputs(void)
{
    const size_t places[2] = {0, 1};
    size_t ones[2] = {1, 1}, found[2], need;
    shmemx_req_h request;

    shmemx_alltoallvmem_packed_nelems_nb(SHMEM_TEAM_WORLD, words, ones, found, sizeof words, 1, &need, words,
                                         ones, places, &request);
}

static void overlap_places(void)
{
    const size_t ones[2] = {1, 1}, places[2] = {0, 1}, same[2] = {0, 0};
    shmemx_req_h request;

    shmemx_long_alltoallv_nb(SHMEM_TEAM_WORLD, words, ones, same, words + 2, ones, places, &request);
}

static void misaligned_put(void)
{
    shmem_int_p((int *)((char *)words + 1), 1, mp_right());
}

static void misaligned_size(void)
{
    char source[16] = "";

    shmem_put128((char *)words + 8, source, 1, mp_right());
}

static void endless(void)
{
    shmem_long_put(words, words, SIZE_MAX / 8 + 2, mp_right());
}

static void destroyed_ctx(void)
{
    shmem_ctx_destroy(ctx);
    shmem_ctx_long_p(ctx, words, 1, mp_right());
}

static void *use_ctx(void *arg)
{
    (void)arg;
    shmem_ctx_quiet(ctx);
    return NULL;
}

/* The main thread waits for the other. */
static void private_ctx(void)
{
    pthread_t thread;

    mp_check(!shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), "no context");
    pthread_create(&thread, NULL, use_ctx, NULL);
    pthread_join(thread, NULL);
}

static void *put_one(void *arg)
{
    shmem_long_p(words, 1, mp_right());
    return arg;
}

static void foreign_thread(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, put_one, NULL);
    pthread_join(thread, NULL);
}

static void unknown_option(void)
{
    shmem_ctx_session_start(ctx, 1L << 20, NULL, 0);
}

static void foreign_team(void)
{
    static long no_team[64];

    shmem_team_create_ctx((shmem_team_t)no_team, 0, &ctx);
}

/* All of it is allowed. */
static void none(void)
{
    long here[4] = {0};
    size_t indices[4];

    shmem_long_put(words, words, 4, mp_right());
    shmem_long_put(words, words + 4, 4, mp_me);
    shmem_long_iput(words, words + 1, 2, 2, 4, mp_me);
    shmem_long_ibget(words, words + 2, 4, 4, 2, 3, mp_me);
    shmem_putmem((char *)words + 1, here, 7, mp_right());
    shmem_long_put(words + 60, here, 0, mp_right());
    shmem_longdouble_p((long double *)(void *)(words + 2), 1, mp_right());
    shmem_long_put_signal(words, here, 1, bell, 1, SHMEM_SIGNAL_ADD, mp_right());
    shmem_long_atomic_fetch_nbi(here, words, mp_me);
    shmem_long_test_some(words, 4, indices, NULL, SHMEM_CMP_EQ, 0);
    shmem_ctx_long_p(ctx, words, 1, mp_right());
    shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, NULL, 0);
    shmem_ctx_destroy(ctx);
    mp_check(!shmem_team_create_ctx(SHMEM_TEAM_SHARED, 0, &ctx), "no context of the shared team");
    shmem_quiet();
}

static const struct {
    const char *name;
    void (*make)(void);
} mistakes[] = {
    {"destroyed_ctx", destroyed_ctx},
    {"endless", endless},
    {"foreign_team", foreign_team},
    {"foreign_thread", foreign_thread},
    {"misaligned_put", misaligned_put},
    {"misaligned_size", misaligned_size},
    {"none", none},
    {"overlap_alltoallv", overlap_alltoallv},
    {"overlap_counts", overlap_counts},
    {"overlap_outputs", overlap_outputs},
    {"overlap_blocks", overlap_blocks},
    {"overlap_fetch", overlap_fetch},
    {"overlap_get", overlap_get},
    {"overlap_indices", overlap_indices},
    {"overlap_places", overlap_places},
    {"overlap_ptr", overlap_ptr},
    {"overlap_put", overlap_put},
    {"overlap_signal", overlap_signal},
    {"overlap_strided", overlap_strided},
    {"private_ctx", private_ctx},
    {"unknown_option", unknown_option},
};

int main(int argc, char **argv)
{
    const char *name = argc == 2 ? argv[1] : "";

    mp_begin_thread(!strcmp(name, "private_ctx") ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_FUNNELED);
    words = mp_alloc(N * sizeof *words);
    bell = mp_alloc(2 * sizeof *bell);
    mp_check(!shmem_ctx_create(0, &ctx), "no context");
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
        if (!strcmp(name, mistakes[i].name) && (mp_me == 0 || mistakes[i].make == none))
            mistakes[i].make();
    if (!strcmp(name, "none"))
        return mp_end();
    mp_sleep(mp_me == 0 ? 0 : 5); /* the others do not end before PE 0 was noticed */
    exit(9);
}

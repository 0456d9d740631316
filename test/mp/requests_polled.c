/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A PE that has begun an alltoallv polls a word in a loop of its own, which another PE sets when the same alltoallv is
 * complete there: the loop advances it, whatever call it is made of.
 * paths: local:2,3 tcp:2 efa:2 mixed:4
 * timeout: 60
 */
#include "test/common/mp.h"

#include <shmemx.h>

#include <string.h>
#include <unistd.h>

#define LEN (1 << 20)
#define PES_MAX 8

static uint64_t flag, signal_word;
static char dest[PES_MAX * LEN], source[PES_MAX * LEN];

static void by_g(void)
{
    while (!shmem_uint64_g(&flag, mp_me))
        ;
}

static void by_get(void)
{
    uint64_t seen;

    do
        shmem_uint64_get(&seen, &flag, 1, mp_me);
    while (!seen);
}

static void by_fetch(void)
{
    while (!shmem_uint64_atomic_fetch(&flag, mp_me))
        ;
}

static void by_test(void)
{
    while (!shmem_uint64_test(&flag, SHMEM_CMP_NE, 0))
        ;
}

static void by_signal_fetch(void)
{
    while (!shmem_signal_fetch(&flag))
        ;
}

/* The word itself is read by loads. */
static void by_quiet(void)
{
    while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE))
        shmem_quiet();
}

static void by_req_test(void)
{
    shmemx_req_h none = SHMEMX_REQ_INVALID;

    while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE))
        shmemx_req_test(&none);
}

static void by_test_any(void)
{
    shmemx_req_h none[2] = {SHMEMX_REQ_INVALID, SHMEMX_REQ_INVALID};
    size_t index;

    while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE))
        shmemx_req_test_any(none, 2, &index);
}

static void by_other_fetch(void)
{
    while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE))
        shmem_signal_fetch(&signal_word);
}

static void (*const loops[])(void) = {by_g,     by_get,      by_fetch,    by_test,       by_signal_fetch,
                                      by_quiet, by_req_test, by_test_any, by_other_fetch};

static void exchange(void (*loop)(void))
{
    size_t dest_counts[PES_MAX], dest_offsets[PES_MAX], counts[PES_MAX], offsets[PES_MAX], need;
    shmemx_req_h request;

    for (int pe = 0; pe < mp_npes; pe++) {
        counts[pe] = LEN;
        offsets[pe] = (size_t)pe * LEN;
    }
    memset(source, mp_me + 1, sizeof source);
    if (mp_me)
        usleep(20000); /* the one that polls has begun */
    shmemx_alltoallvmem_packed_nelems_nb(SHMEM_TEAM_WORLD, dest, dest_counts, dest_offsets, sizeof dest, 1,
                                         &need, source, counts, offsets, &request);
    if (!mp_me)
        loop();
    mp_check(shmemx_req_wait(&request) == 0, "wait");
    if (mp_me == mp_npes - 1) {
        shmem_uint64_atomic_set(&flag, 1, 0);
        shmem_quiet();
    }
    for (int pe = 0; pe < mp_npes; pe++)
        mp_check(dest[(size_t)pe * LEN] == pe + 1 && dest[(size_t)(pe + 1) * LEN - 1] == pe + 1, "of PE %d",
                 pe);
}

int main(void)
{
    mp_begin();
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
        mp_note("loop %zu", i);
        exchange(loops[i]);
        shmem_barrier_all();
        flag = 0;
        shmem_barrier_all();
    }
    return mp_end();
}

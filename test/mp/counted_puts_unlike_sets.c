/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * More counted puts than there are credits arrive without a quiet between PEs of unlike numbers of endpoint sets, each
 * of which grants and takes other numbers of credits; every PE is the source once, and waits for the target's word.
 * paths: tcp:4 efa:4
 */
#include "test/common/mp.h"

#include <shmemx.h>

#include <stdlib.h>

enum { PUTS = 1000, LEN = 20000, SMALL = 700 };

static uint64_t answer;

static void turn(char *data, char *src, shmemx_counter_t counter, int from)
{
    uint64_t round = (uint64_t)from + 1;

    if (mp_me == from) {
        for (int i = 0; i < PUTS; i++)
            shmemx_putmem_counted_nbi(data, src, i % 4 ? SMALL : LEN, counter, mp_right());
        shmem_uint64_wait_until(&answer, SHMEM_CMP_EQ, round);
    } else if (mp_left() == from) {
        shmemx_counter_wait_until(counter, PUTS);
        mp_check(!mp_wrong(data, LEN, 1), "the data of PE %d", from);
        shmem_uint64_p(&answer, round, from);
        shmem_quiet();
    }
    shmem_barrier_all();
}

int main(void)
{
    const char *rank = getenv("PMIX_RANK");
    shmemx_counter_t counter;
    char *data, *src;

    setenv("SHMEM_ENDPOINT_SETS", rank && atoi(rank) % 2 ? "1" : "4", 1);
    mp_begin();
    data = mp_alloc(LEN);
    src = mp_alloc(LEN);
    mp_fill(src, LEN, 1);
    mp_check(!shmemx_counter_create(SHMEM_TEAM_WORLD, 1, &counter), "no counter");
    shmem_barrier_all();
    for (int from = 0; from < mp_npes; from++)
        turn(data, src, counter, from);
    mp_check(!shmemx_counter_destroy(SHMEM_TEAM_WORLD, 1, &counter), "not destroyed");
    return mp_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking gets, and the values that nonblocking atomics fetch, are here after a quiet: 64 of them under way at
 * once, each with memory of its own. With the argument --no-fence the quiet comes after the look, and what was not
 * here yet is counted and printed.
 * paths: local:2,4 tcp:4 efa:2 shm:2 mixed:4 split:2 splitback:2
 * long paths: tcp:2
 * timeout: 90
 */
#include "test/common/mp.h"

#include <string.h>

#define SLOTS 64

static uint64_t *there; /* [SLOTS] what the left neighbour has put and gets */
static uint64_t here[SLOTS];

/* Values that the round before has left must not pass for those of this one. */
static long run(long rounds, bool quiet)
{
    long late = 0;

    for (long round = 1; round <= rounds; round++) {
        for (int i = 0; i < SLOTS; i++)
            shmem_uint64_p(&there[i], (uint64_t)round + (uint64_t)i, mp_right());
        shmem_quiet();
        for (int i = 0; i < SLOTS; i++) {
            if (i % 2)
                shmem_uint64_get_nbi(&here[i], &there[i], 1, mp_right());
            else
                shmem_uint64_atomic_fetch_nbi(&here[i], &there[i], mp_right());
        }
        if (quiet)
            shmem_quiet();
        for (int i = 0; i < SLOTS; i++)
            late += __atomic_load_n(&here[i], __ATOMIC_RELAXED) != (uint64_t)round + (uint64_t)i;
        shmem_quiet();
    }
    return late;
}

int main(int argc, char **argv)
{
    bool quiet = argc < 2 || strcmp(argv[1], "--no-fence");
    long rounds, late;

    mp_begin();
    rounds = mp_path_is("local") ? mp_rounds(1000, 10000000 / SLOTS) : mp_rounds(50, 1000000 / SLOTS);
    there = mp_alloc(SLOTS * sizeof *there);
    late = run(rounds, quiet);
    mp_check(!quiet || !late, "%ld of %ld values came after the quiet", late, rounds * SLOTS);
    if (!quiet)
        mp_note("nonblocking get, without a quiet: %ld of %ld values were not here", late, rounds * SLOTS);
    shmem_barrier_all();
    return mp_end();
}

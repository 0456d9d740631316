/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier_all holds every PE until all have come, and completes what they put before it, thousands of times.
 * paths: local:2,3,4,8,16 tcp:3 efa:4 shm:2 mixed:6 mixedshm:4 single
 * long paths: tcp:2,4,16 shm:4 mixed:4
 */
#include "test/common/mp.h"

int main(void)
{
    long rounds, *seen;

    mp_begin();
    rounds = mp_rounds(mp_npes > 8 ? 60 : 300, 5000);
    seen = mp_alloc(sizeof *seen * (size_t)mp_npes);
    for (long round = 1; round <= rounds; round++) {
        for (int pe = 0; pe < mp_npes; pe++)
            shmem_long_p(&seen[mp_me], round, pe);
        shmem_barrier_all();
        for (int pe = 0; pe < mp_npes; pe++)
            mp_check(seen[pe] == round, "round %ld: PE %d was at %ld", round, pe, seen[pe]);
        shmem_barrier_all();
    }
    return mp_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync_all and shmem_sync hold every PE until all have come, and make their own stores visible to a get.
 * paths: local:2,3,4,8,16 tcp:3 shm:2 mixed:4 mixedshm:4 single
 * long paths: tcp:2,4 shm:4
 */
#include "test/common/mp.h"

static long arrived;

int main(void)
{
    long rounds;

    mp_begin();
    rounds = mp_rounds(mp_npes > 8 ? 60 : 300, 5000);
    for (long round = 1; round <= rounds; round++) {
        arrived = round;
        if (round % 2)
            shmem_sync_all();
        else
            mp_check(shmem_team_sync(SHMEM_TEAM_WORLD) == 0, "shmem_team_sync failed");
        for (int pe = 0; pe < mp_npes; pe++) {
            long there = shmem_long_g(&arrived, pe);

            mp_check(there == round || there == round + 1, "round %ld: PE %d was at %ld", round, pe, there);
        }
    }
    return mp_end();
}

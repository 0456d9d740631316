/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A token goes round all PEs many times; each PE adds to it.
 * paths: local:2,4,8,16 tcp:4 shm:2 mixed:4 mixedshm:4 single mpirun:4
 * long paths: tcp:2,16 shm:4
 */
#include "test/common/mp.h"

static long token;
static uint64_t turn;

int main(void)
{
    long rounds;

    mp_begin();
    rounds = mp_rounds(50, 2000);
    for (long round = 1; round <= rounds; round++) {
        if (mp_me == 0) {
            token += 1;
            shmem_long_put_signal(&token, &token, 1, &turn, (uint64_t)round, SHMEM_SIGNAL_SET, mp_right());
        }
        shmem_signal_wait_until(&turn, SHMEM_CMP_GE, (uint64_t)round);
        if (mp_me == 0) {
            mp_check(token == round * mp_npes, "round %ld: token %ld", round, token);
            continue;
        }
        token += 1;
        shmem_long_put_signal(&token, &token, 1, &turn, (uint64_t)round, SHMEM_SIGNAL_SET, mp_right());
    }
    return mp_end();
}

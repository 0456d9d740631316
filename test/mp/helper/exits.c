/* SPDX-License-Identifier: BSD-3-Clause */
/* One PE ends the job with shmem_global_exit while the others compute, wait or are in a barrier; for global_exit.sh. */
#include "test/common/mp.h"

#include <stdio.h>
#include <stdlib.h>

static long word;

int main(int argc, char **argv)
{
    int status = argc > 1 ? atoi(argv[1]) : 7, who;

    mp_begin();
    who = argc > 2 ? atoi(argv[2]) % mp_npes : 0;
    shmem_barrier_all();
    if (mp_me == who) {
        printf("last words\n");
        shmem_global_exit(status);
    }
    if (mp_me % 3 == 0)
        shmem_barrier_all();
    if (mp_me % 3 == 1)
        shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
    for (;;)
        mp_sleep(1);
}

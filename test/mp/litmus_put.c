/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking puts are delivered before, with fence, or complete before, with quiet, what follows: put, p, iput.
 * paths: local:2,4 tcp:4 efa:2 shm:2 mixed:4 split:2 splitback:2
 * long paths: tcp:2
 * timeout: 90
 */
#include "test/common/litmus.h"

static void send(uint64_t *dest, uint64_t *source, uint64_t round, int pe)
{
    litmus_fill(source, LITMUS_WORDS, round);
    if (round % 3 == 0) {
        shmem_uint64_put(dest, source, LITMUS_WORDS, pe);
    } else if (round % 3 == 1) {
        shmem_uint64_iput(dest, source, 2, 2, LITMUS_WORDS / 2, pe);
        shmem_uint64_iput(dest + 1, source + 1, 2, 2, LITMUS_WORDS / 2, pe);
    } else {
        for (int i = 0; i < LITMUS_WORDS; i++)
            shmem_uint64_p(&dest[i], round, pe);
    }
}

int main(int argc, char **argv)
{
    static const struct litmus row = {"blocking put", send, NULL};

    return litmus_main(argc, argv, &row);
}

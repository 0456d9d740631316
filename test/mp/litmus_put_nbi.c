/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking puts are delivered before, with fence, or complete before, with quiet, what follows.
 * paths: local:2,4 tcp:4 efa:2 shm:2 mixed:4 split:2 splitback:2
 * long paths: tcp:2
 * timeout: 90
 */
#include "test/common/litmus.h"

static void send(uint64_t *dest, uint64_t *source, uint64_t round, int pe)
{
    litmus_fill(source, LITMUS_WORDS, round);
    if (round % 2) {
        shmem_uint64_put_nbi(dest, source, LITMUS_WORDS, pe);
        return;
    }
    for (int i = 0; i < LITMUS_WORDS; i++)
        shmem_uint64_put_nbi(&dest[i], &source[i], 1, pe);
}

int main(int argc, char **argv)
{
    static const struct litmus row = {"nonblocking put", send, NULL};

    return litmus_main(argc, argv, &row);
}

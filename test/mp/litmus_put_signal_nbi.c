/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking puts with signal, data and signal, are delivered before, with fence, or complete before, with quiet,
 * what follows.
 * paths: local:2,4 tcp:4 efa:2 shm:2 mixed:4 split:2 splitback:2
 * long paths: tcp:2
 * timeout: 90
 */
#include "test/common/litmus.h"

/* What the signal held is known: the round that used the slot before, 0 at first. */
static void send(uint64_t *dest, uint64_t *source, uint64_t round, int pe)
{
    uint64_t before = round > LITMUS_SLOTS ? round - LITMUS_SLOTS : 0;

    litmus_fill(source, LITMUS_WORDS, round);
    shmem_uint64_put_signal_nbi(dest, source, LITMUS_WORDS - 1, &dest[LITMUS_WORDS - 1], round - before,
                                SHMEM_SIGNAL_ADD, pe);
}

int main(int argc, char **argv)
{
    static const struct litmus row = {"nonblocking put with signal", send, NULL};

    return litmus_main(argc, argv, &row);
}

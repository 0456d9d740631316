/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking puts with signal, data and signal, are delivered before, with fence, or complete before, with quiet, what
 * follows.
 * paths: local:2,4 tcp:4 efa:2 shm:2 mixed:4 split:2 splitback:2
 * long paths: tcp:2
 * timeout: 90
 */
#include "test/common/litmus.h"

static void send(uint64_t *dest, uint64_t *source, uint64_t round, int pe)
{
    litmus_fill(source, LITMUS_WORDS, round);
    shmem_uint64_put_signal(dest, source, LITMUS_WORDS - 1, &dest[LITMUS_WORDS - 1], round, SHMEM_SIGNAL_SET,
                            pe);
}

int main(int argc, char **argv)
{
    static const struct litmus row = {"blocking put with signal", send, NULL};

    return litmus_main(argc, argv, &row);
}

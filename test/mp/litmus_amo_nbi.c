/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking atomics are delivered before, with fence, or complete before, with quiet, what follows.
 * paths: local:2,4 tcp:4 efa:2 shm:2 mixed:4 split:2 splitback:2
 * long paths: tcp:2
 * timeout: 90
 */
#include "test/common/litmus.h"

/* What the slot held is known: the round that used it before, 0 at first. */
static void send(uint64_t *dest, uint64_t *source, uint64_t round, int pe)
{
    uint64_t before = round > LITMUS_SLOTS ? round - LITMUS_SLOTS : 0;

    for (int i = 0; i < LITMUS_WORDS; i++) {
        switch ((round + (uint64_t)i) % 4) {
        case 0: shmem_uint64_atomic_swap_nbi(&source[i], &dest[i], round, pe); break;
        case 1: shmem_uint64_atomic_fetch_add_nbi(&source[i], &dest[i], round - before, pe); break;
        case 2: shmem_uint64_atomic_fetch_xor_nbi(&source[i], &dest[i], round ^ before, pe); break;
        default: shmem_uint64_atomic_compare_swap_nbi(&source[i], &dest[i], before, round, pe); break;
        }
    }
}

int main(int argc, char **argv)
{
    static const struct litmus row = {"nonblocking atomic", send, NULL};

    return litmus_main(argc, argv, &row);
}

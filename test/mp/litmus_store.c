/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plain stores to symmetric memory, to this PE's own, which the neighbour gets, and through shmem_ptr to the
 * neighbour's, are seen by who sees what follows a fence or a quiet.
 * paths: local:2,4 tcp:4 efa:2 shm:2 mixed:4 split:2 splitback:2
 * long paths: tcp:2
 * timeout: 90
 */
#include "test/common/litmus.h"

/* Odd rounds store at the neighbour, where this path lets them. */
static bool stores_there(const uint64_t *slot, uint64_t round, int pe)
{
    return round % 2 && shmem_ptr(slot, pe);
}

static void send(uint64_t *dest, uint64_t *source, uint64_t round, int pe)
{
    uint64_t *at = stores_there(dest, round, pe) ? shmem_ptr(dest, pe) : source;

    for (int i = 0; i < LITMUS_WORDS; i++)
        __atomic_store_n(&at[i], round, __ATOMIC_RELAXED);
}

static bool arrived(const uint64_t *slot, uint64_t round)
{
    uint64_t words[LITMUS_WORDS];

    if (stores_there(slot, round, mp_left()))
        for (int i = LITMUS_WORDS - 1; i >= 0; i--)
            words[i] = __atomic_load_n(&slot[i], __ATOMIC_RELAXED);
    else
        shmem_uint64_get(words, slot + LITMUS_SLOTS * LITMUS_WORDS, LITMUS_WORDS, mp_left());
    for (int i = 0; i < LITMUS_WORDS; i++)
        if (words[i] != round)
            return false;
    return true;
}

int main(int argc, char **argv)
{
    static const struct litmus row = {"memory store", send, arrived};

    return litmus_main(argc, argv, &row);
}

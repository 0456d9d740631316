/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * put, fence, flag: who sees the flag sees the whole of the data, at every size and whatever kind of operation
 * carries the flag (p, put, atomic set, signal).
 * paths: local:2,4 tcp:4 shm:2 mixed:4 mixedshm:4 single rails:4
 * long paths: tcp:2 shm:4
 */
#include "test/common/mp.h"

#define LEN_MAX ((size_t)1 << 18)
#define KINDS 4

static const size_t lens[] = {1, 8, 100, 4096, 10000, 65536, LEN_MAX};

static void send_flag(uint64_t *flag, uint64_t value, int kind, int pe)
{
    switch (kind) {
    case 0: shmem_uint64_p(flag, value, pe); break;
    case 1: shmem_uint64_put(flag, &value, 1, pe); break;
    case 2: shmem_uint64_atomic_set(flag, value, pe); break;
    default: shmem_signal_set(flag, value, pe); break;
    }
}

/* The left neighbour's acknowledgement allows the next round to overwrite the data. */
static void run_round(char *data, char *src, uint64_t *flag, uint64_t *ack, uint64_t round, size_t len)
{
    size_t wrong;

    mp_fill(src, len, round + (uint64_t)mp_me);
    shmem_putmem(data, src, len, mp_right());
    shmem_fence();
    send_flag(flag, round, (int)(round % KINDS), mp_right());
    shmem_uint64_wait_until(flag, SHMEM_CMP_EQ, round);
    wrong = mp_wrong(data, len, round + (uint64_t)mp_left());
    mp_check(!wrong, "round %lu: flag of kind %d before %zu of %zu bytes", (unsigned long)round,
             (int)(round % KINDS), wrong, len);
    shmem_uint64_p(ack, round, mp_left());
    shmem_uint64_wait_until(ack, SHMEM_CMP_GE, round);
}

int main(void)
{
    uint64_t round = 0, *flag, *ack;
    char *data, *src;

    mp_begin();
    data = mp_alloc(LEN_MAX);
    src = mp_alloc(LEN_MAX);
    flag = mp_alloc(sizeof *flag);
    ack = mp_alloc(sizeof *ack);
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
        for (long n = 0; n < mp_rounds(40, 2000); n++)
            run_round(data, src, flag, ack, ++round, lens[i]);
    }
    return mp_end();
}

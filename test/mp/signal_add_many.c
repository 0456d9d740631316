/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals added by all PEs to one word are all counted, whether they come alone or with data; signal_set and
 * signal_fetch agree with them.
 * paths: local:2,4 tcp:4 shm:2 mixed:4 mixedshm:4 single
 * long paths: tcp:2 shm:4
 */
#include "test/common/mp.h"

static void add_alone(uint64_t *signal, long rounds)
{
    for (long n = 0; n < rounds; n++) {
        for (int pe = 0; pe < mp_npes; pe++)
            shmem_signal_add(signal, 1, pe);
    }
    shmem_signal_wait_until(signal, SHMEM_CMP_EQ, (uint64_t)(rounds * mp_npes));
    shmem_barrier_all();
    mp_check(shmem_signal_fetch(signal) == (uint64_t)(rounds * mp_npes), "more signals than were sent");
}

/* Nothing orders one put with signal behind another, so each has a slot of its own. */
static void add_with_data(long *slots, uint64_t *signal, long rounds)
{
    long value;

    for (long n = 0; n < rounds; n++) {
        for (int pe = 0; pe < mp_npes; pe++) {
            value = n + 1;
            shmem_long_put_signal(&slots[mp_me * rounds + n], &value, 1, signal, 3, SHMEM_SIGNAL_ADD, pe);
        }
    }
    shmem_signal_wait_until(signal, SHMEM_CMP_GE, (uint64_t)(3 * rounds * mp_npes));
    for (long i = 0; i < mp_npes * rounds; i++)
        if (!mp_check(slots[i] == i % rounds + 1, "slot %ld holds %ld, not %ld", i, slots[i], i % rounds + 1))
            break;
    shmem_barrier_all();
    mp_check(shmem_signal_fetch(signal) == (uint64_t)(3 * rounds * mp_npes), "more signals than were sent");
}

int main(void)
{
    uint64_t *signals;
    long *slots, rounds;

    mp_begin();
    rounds = mp_rounds(200, 20000);
    signals = mp_alloc(3 * sizeof *signals);
    slots = mp_alloc(sizeof *slots * (size_t)(mp_npes * rounds));
    add_alone(&signals[0], rounds);
    add_with_data(slots, &signals[1], rounds);
    shmem_signal_set(&signals[2], 42 + (uint64_t)mp_me, mp_right());
    shmem_signal_wait_until(&signals[2], SHMEM_CMP_NE, 0);
    mp_check(shmem_signal_fetch(&signals[2]) == 42 + (uint64_t)mp_left(), "signal_set: another value");
    return mp_end();
}

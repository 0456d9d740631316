/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * put, fence, p in a stream without acknowledgements: a reader that sees flag r sees the data of every round up to
 * r. With the argument --no-fence nothing is claimed: the reorderings seen without the fence are counted and printed.
 * roads: local:2,4 tcp:2,4 shm:2,4 mixed:4 mixedshm:4 split:2 splitback:2
 */
#include "test/common/mp.h"

#include <string.h>

#define WINDOW 64

static uint64_t heap_is_elsewhere[WINDOW]; /* static data: the other segment */

/* Rounds whose data is older than the flag `seen` allows. */
static long stale(const uint64_t *data, uint64_t after, uint64_t seen)
{
    uint64_t first = seen > WINDOW && seen - WINDOW > after ? seen - WINDOW : after;
    long wrong = 0;

    for (uint64_t round = first + 1; round <= seen; round++)
        wrong += __atomic_load_n(&data[round % WINDOW], __ATOMIC_RELAXED) < round;
    return wrong;
}

static void send_round(uint64_t *data, uint64_t *flag, uint64_t round, bool fence)
{
    static uint64_t src[WINDOW];
    uint64_t *from = &src[round % WINDOW];

    *from = round;
    if (round % 2)
        shmem_uint64_put_nbi(&data[round % WINDOW], from, 1, mp_right());
    else
        shmem_uint64_put(&data[round % WINDOW], from, 1, mp_right());
    if (fence)
        shmem_fence();
    shmem_uint64_p(flag, round, mp_right());
    if (round % (WINDOW / 2) == 0)
        shmem_quiet(); /* before a source is used again */
}

static long stream(uint64_t *data, uint64_t *flag, uint64_t rounds, bool fence)
{
    uint64_t seen = 0;
    long wrong = 0;

    for (uint64_t round = 1; round <= rounds; round++) {
        uint64_t now;

        send_round(data, flag, round, fence);
        now = shmem_signal_fetch(flag);
        wrong += stale(data, seen, now);
        seen = now;
    }
    while (seen < rounds) {
        uint64_t now = shmem_signal_wait_until(flag, SHMEM_CMP_GT, seen);

        wrong += stale(data, seen, now);
        seen = now;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    bool fence = argc < 2 || strcmp(argv[1], "--no-fence");
    long rounds, wrong;
    uint64_t *data, *flag;

    mp_begin();
    rounds = mp_road_is("local") ? mp_rounds(20000, 1000000) : mp_rounds(1000, 100000);
    data = mp_alloc(sizeof *data * WINDOW);
    flag = mp_alloc(2 * sizeof *flag);
    wrong = stream(data, &flag[0], (uint64_t)rounds, fence);
    wrong += stream(heap_is_elsewhere, &flag[1], (uint64_t)rounds, fence);
    mp_check(!fence || !wrong, "%ld rounds of %ld came after their flag", wrong, 2 * rounds);
    if (!fence)
        mp_note("without the fence: %ld of %ld rounds seen after their flag", wrong, 2 * rounds);
    return mp_end();
}

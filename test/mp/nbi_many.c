/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thousands of nonblocking puts, gets and atomics may be under way at once, with one quiet at the end, whatever
 * the depth of the transport's queues; the data is right after it.
 * paths: local:2,4 tcp:4 efa:2 shm:2 mixed:4 mixedshm:4 single
 * long paths: tcp:2 shm:4
 */
#include "test/common/mp.h"

#define SMALL_OPS 20000
#define LARGE_OPS 200
#define LARGE_LEN 20000

static void check_small(uint64_t *slots, uint64_t *src, uint64_t *back, uint64_t round)
{
    size_t wrong_put = 0, wrong_get = 0;

    for (size_t i = 0; i < SMALL_OPS; i++)
        src[i] = round * SMALL_OPS + i + (uint64_t)mp_me;
    shmem_barrier_all();
    for (size_t i = 0; i < SMALL_OPS; i++) {
        shmem_uint64_put_nbi(&slots[i], &src[i], 1, mp_right());
        shmem_uint64_get_nbi(&back[i], &src[i], 1, mp_left());
    }
    shmem_barrier_all();
    for (size_t i = 0; i < SMALL_OPS; i++) {
        wrong_put += slots[i] != round * SMALL_OPS + i + (uint64_t)mp_left();
        wrong_get += back[i] != round * SMALL_OPS + i + (uint64_t)mp_left();
    }
    mp_check(!wrong_put && !wrong_get, "%zu puts and %zu gets of %d wrong", wrong_put, wrong_get, SMALL_OPS);
}

static void check_large(char *slots, char *src)
{
    size_t wrong = 0;

    mp_fill(src, LARGE_LEN, (uint64_t)mp_me);
    for (size_t i = 0; i < LARGE_OPS; i++)
        shmem_putmem_nbi(slots + i * LARGE_LEN, src, LARGE_LEN, mp_right());
    shmem_barrier_all();
    for (size_t i = 0; i < LARGE_OPS; i++)
        wrong += mp_wrong(slots + i * LARGE_LEN, LARGE_LEN, (uint64_t)mp_left());
    mp_check(!wrong, "%zu bytes of %d large puts wrong", wrong, LARGE_OPS);
}

static void check_atomics(uint64_t *counter, uint64_t *old)
{
    uint64_t sum = 0, n = SMALL_OPS / 10;

    for (size_t i = 0; i < n; i++)
        shmem_uint64_atomic_fetch_add_nbi(&old[i], counter, 1, mp_right());
    shmem_quiet();
    for (size_t i = 0; i < n; i++)
        sum += old[i];
    mp_check(sum == n * (n - 1) / 2, "fetched values do not count up: sum %lu", (unsigned long)sum);
}

int main(void)
{
    uint64_t *slots, *src, *back, *counter;
    char *large, *large_src;

    mp_begin();
    slots = mp_alloc(SMALL_OPS * sizeof *slots);
    src = mp_alloc(SMALL_OPS * sizeof *src);
    back = mp_alloc(SMALL_OPS * sizeof *back);
    counter = mp_alloc(sizeof *counter);
    large = mp_alloc((size_t)LARGE_OPS * LARGE_LEN);
    large_src = mp_alloc(LARGE_LEN);
    for (long round = 0; round < mp_rounds(2, 50); round++)
        check_small(slots, src, back, (uint64_t)round);
    check_large(large, large_src);
    check_atomics(counter, back);
    return mp_end();
}

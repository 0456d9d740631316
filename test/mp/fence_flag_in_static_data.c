/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fence orders data in one segment before its flag in another: data in the heap with the flag in static data,
 * and the reverse.
 * paths: local:2,4 tcp:4 shm:2 mixed:4 mixedshm:4 single split:2 splitback:2
 * long paths: tcp:2 shm:4
 */
#include "test/common/mp.h"

#define LEN 3000

static char static_data[LEN];
static uint64_t static_flag, ack;

static void run_round(char *data, uint64_t *flag, uint64_t round, const char *what)
{
    char src[LEN];
    size_t wrong;

    mp_fill(src, LEN, round + (uint64_t)mp_me);
    shmem_putmem(data, src, LEN, mp_right());
    shmem_fence();
    shmem_uint64_p(flag, round, mp_right());
    shmem_uint64_wait_until(flag, SHMEM_CMP_EQ, round);
    wrong = mp_wrong(data, LEN, round + (uint64_t)mp_left());
    mp_check(!wrong, "round %lu, %s: flag before %zu bytes of data", (unsigned long)round, what, wrong);
    shmem_uint64_p(&ack, round, mp_left());
    shmem_uint64_wait_until(&ack, SHMEM_CMP_GE, round);
}

int main(void)
{
    char *heap_data;
    uint64_t *heap_flag;

    mp_begin();
    heap_data = mp_alloc(LEN);
    heap_flag = mp_alloc(sizeof *heap_flag);
    for (long n = 1; n <= mp_rounds(1000, 100000); n++) {
        run_round(heap_data, &static_flag, (uint64_t)(2 * n), "data in the heap");
        run_round(static_data, heap_flag, (uint64_t)(2 * n + 1), "data in static memory");
    }
    return mp_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * put, fence, get: a blocking get that follows a fence sees what was put before it, and p, fence, g the same.
 * paths: local:2,4 tcp:4 efa:4 rails:4 shm:2 mixed:4 mixedshm:4 single
 * long paths: tcp:2 shm:4
 */
#include "test/common/mp.h"

#define LEN_MAX ((size_t)1 << 17)

static const size_t lens[] = {8, 256, 4096, 20000, LEN_MAX};

static void run_round(char *slot, char *src, char *back, size_t len, uint64_t round)
{
    size_t wrong;

    mp_fill(src, len, round);
    shmem_putmem(slot, src, len, mp_right());
    shmem_fence();
    shmem_getmem(back, slot, len, mp_right());
    wrong = mp_wrong(back, len, round);
    mp_check(!wrong, "round %lu: get overtook put for %zu of %zu bytes", (unsigned long)round, wrong, len);
}

static void run_p_g(uint64_t *word, uint64_t round)
{
    uint64_t seen;

    shmem_uint64_p(word, round, mp_right());
    shmem_fence();
    seen = shmem_uint64_g(word, mp_right());
    mp_check(seen == round, "round %lu: g overtook p: %lu", (unsigned long)round, (unsigned long)seen);
}

static void run_put_fetch(uint64_t *word, uint64_t round)
{
    uint64_t seen;

    shmem_uint64_p(word, round, mp_right());
    shmem_fence();
    seen = shmem_uint64_atomic_fetch_inc(word, mp_right());
    mp_check(seen == round, "round %lu: fetch_inc overtook p: %lu", (unsigned long)round,
             (unsigned long)seen);
}

int main(void)
{
    char *slot, *src, *back;
    uint64_t *words;

    mp_begin();
    slot = mp_alloc(LEN_MAX);
    src = mp_alloc(LEN_MAX);
    back = mp_alloc(LEN_MAX);
    words = mp_alloc(2 * sizeof *words);
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
        for (long n = 1; n <= mp_rounds(30, 2000); n++)
            run_round(slot, src, back, lens[i], (uint64_t)n);
    }
    for (long n = 1; n <= mp_rounds(500, 100000); n++) {
        run_p_g(&words[0], (uint64_t)n);
        run_put_fetch(&words[1], (uint64_t)n);
    }
    return mp_end();
}

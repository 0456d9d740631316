/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was put before a quiet, with a signal or without, is at its target after it: a third PE that sees a flag (or the
 * same one, by another context) reads the new data there.
 * paths: local:2,4 tcp:4 sets:2 efa:2 shm:2 mixed:4 mixedshm:4 single
 * long paths: tcp:2 shm:4
 */
#include "test/common/mp.h"

#define LEN_MAX ((size_t)1 << 18)

static const size_t lens[] = {1, 8, 4096, 50000, LEN_MAX};

static uint64_t arrived; /* a signal that nobody awaits */

static void put_to_right(char *slot, const char *src, size_t len, bool signalled)
{
    if (signalled)
        shmem_putmem_signal_nbi(slot, src, len, &arrived, 1, SHMEM_SIGNAL_ADD, mp_right());
    else
        shmem_putmem_nbi(slot, src, len, mp_right());
}

/* Puts to the right neighbour; the left neighbour of the writer reads what the writer put there. */
static void run_round(char *slot, char *src, char *back, uint64_t *flag, uint64_t round, size_t len)
{
    int target = (mp_me + 2) % mp_npes; /* of my right neighbour, whose flag I await */
    size_t wrong;

    mp_fill(src, len, round + (uint64_t)mp_me);
    put_to_right(slot, src, len, round % 2);
    shmem_quiet();
    shmem_uint64_p(flag, round, mp_left());
    shmem_uint64_wait_until(flag, SHMEM_CMP_EQ, round);
    shmem_getmem(back, slot, len, target);
    wrong = mp_wrong(back, len, round + (uint64_t)mp_right());
    mp_check(!wrong, "round %lu: %zu of %zu bytes were not there after quiet", (unsigned long)round, wrong,
             len);
    shmem_barrier_all();
}

static void read_by_other_context(char *slot, char *src, char *back, uint64_t rounds)
{
    shmem_ctx_t ctx;

    if (shmem_ctx_create(0, &ctx)) {
        mp_note("no second context");
        return;
    }
    for (uint64_t round = 1; round <= rounds; round++) {
        size_t len = lens[round % (sizeof lens / sizeof lens[0])];

        mp_fill(src, len, round);
        put_to_right(slot, src, len, round % 2);
        shmem_quiet();
        shmem_ctx_getmem(ctx, back, slot, len, mp_right());
        mp_check(!mp_wrong(back, len, round), "another context reads old data after quiet");
    }
    shmem_ctx_destroy(ctx);
}

int main(void)
{
    char *slot, *src, *back;
    uint64_t round = 0, *flag;

    mp_begin();
    slot = mp_alloc(LEN_MAX);
    src = mp_alloc(LEN_MAX);
    back = mp_alloc(LEN_MAX);
    flag = mp_alloc(sizeof *flag);
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
        for (long n = 0; n < mp_rounds(20, 1000); n++)
            run_round(slot, src, back, flag, ++round, lens[i]);
    }
    read_by_other_context(slot, src, back, (uint64_t)mp_rounds(100, 10000));
    return mp_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many contexts, each with its own operations under way, are each brought to quiet on their own; contexts can be
 * made and destroyed any number of times, and destroying one completes its operations.
 * paths: local:2,4 tcp:4 sets:2 setsefa:2 shm:2 mixed:4 mixedshm:4 single
 * long paths: tcp:2 sets:4
 */
#include "test/common/mp.h"

#define CTXS 24
#define PER_CTX 16

static const long options[] = {0, SHMEM_CTX_PRIVATE, SHMEM_CTX_SERIALIZED};

static long value(long round, int from, int ctx, int i)
{
    return round * 1000000 + from * 10000 + ctx * 100 + i;
}

static void fill(long *src, long round)
{
    for (int c = 0; c < CTXS; c++) {
        for (int i = 0; i < PER_CTX; i++)
            src[c * PER_CTX + i] = value(round, mp_me, c, i);
    }
}

static void check(const long *slots, long round, int c)
{
    for (int i = 0; i < PER_CTX; i++) {
        mp_check(slots[c * PER_CTX + i] == value(round, mp_left(), c, i), "round %ld: context %d, put %d",
                 round, c, i);
    }
}

static void run_round(shmem_ctx_t *ctxs, long *slots, long *src, long round)
{
    fill(src, round);
    for (int i = 0; i < PER_CTX; i++) {
        for (int c = 0; c < CTXS; c++) {
            size_t at = (size_t)(c * PER_CTX + i);

            shmem_ctx_long_put_nbi(ctxs[c], &slots[at], &src[at], 1, mp_right());
        }
    }
    for (int c = CTXS - 1; c >= 0; c--)
        shmem_ctx_quiet(ctxs[c]);
    shmem_sync_all(); /* a barrier would complete the rest by itself */
    for (int c = 0; c < CTXS; c++)
        check(slots, round, c);
    shmem_sync_all();
}

static void make_and_destroy(long *slots, long *src, long rounds)
{
    for (long n = 1; n <= rounds; n++) {
        shmem_ctx_t ctx;

        if (!mp_check(shmem_ctx_create(options[n % 3], &ctx) == 0, "context %ld cannot be created", n))
            return;
        src[0] = n;
        shmem_ctx_long_put_nbi(ctx, slots, src, 1, mp_right());
        shmem_ctx_destroy(ctx);
        mp_check(shmem_long_g(slots, mp_right()) == n, "destroying a context left its put behind");
    }
}

int main(void)
{
    shmem_ctx_t ctxs[CTXS];
    long *slots, *src;

    mp_begin();
    slots = mp_alloc(sizeof *slots * CTXS * PER_CTX);
    src = mp_alloc(sizeof *src * CTXS * PER_CTX);
    for (int c = 0; c < CTXS; c++)
        mp_check(shmem_ctx_create(options[c % 3], &ctxs[c]) == 0, "context %d of %d cannot be created", c,
                 CTXS);
    for (long round = 1; round <= mp_rounds(20, 1000); round++)
        run_round(ctxs, slots, src, round);
    for (int c = 0; c < CTXS; c++)
        shmem_ctx_destroy(ctxs[c]);
    shmem_barrier_all();
    make_and_destroy(slots, src, mp_rounds(300, 10000));
    return mp_end();
}

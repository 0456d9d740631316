/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions, with BATCH and total_ops and without, change neither order nor completion: puts of every size and to
 * every neighbour address are there after quiet, before a flag after fence, and in the end with no further call;
 * sessions start over each other, stop twice, and may be left open.
 * paths: local:2,4 tcp:3 efa:2 shm:2 mixed:4 split:2 single
 * long paths: tcp:2
 */
#include "test/common/mp.h"

#include <string.h>

#define BYTES 20000

static char *there;    /* what the left neighbour writes */
static uint64_t *flag; /* what it writes after that */
static char mine[BYTES];

/* Small puts that follow each other, with jumps, overlaps of batch and direct puts, and repeated addresses. */
static void put_all(shmem_ctx_t ctx, uint64_t seed)
{
    uint64_t state = seed;

    mp_fill(mine, BYTES, seed);
    for (size_t at = 0; at < BYTES;) {
        size_t len = 1 + mp_random_below(&state, mp_random_below(&state, 8) ? 64 : 2000);

        len = len < BYTES - at ? len : BYTES - at;
        if (mp_random_below(&state, 2))
            shmem_ctx_putmem_nbi(ctx, there + at, mine + at, len, mp_right());
        else
            shmem_ctx_putmem(ctx, there + at, mine + at, len, mp_right());
        at += len;
    }
}

static void check_arrived(uint64_t seed, const char *how)
{
    mp_check(!mp_wrong(there, BYTES, seed), "%s: wrong data", how);
    shmem_barrier_all();
    memset(there, 0, BYTES);
    *flag = 0;
    shmem_barrier_all();
}

static void check_fence(shmem_ctx_t ctx, uint64_t seed)
{
    put_all(ctx, seed);
    shmem_ctx_fence(ctx);
    shmem_ctx_uint64_p(ctx, flag, seed, mp_right());
    shmem_uint64_wait_until(flag, SHMEM_CMP_EQ, seed);
    shmem_ctx_quiet(ctx);
    check_arrived(seed, "fence");
}

static void check_quiet(shmem_ctx_t ctx, uint64_t seed)
{
    const int right = mp_right();

    put_all(ctx, seed);
    if (seed % 2)
        shmem_ctx_quiet(ctx);
    else
        shmem_ctx_pe_quiet(ctx, &right, 1);
    shmem_sync_all();
    check_arrived(seed, "quiet");
}

/* Nothing but the wait itself, or a loop of tests, follows the put. */
static void check_wait(shmem_ctx_t ctx, uint64_t seed)
{
    shmem_ctx_uint64_p(ctx, flag, seed, mp_right());
    while (seed % 2 && !shmem_uint64_test(flag, SHMEM_CMP_EQ, seed))
        ;
    shmem_uint64_wait_until(flag, SHMEM_CMP_EQ, seed);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    *flag = 0;
    shmem_barrier_all();
}

/* No call at all follows: who is outside the library reads plain memory. */
static void check_silence(shmem_ctx_t ctx)
{
    double end = mp_now() + 20;

    shmem_ctx_uint64_p(ctx, flag, 7, mp_right());
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != 7 && mp_now() < end)
        mp_sleep(0.001);
    mp_check(*flag == 7, "a put rests in its batch");
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    *flag = 0;
    shmem_barrier_all();
}

static void check_session(shmem_ctx_t ctx, long options, size_t total, uint64_t seed)
{
    shmem_ctx_session_config_t config = {total};

    shmem_ctx_session_start(ctx, options, &config, total ? SHMEM_CTX_SESSION_TOTAL_OPS : 0);
    check_fence(ctx, seed);
    check_quiet(ctx, seed + 1);
    shmem_ctx_session_start(ctx, 0, NULL, 0);
    check_quiet(ctx, seed + 2);
    check_wait(ctx, seed + 3);
    check_wait(ctx, seed + 4);
    check_silence(ctx);
    put_all(ctx, seed + 5);
    shmem_ctx_session_stop(ctx);
    shmem_ctx_session_stop(ctx);
    shmem_ctx_quiet(ctx);
    shmem_sync_all();
    check_arrived(seed + 5, "stop");
}

int main(void)
{
    static const long options[] = {0, SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE, SHMEM_CTX_NOSTORE};
    static const size_t totals[] = {0, 1, 7, SIZE_MAX};
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
    uint64_t seed = 100;

    mp_begin();
    there = mp_alloc(BYTES);
    flag = mp_alloc(sizeof *flag);
    shmem_ctx_session_start(SHMEM_CTX_INVALID, SHMEM_CTX_SESSION_BATCH, NULL, 0);
    shmem_ctx_session_stop(SHMEM_CTX_INVALID);
    for (long round = 0; round < mp_rounds(1, 50); round++) {
        for (int i = 0; i < 4; i++, seed += 20) {
            check_session(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH, totals[i], seed);
            mp_check(shmem_ctx_create(options[i], &ctx) == 0, "no context");
            check_session(ctx, i ? SHMEM_CTX_SESSION_BATCH : 0, totals[i], seed + 10);
            shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, NULL, 0);
            put_all(ctx, seed);
            shmem_ctx_destroy(ctx);
            shmem_sync_all();
            check_arrived(seed, "destroy");
        }
    }
    shmem_ctx_session_start(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH, NULL, 0);
    shmem_uint64_p(flag, 1, mp_right());
    return mp_end();
}

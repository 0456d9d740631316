/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counted puts: who sees the count sees the data, of every size, from several PEs and contexts at once; a quiet and a
 * barrier complete the count; a fence orders it; lists; a flush; and the life of counters, over overlapping teams.
 * paths: local:2,4 tcp:4 efa:2 rails:4 sets:2 setsefa:2 shm:2 mixed:4 mixedefa:4 single split:2 splitback:2
 * long paths: tcp:2 efa:4
 */
#include "test/common/mp.h"

#include <shmemx.h>

#include <string.h>

enum { LEN_MAX = 300000, SLOTS = 64, SLOT = 9000, MANY = 700 };

static const size_t lens[] = {0, 1, 8, 63, 64, 513, 4096, 7408, 8192, 65536, LEN_MAX};
static char static_data[SLOT];

static shmemx_counter_t counter;
static uint64_t expected; /* of `counter`, here and at all PEs alike */

static void expect_counted(uint64_t puts)
{
    expected += puts;
    if (puts % 2)
        shmemx_counter_wait_until(counter, expected);
    else
        mp_check(shmemx_counter_wait_until_timeout(counter, expected, 60) == SHMEMX_WAIT_SATISFIED,
                 "not in time");
    mp_check(shmemx_counter_fetch(counter) == expected, "counted %llu of %llu puts",
             (unsigned long long)shmemx_counter_fetch(counter), (unsigned long long)expected);
}

/* The source is overwritten as soon as it may be. */
static void sizes(char *data, char *src)
{
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++)
        for (long n = 0; n < mp_rounds(lens[i] > 100000 ? 5 : 20, 1000); n++) {
            char *dest = n % 2 && lens[i] <= SLOT ? static_data : data;
            size_t wrong;

            mp_fill(src, lens[i], (uint64_t)n + 7 * (uint64_t)mp_me);
            shmemx_putmem_counted_nbi(dest, src, lens[i], counter, mp_right());
            if (n % 3)
                shmemx_flush();
            else
                shmem_quiet();
            memset(src, 0xee, lens[i]);
            expect_counted(1);
            wrong = mp_wrong(dest, lens[i], (uint64_t)n + 7 * (uint64_t)mp_left());
            mp_check(!wrong, "%zu bytes, round %ld: counted before %zu of them came", lens[i], n, wrong);
            shmem_barrier_all();
        }
}

/* More than a target's credits, from all PEs to all, in contexts of their own too; then no wait, only a quiet. */
static void quiet_counts(char *data, char *src)
{
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;

    mp_fill(src, SLOT, (uint64_t)mp_me);
    mp_check(!shmem_ctx_create(0, &ctx), "no context");
    shmem_barrier_all();
    for (int i = 0; i < MANY; i++)
        for (int pe = 0; pe < mp_npes; pe++)
            shmemx_ctx_putmem_counted_nbi(i % 2 ? ctx : SHMEM_CTX_DEFAULT, data + mp_me * SLOT, src,
                                          i % 5 ? 600 : SLOT, counter, pe);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    expected += (uint64_t)MANY * (uint64_t)mp_npes;
    mp_check(shmemx_counter_fetch(counter) == expected, "after a barrier %llu puts are counted, not %llu",
             (unsigned long long)shmemx_counter_fetch(counter), (unsigned long long)expected);
    for (int pe = 0; pe < mp_npes; pe++)
        mp_check(!mp_wrong(data + pe * SLOT, SLOT, (uint64_t)pe), "the data of PE %d are wrong", pe);
    shmem_ctx_destroy(ctx);
    shmem_barrier_all();
}

/* A put, a fence, and a counted put: who sees the count sees both. */
static void fence_orders(char *data, char *src)
{
    for (long n = 0; n < mp_rounds(40, 10000); n++) {
        size_t len = n % 2 ? LEN_MAX : 3000;
        uint64_t seed = (uint64_t)(1000 + n);

        mp_fill(src, len, seed + (uint64_t)mp_me);
        shmem_putmem_nbi(data, src, len, mp_right());
        shmem_fence();
        shmemx_putmem_counted_nbi(static_data, src, n % 3 ? 700 : 0, counter, mp_right());
        expect_counted(1);
        mp_check(!mp_wrong(data, len, seed + (uint64_t)mp_left()),
                 "round %ld: counted before what a fence orders", n);
        shmem_barrier_all();
    }
}

static void list(char *data, char *src)
{
    shmemx_put_t puts[SLOTS];

    for (int round = 0; round < 10; round++) {
        uint64_t counted = 0;

        for (int i = 0; i < SLOTS; i++) {
            size_t len = lens[i % 9];

            mp_fill(src + i * SLOT, len, (uint64_t)(i + round + mp_me));
            puts[i] = (shmemx_put_t){data + i * SLOT, src + i * SLOT, len,
                                     i % 4 ? counter : SHMEMX_COUNTER_INVALID, mp_right()};
            counted += i % 4 != 0;
        }
        shmemx_putmem_list_nbi(puts, SLOTS);
        expect_counted(counted);
        for (int i = 0; i < SLOTS; i++)
            if (i % 4)
                mp_check(!mp_wrong(data + i * SLOT, lens[i % 9], (uint64_t)(i + round + mp_left())),
                         "put %d of a list, round %d", i, round);
        shmem_barrier_all();
        for (int i = 0; i < SLOTS; i += 4)
            mp_check(!mp_wrong(data + i * SLOT, lens[i % 9], (uint64_t)(i + round + mp_left())),
                     "put %d of a list, not counted, round %d", i, round);
        shmem_barrier_all();
    }
    shmemx_putmem_list_nbi(NULL, 0);
}

/* All of a batch leaves at its end, at a fence, a quiet or a wait; one context ends within its batch. */
static void batches(char *data, char *src)
{
    enum { PUTS = 100 };
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;

    mp_check(!shmem_ctx_create(0, &ctx), "no context");
    mp_fill(src, SLOT, (uint64_t)mp_me);
    for (int end = 0; end < 4; end++) {
        shmemx_batch_begin();
        for (int i = 0; i < PUTS; i++)
            shmemx_putmem_counted_nbi(data, src, (size_t)(700 + i), counter, mp_right());
        if (end == 1)
            shmem_fence();
        if (end == 2)
            shmem_quiet();
        if (end)
            expect_counted(PUTS);
        shmemx_batch_end();
        if (!end)
            expect_counted(PUTS);
        shmem_barrier_all();
    }
    shmemx_ctx_batch_begin(ctx);
    shmemx_ctx_putmem_counted_nbi(ctx, data, src, SLOT, counter, mp_right());
    shmem_ctx_destroy(ctx);
    expect_counted(1);
    mp_check(!mp_wrong(data, SLOT, (uint64_t)mp_left()), "the data of a batch");
    shmem_barrier_all();
}

/* The same counters are made again and again, over the world and over two halves that know nothing of each other. */
static void lives(char *data)
{
    shmem_team_t half = SHMEM_TEAM_INVALID, team;
    static char byte = 1;

    for (int h = 0; h < 2 && h < mp_npes; h++) {
        shmem_team_split_strided(SHMEM_TEAM_WORLD, h, mp_npes > 1 ? 2 : 1, (mp_npes + 1 - h) / 2, NULL, 0,
                                 &team);
        half = mp_me % 2 == h ? team : half;
    }
    for (int round = 0; round < 6; round++) {
        shmemx_counter_t mine[20] = {0}, all[9] = {0};

        if (half != SHMEM_TEAM_INVALID && (mp_me % 2 || round % 2))
            mp_check(!shmemx_counter_create(half, 20, mine), "no counters for half");
        mp_check(!shmemx_counter_create(SHMEM_TEAM_WORLD, 9, all), "no counters");
        for (int i = 0; i < 9; i++) {
            mp_check(!shmemx_counter_fetch(all[i]), "counter %d does not begin at 0", i);
            for (int j = 0; j < 20; j++)
                mp_check(all[i] != mine[j], "one counter was given twice");
        }
        shmem_barrier_all();
        shmemx_putmem_counted_nbi(data, &byte, 1, all[round], mp_right());
        shmemx_counter_wait_until(all[round], 1);
        if (mine[0]) {
            shmemx_putmem_counted_nbi(data, &byte, 1, mine[19], mp_me);
            shmemx_counter_wait_until(mine[19], 1);
            mp_check(!shmemx_counter_destroy(half, 20, mine), "not destroyed");
        }
        mp_check(!shmemx_counter_destroy(SHMEM_TEAM_WORLD, 9, all), "not destroyed");
    }
    if (half != SHMEM_TEAM_INVALID)
        shmem_team_destroy(half);
}

/* What does not come: at once, and after a while. */
static void time_is_over(void)
{
    double began = mp_now();

    mp_check(shmemx_counter_wait_until_timeout(counter, expected + 1, 0) == SHMEMX_WAIT_TIMEOUT,
             "it is there");
    mp_check(shmemx_counter_wait_until_timeout(counter, expected + 1, 0.02) == SHMEMX_WAIT_TIMEOUT,
             "it has come");
    mp_check(mp_now() - began >= 0.02, "too soon");
    mp_check(shmemx_counter_wait_until_timeout(counter, expected, -1.) == SHMEMX_WAIT_SATISFIED,
             "it is not there");
}

/* Alike on all PEs, and what there was goes on. */
static void too_many(void)
{
    static shmemx_counter_t row[20000];

    mp_check(shmemx_counter_create(SHMEM_TEAM_WORLD, 20000, row), "20000 of 16384 counters");
    mp_check(!shmemx_counter_create(SHMEM_TEAM_WORLD, 16000, row), "no 16000 of 16384 counters");
    mp_check(!shmemx_counter_destroy(SHMEM_TEAM_WORLD, 16000, row), "not destroyed");
}

int main(void)
{
    char *data, *src;

    mp_begin();
    data = mp_alloc(SLOTS * SLOT);
    src = mp_alloc(SLOTS * SLOT);
    mp_check(!shmemx_counter_create(SHMEM_TEAM_WORLD, 1, &counter), "no counter");
    sizes(data, src);
    quiet_counts(data, src);
    fence_orders(data, src);
    list(data, src);
    batches(data, src);
    lives(data);
    time_is_over();
    too_many();
    mp_check(!shmemx_counter_destroy(SHMEM_TEAM_WORLD, 1, &counter), "not destroyed");
    return mp_end();
}

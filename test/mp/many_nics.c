/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations of every kind and size arrive whole, and take effect once, over several NICs (also while one goes away, as
 * emulator/tests/rails.sh has it).
 * Usage: many_nics [SECONDS [signals]]; `signals`: large puts carry signals.
 * paths: local:2 tcp:2 efa:2 rails:2 mixed:4
 * long paths: rails:4
 */
#include "test/common/mp.h"

#include <stdlib.h>
#include <string.h>

#define LEN_MAX ((size_t)1 << 20)
enum { LENS = 6 };

static const size_t lens[LENS] = {8, 200, 4096, 40000, 300000, LEN_MAX};

static struct {
    char *slot[LENS], *src[LENS], *back;
    uint64_t *flag, *ack, *adds, *fetches, *signals;
    bool large_signals;
} my;

static uint64_t seed_of(int pe, uint64_t round, int i)
{
    return ((uint64_t)pe << 40) + round * LENS + (uint64_t)i;
}

static void send_round(uint64_t round)
{
    for (int i = 0; i < LENS; i++) {
        mp_fill(my.src[i], lens[i], seed_of(mp_me, round, i));
        if (my.large_signals)
            shmem_putmem_signal_nbi(my.slot[i], my.src[i], lens[i], my.signals, 1, SHMEM_SIGNAL_ADD,
                                    mp_right());
        else
            shmem_putmem_nbi(my.slot[i], my.src[i], lens[i], mp_right());
    }
    for (int i = 0; i < 20; i++)
        shmem_uint64_atomic_inc(my.adds, mp_right());
    mp_check(shmem_uint64_atomic_fetch_inc(my.fetches, mp_right()) == round,
             "round %lu: an atomic took effect twice, or not", (unsigned long)round);
    shmem_quiet();
    shmem_uint64_p(my.flag, round + 1, mp_right());
}

static void check_round(uint64_t round)
{
    shmem_uint64_wait_until(my.flag, SHMEM_CMP_GE, round + 1);
    for (int i = 0; i < LENS; i++) {
        size_t wrong = mp_wrong(my.slot[i], lens[i], seed_of(mp_left(), round, i));

        mp_check(!wrong, "round %lu: %zu of %zu bytes are wrong", (unsigned long)round, wrong, lens[i]);
    }
    mp_check(*my.adds == 20 * (round + 1), "round %lu: %lu adds", (unsigned long)round,
             (unsigned long)*my.adds);
    if (my.large_signals)
        mp_check(*my.signals == LENS * (round + 1), "round %lu: %lu signals", (unsigned long)round,
                 (unsigned long)*my.signals);
}

static void get_round(uint64_t round)
{
    for (int i = 0; i < LENS; i++) {
        memset(my.back, 0, lens[i]);
        shmem_getmem(my.back, my.slot[i], lens[i], mp_right());
        mp_check(!mp_wrong(my.back, lens[i], seed_of(mp_me, round, i)),
                 "round %lu: get of %zu bytes is wrong", (unsigned long)round, lens[i]);
    }
    shmem_uint64_p(my.ack, round + 1, mp_left());
    shmem_uint64_wait_until(my.ack, SHMEM_CMP_GE, round + 1);
}

static void open_memory(void)
{
    uint64_t *words = mp_alloc(5 * sizeof *words);

    for (int i = 0; i < LENS; i++) {
        my.slot[i] = mp_alloc(lens[i]);
        my.src[i] = mp_alloc(lens[i]);
    }
    my.back = mp_alloc(LEN_MAX);
    my.flag = words;
    my.ack = words + 1;
    my.adds = words + 2;
    my.fetches = words + 3;
    my.signals = words + 4;
}

/* PE 0 tells the others. */
static bool is_last(uint64_t round, double start, double seconds)
{
    return mp_me == 0 && round >= (uint64_t)mp_rounds(20, 500) && mp_now() - start >= seconds;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 0, start;
    uint64_t round = 0, *last;

    mp_begin();
    my.large_signals = argc > 2 && !strcmp(argv[2], "signals");
    open_memory();
    last = mp_alloc(sizeof *last);
    start = mp_now();
    do {
        send_round(round);
        check_round(round);
        get_round(round);
        round++;
        for (int pe = is_last(round, start, seconds) ? 0 : mp_npes; pe < mp_npes; pe++)
            shmem_uint64_p(last, 1, pe);
        shmem_barrier_all();
    } while (!*last);
    mp_note("%lu rounds", (unsigned long)round);
    return mp_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What order promises, in 64 slots that are under way at once, each poisoned after it was read: put_signal; put,
 * fence, signal; put, fence, get; p, fence, p, fence, large put. Arguments: PATTERN… (default: all), --rounds N,
 * --no-fence (claims nothing: prints how often the order was broken without fences).
 * paths: local:2,4 tcp:4 efa:2 shm:2 mixed:4 mixedefa:4 split:2 splitback:2
 * long paths: tcp:2
 */
#include "test/common/mp.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 64, WORDS_MAX = 2500, POISON = 0x5a };

struct slot {
    uint64_t first, second; /* of p, fence, p */
    uint64_t signal;
    uint64_t ack; /* at the sender: the round that was read */
    uint64_t data[WORDS_MAX];
};

/* Everything between this PE, the right one (sent) and the left one (seen). */
static struct {
    struct slot *slot; /* [SLOTS], symmetric */
    uint64_t (*src)[WORDS_MAX], *back;
    uint64_t sent[SLOTS], seen[SLOTS];
    long n_sent, n_seen, rounds, broken;
    bool fence;
} run;

struct pattern {
    const char *name;
    void (*send)(int s, uint64_t round, size_t words);
    /* True: the round is there; adds what is wrong to run.broken. */
    bool (*look)(int s, uint64_t round, size_t words);
    size_t words_min;
};

/* The same at both ends: from 8 bytes to 20,000, half of them small. */
static size_t words_of(uint64_t round, size_t least)
{
    static const size_t words[] = {1, 8, 1, 125, 512, 1, 1020, WORDS_MAX};
    size_t n = words[(round ^ round >> 6) % 8];

    return n > least ? n : least;
}

static uint64_t word_of(uint64_t round, size_t i)
{
    return round << 16 | i;
}

static size_t wrong_words(const uint64_t *data, uint64_t round, size_t words)
{
    size_t wrong = 0;

    for (size_t i = 0; i < words; i++)
        wrong += __atomic_load_n(&data[i], __ATOMIC_RELAXED) != word_of(round, i);
    return wrong;
}

static void fence(void)
{
    if (run.fence)
        shmem_fence();
}

static void put(int s, size_t words)
{
    if (run.n_sent % 2)
        shmem_put64_nbi(run.slot[s].data, run.src[s], words, mp_right());
    else
        shmem_put64(run.slot[s].data, run.src[s], words, mp_right());
}

static void send_put_signal(int s, uint64_t round, size_t words)
{
    if (run.n_sent % 2)
        shmem_put64_signal_nbi(run.slot[s].data, run.src[s], words, &run.slot[s].signal, round,
                               SHMEM_SIGNAL_SET, mp_right());
    else
        shmem_put64_signal(run.slot[s].data, run.src[s], words, &run.slot[s].signal, round, SHMEM_SIGNAL_SET,
                           mp_right());
}

static void send_put_fence_signal(int s, uint64_t round, size_t words)
{
    put(s, words);
    fence();
    shmem_signal_set(&run.slot[s].signal, round, mp_right());
}

static bool look_signal(int s, uint64_t round, size_t words)
{
    if (shmem_signal_fetch(&run.slot[s].signal) != round)
        return false;
    run.broken += wrong_words(run.slot[s].data, round, words) != 0;
    return true;
}

/* Checked here, by what the get brings; the signal only lets the slot be used again. */
static void send_put_fence_get(int s, uint64_t round, size_t words)
{
    put(s, words);
    fence();
    shmem_get64(run.back, run.slot[s].data, words, mp_right());
    run.broken += wrong_words(run.back, round, words) != 0;
    shmem_fence();
    shmem_signal_set(&run.slot[s].signal, round, mp_right());
}

static bool look_arrived(int s, uint64_t round, size_t words)
{
    (void)words;
    return shmem_signal_fetch(&run.slot[s].signal) == round;
}

static void send_p_fence_p_fence_put(int s, uint64_t round, size_t words)
{
    shmem_uint64_p(&run.slot[s].first, round, mp_right());
    fence();
    shmem_uint64_p(&run.slot[s].second, round, mp_right());
    fence();
    put(s, words);
}

/* Each is read before the ones that must have come before it. */
static bool look_p_fence_p_fence_put(int s, uint64_t round, size_t words)
{
    const struct slot *slot = &run.slot[s];
    size_t missing = 0;
    uint64_t first, second;
    bool any;

    for (size_t i = 0; i < words; i++)
        missing += __atomic_load_n(&slot->data[i], __ATOMIC_ACQUIRE) != word_of(round, i);
    any = missing < words;
    second = __atomic_load_n(&slot->second, __ATOMIC_ACQUIRE);
    first = __atomic_load_n(&slot->first, __ATOMIC_ACQUIRE);
    if ((any && second != round) || ((any || second == round) && first != round)) {
        run.broken++;
        /* The rest comes yet: the slot is given back when all is there. */
        shmem_uint64_wait_until(&run.slot[s].first, SHMEM_CMP_EQ, round);
        shmem_uint64_wait_until(&run.slot[s].second, SHMEM_CMP_EQ, round);
    }
    return !missing && second == round && first == round;
}

static const struct pattern patterns[] = {
    {"put_signal", send_put_signal, look_signal, 1},
    {"put_fence_signal", send_put_fence_signal, look_signal, 1},
    {"put_fence_get", send_put_fence_get, look_arrived, 1},
    {"p_fence_p_fence_put", send_p_fence_p_fence_put, look_p_fence_p_fence_put, 1020},
    {NULL, NULL, NULL, 0},
};

/* A source is written again only after a quiet. */
static bool send_one(const struct pattern *pattern)
{
    int s = (int)(run.n_sent % SLOTS);
    uint64_t round = run.sent[s] + 1;
    size_t words = words_of(round + (uint64_t)s, pattern->words_min);

    if (run.n_sent == run.rounds || __atomic_load_n(&run.slot[s].ack, __ATOMIC_ACQUIRE) != run.sent[s])
        return false;
    if (s == 0)
        shmem_quiet();
    for (size_t i = 0; i < words; i++)
        run.src[s][i] = word_of(round, i);
    pattern->send(s, round, words);
    run.sent[s] = round;
    run.n_sent++;
    return true;
}

static bool read_one(const struct pattern *pattern, int s)
{
    uint64_t round = run.seen[s] + 1;
    size_t words = words_of(round + (uint64_t)s, pattern->words_min);

    if (!pattern->look(s, round, words))
        return false;
    memset(run.slot[s].data, POISON, words * sizeof run.slot[s].data[0]);
    run.seen[s] = round;
    run.n_seen++;
    shmem_uint64_p(&run.slot[s].ack, round, mp_left());
    return true;
}

static void run_pattern(const struct pattern *pattern)
{
    double begun = mp_now();

    run.n_sent = run.n_seen = run.broken = 0;
    memset(run.sent, 0, sizeof run.sent);
    memset(run.seen, 0, sizeof run.seen);
    memset(run.slot, 0, SLOTS * sizeof *run.slot);
    shmem_barrier_all();
    while (run.n_sent < run.rounds || run.n_seen < run.rounds) {
        bool moved = send_one(pattern);

        for (int s = 0; s < SLOTS; s++)
            moved |= read_one(pattern, s);
        if (!moved)
            shmem_quiet(); /* lets the other PEs of this processor go on */
    }
    shmem_barrier_all();
    mp_note("%s: %ld rounds in %d slots, %.1f s", pattern->name, run.rounds, SLOTS, mp_now() - begun);
    mp_check(!run.fence || !run.broken, "%s: %ld of %ld rounds out of order", pattern->name, run.broken,
             run.rounds);
}

/* How often any PE saw the order broken, for scripts. */
static void print_broken(const struct pattern *pattern)
{
    static long mine, all;

    mine = run.broken;
    shmem_barrier_all();
    for (int pe = all = 0; pe < mp_npes && mp_me == 0; pe++)
        all += shmem_long_g(&mine, pe);
    mp_note("%s without fences: %ld of %ld out of order", pattern->name, all, run.rounds * mp_npes);
    shmem_barrier_all();
}

static bool wanted(const struct pattern *pattern, int argc, char **argv)
{
    bool any = false;

    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], pattern->name))
            return true;
        any |= argv[i][0] != '-' && strcmp(argv[i - 1], "--rounds") != 0;
    }
    return !any;
}

int main(int argc, char **argv)
{
    mp_begin();
    run.slot = mp_alloc(SLOTS * sizeof *run.slot);
    run.src = mp_alloc(SLOTS * sizeof *run.src);
    run.back = mp_alloc(sizeof *run.src);
    run.rounds = mp_rounds(3000, 1000000);
    run.fence = true;
    for (int i = 1; i < argc; i++) {
        run.fence = run.fence && strcmp(argv[i], "--no-fence") != 0;
        if (!strcmp(argv[i], "--rounds") && i + 1 < argc)
            run.rounds = atol(argv[i + 1]);
    }
    for (const struct pattern *pattern = patterns; pattern->name; pattern++)
        if (wanted(pattern, argc, argv)) {
            run_pattern(pattern);
            if (!run.fence)
                print_broken(pattern);
        }
    return mp_end();
}

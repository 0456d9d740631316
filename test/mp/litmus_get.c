/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Something that changes memory of a PE, a fence, a get of it: the get brings what was put. A fence orders all
 * operations to a PE but nonblocking gets and the values that nonblocking atomics fetch (section 9.12.1), so blocking
 * gets too. Puts, words, signals and atomics, and get, g and fetch, in turn, many rounds with no quiet between. With
 * the argument --no-fence nothing is claimed: what a get has overtaken is counted and printed.
 * paths: local:2,4 tcp:4 efa:2 rails:2 shm:2 mixed:4 mixedefa:4 split:2 splitback:2
 * long paths: tcp:2
 * timeout: 90
 */
#include "test/common/mp.h"

#include <string.h>

enum { SLOTS = 64, WORDS = 1024 };
enum change { PUT_NBI, PUT, WORD, SIGNAL, PUT_SIGNAL_NBI, ATOMIC, ATOMIC_NBI, CHANGES };

static const size_t lens[] = {1, 8, 64, 300, WORDS};

/* Words of the slot that tell the round. */
static size_t words_of(uint64_t round)
{
    enum change change = (enum change)(round % CHANGES);
    size_t n = lens[round / CHANGES % (sizeof lens / sizeof lens[0])];

    if (change == PUT_SIGNAL_NBI)
        return n < 2 ? 2 : n;
    return change == PUT || change == PUT_NBI ? n : 1;
}

/* The slot's former content is not known: values are set, never added. */
static void change_slot(uint64_t *slot, uint64_t *source, uint64_t *old, uint64_t round)
{
    size_t n = words_of(round);

    for (size_t i = 0; i < n; i++)
        source[i] = round;
    switch ((enum change)(round % CHANGES)) {
    case PUT_NBI: shmem_uint64_put_nbi(slot, source, n, mp_right()); break;
    case PUT: shmem_uint64_put(slot, source, n, mp_right()); break;
    case WORD: shmem_uint64_p(slot, round, mp_right()); break;
    case SIGNAL: shmem_signal_set(slot, round, mp_right()); break;
    case PUT_SIGNAL_NBI:
        shmem_uint64_put_signal_nbi(slot + 1, source, n - 1, slot, round, SHMEM_SIGNAL_SET, mp_right());
        break;
    case ATOMIC: shmem_uint64_atomic_set(slot, round, mp_right()); break;
    default: shmem_uint64_atomic_swap_nbi(old, slot, round, mp_right()); break;
    }
}

/* Words that are not of the round; of one word g and fetch take turns with get. */
static long look(const uint64_t *slot, uint64_t *back, uint64_t round)
{
    size_t n = words_of(round);
    long wrong = 0;

    if (n == 1 && round % 3 == 1)
        return shmem_uint64_g(slot, mp_right()) != round;
    if (n == 1 && round % 3 == 2)
        return shmem_uint64_atomic_fetch(slot, mp_right()) != round;
    memset(back, 0, n * sizeof *back);
    shmem_uint64_get(back, slot, n, mp_right());
    for (size_t i = 0; i < n; i++)
        wrong += back[i] != round;
    return wrong;
}

int main(int argc, char **argv)
{
    bool fence = argc < 2 || strcmp(argv[1], "--no-fence");
    uint64_t *slots, *sources, *back, old[SLOTS];
    long rounds, wrong = 0;

    mp_begin();
    slots = mp_alloc(SLOTS * WORDS * sizeof *slots);
    sources = mp_alloc(SLOTS * WORDS * sizeof *sources);
    back = mp_alloc(WORDS * sizeof *back);
    rounds = mp_path_is("local") ? mp_rounds(20000, 1000000) : mp_rounds(2000, 100000);
    for (long round = 1; round <= rounds; round++) {
        long at = round % SLOTS * WORDS;

        change_slot(slots + at, sources + at, &old[round % SLOTS], (uint64_t)round);
        if (fence)
            shmem_fence();
        wrong += look(slots + at, back, (uint64_t)round) != 0;
        if (round % SLOTS == 0)
            shmem_quiet(); /* before a source is used again */
    }
    shmem_quiet();
    mp_check(!fence || !wrong, "%ld of %ld gets overtook what a fence had ordered before them", wrong,
             rounds);
    mp_note("%s, get: %ld rounds, %ld overtook", fence ? "fence" : "without a fence", rounds, wrong);
    shmem_barrier_all();
    return mp_end();
}

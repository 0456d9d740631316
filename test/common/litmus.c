/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the stream of rounds of a litmus test. */
#include "test/common/litmus.h"

#include <string.h>

/* The kinds of flag, which take turns, and the words of the other direction. */
enum { BY_PUT, BY_AMO, BY_SIGNAL, BY_PUT_SIGNAL, FLAGS, ACK = FLAGS, WORDS };

enum order { NONE, FENCE, QUIET };

struct stream {
    const struct litmus *litmus;
    enum order order;
    uint64_t *slots;  /* [LITMUS_SLOTS][LITMUS_WORDS], written by the left neighbour */
    uint64_t *words;  /* [WORDS] last rounds that the left neighbour flagged and the right one read */
    uint64_t *beside; /* where a put with signal puts its data */
    uint64_t *source; /* as slots */
    uint64_t rounds, sent, seen, acked;
    long wrong;
};

void litmus_fill(uint64_t *words, size_t n, uint64_t round)
{
    for (size_t i = 0; i < n; i++)
        words[i] = round;
}

static void send_flag(const struct stream *stream, uint64_t round)
{
    uint64_t *flag = &stream->words[round % FLAGS];

    switch (round % FLAGS) {
    case BY_PUT: shmem_uint64_p(flag, round, mp_right()); break;
    case BY_AMO: shmem_uint64_atomic_set(flag, round, mp_right()); break;
    case BY_SIGNAL: shmem_signal_set(flag, round, mp_right()); break;
    default:
        shmem_putmem_signal(stream->beside, &round, sizeof round, flag, round, SHMEM_SIGNAL_SET, mp_right());
        break;
    }
}

static void send_round(struct stream *stream)
{
    uint64_t round = ++stream->sent;
    size_t at = round % LITMUS_SLOTS * LITMUS_WORDS;

    stream->litmus->send(stream->slots + at, stream->source + at, round, mp_right());
    if (stream->order == FENCE)
        shmem_fence();
    else if (stream->order == QUIET)
        shmem_quiet();
    send_flag(stream, round);
    if (round % (LITMUS_SLOTS / 2) == 0)
        shmem_quiet(); /* before a source is used again */
    if (stream->order == NONE && round == stream->rounds) {
        shmem_quiet(); /* an older flag may have come to lie over the last one */
        send_flag(stream, round);
    }
}

static bool has_arrived(const struct stream *stream, uint64_t round)
{
    const uint64_t *slot = stream->slots + round % LITMUS_SLOTS * LITMUS_WORDS;

    if (stream->litmus->arrived)
        return stream->litmus->arrived(slot, round);
    for (int i = LITMUS_WORDS - 1; i >= 0; i--)
        if (__atomic_load_n(&slot[i], __ATOMIC_RELAXED) != round)
            return false;
    return true;
}

/* Reads the rounds that flags announce; a slot is written again only after it was acknowledged. */
static void read_rounds(struct stream *stream)
{
    uint64_t now = 0, before = stream->seen;

    for (int i = 0; i < FLAGS; i++) {
        uint64_t flag = shmem_signal_fetch(&stream->words[i]);

        now = flag > now ? flag : now;
    }
    while (stream->seen < now)
        stream->wrong += !has_arrived(stream, ++stream->seen);
    if (before / (LITMUS_SLOTS / 4) != stream->seen / (LITMUS_SLOTS / 4))
        shmem_signal_set(&stream->words[ACK], stream->seen, mp_left());
    stream->acked = shmem_signal_fetch(&stream->words[ACK]);
}

/* An object that already holds more than `seen` is behind a flag of another kind: wait for what is newer. */
static void wait_for_newer(struct stream *stream)
{
    uint64_t known[WORDS];

    for (int i = 0; i < FLAGS; i++)
        known[i] = stream->seen;
    known[ACK] = stream->acked;
    shmem_uint64_wait_until_any_vector(stream->words, WORDS, NULL, SHMEM_CMP_GT, known);
}

static long run(struct stream *stream)
{
    while (stream->sent < stream->rounds || stream->seen < stream->rounds) {
        if (stream->sent < stream->rounds && stream->sent < stream->acked + LITMUS_SLOTS)
            send_round(stream);
        else
            wait_for_newer(stream);
        read_rounds(stream);
    }
    shmem_barrier_all();
    return stream->wrong;
}

static void run_order(const struct litmus *litmus, enum order order, long rounds)
{
    static const char *const names[] = {"nothing", "a fence", "a quiet"};
    const size_t bytes = LITMUS_SLOTS * LITMUS_WORDS * sizeof(uint64_t);
    struct stream stream = {.litmus = litmus, .order = order, .rounds = (uint64_t)rounds};
    long wrong;

    stream.slots = mp_alloc(2 * bytes);
    stream.source = stream.slots + LITMUS_SLOTS * LITMUS_WORDS;
    stream.words = mp_alloc(WORDS * sizeof(uint64_t));
    stream.beside = mp_alloc(sizeof(uint64_t));
    wrong = run(&stream);
    mp_check(order == NONE || !wrong, "%s, %s between: %ld of %ld rounds were seen after their flag",
             litmus->name, names[order], wrong, rounds);
    if (order == NONE)
        mp_note("%s, without a fence: %ld of %ld rounds seen after their flag", litmus->name, wrong, rounds);
    shmem_free(stream.beside);
    shmem_free(stream.words);
    shmem_free(stream.slots);
}

int litmus_main(int argc, char **argv, const struct litmus *litmus)
{
    long rounds;

    mp_begin();
    rounds =
        mp_path_is("local") || mp_path_is("single") ? mp_rounds(20000, 10000000) : mp_rounds(1000, 1000000);
    if (argc == 2 && !strcmp(argv[1], "--no-fence")) {
        run_order(litmus, NONE, rounds);
        return mp_end();
    }
    run_order(litmus, FENCE, rounds);
    run_order(litmus, QUIET, rounds);
    return mp_end();
}

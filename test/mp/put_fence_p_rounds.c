/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * put, fence, p in a stream of many rounds under way at once: a reader that sees flag r sees the data of every round
 * up to r. With the argument --no-fence nothing is claimed: the reorderings seen without the fence are counted and
 * printed.
 * paths: local:2,4 tcp:4 efa:2 rails:2 shm:2 mixed:4 mixedshm:4 split:2 splitback:2
 * long paths: tcp:2 shm:4
 */
#include "test/common/mp.h"

#include <string.h>

#define WINDOW 64

enum { FLAG, ACK, WORDS };

static uint64_t static_data[WINDOW]; /* the other segment */

/* One stream to the right neighbour and from the left one. */
struct stream {
    uint64_t *data; /* [WINDOW] slots, one a round */
    uint64_t
        *words; /* FLAG: last round that the left one sent; ACK: last round that the right one has read */
    uint64_t sent, seen, acked;
    long wrong;
    bool fence;
};

static void send_round(struct stream *stream)
{
    static uint64_t src[WINDOW];
    uint64_t round = ++stream->sent, *from = &src[round % WINDOW];

    *from = round;
    if (round % 2)
        shmem_uint64_put_nbi(&stream->data[round % WINDOW], from, 1, mp_right());
    else
        shmem_uint64_put(&stream->data[round % WINDOW], from, 1, mp_right());
    if (stream->fence)
        shmem_fence();
    shmem_uint64_p(&stream->words[FLAG], round, mp_right());
    if (round % (WINDOW / 2) == 0)
        shmem_quiet(); /* before a source is used again */
}

/* Reads the rounds that the flag announces; a slot is written again only after it was acknowledged. */
static void read_rounds(struct stream *stream)
{
    uint64_t now = shmem_signal_fetch(&stream->words[FLAG]), before = stream->seen;

    while (stream->seen < now) {
        uint64_t round = ++stream->seen;

        stream->wrong += __atomic_load_n(&stream->data[round % WINDOW], __ATOMIC_RELAXED) != round;
    }
    if (before / (WINDOW / 4) != stream->seen / (WINDOW / 4))
        shmem_signal_set(&stream->words[ACK], stream->seen, mp_left());
    stream->acked = shmem_signal_fetch(&stream->words[ACK]);
}

static long run(struct stream *stream, uint64_t rounds)
{
    while (stream->sent < rounds || stream->seen < rounds) {
        uint64_t known[WORDS] = {stream->seen, stream->acked};

        if (stream->sent < rounds && stream->sent < stream->acked + WINDOW)
            send_round(stream);
        else
            shmem_uint64_wait_until_any_vector(stream->words, WORDS, NULL, SHMEM_CMP_GT, known);
        read_rounds(stream);
    }
    shmem_barrier_all();
    return stream->wrong;
}

int main(int argc, char **argv)
{
    bool fence = argc < 2 || strcmp(argv[1], "--no-fence");
    long rounds, wrong;
    uint64_t *data, *words;

    mp_begin();
    rounds = mp_path_is("local") ? mp_rounds(20000, 1000000) : mp_rounds(1000, 100000);
    data = mp_alloc(sizeof *data * WINDOW);
    words = mp_alloc(2 * WORDS * sizeof *words);
    wrong = run(&(struct stream){.data = data, .words = words, .fence = fence}, (uint64_t)rounds);
    wrong +=
        run(&(struct stream){.data = static_data, .words = words + WORDS, .fence = fence}, (uint64_t)rounds);
    mp_check(!fence || !wrong, "%ld rounds of %ld came after their flag", wrong, 2 * rounds);
    if (!fence)
        mp_note("without the fence: %ld of %ld rounds seen after their flag", wrong, 2 * rounds);
    return mp_end();
}

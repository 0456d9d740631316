/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counted puts, a quiet or none, a barrier: then the target fetches the whole count, without waiting for it, and finds
 * the data, also where it comes late to the barrier. From the left neighbour's default context and another one, of few
 * bytes and of many. With the argument --no-fence there is neither quiet nor barrier, but a sync, which completes
 * nothing: what was not counted yet is counted and printed.
 * paths: local:2,4 tcp:4 efa:2 rails:2 shm:2 mixed:4 mixedefa:4 split:2 splitback:2
 * long paths: tcp:2
 * timeout: 90
 */
#include "test/common/mp.h"

#include <shmemx.h>

#include <string.h>

enum { PUTS = 4, PLACE = 40000 };

static const size_t words[] = {1, 0, 7, 64, 513, 8, 926, PLACE};

/* Of PUTS puts of a round each has its place, and its counter of two. */
struct stream {
    uint64_t *data, *source; /* [PUTS][PLACE] */
    shmemx_counter_t counter[2];
    shmem_ctx_t ctx;
    bool fence;
    long late, wrong;
};

static size_t words_of(uint64_t round, int put)
{
    return words[(round * 7 + (uint64_t)put) % (sizeof words / sizeof words[0])];
}

static uint64_t value_of(uint64_t round, int put, int pe)
{
    return round * 64 + (uint64_t)put * 8 + (uint64_t)pe % 8;
}

static void send_round(const struct stream *s, uint64_t round)
{
    for (int i = 0; i < PUTS; i++) {
        uint64_t *source = s->source + i * PLACE;
        size_t n = words_of(round, i);

        for (size_t k = 0; k < n; k++)
            source[k] = value_of(round, i, mp_me);
        shmemx_ctx_putmem_counted_nbi(i / 2 ? s->ctx : SHMEM_CTX_DEFAULT, s->data + i * PLACE, source,
                                      n * sizeof *source, s->counter[i % 2], mp_right());
    }
}

/* A barrier of the default context leaves the other one alone. */
static void complete(const struct stream *s, uint64_t round)
{
    if (!s->fence) {
        shmem_sync_all();
        return;
    }
    if (round % 2)
        shmem_quiet();
    shmem_ctx_quiet(s->ctx);
    if ((round * 31 + (uint64_t)mp_me) % 64 == 0)
        mp_sleep(0.0003);
    shmem_barrier_all();
}

static void read_round(struct stream *s, uint64_t round)
{
    for (int c = 0; c < 2; c++)
        s->late += shmemx_counter_fetch(s->counter[c]) != round * PUTS / 2;
    for (int i = 0; i < PUTS; i++)
        for (size_t k = words_of(round, i); k--;)
            s->wrong += __atomic_load_n(&s->data[i * PLACE + (int)k], __ATOMIC_RELAXED) !=
                        value_of(round, i, mp_left());
}

static void run(struct stream *s, uint64_t rounds)
{
    for (uint64_t round = 1; round <= rounds; round++) {
        send_round(s, round);
        complete(s, round);
        read_round(s, round);
        shmem_ctx_quiet(s->ctx);
        shmem_barrier_all();
    }
    mp_check(!s->fence || !s->late, "%ld of %lu counts were not complete after a barrier", s->late,
             (unsigned long)(2 * rounds));
    mp_check(!s->fence || !s->wrong, "%ld words came after the count", s->wrong);
    mp_note("counted puts, %s: %lu rounds, %ld counts late",
            s->fence ? "barrier, fetch" : "without a barrier", (unsigned long)rounds, s->late);
}

int main(int argc, char **argv)
{
    struct stream s = {.fence = argc < 2 || strcmp(argv[1], "--no-fence")};

    mp_begin();
    s.data = mp_alloc(PUTS * PLACE * sizeof *s.data);
    s.source = mp_alloc(PUTS * PLACE * sizeof *s.source);
    mp_check(!shmem_ctx_create(SHMEM_CTX_SERIALIZED, &s.ctx), "no context");
    mp_check(!shmemx_counter_create(SHMEM_TEAM_WORLD, 2, s.counter), "no counters");
    run(&s, (uint64_t)(mp_path_is("local") ? mp_rounds(1500, 1000000) : mp_rounds(200, 100000)));
    shmem_ctx_destroy(s.ctx);
    mp_check(!shmemx_counter_destroy(SHMEM_TEAM_WORLD, 2, s.counter), "not destroyed");
    return mp_end();
}

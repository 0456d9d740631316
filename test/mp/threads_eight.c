/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eight threads a PE at SHMEM_THREAD_MULTIPLE use every class of routine at the same time, each on a context of its own
 * of another kind, on the default one and on one that all share: contexts come and go, blocks are put and got,
 * strided too, atomics count, signals and sets of words are waited for, sessions gather, locks exclude the other PEs.
 * paths: local:2,3 tcp:2 sets:2 shm:2 mixed:4 split:2 single
 * timeout: 120
 */
#include "test/common/mp.h"

#include <pthread.h>

enum { THREADS = 8, BLOCK = 24, COUNTERS = 4 };

static const long options[] = {0, SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE,
                               SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE};

/* One a thread, written by the same thread of the left neighbour. */
static struct mailbox {
    long block[BLOCK], strided[BLOCK], small[BLOCK], sum[COUNTERS];
    uint64_t signal, words[2], counted;
    long lock, guarded;
} boxes[THREADS];

static shmem_ctx_t shared;
static long rounds;

struct thread {
    pthread_t id;
    int number;
};

/*
 * What a peer has stored, by way of a library that ThreadSanitizer's suppressions name only as long as its history
 * reaches back to the store: not for its eyes.
 */
__attribute__((no_sanitize("thread"), noinline)) static bool are(const long *words, int n, long wanted)
{
    while (n > 0 && words[n - 1] == wanted)
        n--;
    return n == 0;
}

/* Blocks there, then their signal; what the left one has sent is read, and acknowledged in the words. */
static void exchange(struct mailbox *box, shmem_ctx_t ctx, long round)
{
    long mine[BLOCK], back[BLOCK] = {0};
    uint64_t flags[2] = {(uint64_t)round, (uint64_t)round};

    for (int i = 0; i < BLOCK; i++)
        mine[i] = round * 100 + mp_me;
    shmem_ctx_long_iput(ctx, box->strided, mine, 2, 1, BLOCK / 2, mp_right());
    shmem_ctx_long_ibput(ctx, box->strided + 1, mine, 2, 1, 1, BLOCK / 2, mp_right());
    shmem_ctx_fence(ctx);
    shmem_ctx_long_put_signal(ctx, box->block, mine, BLOCK, &box->signal, 1, SHMEM_SIGNAL_ADD, mp_right());
    shmem_signal_wait_until(&box->signal, SHMEM_CMP_GE, (uint64_t)round);
    mp_check(are(box->block, BLOCK, round * 100 + mp_left()), "round %ld: wrong block", round);
    mp_check(are(box->strided, BLOCK, round * 100 + mp_left()), "round %ld: wrong strided block", round);
    shmem_ctx_quiet(ctx);
    shmem_ctx_long_get_nbi(ctx, back, box->block, BLOCK, mp_right());
    shmem_ctx_quiet(ctx);
    mp_check(are(back, BLOCK, mine[0]), "round %ld: wrong block got", round);
    mp_check(shmem_ctx_long_g(ctx, &box->strided[2], mp_right()) == mine[0], "round %ld: g", round);
    shmem_uint64_p(&box->words[0], flags[0], mp_left());
    shmem_ctx_uint64_atomic_set(shared, &box->words[1], flags[1], mp_left());
    shmem_uint64_wait_until_all_vector(box->words, 2, NULL, SHMEM_CMP_EQ, flags);
    mp_check(shmem_uint64_test_any(box->words, 2, NULL, SHMEM_CMP_EQ, flags[0]) < 2, "round %ld: test_any",
             round);
}

static void count(struct mailbox *box, shmem_ctx_t ctx)
{
    long old = -1, before;

    shmem_long_atomic_inc(&box->sum[0], mp_right());
    shmem_ctx_long_atomic_add(shared, &box->sum[1], 2, mp_right());
    before = shmem_ctx_long_atomic_fetch_add(ctx, &box->sum[2], 3, mp_right());
    shmem_ctx_long_atomic_fetch_inc_nbi(ctx, &old, &box->sum[3], mp_right());
    shmem_ctx_pe_quiet(ctx, &(int){mp_right()}, 1);
    mp_check(before == 3 * old, "sums of %ld and %ld", before, old);
}

/* The lock of a number is asked for by one thread of every PE. */
static void guard(struct mailbox *box)
{
    if (mp_me % 2)
        shmem_set_lock(&box->lock);
    else
        while (shmem_test_lock(&box->lock))
            mp_sleep(0.0001);
    shmem_long_p(&box->guarded, shmem_long_g(&box->guarded, 0) + 1, 0);
    shmem_clear_lock(&box->lock);
}

/* Small puts that a session may gather; the last of them is seen by a test. */
static void gather(struct mailbox *box, shmem_ctx_t ctx, long round)
{
    shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, NULL, 0);
    for (int i = 0; i < BLOCK; i++)
        shmem_ctx_long_p(ctx, &box->small[i], -round, mp_right());
    shmem_ctx_fence(ctx);
    shmem_ctx_uint64_p(ctx, &box->counted, (uint64_t)round, mp_right());
    while (!shmem_uint64_test(&box->counted, SHMEM_CMP_GE, (uint64_t)round))
        ;
    mp_check(are(box->small, BLOCK, -round), "round %ld: wrong words gathered", round);
    shmem_ctx_session_stop(ctx);
    shmem_ctx_quiet(ctx);
}

static void *thread_main(void *arg)
{
    const struct thread *thread = arg;
    struct mailbox *box = &boxes[thread->number];

    for (long round = 1; round <= rounds; round++) {
        shmem_ctx_t ctx = SHMEM_CTX_INVALID;

        if (!mp_check(!shmem_ctx_create(options[(thread->number + round) % 4], &ctx), "no context"))
            break;
        exchange(box, ctx, round);
        count(box, ctx);
        guard(box);
        gather(box, ctx, round);
        shmem_ctx_destroy(ctx);
    }
    return NULL;
}

static void check_sums(const struct mailbox *box)
{
    static const long each[COUNTERS] = {1, 2, 3, 1};

    for (int i = 0; i < COUNTERS; i++)
        mp_check(box->sum[i] == each[i] * rounds, "counter %d: %ld of %ld", i, box->sum[i], each[i] * rounds);
    if (mp_me == 0)
        mp_check(box->guarded == rounds * mp_npes, "under the lock: %ld of %ld", box->guarded,
                 rounds * mp_npes);
}

int main(void)
{
    struct thread threads[THREADS];

    mp_begin_thread(SHMEM_THREAD_MULTIPLE);
    rounds = mp_rounds(mp_path_is("local") || mp_path_is("single") ? 60 : 12, 2000);
    mp_check(!shmem_ctx_create(0, &shared), "no shared context");
    shmem_barrier_all();
    for (int t = 0; t < THREADS; t++) {
        threads[t].number = t;
        pthread_create(&threads[t].id, NULL, thread_main, &threads[t]);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t].id, NULL);
    shmem_ctx_destroy(shared);
    shmem_barrier_all();
    for (int t = 0; t < THREADS; t++)
        check_sums(&boxes[t]);
    return mp_end();
}

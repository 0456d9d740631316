/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * At SHMEM_THREAD_MULTIPLE several threads a PE put, get, update and wait at the same time, on the default context,
 * on a context shared by all and on private ones; nothing is lost.
 * paths: local:2,4 tcp:2 sets:2 setsefa:2 shm:2 mixed:4 split:2 single
 */
#include "test/common/mp.h"

#include <pthread.h>

#define THREADS 4

struct thread {
    pthread_t id;
    int number;
    shmem_ctx_t own;
};

static long slots[THREADS], sums[3];
static uint64_t signals[THREADS];
static shmem_ctx_t shared;
static long rounds;

/* The same thread of the left neighbour sends here; its acknowledgement comes as the signal of the way back. */
static void ping_round(const struct thread *thread, long round)
{
    int t = thread->number;
    long value = round * 10 + mp_me;

    shmem_ctx_long_p(thread->own, &slots[t], value, mp_right());
    shmem_ctx_fence(thread->own);
    shmem_ctx_uint64_atomic_add(thread->own, &signals[t], 1, mp_right());
    shmem_signal_wait_until(&signals[t], SHMEM_CMP_GE, (uint64_t)round);
    value = __atomic_load_n(&slots[t], __ATOMIC_RELAXED);
    mp_check(value >= round * 10 && value % 10 == mp_left() % 10, "thread %d, round %ld: %ld", t, round,
             value);
}

static void *thread_main(void *arg)
{
    const struct thread *thread = arg;

    for (long round = 1; round <= rounds; round++) {
        shmem_long_atomic_add(&sums[0], 1, mp_right());
        shmem_ctx_long_atomic_inc(shared, &sums[1], mp_right());
        shmem_ctx_long_atomic_fetch_add(thread->own, &sums[2], 2, mp_right());
        ping_round(thread, round);
        if (round % 32 == 0) {
            shmem_quiet();
            shmem_ctx_quiet(shared);
        }
    }
    shmem_ctx_quiet(thread->own);
    return NULL;
}

int main(void)
{
    struct thread threads[THREADS];

    mp_begin_thread(SHMEM_THREAD_MULTIPLE);
    rounds = mp_rounds(mp_path_is("local") ? 500 : 150, 20000);
    mp_check(shmem_ctx_create(0, &shared) == 0, "no shared context");
    for (int t = 0; t < THREADS; t++) {
        threads[t].number = t;
        mp_check(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &threads[t].own) == 0, "no context for thread %d", t);
    }
    shmem_barrier_all();
    for (int t = 0; t < THREADS; t++)
        pthread_create(&threads[t].id, NULL, thread_main, &threads[t]);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t].id, NULL);
    shmem_ctx_destroy(shared);
    for (int t = 0; t < THREADS; t++)
        shmem_ctx_destroy(threads[t].own);
    shmem_barrier_all();
    mp_check(sums[0] == rounds * THREADS, "default context: %ld of %ld", sums[0], rounds * THREADS);
    mp_check(sums[1] == rounds * THREADS, "shared context: %ld of %ld", sums[1], rounds * THREADS);
    mp_check(sums[2] == 2 * rounds * THREADS, "own contexts: %ld of %ld", sums[2], 2 * rounds * THREADS);
    return mp_end();
}

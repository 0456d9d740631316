/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A context's quiet and fence concern its own operations only: a quiet on one returns while another has an
 * operation to a stopped PE under way; order on one context holds while another one is busy.
 * Not over libfabric's shm provider, which reports completions in the order of issue over all peers.
 * paths: local:3 tcp:3 sets:3 setsefa:3 mixed:4
 */
#include "test/common/mp.h"

#define LEN ((size_t)1 << 20)
#define STOPPED_SECONDS 2.0

/* PE 0, while the last PE is stopped. */
static void quiet_one_of_two(char *slot, char *src, shmem_ctx_t busy, shmem_ctx_t quick)
{
    double start = mp_now(), took;

    shmem_ctx_putmem_nbi(busy, slot, src, LEN, mp_npes - 1);
    shmem_ctx_putmem_nbi(quick, slot, src, LEN, 1);
    shmem_ctx_quiet(quick);
    took = mp_now() - start;
    mp_check(took < STOPPED_SECONDS * 0.8, "quiet of a context took %.3f s: it waited for another one", took);
    shmem_ctx_quiet(busy);
}

static void order_beside_busy(char *slot, char *src, uint64_t *words, shmem_ctx_t busy, shmem_ctx_t quick)
{
    for (uint64_t round = 1; round <= (uint64_t)mp_rounds(50, 2000); round++) {
        shmem_ctx_putmem_nbi(busy, slot, src, LEN / 8, mp_right());
        shmem_ctx_uint64_p(quick, &words[0], round, mp_right());
        shmem_ctx_fence(quick);
        shmem_ctx_uint64_p(quick, &words[1], round, mp_right());
        shmem_uint64_wait_until(&words[1], SHMEM_CMP_GE, round);
        mp_check(__atomic_load_n(&words[0], __ATOMIC_RELAXED) >= round, "a flag overtook its data");
        shmem_ctx_quiet(busy);
    }
}

int main(void)
{
    shmem_ctx_t busy = SHMEM_CTX_INVALID, quick = SHMEM_CTX_INVALID;
    int *about_to_stop;
    uint64_t *words;
    char *slot, *src;

    mp_stopper_start();
    mp_begin();
    if (mp_npes < 2)
        mp_skip("needs another PE");
    slot = mp_alloc(LEN);
    src = mp_alloc(LEN);
    words = mp_alloc(2 * sizeof *words);
    about_to_stop = mp_alloc(sizeof *about_to_stop);
    mp_check(!shmem_ctx_create(0, &busy) && !shmem_ctx_create(0, &quick), "contexts cannot be created");
    shmem_ctx_putmem(busy, slot, src, LEN, mp_right());
    order_beside_busy(slot, src, words, busy, quick);
    shmem_barrier_all();
    if (mp_me == mp_npes - 1) {
        shmem_int_p(about_to_stop, 1, 0);
        shmem_quiet();
        mp_stopper_stop_me(STOPPED_SECONDS);
    }
    if (mp_me == 0) {
        shmem_int_wait_until(about_to_stop, SHMEM_CMP_EQ, 1);
        mp_sleep(STOPPED_SECONDS / 4);
        quiet_one_of_two(slot, src, busy, quick);
    }
    mp_stopper_end();
    shmem_ctx_destroy(busy);
    shmem_ctx_destroy(quick);
    return mp_end();
}

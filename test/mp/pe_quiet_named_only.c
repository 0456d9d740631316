/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pe_quiet completes what went to the PEs it names, and does not wait for others: it returns while a PE that it
 * does not name is stopped.
 * Not over libfabric's shm provider, which reports completions in the order of issue over all peers.
 * paths: local:3 tcp:3 mixed:4
 */
#include "test/common/mp.h"

#define LEN ((size_t)1 << 20)
#define STOPPED_SECONDS 2.0

/* PE 0, while the last PE is stopped. */
static void write_to_both(char *slot, char *src, char *back)
{
    int named = 1, stopped = mp_npes - 1;
    double start = mp_now(), took;

    shmem_putmem_nbi(slot, src, LEN, stopped);
    shmem_putmem_nbi(slot, src, LEN, named);
    shmem_pe_quiet(&named, 1);
    took = mp_now() - start;
    mp_check(took < STOPPED_SECONDS * 0.8, "pe_quiet of PE 1 took %.3f s: it waited for the stopped PE",
             took);
    shmem_getmem(back, slot, LEN, named);
    mp_check(!mp_wrong(back, LEN, 1), "PE 1 does not hold the data after its pe_quiet");
    shmem_pe_quiet(&stopped, 1);
    shmem_getmem(back, slot, LEN, stopped);
    mp_check(!mp_wrong(back, LEN, 1), "the last PE does not hold the data after its pe_quiet");
    shmem_pe_quiet(NULL, 0);
}

int main(void)
{
    char *slot, *src, *back;
    int *about_to_stop;

    mp_stopper_start();
    mp_begin();
    if (mp_npes < 2)
        mp_skip("needs another PE");
    slot = mp_alloc(LEN);
    src = mp_alloc(LEN);
    back = mp_alloc(LEN);
    about_to_stop = mp_alloc(sizeof *about_to_stop);
    mp_fill(src, LEN, 1);
    /* One exchange first, so that connections exist. */
    shmem_putmem(slot, back, LEN, mp_right());
    shmem_barrier_all();
    if (mp_me == mp_npes - 1) {
        shmem_int_p(about_to_stop, 1, 0);
        shmem_quiet();
        mp_stopper_stop_me(STOPPED_SECONDS);
    }
    if (mp_me == 0) {
        shmem_int_wait_until(about_to_stop, SHMEM_CMP_EQ, 1);
        mp_sleep(STOPPED_SECONDS / 4);
        write_to_both(slot, src, back);
    }
    mp_stopper_end();
    return mp_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts to one word again and again, in the manner that its argument names, for checked_overwrites.sh. */
#include "test/common/mp.h"

#include <string.h>

#define ROUNDS 20

static long *words, *source;
static uint64_t *bell;

/* 19 overwrites by p, then 1 by put and 20 by p. */
static void twice(void)
{
    for (long i = 0; i < ROUNDS; i++)
        shmem_long_p(words, i, 1);
    shmem_long_put(words - 1, source, 4, 1);
    for (long i = 0; i < ROUNDS; i++)
        shmem_int_p((int *)words + 1, (int)i, 1);
}

static void fenced(void)
{
    for (long i = 0; i < ROUNDS; i++) {
        shmem_long_p(words, i, 1);
        shmem_fence();
        shmem_long_put_nbi(words - 1, source, 4, 1);
        shmem_quiet();
    }
}

static void apart(void)
{
    for (long i = 0; i < ROUNDS; i++) {
        shmem_long_p(words + i, i, 1);
        shmem_long_p(words + i, i, 0); /* another PE */
        shmem_long_atomic_add(words + i, 1, 1);
    }
}

/* PE 1 answers, so that it has seen each put before the next. */
static void answered(void)
{
    for (long i = 1; i <= ROUNDS; i++) {
        if (mp_me == 0)
            shmem_long_put_signal(words, source, 1, bell, (uint64_t)i, SHMEM_SIGNAL_SET, 1);
        shmem_signal_wait_until(bell, SHMEM_CMP_EQ, (uint64_t)i);
        if (mp_me == 1)
            shmem_signal_set(bell, (uint64_t)i, 0);
    }
}

int main(int argc, char **argv)
{
    const char *name = argc == 2 ? argv[1] : "";

    mp_begin();
    words = (long *)mp_alloc(64 * sizeof *words) + 1;
    source = mp_alloc(64 * sizeof *source);
    bell = mp_alloc(sizeof *bell);
    if (!strcmp(name, "twice") && mp_me == 0)
        twice();
    if (!strcmp(name, "fenced") && mp_me == 0)
        fenced();
    if (!strcmp(name, "apart") && mp_me == 0)
        apart();
    if (!strcmp(name, "answered"))
        answered();
    return mp_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The allocation routines give symmetric, aligned, (calloc) zeroed memory, keep contents over realloc, and
 * answer sizes of 0 and impossible ones with NULL on every PE.
 * paths: local:2,3 tcp:2 mixed:4 single
 */
#include "test/types/values.h"

/* Memory of another PE at this address is that PE's: everybody writes its number to the right. */
static void check_symmetric(int *word, const char *routine)
{
    if (!mp_check(word != NULL, "%s gave nothing", routine))
        return;
    shmem_int_p(word, mp_me, mp_right());
    shmem_barrier_all();
    mp_check(*word == mp_left(), "%s: the word of PE %d", routine, *word);
    shmem_barrier_all();
}

static void check_align(void)
{
    for (size_t alignment = 1; alignment <= (size_t)1 << 16; alignment *= 2) {
        char *at = shmem_align(alignment, 24);

        mp_check((uintptr_t)at % alignment == 0, "%p is not aligned to %zu", (void *)at, alignment);
        check_symmetric((int *)at, "shmem_align");
        shmem_free(at);
    }
}

static void check_realloc(void)
{
    char *at = shmem_realloc(NULL, 1000);

    check_symmetric((int *)at, "shmem_realloc");
    mp_fill(at, 1000, (uint64_t)mp_me);
    for (size_t size = 2000; size <= 64000; size *= 2) {
        at = shmem_realloc(at, size);
        mp_check(at && !mp_wrong(at, 1000, (uint64_t)mp_me), "contents after growing to %zu", size);
    }
    at = shmem_realloc(at, 100);
    mp_check(at && !mp_wrong(at, 100, (uint64_t)mp_me), "contents after shrinking");
    mp_check(shmem_realloc(at, 0) == NULL, "freed by shmem_realloc");
}

static void check_none(void)
{
    mp_check(!shmem_malloc(0) && !shmem_align(64, 0) && !shmem_malloc_with_hints(0, 0), "memory of size 0");
    mp_check(!shmem_calloc(0, 8) && !shmem_calloc(8, 0), "objects of size 0");
    mp_check(!shmem_malloc(SIZE_MAX / 2) && !shmem_calloc(SIZE_MAX / 2, 4), "impossible sizes");
    shmem_free(NULL);
}

/* The first names of the routines. */
static void check_old_names(void)
{
    char *at = shmalloc(100), *aligned;

    check_symmetric((int *)at, "shmalloc");
    mp_fill(at, 100, (uint64_t)mp_me);
    at = shrealloc(at, 5000);
    mp_check(at && !mp_wrong(at, 100, (uint64_t)mp_me), "contents after shrealloc");
    aligned = shmemalign(4096, 100);
    mp_check(aligned && (uintptr_t)aligned % 4096 == 0, "%p of shmemalign", (void *)aligned);
    shfree(aligned);
    shfree(at);
    shfree(NULL);
}

int main(void)
{
    long hints = SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE;
    char *zeroed;
    int *word;

    mp_begin();
    word = shmem_malloc(sizeof *word);
    check_symmetric(word, "shmem_malloc");
    shmem_free(word);
    word = shmem_malloc_with_hints(sizeof *word, hints);
    check_symmetric(word, "shmem_malloc_with_hints");
    shmem_free(word);
    word = shmem_malloc_with_hints(sizeof *word, 1L << 40 | 1L << 61); /* hints that nobody knows */
    check_symmetric(word, "shmem_malloc_with_hints");
    shmem_free(word);
    zeroed = shmem_calloc(100, 10);
    for (int i = 0; i < 1000; i++)
        mp_check(zeroed[i] == 0, "byte %d of shmem_calloc", i);
    shmem_barrier_all();
    check_symmetric((int *)zeroed, "shmem_calloc");
    shmem_free(zeroed);
    check_align();
    check_realloc();
    check_none();
    check_old_names();
    return mp_end();
}

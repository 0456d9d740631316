/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the one mistake that its argument names, for bad_input.sh. Exit status 9: the mistake was not noticed. */
#include "test/common/mp.h"

#include <shmemx.h>
#include <stdlib.h>
#include <string.h>

static long *word;

static void pe_too_large(void)
{
    shmem_long_p(word, 1, mp_npes);
}

static void pe_negative(void)
{
    shmem_long_g(word, -1);
}

static void null_dest(void)
{
    shmem_long_put(NULL, word, 1, 0);
}

static void automatic_dest(void)
{
    long here[4] = {0};

    shmem_long_put(here, word, 1, 0);
}

static void malloc_dest(void)
{
    shmem_long_atomic_inc(malloc(64), 0);
}

static void beyond_end(void)
{
    shmem_putmem(word, word, (size_t)1 << 40, 0);
}

static void misaligned_atomic(void)
{
    shmem_long_atomic_inc((long *)((char *)word + 1), 0);
}

static void null_signal(void)
{
    shmem_long_put_signal(word, word, 1, NULL, 1, SHMEM_SIGNAL_SET, 0);
}

static void free_twice(void)
{
    shmem_free(word);
    shmem_free(word);
}

static void free_later_twice(void)
{
    shmemx_free_later(word);
    shmemx_free_later(word);
}

static void invalid_ctx(void)
{
    shmem_ctx_long_p(SHMEM_CTX_INVALID, word, 1, 0);
}

static void lock_twice(void)
{
    shmem_set_lock(word);
    shmem_set_lock(word);
}

static void clear_foreign_lock(void)
{
    shmem_clear_lock(word);
}

static void automatic_lock(void)
{
    long lock = 0;

    shmem_test_lock(&lock);
}

static void after_finalize(void)
{
    shmem_finalize();
    shmem_my_pe();
    shmem_barrier_all();
}

static void batch_twice(void)
{
    shmemx_batch_begin();
    shmemx_batch_begin();
}

static void queues_too_many(void)
{
    int queues[1];

    shmemx_queue_create(4097, queues);
}

static void counter_made_up(void)
{
    shmemx_putmem_counted_nbi(word, word, 8, 12345, 0);
}

/* Another one has its place by then. */
static void counter_destroyed(void)
{
    shmemx_counter_t counter, again;

    shmemx_counter_create(SHMEM_TEAM_WORLD, 1, &counter);
    shmemx_counter_destroy(SHMEM_TEAM_WORLD, 1, &counter);
    shmemx_counter_create(SHMEM_TEAM_WORLD, 1, &again);
    if (mp_me == 0)
        shmemx_counter_wait_until(counter, 1);
}

static void counters_not_a_row(void)
{
    shmemx_counter_t counters[3];

    shmemx_counter_create(SHMEM_TEAM_WORLD, 3, counters);
    if (mp_me == 0)
        shmemx_counter_destroy(SHMEM_TEAM_WORLD, 2, counters);
}

static const struct {
    const char *name;
    void (*make)(void);
    bool collective; /* all PEs make it, not PE 0 alone */
} mistakes[] = {
    {"after_finalize", after_finalize, true},
    {"automatic_dest", automatic_dest, false},
    {"automatic_lock", automatic_lock, false},
    {"batch_twice", batch_twice, false},
    {"beyond_end", beyond_end, false},
    {"clear_foreign_lock", clear_foreign_lock, false},
    {"counter_destroyed", counter_destroyed, true},
    {"counter_made_up", counter_made_up, false},
    {"counters_not_a_row", counters_not_a_row, true},
    {"free_twice", free_twice, true},
    {"free_later_twice", free_later_twice, true},
    {"invalid_ctx", invalid_ctx, false},
    {"lock_twice", lock_twice, false},
    {"malloc_dest", malloc_dest, false},
    {"misaligned_atomic", misaligned_atomic, false},
    {"null_dest", null_dest, false},
    {"null_signal", null_signal, false},
    {"pe_negative", pe_negative, false},
    {"pe_too_large", pe_too_large, false},
    {"queues_too_many", queues_too_many, false},
};

int main(int argc, char **argv)
{
    mp_begin();
    word = mp_alloc(64);
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        if (argc == 2 && !strcmp(argv[1], mistakes[i].name) && (mp_me == 0 || mistakes[i].collective))
            mistakes[i].make();
    }
    mp_sleep(mp_me == 0 ? 0 : 5); /* the others do not end before PE 0 was noticed */
    exit(9);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random updates of a table that is shared among the PEs, as the benchmark RandomAccess (GUPS) makes them: each
 * update is an atomic exclusive-or of one word of a random PE. The same updates once more give the table that was
 * there before, which is how it is checked.
 *
 *   oshcc -O2 -o gups gups.c && oshrun -n 4 ./gups [UPDATES_OF_A_PE]
 */
#include <shmem.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WORDS = 1 << 16 /* of a PE */ };

/* xorshift64*: a stream of its own for each PE. */
static uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1dull;
}

static void update(uint64_t *table, long updates)
{
    uint64_t state = 0x9e3779b97f4a7c15ull * (uint64_t)(shmem_my_pe() + 1), n = (uint64_t)shmem_n_pes();

    for (long i = 0; i < updates; i++) {
        uint64_t value = random_next(&state);
        shmem_uint64_atomic_xor(&table[value % WORDS], value, (int)(value / WORDS % n));
    }
    shmem_barrier_all(); /* completes the updates of all PEs, too */
}

static double seconds(void)
{
    struct timespec now;

    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    static long wrong, all;
    long updates = argc > 1 ? atol(argv[1]) : 100000;
    double time;
    uint64_t *table;
    uint64_t first;

    shmem_init();
    first = (uint64_t)shmem_my_pe() * WORDS;
    table = shmem_malloc(WORDS * sizeof *table);
    if (!table)
        shmem_global_exit(1);
    for (uint64_t i = 0; i < WORDS; i++)
        table[i] = first + i;
    shmem_barrier_all();

    time = -seconds();
    update(table, updates);
    time += seconds();
    update(table, updates);
    for (uint64_t i = 0; i < WORDS; i++)
        wrong += table[i] != first + i;

    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all, &wrong, 1);
    if (shmem_my_pe() == 0)
        printf("gups: %d PEs, %ld updates each, %.3f million a second, %ld wrong\n", shmem_n_pes(), updates,
               1e-6 * (double)updates * shmem_n_pes() / time, all);
    shmem_free(table);
    shmem_finalize();
    return all != 0;
}

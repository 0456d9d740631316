/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hash table that is shared among the PEs, without locks: a key's hash says its PE and its first slot there. An
 * atomic compare-and-swap claims an empty slot, a key that finds another one goes to the next, and an atomic
 * addition counts. All PEs count the same kind of words at the same time; then every PE looks up its part of them.
 *
 *   oshcc -O2 -o hash_table hash_table.c && oshrun -n 4 ./hash_table
 */
#include <shmem.h>

#include <stdio.h>

enum { SLOTS = 4096 /* of a PE */, KEYS = 1000, WORDS = 5000 /* that a PE counts */ };

struct slot {
    uint64_t key; /* 0: empty */
    uint64_t count;
};

static uint64_t hash(uint64_t key)
{
    key = (key ^ key >> 33) * 0xff51afd7ed558ccdull;
    key = (key ^ key >> 33) * 0xc4ceb9fe1a85ec53ull;
    return key ^ key >> 33;
}

/* Word `i` of a PE: small keys come more often than large ones. */
static uint64_t word(int pe, int i)
{
    uint64_t a = hash((uint64_t)pe * WORDS + (uint64_t)i + 1) % KEYS, b = hash(a + (uint64_t)i) % KEYS;

    return 1 + (a < b ? a : b);
}

/* The key's slot and its PE. `claim`: an empty one becomes the key's, if it has none. NULL: it is not in the table. */
static struct slot *slot_find(struct slot *table, uint64_t key, int claim, int *pe)
{
    uint64_t place = hash(key), n = (uint64_t)shmem_n_pes();

    *pe = (int)(place % n);
    for (uint64_t i = 0; i < SLOTS; i++) {
        struct slot *slot = &table[(place / n + i) % SLOTS];
        uint64_t there = claim ? shmem_uint64_atomic_compare_swap(&slot->key, 0, key, *pe)
                               : shmem_uint64_atomic_fetch(&slot->key, *pe);
        if (there == key || (claim && there == 0))
            return slot;
        if (there == 0)
            return NULL;
    }
    return NULL;
}

static void count_words(struct slot *table)
{
    for (int i = 0; i < WORDS; i++) {
        int pe;
        struct slot *slot = slot_find(table, word(shmem_my_pe(), i), 1, &pe);
        if (!slot) {
            fprintf(stderr, "hash_table: the part of PE %d is full\n", pe);
            shmem_global_exit(1);
        }
        shmem_uint64_atomic_inc(&slot->count, pe);
    }
}

/* Looks up every n-th key, from this PE's number on, and the key 0xffff, which nobody has counted. */
static long wrong_counts(struct slot *table)
{
    static uint64_t wanted[KEYS + 1];
    struct slot *slot;
    long wrong = 0;
    int pe;

    for (int from = 0; from < shmem_n_pes(); from++)
        for (int i = 0; i < WORDS; i++)
            wanted[word(from, i)]++;
    for (int key = 1 + shmem_my_pe(); key <= KEYS; key += shmem_n_pes()) {
        slot = slot_find(table, (uint64_t)key, 0, &pe);
        wrong += (slot ? shmem_uint64_atomic_fetch(&slot->count, pe) : 0) != wanted[key];
    }
    return wrong + (slot_find(table, 0xffff, 0, &pe) != NULL);
}

int main(void)
{
    static long wrong, all;
    struct slot *table;

    shmem_init();
    table = shmem_calloc(SLOTS, sizeof *table);
    if (!table)
        shmem_global_exit(1);
    count_words(table);
    shmem_barrier_all();
    wrong = wrong_counts(table);

    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all, &wrong, 1);
    if (shmem_my_pe() == 0)
        printf("hash_table: %d PEs, %d words counted, %ld wrong\n", shmem_n_pes(), WORDS * shmem_n_pes(),
               all);
    shmem_free(table);
    shmem_finalize();
    return all != 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sample sort: each PE sorts its keys and shows some of them to all (fcollect), from which all choose the same
 * splitters. Keys between two splitters go to one PE: an alltoall says how many come from whom, and each PE puts its
 * pieces where they belong. Then every PE sorts what it has got.
 *
 *   oshcc -O2 -o sample_sort sample_sort.c && oshrun -n 4 ./sample_sort [KEYS_OF_A_PE]
 */
#include <shmem.h>

#include <stdio.h>
#include <stdlib.h>

enum { SAMPLES = 64 /* of a PE */ };

static int compare(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;

    return (first > second) - (first < second);
}

/* Words of symmetric memory; all PEs take as many. It ends with a barrier, as shmem_malloc does. */
static void *take(size_t count)
{
    void *memory = shmem_malloc(count * sizeof(uint64_t));

    if (!memory)
        shmem_global_exit(1); /* a line says why */
    return memory;
}

/* Where the keys of each PE begin among this PE's sorted ones: `starts` has n + 1 places. */
static void keys_split(const uint64_t *keys, long count, long *starts)
{
    int n = shmem_n_pes();
    uint64_t *mine = take(SAMPLES), *samples = take((size_t)n * SAMPLES);

    for (long i = 0; i < SAMPLES; i++)
        mine[i] = keys[count * i / SAMPLES];
    shmem_uint64_fcollect(SHMEM_TEAM_WORLD, samples, mine, SAMPLES);
    qsort(samples, (size_t)n * SAMPLES, sizeof *samples, compare);
    for (int pe = 0; pe <= n; pe++) {
        starts[pe] = pe == 0 ? 0 : pe == n ? count : starts[pe - 1];
        while (pe > 0 && starts[pe] < count && keys[starts[pe]] < samples[pe * SAMPLES])
            starts[pe]++;
    }
    shmem_free(samples);
    shmem_free(mine);
}

/* Sends each PE its keys. Returns what this PE has got, in symmetric memory, and how many. */
static uint64_t *keys_exchange(const uint64_t *keys, const long *starts, long *count)
{
    static long got, most;
    int n = shmem_n_pes();
    long *sizes = take((size_t)n), *counts = take((size_t)n), *first = take((size_t)n),
         *places = take((size_t)n);
    uint64_t *dest;

    for (int pe = 0; pe < n; pe++)
        sizes[pe] = starts[pe + 1] - starts[pe];
    shmem_long_alltoall(SHMEM_TEAM_WORLD, counts, sizes, 1); /* how many come from each PE */
    got = 0;
    for (int pe = 0; pe < n; pe++) {
        first[pe] = got;
        got += counts[pe];
    }
    shmem_long_alltoall(SHMEM_TEAM_WORLD, places, first, 1); /* where those for each PE go in its array */
    shmem_long_max_reduce(SHMEM_TEAM_WORLD, &most, &got, 1);
    dest = take((size_t)most + 1); /* symmetric: as much on all PEs */
    for (int pe = 0; pe < n; pe++)
        shmem_uint64_put_nbi(dest + places[pe], keys + starts[pe], (size_t)sizes[pe], pe);
    shmem_barrier_all(); /* completes the puts of all PEs, too */
    shmem_free(places);
    shmem_free(first);
    shmem_free(counts);
    shmem_free(sizes);
    *count = got;
    return dest;
}

/* Sorted here and behind the PE before, and in all the same keys as before: by their number, sum and exclusive-or. */
static long wrong_order(const uint64_t *keys, long count, const uint64_t before[3])
{
    static uint64_t sums[3], after[3], largest[1];
    uint64_t *last = take((size_t)shmem_n_pes());
    long wrong = 0;

    sums[0] = (uint64_t)count;
    for (long i = 0; i < count; i++) {
        wrong += i > 0 && keys[i - 1] > keys[i];
        sums[1] += keys[i];
        sums[2] ^= keys[i];
    }
    largest[0] = count ? keys[count - 1] : 0;
    shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, after, sums, 2);
    shmem_uint64_xor_reduce(SHMEM_TEAM_WORLD, after + 2, sums + 2, 1);
    shmem_uint64_fcollect(SHMEM_TEAM_WORLD, last, largest, 1);
    for (int i = 0; i < 3; i++)
        wrong += after[i] != before[i];
    for (int pe = 0; pe < shmem_my_pe(); pe++)
        wrong += count && last[pe] > keys[0];
    shmem_free(last);
    return wrong;
}

static uint64_t *keys_make(long count, uint64_t before[3])
{
    static uint64_t sums[3], all[3];
    uint64_t state = 0x9e3779b97f4a7c15ull * (uint64_t)(shmem_my_pe() + 1);
    uint64_t *keys = take((size_t)count);

    sums[0] = (uint64_t)count;
    for (long i = 0; i < count; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        keys[i] = state;
        sums[1] += state;
        sums[2] ^= state;
    }
    shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, all, sums, 2);
    shmem_uint64_xor_reduce(SHMEM_TEAM_WORLD, all + 2, sums + 2, 1);
    for (int i = 0; i < 3; i++)
        before[i] = all[i];
    return keys;
}

int main(int argc, char **argv)
{
    static long wrong, all;
    long count = argc > 1 && atol(argv[1]) > 0 ? atol(argv[1]) : 100000, got;
    uint64_t before[3], *keys, *sorted;
    long *starts;

    shmem_init();
    starts = take((size_t)shmem_n_pes() + 1);
    keys = keys_make(count, before);
    qsort(keys, (size_t)count, sizeof *keys, compare);
    keys_split(keys, count, starts);
    sorted = keys_exchange(keys, starts, &got);
    qsort(sorted, (size_t)got, sizeof *sorted, compare);
    wrong = wrong_order(sorted, got, before);

    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all, &wrong, 1);
    if (shmem_my_pe() == 0)
        printf("sample_sort: %d PEs, %ld keys each, %ld wrong\n", shmem_n_pes(), count, all);
    shmem_free(sorted);
    shmem_free(keys);
    shmem_free(starts);
    shmem_finalize();
    return all != 0;
}

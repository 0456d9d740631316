/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bucket sort by alltoallv: each PE puts its keys into one bucket for each PE, and one call exchanges all buckets, of
 * which only the sender knows the size. Where a PE's room was too little, it asks for more: all agree on it and call
 * again.
 *
 *   oshcc -O2 -o bucket_sort bucket_sort.c && oshrun -n 4 ./bucket_sort [KEYS_OF_A_PE]
 */
#include <shmem.h>
#include <shmemx.h>

#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;

    return (first > second) - (first < second);
}

static void *take(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (!memory)
        shmem_global_exit(1);
    return memory;
}

/* The PE whose bucket a key belongs to: the keys are spread evenly over all 64-bit numbers. */
static int pe_of(uint64_t key)
{
    return (int)((key >> 32) * (uint64_t)shmem_n_pes() >> 32);
}

/* Keys in the order of their buckets; how many are in each, and where it begins. */
static uint64_t *buckets_make(const uint64_t *keys, size_t count, size_t *counts, size_t *offsets)
{
    uint64_t *buckets = take(count + 1, sizeof *buckets);
    int n = shmem_n_pes();

    for (size_t i = 0; i < count; i++)
        counts[pe_of(keys[i])]++;
    for (int pe = 1; pe < n; pe++)
        offsets[pe] = offsets[pe - 1] + counts[pe - 1];
    for (size_t i = 0; i < count; i++)
        buckets[offsets[pe_of(keys[i])]++] = keys[i];
    for (int pe = 0; pe < n; pe++)
        offsets[pe] -= counts[pe];
    return buckets;
}

/* The keys of this PE, in symmetric memory, and how many. */
static uint64_t *keys_exchange(const uint64_t *buckets, const size_t *counts, const size_t *offsets,
                               size_t room, size_t *got)
{
    static size_t need, most;
    size_t n = (size_t)shmem_n_pes();
    size_t *dest_counts = take(n, sizeof *dest_counts), *dest_offsets = take(n, sizeof *dest_offsets);
    uint64_t *dest;

    for (most = room;; most = most > room ? most : room) {
        room = most;
        dest = shmem_malloc((room + 1) * sizeof *dest);
        if (!dest)
            shmem_global_exit(1);
        shmemx_uint64_alltoallv_packed_nelems(SHMEM_TEAM_WORLD, dest, dest_counts, dest_offsets, room, 1,
                                              &need, buckets, counts, offsets);
        *got = need;
        shmem_size_max_reduce(SHMEM_TEAM_WORLD, &most, &need, 1);
        if (most <= room)
            break;
        shmem_free(dest); /* nothing was written where it is too small */
    }
    free(dest_offsets);
    free(dest_counts);
    return dest;
}

/* Each PE has its own bucket alone, in order, and all keys are still there: by number and sum. */
static long wrong_order(const uint64_t *keys, size_t count, uint64_t before_count, uint64_t before_sum)
{
    static uint64_t sums[2], all[2];
    long wrong = 0;

    sums[0] = count;
    for (size_t i = 0; i < count; i++) {
        wrong += pe_of(keys[i]) != shmem_my_pe() || (i && keys[i - 1] > keys[i]);
        sums[1] += keys[i];
    }
    sums[0] -= before_count;
    sums[1] -= before_sum;
    shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, all, sums, 2);
    return wrong + (all[0] != 0) + (all[1] != 0);
}

int main(int argc, char **argv)
{
    static long wrong, all;
    size_t count = argc > 1 && atol(argv[1]) > 0 ? (size_t)atol(argv[1]) : 100000, got;
    size_t *counts, *offsets;
    uint64_t *keys, *buckets, *sorted, sum = 0, state;

    shmem_init();
    counts = take((size_t)shmem_n_pes(), sizeof *counts);
    offsets = take((size_t)shmem_n_pes(), sizeof *offsets);
    keys = take(count, sizeof *keys);
    state = 0x9e3779b97f4a7c15ull * (uint64_t)(shmem_my_pe() + 1);
    for (size_t i = 0; i < count; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        keys[i] = state;
        sum += state;
    }
    buckets = buckets_make(keys, count, counts, offsets);
    sorted = keys_exchange(buckets, counts, offsets, count / 2, &got);
    qsort(sorted, got, sizeof *sorted, compare);
    wrong = wrong_order(sorted, got, count, sum);

    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all, &wrong, 1);
    if (shmem_my_pe() == 0)
        printf("bucket_sort: %d PEs, %zu keys each, %ld wrong\n", shmem_n_pes(), count, all);
    shmem_free(sorted);
    free(buckets);
    free(keys);
    free(offsets);
    free(counts);
    shmem_finalize();
    return all != 0;
}

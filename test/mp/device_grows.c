/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device heap grows beyond what it began with, by pieces that all PEs reach; no allocation lies in two of them, and
 * addresses stay alike on all PEs. More than the setting allows is NULL on all, and the heap is used on afterwards.
 *
 * paths: fakegpu:2,3 fakegpu1:2 fakegpumixed:4 fakegpumixedefa:2 gpu:2 gpu1:2 gpumixed:2,4 gpuhmemefa:2
 * more paths: fakehmem:2,4 fakehmemefa:2
 * long paths: fakegpumixed:2
 */
#include "test/common/mp.h"

#include <shmemx.h>

#include <stdlib.h>

#define MIB ((size_t)1 << 20)

static char *heap; /* an address in it, from the start */

static void use(char *block, size_t len, uint64_t round)
{
    char *out = malloc(len), *in = malloc(len);
    long *word = (long *)(void *)block;

    mp_fill(out, len, round + (uint64_t)mp_me);
    shmem_putmem(block, out, len, mp_right());
    shmem_barrier_all();
    shmem_getmem(in, block, len, mp_me);
    mp_check(!mp_wrong(in, len, round + (uint64_t)mp_left()), "put to %zu bytes of round %lu", len,
             (unsigned long)round);
    shmem_barrier_all();
    shmem_putmem_nbi(block, block + len / 2, len / 4, mp_right()); /* between device memories */
    shmem_barrier_all();
    if (mp_me == 0)
        shmem_long_p(word, 40, mp_npes - 1);
    shmem_barrier_all();
    shmem_long_atomic_add(word, 1, mp_npes - 1);
    shmem_barrier_all();
    mp_check(shmem_long_g(word, mp_npes - 1) == 40 + mp_npes, "atomics on what was added");
    free(out);
    free(in);
}

/* The same offset in the heap on all PEs. */
static void check_alike(const char *block)
{
    static long here, all;

    here = block - heap;
    shmem_barrier_all();
    mp_check(!shmem_long_max_reduce(SHMEM_TEAM_WORLD, &all, &here, 1) && all == here,
             "blocks differ between PEs");
}

static void grows(size_t len, int n)
{
    char **block = calloc((size_t)n, sizeof *block);

    for (int i = 0; i < n; i++) {
        block[i] = shmemx_malloc_device(len);
        mp_check(block[i] != NULL, "block %d of %zu bytes", i, len);
        check_alike(block[i]);
    }
    for (int i = 0; i < n; i++)
        use(block[i], i % 3 ? 4096 : 300000, (uint64_t)i);
    for (int i = 0; i < n; i++) /* to its last byte */
        shmem_putmem(block[i] + len - 8, &i, sizeof i, mp_right());
    shmem_barrier_all();
    for (int i = 0; i < n; i++)
        shmemx_free_device(block[i]);
    free(block);
}

int main(void)
{
    void *again;
    char *large;

    setenv("SHMEM_DEVICE_SYMMETRIC_SIZE", "4M", 1);
    setenv("SHMEM_DEVICE_SYMMETRIC_MAX", "440M", 1);
    mp_begin();
    heap = shmemx_malloc_device(64);
    mp_check(heap != NULL, "no device memory");
    grows(MIB, 8);
    grows(3 * MIB + 64, 12);
    large = shmemx_calloc_device(1, 150 * MIB);
    mp_check(large != NULL, "a block larger than all there was");
    use(large, 4096, 900);
    mp_check(!shmemx_malloc_device(200 * MIB), "more than the heap may grow to");
    again = shmemx_malloc_device(30 * MIB);
    mp_check(again != NULL, "what is left");
    again = shmem_realloc(again, 60 * MIB);
    mp_check(again != NULL, "moved into another piece");
    use(again, 4096, 901);
    shmemx_free_device(large);
    large = shmemx_malloc_device(150 * MIB);
    mp_check(large != NULL, "the same again");
    check_alike(large);
    return mp_end();
}

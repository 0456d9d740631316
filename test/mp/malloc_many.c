/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A long random series of malloc, calloc, align, realloc and free gives the same offsets on all PEs, alignments as
 * asked, blocks that do not overlap, and contents that stay. WSH_TEST_SEED replays a series.
 * paths: local:2,4 tcp:4 shm:2 mixed:4 single
 * long paths: tcp:2
 */
#include "test/common/mp.h"

#include <stdlib.h>
#include <string.h>

#define BLOCKS 200

static struct block {
    unsigned char *mem;
    size_t len;
    uint64_t seed;
} blocks[BLOCKS];

static char *origin;        /* first allocation: offsets count from it */
static uint64_t *their_sum; /* symmetric: written by the left neighbour */

static size_t random_len(uint64_t *state)
{
    static const size_t below[] = {17, 300, 5000, 60000, 600000};

    return 1 + mp_random_below(state, below[mp_random_below(state, sizeof below / sizeof below[0])]);
}

static void check_contents(const struct block *block, size_t len)
{
    size_t wrong = mp_wrong(block->mem, len, block->seed);

    mp_check(!wrong, "%zu of %zu bytes changed", wrong, len);
}

static void fill(struct block *block, size_t len, uint64_t seed)
{
    block->len = len;
    block->seed = seed;
    mp_fill(block->mem, len, seed);
}

static void get_block(struct block *block, uint64_t *state)
{
    size_t len = random_len(state), align = (size_t)8 << mp_random_below(state, 10);
    unsigned kind = (unsigned)mp_random_below(state, 3);

    block->mem = kind == 0 ? shmem_malloc(len) : kind == 1 ? shmem_calloc(1, len) : shmem_align(align, len);
    if (!block->mem)
        return;
    mp_check(kind != 2 || (uintptr_t)block->mem % align == 0, "%p is not aligned to %zu", (void *)block->mem,
             align);
    for (size_t i = 0; kind == 1 && i < len; i++) {
        if (!mp_check(!block->mem[i], "byte %zu of calloc is not zero", i))
            break;
    }
    fill(block, len, mp_random(state));
}

static void resize_block(struct block *block, uint64_t *state)
{
    size_t len = random_len(state), kept = len < block->len ? len : block->len;
    unsigned char *mem = shmem_realloc(block->mem, len);

    if (!mem)
        return; /* the old block stays */
    block->mem = mem;
    check_contents(block, kept);
    fill(block, len, mp_random(state));
}

static void free_block(struct block *block)
{
    check_contents(block, block->len);
    shmem_free(block->mem);
    *block = (struct block){0};
}

static void check_same_offsets(void)
{
    uint64_t sum = 0;

    for (int i = 0; i < BLOCKS; i++)
        sum = sum * 1000003 + (blocks[i].mem ? (uint64_t)((char *)blocks[i].mem - origin) : 1);
    shmem_uint64_p(their_sum, sum, mp_right());
    shmem_barrier_all();
    mp_check(*their_sum == sum, "PE %d has other offsets", mp_left());
    shmem_barrier_all();
}

static void check_no_overlap(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        for (int k = 0; k < i; k++) {
            if (blocks[i].mem && blocks[k].mem)
                mp_check(blocks[i].mem + blocks[i].len <= blocks[k].mem ||
                             blocks[k].mem + blocks[k].len <= blocks[i].mem,
                         "blocks %d and %d overlap", i, k);
        }
    }
}

int main(void)
{
    uint64_t state = mp_seed();
    long steps;

    mp_begin();
    steps = mp_rounds(mp_path_is("local") ? 3000 : 800, 30000);
    origin = mp_alloc(64);
    their_sum = mp_alloc(sizeof *their_sum);
    for (long n = 1; n <= steps; n++) {
        struct block *block = &blocks[mp_random_below(&state, BLOCKS)];

        if (!block->mem)
            get_block(block, &state);
        else if (mp_random(&state) % 3)
            free_block(block);
        else
            resize_block(block, &state);
        if (n % 500 == 0) {
            check_same_offsets();
            check_no_overlap();
        }
    }
    for (int i = 0; i < BLOCKS; i++) {
        if (blocks[i].mem)
            free_block(&blocks[i]);
    }
    return mp_end();
}

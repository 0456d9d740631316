/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that writes past its blocks harms its own data only: the allocator, whose records lie elsewhere, goes on.
 * paths: local:2 tcp:2 single
 */
#include "test/common/mp.h"

#include <string.h>

#define BLOCKS 32

int main(void)
{
    char *blocks[BLOCKS], *area;

    mp_begin();
    area = mp_alloc(BLOCKS * 256);
    shmem_free(area);
    for (int i = 0; i < BLOCKS; i++)
        mp_check((blocks[i] = shmem_malloc(100)) != NULL, "no memory for block %d", i);
    for (int i = 0; i < BLOCKS - 1; i++)
        memset(blocks[i], 0xff, 100 + 64); /* into the next block, and over anything between */
    for (int i = 0; i < BLOCKS; i += 2)
        shmem_free(blocks[i]);
    for (int i = 1; i < BLOCKS; i += 2)
        shmem_free(blocks[i]);
    for (int i = 0; i < BLOCKS; i++)
        mp_check((blocks[i] = shmem_malloc(1000)) != NULL, "no memory for block %d after the overrun", i);
    for (int i = 0; i < BLOCKS; i++) {
        mp_fill(blocks[i], 1000, (uint64_t)i);
    }
    for (int i = 0; i < BLOCKS; i++) {
        mp_check(!mp_wrong(blocks[i], 1000, (uint64_t)i), "block %d overlaps another one", i);
        shmem_free(blocks[i]);
    }
    return mp_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Host memory that is allocated once GPUs are attached, of any size, is copied from and to device memory in one go: the
 * driver refuses what reaches from memory that was pinned at once into what was pinned later.
 *
 * paths: fakegpu:1,2 fakegpuipc:2 fakegpu1:4 fakegpumixed:4 gpu:2 gpuipc:2 gpu1:2,4
 * timeout: 120
 */
#include "test/common/mp.h"

#include <shmemx.h>

enum { BLOCKS = 8, ROUNDS = 60, MOST = 3 << 20 };

static char *device;

/* To the right one's device memory, and mine from there to my own host memory. */
static void there_and_back(char *block, size_t len, uint64_t round)
{
    mp_fill(block, len, round * 100 + (uint64_t)mp_me);
    shmem_putmem(device, block, len, mp_right());
    shmem_barrier_all();
    shmem_getmem(block, device, len, mp_me);
    mp_check(!mp_wrong(block, len, round * 100 + (uint64_t)mp_left()),
             "round %lu: %zu bytes are not those of PE %d", (unsigned long)round, len, mp_left());
    shmem_barrier_all();
}

MP_MAIN(device_pieces)
{
    char *blocks[BLOCKS] = {0};
    uint64_t state = mp_seed(); /* alike on all PEs */

    mp_begin();
    device = shmemx_malloc_device(MOST);
    mp_check(device != NULL, "no device memory");
    for (uint64_t round = 1; round <= ROUNDS && device; round++) {
        size_t i = mp_random_below(&state, BLOCKS);
        size_t len = 1 + mp_random_below(&state, MOST >> mp_random_below(&state, 4));

        if (!blocks[i]) {
            blocks[i] = shmem_malloc(len);
        } else if (round % 3) {
            blocks[i] = shmem_realloc(blocks[i], len);
        } else {
            shmem_free(blocks[i]);
            blocks[i] = NULL;
            continue;
        }
        if (mp_check(blocks[i] != NULL, "round %lu: no %zu bytes", (unsigned long)round, len))
            there_and_back(blocks[i], len, round);
    }
    return mp_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The barriers and exchanges of blocks of CPU threads. */
#include "test/device/cpu_block.cuh"

#include <pthread.h>

thread_local struct cpu_dim threadIdx, blockIdx;
struct cpu_dim blockDim, gridDim;

static struct {
    pthread_barrier_t barrier;
    uint64_t value_of_leader;
    bool said;
} blocks[CPU_BLOCKS];

void cpu_grid_begin(unsigned n_blocks, unsigned n)
{
    for (unsigned i = 0; i < gridDim.x; i++)
        pthread_barrier_destroy(&blocks[i].barrier);
    gridDim = cpu_dim{n_blocks, 1, 1};
    blockDim = cpu_dim{n, 1, 1};
    for (unsigned i = 0; i < n_blocks; i++)
        pthread_barrier_init(&blocks[i].barrier, NULL, n);
}

void wsh_ptx_block_sync()
{
    pthread_barrier_wait(&blocks[blockIdx.x].barrier);
}

void wsh_ptx_warp_sync()
{
    wsh_ptx_block_sync();
}

bool __syncthreads_or(bool says)
{
    bool *said = &blocks[blockIdx.x].said, any;

    if (says)
        __atomic_store_n(said, true, __ATOMIC_RELAXED);
    wsh_ptx_block_sync();
    any = __atomic_load_n(said, __ATOMIC_RELAXED);
    wsh_ptx_block_sync();
    __atomic_store_n(said, false, __ATOMIC_RELAXED);
    wsh_ptx_block_sync();
    return any;
}

bool wsh_ptx_any(bool says)
{
    return __syncthreads_or(says);
}

uint64_t wsh_ptx_from_leader(uint64_t value)
{
    uint64_t *of_leader = &blocks[blockIdx.x].value_of_leader, got;

    if (threadIdx.x == 0)
        *of_leader = value;
    wsh_ptx_block_sync();
    got = *of_leader;
    wsh_ptx_block_sync();
    return got;
}

/* By full warps alone. */
uint32_t __shfl_down_sync(unsigned, uint32_t, unsigned)
{
    abort();
}

void cpu_note_load(const void *, size_t)
{
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The barriers and exchanges of a block of CPU threads. */
#include "test/device/cpu_block.cuh"

#include <pthread.h>

thread_local struct cpu_dim threadIdx;
struct cpu_dim blockDim;

static pthread_barrier_t barrier;
static uint64_t value_of_leader;
static bool said;

void cpu_block_begin(unsigned n)
{
    if (blockDim.x)
        pthread_barrier_destroy(&barrier);
    blockDim = cpu_dim{n, 1, 1};
    pthread_barrier_init(&barrier, NULL, n);
}

void wsh_ptx_block_sync()
{
    pthread_barrier_wait(&barrier);
}

void wsh_ptx_warp_sync()
{
    pthread_barrier_wait(&barrier);
}

bool __syncthreads_or(bool says)
{
    bool any;

    if (says)
        __atomic_store_n(&said, true, __ATOMIC_RELAXED);
    pthread_barrier_wait(&barrier);
    any = __atomic_load_n(&said, __ATOMIC_RELAXED);
    pthread_barrier_wait(&barrier);
    __atomic_store_n(&said, false, __ATOMIC_RELAXED);
    pthread_barrier_wait(&barrier);
    return any;
}

bool wsh_ptx_any(bool says)
{
    return __syncthreads_or(says);
}

uint64_t wsh_ptx_from_leader(uint64_t value)
{
    uint64_t got;

    if (threadIdx.x == 0)
        value_of_leader = value;
    pthread_barrier_wait(&barrier);
    got = value_of_leader;
    pthread_barrier_wait(&barrier);
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

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random access: every thread xors random words of a table that is spread over all PEs; the same once more gives zeros.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

enum { WORDS = 1 << 12, THREADS = 64, UPDATES = 64 };

__device__ static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

__global__ void update(uint64_t *table)
{
    int npes = nvshmem_n_pes();
    uint64_t state = 88172645463325252ull + 7919 * (nvshmem_my_pe() * THREADS + threadIdx.x);

    for (int i = 0; i < UPDATES; i++) {
        uint64_t value = next(&state);

        nvshmem_uint64_atomic_xor(table + value % WORDS, value, (int)(value / WORDS % npes));
    }
    nvshmem_quiet();
}

__global__ void count(const uint64_t *table, int *nonzero)
{
    for (int i = threadIdx.x; i < WORDS; i += blockDim.x)
        if (table[i])
            atomicAdd(nonzero, 1);
}

int main(void)
{
    begin();
    uint64_t *table = symmetric<uint64_t>(WORDS);
    int *nonzero = symmetric<int>(2);

    RUN(update<<<1, THREADS, 0, stream>>>(table));
    nvshmem_barrier_all();
    RUN(count<<<1, 256, 0, stream>>>(table, nonzero));
    CHECK(at(nonzero) > 100);
    nvshmem_barrier_all();
    RUN(update<<<1, THREADS, 0, stream>>>(table));
    nvshmem_barrier_all();
    RUN(count<<<1, 256, 0, stream>>>(table, nonzero + 1));
    CHECK(at(nonzero + 1) == 0);
    nvshmem_barrier_all();
    nvshmem_free(nonzero);
    nvshmem_free(table);
    return finish();
}

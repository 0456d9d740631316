/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An allocation larger than the heap began with: it grows, its far end is reached by peers, and it is used on
 * afterwards.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

__global__ void mark(char *block, size_t len, int peer)
{
    size_t part = len / gridDim.x, at = part * blockIdx.x;

    if (threadIdx.x == 0) {
        nvshmem_char_p(block + at, (char)(blockIdx.x + 1), peer);
        nvshmem_char_p(block + at + part - 1, (char)(blockIdx.x + 2), peer);
        nvshmem_quiet();
    }
}

static char *grow(size_t len)
{
    char *block = (char *)nvshmem_malloc(len);
    const size_t part = len / 16;

    CHECK(block);
    nvshmem_barrier_all();
    RUN(mark<<<16, 32, 0, stream>>>(block, len, right));
    nvshmem_barrier_all();
    for (int i = 0; i < 16; i++)
        CHECK(at(block + i * part) == i + 1 && at(block + i * part + part - 1) == i + 2);
    return block;
}

int main(void)
{
    begin();
    char *small = grow(1 << 20), *large = grow((size_t)160 << 20), *larger = grow((size_t)300 << 20);

    nvshmem_free(large);
    large = grow((size_t)100 << 20);
    nvshmem_free(large);
    nvshmem_free(larger);
    nvshmem_free(small);
    CHECK(!nvshmem_malloc((size_t)1 << 50));
    return finish();
}

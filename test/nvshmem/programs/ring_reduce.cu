/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sum round the ring, twice round: partial sums first, then the result, in chunks with signals.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

enum { CHUNK = 2048, BLOCKS = 4 };

/* Block b has chunks of its own. Signals count: the partial sum is 1, the result 2. */
__global__ void ring_reduce(int *dest, const int *source, uint64_t *flags)
{
    int mype = nvshmem_my_pe(), npes = nvshmem_n_pes(), peer = (mype + 1) % npes, at = blockIdx.x * CHUNK;
    uint64_t *flag = flags + blockIdx.x;

    if (mype > 0) {
        if (threadIdx.x == 0)
            nvshmem_signal_wait_until(flag, NVSHMEM_CMP_GE, 1);
        __syncthreads();
        for (int i = threadIdx.x; i < CHUNK; i += blockDim.x)
            dest[at + i] += source[at + i];
    } else {
        for (int i = threadIdx.x; i < CHUNK; i += blockDim.x)
            dest[at + i] = source[at + i];
    }
    __syncthreads();
    if (mype < npes - 1) {
        nvshmemx_int_put_signal_nbi_block(dest + at, dest + at, CHUNK, flag, 1, NVSHMEM_SIGNAL_SET, peer);
        if (threadIdx.x == 0)
            nvshmem_signal_wait_until(flag, NVSHMEM_CMP_GE, 2);
        __syncthreads();
    }
    if (mype != npes - 2)
        nvshmemx_int_put_signal_nbi_block(dest + at, dest + at, CHUNK, flag, 2, NVSHMEM_SIGNAL_SET, peer);
    __syncthreads();
    if (threadIdx.x == 0)
        nvshmem_quiet();
}

int main(void)
{
    begin();
    int size = BLOCKS * CHUNK, *source = symmetric<int>(size), *dest = symmetric<int>(size);
    int *host = (int *)malloc(size * sizeof(int));
    uint64_t *flags = symmetric<uint64_t>(BLOCKS);

    for (int i = 0; i < size; i++)
        host[i] = me + i;
    to_device(source, host, size);
    nvshmem_barrier_all();
    RUN(ring_reduce<<<BLOCKS, 128, 0, stream>>>(dest, source, flags));
    nvshmem_barrier_all();
    to_host(host, dest, size);
    for (int i = 0; i < size; i++)
        CHECK(host[i] == n * (n - 1) / 2 + n * i);
    free(host);
    nvshmem_free(flags);
    nvshmem_free(dest);
    nvshmem_free(source);
    return finish();
}

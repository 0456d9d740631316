/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A broadcast round the ring in chunks: each block passes a chunk on as soon as its signal has come.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

enum { CHUNKS = 8, CHUNK = 4096 };

__global__ void ring_broadcast(int *data, uint64_t *flags, int root)
{
    int mype = nvshmem_my_pe(), npes = nvshmem_n_pes(), peer = (mype + 1) % npes, chunk = blockIdx.x;

    if (mype != root) {
        if (threadIdx.x == 0)
            nvshmem_signal_wait_until(flags + chunk, NVSHMEM_CMP_EQ, 1);
        __syncthreads();
    }
    if (peer != root)
        nvshmemx_int_put_signal_nbi_block(data + chunk * CHUNK, data + chunk * CHUNK, CHUNK, flags + chunk, 1,
                                          NVSHMEM_SIGNAL_SET, peer);
    __syncthreads();
    if (threadIdx.x == 0) {
        nvshmem_quiet();
        flags[chunk] = 0;
    }
}

int main(void)
{
    begin();
    int *data = symmetric<int>(CHUNKS * CHUNK), *host = (int *)malloc(CHUNKS * CHUNK * sizeof(int));
    uint64_t *flags = symmetric<uint64_t>(CHUNKS);

    for (int root = 0; root < n; root++) {
        for (int i = 0; i < CHUNKS * CHUNK; i++)
            host[i] = 1000000 * me + i;
        to_device(data, host, CHUNKS * CHUNK);
        nvshmem_barrier_all();
        RUN(ring_broadcast<<<CHUNKS, 128, 0, stream>>>(data, flags, root));
        nvshmem_barrier_all();
        to_host(host, data, CHUNKS * CHUNK);
        for (int i = 0; i < CHUNKS * CHUNK; i++)
            CHECK(host[i] == 1000000 * root + i);
        nvshmem_barrier_all();
    }
    free(host);
    nvshmem_free(flags);
    nvshmem_free(data);
    return finish();
}

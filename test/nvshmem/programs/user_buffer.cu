/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers of the program in cudaMalloc memory: sources and targets here, and symmetric ones that peers write.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

enum { COUNT = 1 << 18 };

__global__ void send(int *box, const int *mine, int peer)
{
    nvshmemx_int_put_nbi_block(box, mine, COUNT, peer);
    nvshmemx_barrier_all_block();
}

__global__ void fill(int *words, int value)
{
    for (int i = threadIdx.x; i < COUNT; i += blockDim.x)
        words[i] = value + i;
}

static void check(const int *device)
{
    int *host = (int *)malloc(COUNT * sizeof(int));

    to_host(host, device, COUNT);
    for (int i = 0; i < COUNT; i++)
        CHECK(host[i] == 1000 * left + i);
    free(host);
}

int main(void)
{
    begin();
    int *heap = symmetric<int>(COUNT), *local, *shared;

    CUDA(cudaMalloc(&local, COUNT * sizeof(int)));
    CUDA(cudaMalloc(&shared, COUNT * sizeof(int)));
    CHECK(!nvshmemx_buffer_register(local, COUNT * sizeof(int)));
    CHECK(nvshmemx_buffer_register_symmetric(shared, COUNT * sizeof(int), 0) == shared);
    RUN(fill<<<1, 1024, 0, stream>>>(local, 1000 * me));
    nvshmem_barrier_all();
    RUN(send<<<1, 256, 0, stream>>>(heap, local, right));
    check(heap);
    RUN(send<<<1, 256, 0, stream>>>(shared, local, right));
    check(shared);
    nvshmem_barrier_all();
    CUDA(cudaMemsetAsync(shared, 0, COUNT * sizeof(int), stream));
    CUDA(cudaStreamSynchronize(stream));
    nvshmem_barrier_all();
    nvshmem_int_put(shared, local, COUNT, right); /* and by the host */
    nvshmem_barrier_all();
    check(shared);
    CHECK(!nvshmemx_buffer_unregister_symmetric(shared, COUNT * sizeof(int)));
    CHECK(!nvshmemx_buffer_unregister(local));
    CUDA(cudaFree(shared));
    CUDA(cudaFree(local));
    nvshmem_free(heap);
    return finish();
}

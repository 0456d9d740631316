/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls on a stream captured in a graph, which is replayed many times: a ring, a sum, and a signal that grows.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

enum { COUNT = 256, REPLAYS = 50 };

__global__ void add_one(int *words)
{
    words[threadIdx.x]++;
}

int main(void)
{
    begin();
    int *words = symmetric<int>(COUNT), *box = symmetric<int>(COUNT), *sum = symmetric<int>(COUNT), host[COUNT];
    uint64_t *flag = symmetric<uint64_t>(1);
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    for (int &word : host)
        word = me;
    to_device(words, host, COUNT);
    nvshmem_barrier_all();
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    add_one<<<1, COUNT, 0, stream>>>(words);
    nvshmemx_int_put_on_stream(box, words, COUNT, right, stream);
    nvshmemx_barrier_all_on_stream(stream);
    nvshmemx_int_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, sum, box, COUNT, stream);
    nvshmemx_putmem_signal_on_stream(words, box, COUNT * sizeof(int), flag, 1, NVSHMEM_SIGNAL_ADD, me, stream);
    nvshmemx_barrier_all_on_stream(stream);
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < REPLAYS; i++)
        CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    to_host(host, box, COUNT);
    for (int word : host)
        CHECK(word == (me + n * REPLAYS - REPLAYS) % n + REPLAYS);
    to_host(host, sum, COUNT);
    for (int word : host)
        CHECK(word == n * (n - 1) / 2 + n * REPLAYS);
    CHECK(at(flag) == REPLAYS);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    nvshmem_barrier_all();
    nvshmem_free(words);
    return finish();
}

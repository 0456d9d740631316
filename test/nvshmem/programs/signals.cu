/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals alone: set, add, fetch and wait, in kernels, on streams and from the host.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

__global__ void ping(uint64_t *signal, int rounds, int peer, bool first)
{
    for (int i = 1; i <= rounds; i++) {
        if (first)
            nvshmemx_signal_op(signal, i, NVSHMEM_SIGNAL_SET, peer);
        nvshmem_signal_wait_until(signal, NVSHMEM_CMP_GE, i);
        if (!first)
            nvshmemx_signal_op(signal, i, NVSHMEM_SIGNAL_SET, peer);
    }
}

__global__ void add_to_all(uint64_t *signal, int npes)
{
    for (int pe = 0; pe < npes; pe++)
        nvshmemx_signal_op(signal, nvshmem_my_pe() + 1, NVSHMEM_SIGNAL_ADD, pe);
}

__global__ void fetch(uint64_t *signal, uint64_t *value)
{
    *value = nvshmem_signal_fetch(signal);
}

int main(void)
{
    begin();
    uint64_t *signal = symmetric<uint64_t>(4), *value = symmetric<uint64_t>(1);
    int pair = me ^ 1;

    if (pair < n)
        RUN(ping<<<1, 1, 0, stream>>>(signal, 100, pair, me < pair));
    add_to_all<<<1, 1, 0, stream>>>(signal + 1, n);
    nvshmemx_signal_wait_until_on_stream(signal + 1, NVSHMEM_CMP_EQ, n * (n + 1) / 2, stream);
    RUN(fetch<<<1, 1, 0, stream>>>(signal + 1, value));
    CHECK(at(value) == (uint64_t)n * (n + 1) / 2);
    nvshmemx_signal_op_on_stream(signal + 2, 77, NVSHMEM_SIGNAL_SET, right, stream);
    nvshmemx_signal_wait_until_on_stream(signal + 2, NVSHMEM_CMP_NE, 0, stream);
    CUDA(cudaStreamSynchronize(stream));
    CHECK(nvshmem_signal_fetch(signal + 2) == 77);
    nvshmemx_signal_op(signal + 3, 5, NVSHMEM_SIGNAL_ADD, right);
    CHECK(nvshmem_signal_wait_until(signal + 3, NVSHMEM_CMP_GT, 4) == 5);
    nvshmem_barrier_all();
    nvshmem_free(value);
    nvshmem_free(signal);
    return finish();
}

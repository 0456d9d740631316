/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fence orders puts to one PE, quiet completes them: many rounds of data, fence, flag, with flags seen only after data.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

enum { ROUNDS = 200, WORDS = 16 };

__global__ void write_rounds(int *data, uint64_t *flag, uint64_t *answer, int peer)
{
    for (int round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < WORDS; i++)
            nvshmem_int_p(data + i, round, peer);
        if (round % 2)
            nvshmem_fence();
        else
            nvshmem_quiet();
        nvshmem_uint64_p(flag, round, peer);
        nvshmem_uint64_wait_until(answer, NVSHMEM_CMP_GE, round);
    }
}

__global__ void read_rounds(const int *data, uint64_t *flag, uint64_t *answer, int peer, int *wrong)
{
    for (int round = 1; round <= ROUNDS; round++) {
        nvshmem_uint64_wait_until(flag, NVSHMEM_CMP_GE, round);
        for (int i = 0; i < WORDS; i++)
            *wrong += ((const volatile int *)data)[i] != round;
        nvshmem_uint64_p(answer, round, peer);
    }
}

int main(void)
{
    begin();
    int *data = symmetric<int>(WORDS), *wrong = symmetric<int>(1);
    uint64_t *words = symmetric<uint64_t>(2);
    cudaStream_t other;

    CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    nvshmem_barrier_all();
    write_rounds<<<1, 1, 0, stream>>>(data, words, words + 1, right);
    read_rounds<<<1, 1, 0, other>>>(data, words, words + 1, left, wrong);
    CUDA(cudaStreamSynchronize(other));
    CUDA(cudaStreamSynchronize(stream));
    CHECK(at(wrong) == 0);
    nvshmem_barrier_all();
    CUDA(cudaStreamDestroy(other));
    nvshmem_free(words);
    return finish();
}

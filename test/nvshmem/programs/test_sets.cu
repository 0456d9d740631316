/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of sets of words: nothing before a peer has written, everything after a barrier, what is named in between.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

__global__ void before(uint64_t *words, int count, uint64_t *values, size_t *indices, int *wrong)
{
    *wrong += nvshmem_uint64_test_all(words, count, NULL, NVSHMEM_CMP_NE, 0);
    *wrong += nvshmem_uint64_test_any(words, count, NULL, NVSHMEM_CMP_NE, 0) != SIZE_MAX;
    *wrong += nvshmem_uint64_test_some(words, count, indices, NULL, NVSHMEM_CMP_NE, 0) != 0;
    *wrong += nvshmem_uint64_test_all_vector(words, count, NULL, NVSHMEM_CMP_EQ, values);
}

__global__ void write_words(uint64_t *words, int count, int peer)
{
    for (int i = 0; i < count; i++)
        nvshmem_uint64_p(words + i, i + 1, peer);
    nvshmem_quiet();
}

__global__ void after(uint64_t *words, int count, uint64_t *values, size_t *indices, int *status, int *wrong)
{
    *wrong += !nvshmem_uint64_test_all(words, count, NULL, NVSHMEM_CMP_NE, 0);
    *wrong += nvshmem_uint64_test_any(words, count, NULL, NVSHMEM_CMP_EQ, count) != (size_t)count - 1;
    *wrong += nvshmem_uint64_test_some(words, count, indices, NULL, NVSHMEM_CMP_LE, 2) != 2;
    *wrong += indices[0] + indices[1] != 1;
    *wrong += !nvshmem_uint64_test_all_vector(words, count, NULL, NVSHMEM_CMP_EQ, values);
    *wrong += nvshmem_uint64_test_any_vector(words, count, status, NVSHMEM_CMP_EQ, values) != (size_t)count - 1;
    *wrong += nvshmem_uint64_test_some_vector(words, count, indices, status, NVSHMEM_CMP_EQ, values) != 1;
}

int main(void)
{
    enum { COUNT = 40 };

    begin();
    uint64_t *words = symmetric<uint64_t>(COUNT), *values = symmetric<uint64_t>(COUNT), host[COUNT];
    size_t *indices = symmetric<size_t>(COUNT);
    int *status = symmetric<int>(COUNT), *wrong = symmetric<int>(1), left_out[COUNT];

    for (int i = 0; i < COUNT; i++) {
        host[i] = i + 1;
        left_out[i] = i < COUNT - 1;
    }
    to_device(values, host, COUNT);
    to_device(status, left_out, COUNT);
    RUN(before<<<1, 1, 0, stream>>>(words, COUNT, values, indices, wrong));
    CHECK(at(wrong) == 0);
    nvshmem_barrier_all();
    RUN(write_words<<<1, 1, 0, stream>>>(words, COUNT, right));
    nvshmem_barrier_all();
    RUN(after<<<1, 1, 0, stream>>>(words, COUNT, values, indices, status, wrong));
    CHECK(at(wrong) == 0);
    nvshmem_barrier_all();
    nvshmem_free(words);
    return finish();
}

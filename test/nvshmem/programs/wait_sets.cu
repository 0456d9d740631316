/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits for sets of words that all PEs write: all, any, some, with a value each, with words left out.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

enum { SETS = 5 };

/* Word i of each set is written by PE i, with i + 1. */
__global__ void write_sets(int *words, int npes)
{
    int mype = nvshmem_my_pe();

    for (int set = 0; set < SETS; set++)
        for (int pe = 0; pe < npes; pe++)
            nvshmem_int_p(words + set * npes + mype, mype + 1, pe);
}

__global__ void wait_sets(int *words, int npes, int *status, size_t *indices, int *values, int *wrong)
{
    int *set = words;
    size_t got = 0, seen = 0;

    nvshmem_int_wait_until_all(set, npes, status, NVSHMEM_CMP_GT, 0);
    for (int i = 0; i < npes; i++)
        *wrong += set[i] != i + 1;
    set += npes; /* one after the other */
    for (int i = 0; i < npes; i++)
        status[i] = 0;
    for (int i = 0; i < npes; i++) {
        got = nvshmem_int_wait_until_any(set, npes, status, NVSHMEM_CMP_NE, 0);
        *wrong += got >= (size_t)npes || status[got];
        status[got] = 1;
    }
    *wrong += nvshmem_int_wait_until_any(set, npes, status, NVSHMEM_CMP_NE, 0) != SIZE_MAX;
    set += npes; /* some at a time */
    for (int i = 0; i < npes; i++)
        status[i] = 0;
    while (seen < (size_t)npes) {
        got = nvshmem_int_wait_until_some(set, npes, indices, status, NVSHMEM_CMP_GE, 1);
        *wrong += got == 0;
        for (size_t i = 0; i < got; i++)
            status[indices[i]] = 1;
        seen += got;
    }
    set += npes; /* a value each */
    for (int i = 0; i < npes; i++) {
        values[i] = i + 1;
        status[i] = 0;
    }
    nvshmem_int_wait_until_all_vector(set, npes, status, NVSHMEM_CMP_EQ, values);
    *wrong += nvshmem_int_wait_until_any_vector(set, npes, status, NVSHMEM_CMP_EQ, values) >= (size_t)npes;
    set += npes;
    *wrong += nvshmem_int_wait_until_some_vector(set, npes, indices, status, NVSHMEM_CMP_EQ, values) == 0;
}

int main(void)
{
    begin();
    int *words = symmetric<int>(SETS * n), *status, *values, *wrong;
    size_t *indices;

    CUDA(cudaMalloc(&status, n * sizeof *status));
    CUDA(cudaMemset(status, 0, n * sizeof *status));
    CUDA(cudaMalloc(&values, n * sizeof *values));
    CUDA(cudaMalloc(&indices, n * sizeof *indices));
    CUDA(cudaMalloc(&wrong, sizeof *wrong));
    CUDA(cudaMemset(wrong, 0, sizeof *wrong));
    CUDA(cudaDeviceSynchronize());
    nvshmem_barrier_all();
    write_sets<<<1, 1, 0, stream>>>(words, n);
    RUN(wait_sets<<<1, 1, 0, stream>>>(words, n, status, indices, values, wrong));
    CHECK(at(wrong) == 0);
    nvshmem_barrier_all();
    nvshmem_free(words);
    return finish();
}

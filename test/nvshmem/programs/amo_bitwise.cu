/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomics on bits of every type: each PE has a bit of its own.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

#define KERNEL(NAME, TYPE)                                                                       \
    __global__ void bits_##NAME(TYPE *words, int pe, int *wrong)                                 \
    {                                                                                            \
        TYPE bit = (TYPE)1 << nvshmem_my_pe();                                                   \
                                                                                                 \
        nvshmem_##NAME##_atomic_or(words, bit, pe);                                              \
        nvshmem_##NAME##_atomic_xor(words + 1, bit, pe);                                         \
        *wrong += (nvshmem_##NAME##_atomic_fetch_or(words + 2, bit, pe) & bit) != 0;             \
        *wrong += (nvshmem_##NAME##_atomic_fetch_xor(words + 2, bit, pe) & bit) == 0;            \
        *wrong += (nvshmem_##NAME##_atomic_fetch_or(words + 3, bit, pe) & bit) != 0;             \
        *wrong += (nvshmem_##NAME##_atomic_fetch_and(words + 3, ~bit, pe) & bit) == 0;           \
        nvshmem_##NAME##_atomic_or(words + 4, bit, pe);                                          \
        nvshmem_quiet();                                                                         \
        nvshmem_##NAME##_atomic_and(words + 4, ~bit, pe);                                        \
        nvshmem_quiet();                                                                         \
    }
BIT_TYPES(KERNEL)

int main(void)
{
    begin();
    char *words = symmetric<char>(64);
    int *wrong = symmetric<int>(1);

#define TRY(NAME, TYPE)                                                                          \
    {                                                                                            \
        TYPE got[5], all = (TYPE)((1 << n) - 1);                                                 \
        CUDA(cudaMemsetAsync(words, 0, 64, stream));                                             \
        CUDA(cudaStreamSynchronize(stream));                                                     \
        nvshmem_barrier_all();                                                                   \
        RUN(bits_##NAME<<<1, 1, 0, stream>>>((TYPE *)words, n - 1, wrong));                      \
        nvshmem_barrier_all();                                                                   \
        nvshmem_getmem(got, words, sizeof got, n - 1);                                           \
        CHECK(got[0] == all && got[1] == all && got[2] == 0 && got[3] == 0 && got[4] == 0);      \
        CHECK(at(wrong) == 0);                                                                   \
        nvshmem_barrier_all();                                                                   \
    }
    BIT_TYPES(TRY)
    nvshmem_free(words);
    return finish();
}

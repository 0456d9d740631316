/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Standard atomics of every type: add, inc, fetch_add, fetch_inc and compare_swap by all PEs at once.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

/* Each PE takes tickets; who holds the word by compare_swap counts on without an atomic. */
#define KERNEL(NAME, TYPE)                                                                   \
    __global__ void count_##NAME(TYPE *words, int pe, int rounds, TYPE *tickets)             \
    {                                                                                        \
        TYPE mine = (TYPE)(nvshmem_my_pe() + 1);                                             \
                                                                                             \
        for (int i = 0; i < rounds; i++) {                                                   \
            nvshmem_##NAME##_atomic_add(words, 2, pe);                                       \
            nvshmem_##NAME##_atomic_inc(words + 1, pe);                                      \
            *tickets += nvshmem_##NAME##_atomic_fetch_add(words + 2, 1, pe);                 \
            *tickets += nvshmem_##NAME##_atomic_fetch_inc(words + 2, pe);                    \
            while (nvshmem_##NAME##_atomic_compare_swap(words + 3, 0, mine, pe) != 0)        \
                ;                                                                            \
            nvshmem_quiet();                                                                 \
            nvshmem_##NAME##_p(words + 4, nvshmem_##NAME##_g(words + 4, pe) + 1, pe);        \
            nvshmem_quiet();                                                                 \
            nvshmem_##NAME##_atomic_compare_swap(words + 3, mine, 0, pe);                    \
        }                                                                                    \
        nvshmem_quiet();                                                                     \
    }
AMO_TYPES(KERNEL)

int main(void)
{
    enum { ROUNDS = 10 };

    begin();
    char *words = symmetric<char>(128);

#define TRY(NAME, TYPE)                                                                      \
    {                                                                                        \
        TYPE got[5];                                                                         \
        CUDA(cudaMemsetAsync(words, 0, 128, stream));                                        \
        CUDA(cudaStreamSynchronize(stream));                                                 \
        nvshmem_barrier_all();                                                               \
        RUN(count_##NAME<<<1, 1, 0, stream>>>((TYPE *)words, 0, ROUNDS, (TYPE *)words + 8)); \
        nvshmem_barrier_all();                                                               \
        nvshmem_getmem(got, words, sizeof got, 0);                                           \
        CHECK(got[0] == (TYPE)(2 * ROUNDS * n) && got[1] == (TYPE)(ROUNDS * n));             \
        CHECK(got[2] == (TYPE)(2 * ROUNDS * n) && got[3] == 0);                              \
        CHECK(got[4] == (TYPE)(ROUNDS * n));                                                 \
        nvshmem_barrier_all();                                                               \
    }
    AMO_TYPES(TRY)
    nvshmem_free(words);
    return finish();
}

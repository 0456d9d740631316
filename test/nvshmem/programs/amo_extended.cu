/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extended atomics, of floats too: set, fetch and swap; additions of floating-point numbers.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

#define EXTENDED(X) AMO_TYPES(X) X(float, float) X(double, double)

/* A token goes round: nobody but its holder changes it, and what is swapped out is what was put in. */
#define KERNEL(NAME, TYPE)                                                                   \
    __global__ void swap_##NAME(TYPE *words, int peer, int *wrong)                           \
    {                                                                                        \
        TYPE mine = (TYPE)(nvshmem_my_pe() + 1);                                             \
                                                                                             \
        nvshmem_##NAME##_atomic_set(words, mine, peer);                                      \
        nvshmem_quiet();                                                                     \
        *wrong += nvshmem_##NAME##_atomic_fetch(words, peer) != mine;                        \
        *wrong += nvshmem_##NAME##_atomic_swap(words, mine + 10, peer) != mine;              \
        *wrong += nvshmem_##NAME##_atomic_fetch(words, peer) != mine + 10;                   \
    }
EXTENDED(KERNEL)

__global__ void add_reals(float *sum, double *total, float *before)
{
    nvshmemx_float_atomic_add(sum, 0.5f, 0);
    *before = nvshmemx_float_atomic_fetch_add(sum, 0.25f, 0);
    nvshmemx_double_atomic_add(total, 1.0 / 1024, 0);
    nvshmem_quiet();
}

int main(void)
{
    begin();
    char *words = symmetric<char>(64);
    int *wrong = symmetric<int>(1);
    float *sum = symmetric<float>(2), got;
    double *total = symmetric<double>(1), real;

#define TRY(NAME, TYPE)                                                                      \
    RUN(swap_##NAME<<<1, 1, 0, stream>>>((TYPE *)words, right, wrong));                      \
    CHECK(at(wrong) == 0);                                                                   \
    nvshmem_barrier_all();
    EXTENDED(TRY)
    RUN(add_reals<<<1, 32, 0, stream>>>(sum, total, sum + 1));
    nvshmem_barrier_all();
    nvshmem_float_get(&got, sum, 1, 0);
    nvshmem_double_get(&real, total, 1, 0);
    CHECK(got == 24.0f * n && real == n / 32.0);
    nvshmem_barrier_all();
    nvshmem_free(words);
    return finish();
}

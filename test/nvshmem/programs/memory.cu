/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory by malloc, calloc and align, with its alignment and its zeros; what nvshmem_ptr gives is loaded and stored by
 * kernels directly.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

__global__ void store_directly(int *words, int peer)
{
    int *theirs = (int *)nvshmem_ptr(words, peer);

    if (theirs)
        theirs[threadIdx.x] = 100 * nvshmem_my_pe() + threadIdx.x;
    else
        nvshmem_int_p(words + threadIdx.x, 100 * nvshmem_my_pe() + threadIdx.x, peer);
}

int main(void)
{
    begin();
    int *words = (int *)nvshmem_malloc(64 * sizeof(int)), got[64];
    char *aligned = (char *)nvshmem_align(4096, 100), *zeros = (char *)nvshmem_calloc(1000, 3), first[3000];

    CHECK(words && aligned && zeros && (uintptr_t)aligned % 4096 == 0);
    to_host(first, zeros, sizeof first);
    for (char value : first)
        CHECK(value == 0);
    CHECK(nvshmem_ptr(words, me) == words);
    CHECK(nvshmem_ptr(&got, me) == NULL);
    CHECK(nvshmem_malloc(0) == NULL);
    RUN(store_directly<<<1, 64, 0, stream>>>(words, right));
    nvshmem_barrier_all();
    to_host(got, words, 64);
    for (int i = 0; i < 64; i++)
        CHECK(got[i] == 100 * left + i);
    nvshmem_free(zeros);
    nvshmem_free(aligned);
    nvshmem_free(words);
    return finish();
}

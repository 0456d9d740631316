/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait_until and test of one word, of every type that they take.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

__global__ void give(char *words, int peer)
{
    int at = 0;

#define GIVE(NAME, TYPE) nvshmem_##NAME##_p((TYPE *)(words + 16 * at++), 9, peer);
    WAIT_TYPES(GIVE)
}

__global__ void await(char *words, int *wrong)
{
    int at = 0;

#define AWAIT(NAME, TYPE)                                                                \
    nvshmem_##NAME##_wait_until((TYPE *)(words + 16 * at), NVSHMEM_CMP_EQ, 9);           \
    *wrong += !nvshmem_##NAME##_test((TYPE *)(words + 16 * at), NVSHMEM_CMP_GT, 8);      \
    *wrong += nvshmem_##NAME##_test((TYPE *)(words + 16 * at++), NVSHMEM_CMP_LT, 9);
    WAIT_TYPES(AWAIT)
}

int main(void)
{
    begin();
    char *words = symmetric<char>(1024);
    int *wrong = symmetric<int>(1);

    nvshmem_barrier_all();
    give<<<1, 1, 0, stream>>>(words, right);
    RUN(await<<<1, 1, 0, stream>>>(words, wrong));
    CHECK(at(wrong) == 0);
    nvshmem_barrier_all();
    nvshmem_free(wrong);
    nvshmem_free(words);
    return finish();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * p and g of every type; half and bfloat16 too.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

/* Each word has a line of 16 bytes. */
__global__ void give(char *box, int peer)
{
    int at = 0, value = 40 + nvshmem_my_pe();

#define GIVE(NAME, TYPE) nvshmem_##NAME##_p((TYPE *)(box + 16 * at++), (TYPE)value, peer);
    RMA_TYPES(GIVE)
    nvshmem_half_p((half *)(box + 16 * at++), __int2half_rn(value), peer);
    nvshmem_bfloat16_p((__nv_bfloat16 *)(box + 16 * at++), __int2bfloat16_rn(value), peer);
    nvshmem_quiet();
}

__global__ void take(const char *box, int peer, int *wrong)
{
    int at = 0, value = 40 + nvshmem_my_pe();

#define TAKE(NAME, TYPE) *wrong += nvshmem_##NAME##_g((const TYPE *)(box + 16 * at++), peer) != (TYPE)value;
    RMA_TYPES(TAKE)
    *wrong += __half2int_rn(nvshmem_half_g((const half *)(box + 16 * at++), peer)) != value;
    *wrong += __bfloat162int_rn(nvshmem_bfloat16_g((const __nv_bfloat16 *)(box + 16 * at++), peer)) != value;
}

int main(void)
{
    begin();
    char *box = symmetric<char>(1024);
    int *wrong = symmetric<int>(1);

    RUN(give<<<1, 1, 0, stream>>>(box, right));
    nvshmem_barrier_all();
    RUN(take<<<1, 1, 0, stream>>>(box, right, wrong));
    CHECK(at(wrong) == 0);
    CHECK(at((long *)(box + 16 * 6)) == 40 + left);
    nvshmem_barrier_all();
    nvshmem_free(wrong);
    nvshmem_free(box);
    return finish();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of programs whose host code g++ compiles; the CUDA runtime that knows them is a static one. */
#include <nvshmem.h>
#include <nvshmemx.h>

/* To the right, from the first block once all have met. */
static __global__ void give_right(int *target, int add)
{
    cg::this_grid().sync();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        nvshmem_int_p(target, nvshmem_my_pe() + add, (nvshmem_my_pe() + 1) % nvshmem_n_pes());
        nvshmem_quiet();
    }
}

static __global__ void await_word(uint64_t *word)
{
    nvshmem_uint64_wait_until(word, NVSHMEM_CMP_EQ, 1);
}

extern const void *const kernel_of_the_other_unit;
const void *const kernel_of_the_other_unit = (const void *)give_right;

void launch_await(uint64_t *word, cudaStream_t stream)
{
    await_word<<<1, 1, 0, stream>>>(word);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A launch on all PEs with as many blocks as fit, whose kernels meet again and again; the blocks of a PE meet too.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

__global__ void steps(int *words, int count, int *wrong)
{
    int mype = nvshmem_my_pe(), npes = nvshmem_n_pes(), peer = (mype + 1) % npes, from = (mype + npes - 1) % npes;
    cg::grid_group grid = cg::this_grid();

    for (int step = 0; step < count; step++) {
        if (threadIdx.x == 0)
            nvshmem_int_p(words + blockIdx.x, 1000 * step + 10 * blockIdx.x + mype, peer);
        grid.sync();
        if (blockIdx.x == 0)
            nvshmemx_barrier_all_block();
        grid.sync();
        if (threadIdx.x == 0 && nvshmem_int_g(words + blockIdx.x, mype) != 1000 * step + 10 * (int)blockIdx.x + from)
            atomicAdd(wrong, 1);
        grid.sync();
        if (blockIdx.x == 0)
            nvshmemx_barrier_all_block();
        grid.sync();
    }
}

int main(void)
{
    begin();
    int *words = symmetric<int>(4096), *wrong = symmetric<int>(1), count = 20, blocks = 0, least;
    void *args[] = {&words, &count, &wrong};

    CHECK(nvshmemx_collective_launch_query_gridsize((const void *)steps, dim3(64), args, 0, &blocks) ==
              NVSHMEMX_SUCCESS && blocks > 0);
    least = blocks < 16 ? blocks : 16;
    to_device(words, &least, 1);
    nvshmem_barrier_all();
    CUDA((cudaError_t)nvshmem_int_min_reduce(NVSHMEM_TEAM_WORLD, words + 1, words, 1));
    least = at(words + 1);
    nvshmem_barrier_all();
    CHECK(nvshmemx_collective_launch((const void *)steps, dim3(least), dim3(64), args, 0, stream) == NVSHMEMX_SUCCESS);
    CUDA(cudaStreamSynchronize(stream));
    CHECK(at(wrong) == 0);
    nvshmem_barrier_all();
    nvshmem_free(words);
    return finish();
}

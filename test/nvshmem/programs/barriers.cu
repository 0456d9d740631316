/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier and sync in kernels by a thread, a warp and a block, of all and of a team; on streams; from the host.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

/* What everybody has put before a barrier, everybody finds after it. */
__global__ void rounds(int *words, int npes, int *wrong)
{
    int mype = nvshmem_my_pe(), peer = (mype + 1) % npes, before = (mype + npes - 1) % npes;

    for (int round = 0; round < 60; round++) {
        if (threadIdx.x == 0)
            nvshmem_int_p(words + round, 100 * round + mype, peer);
        __syncthreads();
        switch (round % 6) {
        case 0:
            if (threadIdx.x == 0)
                nvshmem_barrier_all();
            break;
        case 1:
            if (threadIdx.x == 0)
                nvshmem_barrier(NVSHMEM_TEAM_WORLD);
            break;
        case 2:
            if (threadIdx.x < 32)
                nvshmemx_barrier_all_warp();
            break;
        case 3:
            if (threadIdx.x < 32)
                nvshmemx_barrier_warp(NVSHMEM_TEAM_WORLD);
            break;
        case 4:
            nvshmemx_barrier_all_block();
            break;
        default:
            nvshmemx_barrier_block(NVSHMEM_TEAM_WORLD);
        }
        __syncthreads();
        if (threadIdx.x == 0)
            *wrong += nvshmem_int_g(words + round, mype) != 100 * round + before;
    }
}

__global__ void syncs(void)
{
    if (threadIdx.x == 0) {
        nvshmem_sync_all();
        nvshmem_team_sync(NVSHMEM_TEAM_WORLD);
    }
    if (threadIdx.x < 32) {
        nvshmemx_sync_all_warp();
        nvshmemx_team_sync_warp(NVSHMEM_TEAM_WORLD);
    }
    nvshmemx_sync_all_block();
    nvshmemx_team_sync_block(NVSHMEM_TEAM_WORLD);
}

int main(void)
{
    begin();
    int *words = symmetric<int>(60), *wrong = symmetric<int>(1);

    RUN(rounds<<<1, 64, 0, stream>>>(words, n, wrong));
    CHECK(at(wrong) == 0);
    RUN(syncs<<<1, 64, 0, stream>>>());
    nvshmemx_sync_all_on_stream(stream);
    nvshmemx_barrier_all_on_stream(stream);
    CHECK(!nvshmemx_barrier_on_stream(NVSHMEM_TEAM_WORLD, stream));
    CHECK(!nvshmemx_team_sync_on_stream(NVSHMEM_TEAM_WORLD, stream));
    CUDA(cudaStreamSynchronize(stream));
    nvshmem_barrier_all();
    nvshmem_sync_all();
    CHECK(!nvshmem_barrier(NVSHMEM_TEAM_WORLD) && !nvshmem_team_sync(NVSHMEM_TEAM_WORLD));
    nvshmem_free(words);
    return finish();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Worlds one after the other in the same processes, each by a unique id of its own: of all, backwards, and of pairs.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "launcher.cuh"

__global__ void shift(int *destination)
{
    nvshmem_int_p(destination, 100 + nvshmem_my_pe(), (nvshmem_my_pe() + 1) % nvshmem_n_pes());
}

static void world(int rank, int size, int round)
{
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    init_by_id(rank, size, round);
    look_around();
    int *destination = symmetric<int>(1);

    RUN(shift<<<1, 1, 0, stream>>>(destination));
    nvshmemx_barrier_all_on_stream(stream);
    CHECK(at(destination) == 100 + left);
    forget_id(rank, round);
    nvshmem_free(destination);
    finish();
}

int main(void)
{
    int rank = launch_rank(), size = launch_size();

    world(rank, size, 0);
    world(size - 1 - rank, size, 1);
    if (size % 2 == 0)
        world(rank % 2, 2, 2 + rank / 2);
    return 0;
}

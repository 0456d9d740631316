/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcasts from every root, in kernels by each scope, on streams and from the host.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

enum { COUNT = 300, KINDS = 5 };

__global__ void broadcast(int *dest, const int *source, int root)
{
    if (threadIdx.x == 0)
        nvshmem_int_broadcast(NVSHMEM_TEAM_WORLD, dest, source, 20, root);
    if (threadIdx.x < 32)
        nvshmemx_int_broadcast_warp(NVSHMEM_TEAM_WORLD, dest + COUNT, source, COUNT, root);
    __syncthreads();
    nvshmemx_double_broadcast_block(NVSHMEM_TEAM_WORLD, (double *)(dest + 2 * COUNT), (const double *)source, COUNT / 2,
                                    root);
    nvshmemx_broadcastmem_block(NVSHMEM_TEAM_WORLD, dest + 3 * COUNT, source, COUNT * sizeof(int), root);
}

int main(void)
{
    begin();
    int *source = symmetric<int>(COUNT), *dest = symmetric<int>(KINDS * COUNT), host[KINDS * COUNT];

    for (int i = 0; i < COUNT; i++)
        host[i] = 1000 * me + i;
    to_device(source, host, COUNT);
    for (int root = 0; root < n; root++) {
        nvshmem_barrier_all();
        RUN(broadcast<<<1, 128, 0, stream>>>(dest, source, root));
        CHECK(!nvshmemx_int_broadcast_on_stream(NVSHMEM_TEAM_WORLD, dest + 4 * COUNT, source, COUNT, root, stream));
        to_host(host, dest, KINDS * COUNT);
        for (int i = 0; i < KINDS * COUNT; i++)
            CHECK(host[i] == 1000 * root + i % COUNT || (i >= 20 && i < COUNT));
        nvshmem_barrier_all();
        CHECK(!nvshmem_int_broadcast(NVSHMEM_TEAM_WORLD, dest, source, COUNT, root));
        to_host(host, dest, COUNT);
        CHECK(host[COUNT - 1] == 1000 * root + COUNT - 1);
    }
    nvshmem_barrier_all();
    nvshmem_free(dest);
    nvshmem_free(source);
    return finish();
}

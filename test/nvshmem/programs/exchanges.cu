/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fcollect and alltoall: in kernels by each scope, on streams and from the host.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

enum { PART = 100 };

__global__ void exchange(int *all, int *each, const int *source, int npes)
{
    if (threadIdx.x == 0) {
        nvshmem_int_fcollect(NVSHMEM_TEAM_WORLD, all, source, PART);
        nvshmem_int_alltoall(NVSHMEM_TEAM_WORLD, each, source, PART);
    }
    if (threadIdx.x < 32) {
        nvshmemx_int_fcollect_warp(NVSHMEM_TEAM_WORLD, all + npes * PART, source, PART);
        nvshmemx_int_alltoall_warp(NVSHMEM_TEAM_WORLD, each + npes * PART, source, PART);
    }
    __syncthreads();
    nvshmemx_float_fcollect_block(NVSHMEM_TEAM_WORLD, (float *)all + 2 * npes * PART, (const float *)source, PART);
    nvshmemx_alltoallmem_block(NVSHMEM_TEAM_WORLD, each + 2 * npes * PART, source, PART * sizeof(int));
}

int main(void)
{
    begin();
    int size = n * PART, *source = symmetric<int>(size), *all = symmetric<int>(5 * size);
    int *each = symmetric<int>(5 * size);
    int *host = (int *)malloc(5 * size * sizeof(int));

    /* The block for PE p begins with 10000 * me + 1000 * p. */
    for (int i = 0; i < size; i++)
        host[i] = 10000 * me + 1000 * (i / PART) + i % PART;
    to_device(source, host, size);
    nvshmem_barrier_all();
    RUN(exchange<<<1, 128, 0, stream>>>(all, each, source, n));
    CHECK(!nvshmemx_int_fcollect_on_stream(NVSHMEM_TEAM_WORLD, all + 3 * size, source, PART, stream));
    CHECK(!nvshmemx_int_alltoall_on_stream(NVSHMEM_TEAM_WORLD, each + 3 * size, source, PART, stream));
    CUDA(cudaStreamSynchronize(stream));
    CHECK(!nvshmem_int_fcollect(NVSHMEM_TEAM_WORLD, all + 4 * size, source, PART));
    CHECK(!nvshmem_int_alltoall(NVSHMEM_TEAM_WORLD, each + 4 * size, source, PART));
    to_host(host, all, 5 * size);
    for (int i = 0; i < 5 * size; i++)
        CHECK(host[i] == 10000 * (i % size / PART) + i % PART);
    to_host(host, each, 5 * size);
    for (int i = 0; i < 5 * size; i++)
        CHECK(host[i] == 10000 * (i % size / PART) + 1000 * me + i % PART);
    nvshmem_barrier_all();
    free(host);
    nvshmem_free(each);
    nvshmem_free(all);
    nvshmem_free(source);
    return finish();
}

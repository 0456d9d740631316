/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reducescatter: each PE gets its part of the sum; by each scope and on streams.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

enum { PART = 50, KINDS = 3 };

__global__ void scatter(float *dest, const float *source)
{
    if (threadIdx.x == 0)
        nvshmem_float_sum_reducescatter(NVSHMEM_TEAM_WORLD, dest, source, PART);
    if (threadIdx.x < 32)
        nvshmemx_float_sum_reducescatter_warp(NVSHMEM_TEAM_WORLD, dest + PART, source, PART);
    __syncthreads();
    nvshmemx_float_sum_reducescatter_block(NVSHMEM_TEAM_WORLD, dest + 2 * PART, source, PART);
}

int main(void)
{
    begin();
    float *source = symmetric<float>(n * PART), *dest = symmetric<float>((KINDS + 1) * PART);
    float *host = (float *)malloc((n * PART + 4 * PART) * sizeof(float));

    for (int i = 0; i < n * PART; i++)
        host[i] = me + i;
    to_device(source, host, n * PART);
    nvshmem_barrier_all();
    RUN(scatter<<<1, 128, 0, stream>>>(dest, source));
    CHECK(!nvshmemx_float_sum_reducescatter_on_stream(NVSHMEM_TEAM_WORLD, dest + KINDS * PART, source, PART, stream));
    to_host(host, dest, (KINDS + 1) * PART);
    for (int i = 0; i < (KINDS + 1) * PART; i++)
        CHECK(host[i] == n * (n - 1) / 2 + n * (me * PART + i % PART));
    nvshmem_barrier_all();
    free(host);
    nvshmem_free(dest);
    nvshmem_free(source);
    return finish();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions of half, bfloat16, float and double; in place as programs of machine learning call them.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum { COUNT = 1000 };

__global__ void reduce(half *halves, __nv_bfloat16 *brains, float *floats, double *doubles)
{
    nvshmemx_half_sum_reduce_block(NVSHMEM_TEAM_WORLD, halves + COUNT, halves, COUNT);
    nvshmemx_bfloat16_sum_reduce_block(NVSHMEM_TEAM_WORLD, brains + COUNT, brains, COUNT);
    nvshmemx_float_sum_reduce_block(NVSHMEM_TEAM_WORLD, floats, floats, COUNT);
    nvshmemx_double_max_reduce_block(NVSHMEM_TEAM_WORLD, doubles + COUNT, doubles, COUNT);
}

/* Small integers, which every format adds without error. */
__global__ void fill(half *halves, __nv_bfloat16 *brains, float *floats, double *doubles, int mype)
{
    for (int i = threadIdx.x; i < COUNT; i += blockDim.x) {
        halves[i] = __int2half_rn(mype + i % 7);
        brains[i] = __int2bfloat16_rn(mype + i % 7);
        floats[i] = mype + i % 7;
        doubles[i] = mype + i % 7;
    }
}

__global__ void count(const half *halves, const __nv_bfloat16 *brains, const float *floats, const double *doubles,
                      int npes, int *wrong)
{
    for (int i = threadIdx.x; i < COUNT; i += blockDim.x) {
        float sum = npes * (npes - 1) / 2 + npes * (i % 7);

        if (__half2float(halves[COUNT + i]) != sum || __bfloat162float(brains[COUNT + i]) != sum || floats[i] != sum ||
            doubles[COUNT + i] != npes - 1 + i % 7)
            atomicAdd(wrong, 1);
    }
}

int main(void)
{
    begin();
    half *halves = symmetric<half>(2 * COUNT);
    __nv_bfloat16 *brains = symmetric<__nv_bfloat16>(2 * COUNT);
    float *floats = symmetric<float>(COUNT);
    double *doubles = symmetric<double>(2 * COUNT);
    int *wrong = symmetric<int>(1);

    RUN(fill<<<1, 256, 0, stream>>>(halves, brains, floats, doubles, me));
    nvshmem_barrier_all();
    RUN(reduce<<<1, 256, 0, stream>>>(halves, brains, floats, doubles));
    RUN(count<<<1, 256, 0, stream>>>(halves, brains, floats, doubles, n, wrong));
    CHECK(at(wrong) == 0);
    nvshmem_barrier_all();
    RUN(fill<<<1, 256, 0, stream>>>(halves, brains, floats, doubles, me));
    CHECK(!nvshmemx_half_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, halves + COUNT, halves, COUNT, stream));
    CHECK(!nvshmemx_bfloat16_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, brains + COUNT, brains, COUNT, stream));
    CHECK(!nvshmemx_float_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, floats, floats, COUNT, stream));
    CHECK(!nvshmemx_double_max_reduce_on_stream(NVSHMEM_TEAM_WORLD, doubles + COUNT, doubles, COUNT, stream));
    RUN(count<<<1, 256, 0, stream>>>(halves, brains, floats, doubles, n, wrong));
    CHECK(at(wrong) == 0);
    nvshmem_barrier_all();
    nvshmem_free(halves);
    return finish();
}

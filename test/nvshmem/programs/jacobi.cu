/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jacobi iterations for the Poisson equation: each PE has rows of the grid and stores its border rows at its
 * neighbours. The norm falls and is that of one PE that computes the whole grid.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

#include <math.h>

enum { SIZE = 64, STEPS = 50 };

/* Rows 1 .. rows; rows 0 and rows + 1 are the neighbours'. */
__global__ void relax(float *next, const float *now, int rows, int top, int bottom, float *norm)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x + 1, row = blockIdx.y * blockDim.y + threadIdx.y + 1;

    if (column < SIZE - 1 && row <= rows) {
        int here = row * SIZE + column;
        float value = 0.25f * (now[here - 1] + now[here + 1] + now[here - SIZE] + now[here + SIZE]);

        next[here] = value;
        atomicAdd(norm, (value - now[here]) * (value - now[here]));
        if (row == 1 && top >= 0)
            nvshmem_float_p(next + (rows + 1) * SIZE + column, value, top);
        if (row == rows && bottom >= 0)
            nvshmem_float_p(next + column, value, bottom);
    }
}

/* The left border is 1, all else 0; the upper and lower border belong to nobody. */
static float *grid(int rows)
{
    float *device = symmetric<float>((rows + 2) * SIZE), one = 1;

    for (int row = 1; row <= rows; row++)
        to_device(device + row * SIZE, &one, 1);
    return device;
}

static float solve(int rows, int top, int bottom, bool shared)
{
    float *now = grid(rows), *next = grid(rows), *norm = symmetric<float>(2), first = 0, last = 0;

    nvshmem_barrier_all();
    for (int step = 0; step < STEPS; step++) {
        dim3 blocks((SIZE + 31) / 32, (rows + 3) / 4);

        CUDA(cudaMemsetAsync(norm, 0, sizeof *norm, stream));
        relax<<<blocks, dim3(32, 4), 0, stream>>>(next, now, rows, top, bottom, norm);
        if (shared) {
            nvshmemx_barrier_all_on_stream(stream);
            nvshmemx_float_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, norm + 1, norm, 1, stream);
        }
        last = at(norm + shared);
        first = step ? first : last;
        float *swap = now;
        now = next;
        next = swap;
    }
    CHECK(last < first / 4);
    nvshmem_barrier_all();
    nvshmem_free(norm);
    nvshmem_free(next);
    nvshmem_free(now);
    return sqrtf(last);
}

int main(void)
{
    begin();
    int rows = SIZE / n;
    float together = solve(rows, me > 0 ? me - 1 : -1, me < n - 1 ? me + 1 : -1, true);
    float alone = solve(rows * n, -1, -1, false);

    CHECK(fabsf(together - alone) < 1e-4f * alone);
    return finish();
}

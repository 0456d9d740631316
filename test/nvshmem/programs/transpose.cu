/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A matrix that is cut in rows is transposed: blocks packed by a kernel, exchanged by alltoall on the stream, unpacked.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

enum { SIZE = 240 }; /* divisible by 2, 3, 4, 5, 6, 8 */

/* Rows of this PE to blocks by target, each transposed. */
__global__ void pack(float *blocks, const float *matrix, int rows)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * SIZE; i += gridDim.x * blockDim.x) {
        int row = i / SIZE, column = i % SIZE, target = column / rows;

        blocks[target * rows * rows + column % rows * rows + row] = matrix[i];
    }
}

__global__ void unpack(float *matrix, const float *blocks, int rows)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * SIZE; i += gridDim.x * blockDim.x) {
        int source = i / (rows * rows), row = i % (rows * rows) / rows, column = i % rows;

        matrix[row * SIZE + source * rows + column] = blocks[i];
    }
}

int main(void)
{
    begin();
    int rows = SIZE / n, count = rows * SIZE;
    float *matrix = symmetric<float>(count), *out = symmetric<float>(count), *in = symmetric<float>(count);
    float *host = (float *)malloc(count * sizeof(float));

    CHECK(SIZE % n == 0);
    for (int i = 0; i < count; i++)
        host[i] = me * count + i;
    to_device(matrix, host, count);
    nvshmem_barrier_all();
    pack<<<8, 256, 0, stream>>>(out, matrix, rows);
    CHECK(!nvshmemx_float_alltoall_on_stream(NVSHMEM_TEAM_WORLD, in, out, rows * rows, stream));
    RUN(unpack<<<8, 256, 0, stream>>>(matrix, in, rows));
    to_host(host, matrix, count);
    for (int i = 0; i < count; i++)
        CHECK(host[i] == i % SIZE * SIZE + me * rows + i / SIZE);
    nvshmem_barrier_all();
    free(host);
    nvshmem_free(in);
    nvshmem_free(out);
    nvshmem_free(matrix);
    return finish();
}

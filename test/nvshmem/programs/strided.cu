/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strided puts and gets: a column of a matrix by a thread, a warp and a block.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

enum { ROWS = 40, COLUMNS = 12 };

/* Column 0 becomes column 3 of the right neighbour, each scope by rows of its own. */
__global__ void put_columns(int *to, const int *from, int peer)
{
    if (threadIdx.x == 0) {
        nvshmem_int_iput(to + 3, from, COLUMNS, COLUMNS, 10, peer);
        nvshmem_iput32(to + 10 * COLUMNS + 3, from + 10 * COLUMNS, COLUMNS, COLUMNS, 10, peer);
    }
    if (threadIdx.x < 32)
        nvshmemx_int_iput_warp(to + 20 * COLUMNS + 3, from + 20 * COLUMNS, COLUMNS, COLUMNS, 10, peer);
    nvshmemx_int_iput_block(to + 30 * COLUMNS + 3, from + 30 * COLUMNS, COLUMNS, COLUMNS, 10, peer);
    __syncthreads();
    if (threadIdx.x == 0)
        nvshmem_quiet();
}

/* It is fetched as column 5. */
__global__ void get_columns(int *to, const int *from, int peer)
{
    if (threadIdx.x == 0) {
        nvshmem_int_iget(to + 5, from, COLUMNS, COLUMNS, 10, peer);
        nvshmem_iget32(to + 10 * COLUMNS + 5, from + 10 * COLUMNS, COLUMNS, COLUMNS, 10, peer);
    }
    if (threadIdx.x < 32)
        nvshmemx_int_iget_warp(to + 20 * COLUMNS + 5, from + 20 * COLUMNS, COLUMNS, COLUMNS, 10, peer);
    nvshmemx_int_iget_block(to + 30 * COLUMNS + 5, from + 30 * COLUMNS, COLUMNS, COLUMNS, 10, peer);
}

int main(void)
{
    begin();
    int *matrix = symmetric<int>(ROWS * COLUMNS), host[ROWS * COLUMNS] = {0};

    for (int i = 0; i < ROWS; i++)
        host[i * COLUMNS] = 1000 * me + i;
    to_device(matrix, host, ROWS * COLUMNS);
    nvshmem_barrier_all();
    RUN(put_columns<<<1, 128, 0, stream>>>(matrix, matrix, right));
    nvshmem_barrier_all();
    RUN(get_columns<<<1, 128, 0, stream>>>(matrix, matrix, right));
    nvshmem_barrier_all();
    to_host(host, matrix, ROWS * COLUMNS);
    for (int i = 0; i < ROWS; i++) {
        CHECK(host[i * COLUMNS] == 1000 * me + i && host[i * COLUMNS + 3] == 1000 * left + i);
        CHECK(host[i * COLUMNS + 5] == 1000 * right + i && host[i * COLUMNS + 4] == 0);
    }
    nvshmem_free(matrix);
    return finish();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Halo exchange of a grid that is cut in columns: a column is packed by the sender, put with a signal and unpacked;
 * both neighbours at once, many steps.
 * paths: gpu:2,4 gpu1:2,4 gpumixed:2,4
 * timeout: 120
 */
#include "program.cuh"

enum { ROWS = 300, COLUMNS = 16, STEPS = 30 };

/* Block 0 serves the left neighbour, block 1 the right one. Parity: a buffer is free when its answer has come. */
__global__ void exchange(int *grid, int *packed, int *box, uint64_t *flags)
{
    int mype = nvshmem_my_pe(), npes = nvshmem_n_pes(), side = blockIdx.x;
    int peer = side ? (mype + 1) % npes : (mype + npes - 1) % npes;
    int edge = side ? COLUMNS : 1, halo = side ? COLUMNS + 1 : 0;

    for (int step = 1; step <= STEPS; step++) {
        int *out = packed + (2 * side + step % 2) * ROWS, *in = box + (2 * side + step % 2) * ROWS;

        for (int row = threadIdx.x; row < ROWS; row += blockDim.x)
            out[row] = grid[row * (COLUMNS + 2) + edge] + step;
        __syncthreads();
        /* My right edge is the right neighbour's left halo: its other side. */
        nvshmemx_int_put_signal_nbi_block(box + (2 * !side + step % 2) * ROWS, out, ROWS, flags + !side, step,
                                          NVSHMEM_SIGNAL_SET, peer);
        if (threadIdx.x == 0)
            nvshmem_signal_wait_until(flags + side, NVSHMEM_CMP_GE, step);
        __syncthreads();
        for (int row = threadIdx.x; row < ROWS; row += blockDim.x)
            grid[row * (COLUMNS + 2) + halo] = in[row];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        nvshmem_quiet();
}

int main(void)
{
    begin();
    int width = COLUMNS + 2, *grid = symmetric<int>(ROWS * width), *packed = symmetric<int>(4 * ROWS);
    int *box = symmetric<int>(4 * ROWS), *host = (int *)malloc(ROWS * width * sizeof(int));
    uint64_t *flags = symmetric<uint64_t>(2);

    for (int i = 0; i < ROWS * width; i++)
        host[i] = 100000 * me + i;
    to_device(grid, host, ROWS * width);
    nvshmem_barrier_all();
    RUN(exchange<<<2, 128, 0, stream>>>(grid, packed, box, flags));
    nvshmem_barrier_all();
    to_host(host, grid, ROWS * width);
    for (int row = 0; row < ROWS; row++) {
        CHECK(host[row * width] == 100000 * left + row * width + COLUMNS + STEPS);
        CHECK(host[row * width + COLUMNS + 1] == 100000 * right + row * width + 1 + STEPS);
        CHECK(host[row * width + 1] == 100000 * me + row * width + 1);
    }
    free(host);
    nvshmem_free(grid);
    return finish();
}

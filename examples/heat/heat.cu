/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heat equation of heat.c in memory of the GPU, whose kernels exchange the halos themselves: blocks at the edges
 * wait for the neighbours' rows, compute their part of the PE's own first and last row, and put it into the
 * neighbours' halos with a signal. The other blocks compute the inside meanwhile. The host launches a kernel a step
 * and waits for the last one alone.
 *
 *   oshnvcc -O2 -o heat_gpu heat.cu && oshrun -n 4 ./heat_gpu
 */
#include "heat.h"

#include "../gpu.cuh"

#include <shmemx.h>

enum { THREADS = 128, TILES = COLUMNS / THREADS, INSIDE = 8 /* blocks for the inside of a tile of columns */ };
enum { ABOVE = 0, BELOW = 2 };

/* All pointers are to the device heap: each PE has the same at a symmetric address. */
struct strip {
    int me, n, begin, count; /* PE of so many; its first row, and how many rows */
    double *cells[2];        /* [1 + count + 1][COLUMNS] now and after the step */
    uint64_t *arrived;       /* [4] tiles that have come: from ABOVE, of even and of odd steps, and from BELOW */
};

static __global__ void fill(struct strip s)
{
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < (s.count + 2) * COLUMNS; i += blockDim.x * gridDim.x)
        s.cells[0][i] = heat_first(s.begin - 1 + i / COLUMNS, i % COLUMNS);
}

static __device__ void compute(const struct strip &s, int k, int row)
{
    int column = blockIdx.x * THREADS + threadIdx.x, i = row * COLUMNS + column;

    s.cells[(k + 1) % 2][i] = heat_next(s.cells[k % 2] + i, s.begin - 1 + row, column);
}

/*
 * The halos of step k are there when all tiles of both neighbours have come. A neighbour may be one step ahead and
 * never two, so even and odd steps are counted apart: step k is number (k + 1) / 2 of its kind.
 */
static __device__ void await_halos(const struct strip &s, int k)
{
    uint64_t tiles = (uint64_t)TILES * ((k + 1) / 2);

    if (threadIdx.x == 0 && s.me > 0)
        shmem_signal_wait_until(s.arrived + ABOVE + k % 2, SHMEM_CMP_GE, tiles);
    if (threadIdx.x == 0 && s.me < s.n - 1)
        shmem_signal_wait_until(s.arrived + BELOW + k % 2, SHMEM_CMP_GE, tiles);
    __syncthreads();
}

/* The tile of row `row` of step k into row `to` of the neighbour, whose counter `side` it adds to; by all threads. */
static __device__ void send(const struct strip &s, int k, int row, int to, int side, int pe)
{
    double *cells = s.cells[k % 2] + blockIdx.x * THREADS;

    shmem_putmem_signal_block(cells + to * COLUMNS, cells + row * COLUMNS, THREADS * sizeof(double),
                              s.arrived + side + k % 2, 1, SHMEM_SIGNAL_ADD, pe);
}

/* Computes step k + 1. Blocks (tile, 0) are at the edges. They wait for kernels of an earlier step alone, which have
   been launched before, so that not all blocks of a kernel must fit on the GPU at once. */
static __global__ void step(struct strip s, int k)
{
    if (blockIdx.y > 0) {
        for (int row = 1 + blockIdx.y; row < s.count; row += INSIDE)
            compute(s, k, row);
        return;
    }
    if (k > 0)
        await_halos(s, k);
    compute(s, k, 1);
    compute(s, k, s.count);
    if (s.me > 0)
        send(s, k + 1, 1, s.begin - heat_begin(s.me - 1, s.n) + 1, BELOW, s.me - 1);
    if (s.me < s.n - 1)
        send(s, k + 1, s.count, 0, ABOVE, s.me + 1);
}

static void strip_open(struct strip *s)
{
    size_t rows = ROWS / s->n + 1 + 2; /* symmetric: as much on all PEs */

    s->begin = heat_begin(s->me, s->n);
    s->count = heat_begin(s->me + 1, s->n) - s->begin;
    for (int i = 0; i < 2; i++)
        s->cells[i] = (double *)shmemx_malloc_device(rows * COLUMNS * sizeof(double));
    s->arrived = (uint64_t *)shmemx_calloc_device(4, sizeof *s->arrived);
    if (!s->cells[0] || !s->cells[1] || !s->arrived)
        shmem_global_exit(1); /* a line says why */
    fill<<<32, THREADS>>>(*s);
    cuda(cudaDeviceSynchronize());
    shmem_barrier_all();
}

int main(void)
{
    static long wrong, all;
    static double rows[ROWS * COLUMNS];
    struct strip s;

    gpu_init();
    s.me = shmem_my_pe();
    s.n = shmem_n_pes();
    if (s.n > ROWS) {
        fprintf(stderr, "heat_gpu: at most %d PEs, one for each row\n", ROWS);
        shmem_global_exit(2);
    }
    strip_open(&s);
    for (int k = 0; k < STEPS; k++)
        step<<<dim3(TILES, 1 + INSIDE), THREADS>>>(s, k);
    cuda(cudaGetLastError());
    cuda(cudaDeviceSynchronize()); /* a cudaMemcpy that waits for kernels holds up the copies that they wait for */
    cuda(cudaMemcpy(rows, s.cells[STEPS % 2] + COLUMNS, s.count * COLUMNS * sizeof(double), cudaMemcpyDeviceToHost));
    wrong = heat_wrong(rows, s.begin, s.begin + s.count);

    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all, &wrong, 1);
    if (s.me == 0)
        printf("heat_gpu: %d PEs, %d x %d, %d steps, %ld wrong\n", s.n, ROWS, COLUMNS, STEPS, all);
    shmem_finalize();
    return all != 0;
}

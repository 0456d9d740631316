/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of jacobi: a part of an iteration without communication, and those that communicate themselves. */
#ifndef PERFTEST_DEVICE_JACOBI_KERNELS_CUH
#define PERFTEST_DEVICE_JACOBI_KERNELS_CUH

#include "perftest/device/jacobi_api.cuh"

#include <cooperative_groups.h>

#define JACOBI_KERNEL static __global__ void __launch_bounds__(JACOBI_THREADS, 3)

/* Which sum of squares iteration k adds to; -1: none. */
static inline __host__ __device__ int jacobi_norm_of(int k, int every)
{
    return k >= 0 && k % every == 0 ? k / every : -1;
}

static __device__ void jacobi_account(const struct jacobi_args &a, int k, double sum)
{
    int n = jacobi_norm_of(k, a.norm);

    if (n >= 0)
        jacobi_add(sum, a.changed + n);
}

/* One tile of iteration k, whose values go nowhere else. */
static __device__ float jacobi_inner(const struct jacobi_grid &g, int k, int number)
{
    return jacobi_compute<false>(g, k % 2, jacobi_tile_of(g, number), [](bool, const float4 &) {});
}

/* Tiles from `begin` to `end` of iteration k. */
JACOBI_KERNEL jacobi_part(struct jacobi_args a, int k, int begin, int end)
{
    double sum = 0;

    for (int number = begin + blockIdx.x; number < end; number += gridDim.x)
        sum += jacobi_inner(a.grid, k, number);
    jacobi_account(a, k, sum);
}

/* All of iteration k by one PE alone: its halos are its own edges. */
JACOBI_KERNEL jacobi_alone(struct jacobi_args a, int k)
{
    float *to = jacobi_array(a.grid, (k + 1) % 2);
    double sum = 0;

    for (int number = blockIdx.x; number < jacobi_tiles(a.grid); number += gridDim.x) {
        struct jacobi_tile tile = jacobi_tile_of(a.grid, number);

        sum += jacobi_compute<true>(a.grid, k % 2, tile, [&](bool top, const float4 &value) {
            *(float4 *)(to + (size_t)(top ? a.grid.rows + 1 : 0) * a.grid.pitch + tile.x) = value;
        });
    }
    jacobi_account(a, k, sum);
}

#ifndef PERF_NCCL

static __device__ void jacobi_four(float *to, const float4 &value, int pe)
{
    PERF_ONE(float_p)(to, value.x, pe);
    PERF_ONE(float_p)(to + 1, value.y, pe);
    PERF_ONE(float_p)(to + 2, value.z, pe);
    PERF_ONE(float_p)(to + 3, value.w, pe);
}

JACOBI_KERNEL jacobi_p(struct jacobi_args a, int k)
{
    float *to = jacobi_array(a.grid, (k + 1) % 2);
    double sum = 0;

    for (int number = blockIdx.x; number < jacobi_tiles(a.grid); number += gridDim.x) {
        struct jacobi_tile tile = jacobi_tile_of(a.grid, number);

        sum += jacobi_compute<true>(a.grid, k % 2, tile, [&](bool top, const float4 &value) {
            jacobi_four(to + (size_t)(top ? a.above_halo : 0) * a.grid.pitch + tile.x, value, top ? a.above : a.below);
        });
    }
    jacobi_account(a, k, sum);
}

/* What the block has just computed of row 1 and of the last row, to the neighbours. */
static __device__ void jacobi_send(const struct jacobi_args &a, int k, int number)
{
    const struct jacobi_grid &g = a.grid;
    struct jacobi_tile tile = jacobi_tile_of(g, number);
    int x = tile.x - threadIdx.x * 4;
    size_t pitch = (size_t)g.pitch, len = (g.pitch - x < JACOBI_WIDE ? g.pitch - x : JACOBI_WIDE) * sizeof(float);
    float *to = jacobi_array(g, (k + 1) % 2) + x;

    __syncthreads();
    if (tile.chunk == 0)
        perf_putmem_signal_nbi<DEV_BLOCK>(to + pitch * a.above_halo, to + pitch, len, a.arrived + 1, 1,
                                          PERF_SIGNAL_ADD, a.above);
    if (tile.chunk == g.chunks - 1)
        perf_putmem_signal_nbi<DEV_BLOCK>(to, to + pitch * g.rows, len, a.arrived, 1, PERF_SIGNAL_ADD, a.below);
}

/* This PE's sum of iteration k, which is over, to all; by one block. */
static __device__ void jacobi_signal(const struct jacobi_args &a, int k)
{
    int n = jacobi_norm_of(k, a.norm);

    for (int pe = threadIdx.x; n >= 0 && pe < a.npes; pe += blockDim.x)
        PERF_ONE(uint64_p)(a.sums_seen + (size_t)n * a.npes + a.me, __double_as_longlong(a.changed[n]), pe);
}

/* All PEs' sums of iteration k, awaited and added; by the same block. */
static __device__ void jacobi_await(const struct jacobi_args &a, int k)
{
    int n = jacobi_norm_of(k, a.norm);

    for (int pe = threadIdx.x; n >= 0 && pe < a.npes; pe += blockDim.x) {
        volatile uint64_t *word = a.sums_seen + (size_t)n * a.npes + pe;

        PERF_ONE(uint64_wait_until)((uint64_t *)word, PERF_NE, JACOBI_NO_SUM);
        atomicAdd(a.norms + n, __longlong_as_double(*word));
    }
}

/*
 * Iteration k, its halos in place: returns when those of the next are. A neighbour's pieces of iteration k say also
 * that it has read its halos of that iteration, so that what it is sent in the next one overwrites nothing that it
 * needs, and that the puts before have left. The sum of iteration k - 1 goes round meanwhile.
 */
static __device__ void jacobi_step(const struct jacobi_args &a, int k)
{
    int edges = jacobi_edges(a.grid), number = blockIdx.x;
    bool signals = blockIdx.x == (edges < gridDim.x ? edges : gridDim.x - 1);
    double sum = 0;

    if (signals)
        jacobi_signal(a, k - 1);
#pragma unroll 1
    for (; number < edges; number += gridDim.x) {
        sum += jacobi_inner(a.grid, k, number);
        jacobi_send(a, k, number);
    }
#pragma unroll 1
    for (; number < jacobi_tiles(a.grid); number += gridDim.x)
        sum += jacobi_inner(a.grid, k, number);
    jacobi_account(a, k, sum);
    if (signals)
        jacobi_await(a, k - 1);
    if (blockIdx.x == 0 && threadIdx.x < 2)
        PERF_ONE(signal_wait_until)(a.arrived + threadIdx.x, PERF_GE, (uint64_t)(k + 1) * a.grid.across);
}

JACOBI_KERNEL jacobi_nbi(struct jacobi_args a, int k)
{
    jacobi_step(a, k);
}

JACOBI_KERNEL jacobi_persistent(struct jacobi_args a, int iterations)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();

#pragma unroll 1
    for (int k = 0; k < iterations; k++) {
        jacobi_step(a, k);
        grid.sync();
    }
    if (blockIdx.x == 0) {
        jacobi_signal(a, iterations - 1);
        jacobi_await(a, iterations - 1);
    }
}

/* The sum of the last iteration, after jacobi_nbi. */
static __global__ void jacobi_last(struct jacobi_args a, int iterations)
{
    jacobi_signal(a, iterations - 1);
    jacobi_await(a, iterations - 1);
}

#endif
#endif

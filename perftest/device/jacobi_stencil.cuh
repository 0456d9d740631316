/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stencil of all variants of jacobi: how a PE's rows are cut into tiles, one tile by a block, sums of squares.
 *
 * Array a[i] holds row 0, the halo above, rows 1 to `rows`, and the halo below; rows are `pitch` floats apart. A
 * tile is JACOBI_ROWS rows high and four floats a thread wide. Tiles are numbered so that those at an edge come
 * first. Every float is read once from memory and its neighbours in the column from registers; in the row from the
 * lanes beside, but at the ends of a warp.
 */
#ifndef PERFTEST_DEVICE_JACOBI_STENCIL_CUH
#define PERFTEST_DEVICE_JACOBI_STENCIL_CUH

#include <stdint.h>

enum { JACOBI_THREADS = 256, JACOBI_WIDE = 4 * JACOBI_THREADS, JACOBI_ROWS = 8 };

struct jacobi_grid {
    float *a[2]; /* room for JACOBI_ROWS rows more, which are read and not used */
    int nx, rows;
    int pitch;         /* a multiple of 128: whole warps */
    int across, chunks; /* tiles in a row, in a column */
    int first_row, ny; /* row 1 is this one of all PEs' ny */
};

struct jacobi_tile {
    int x, chunk; /* this thread's column, and which JACOBI_ROWS rows */
};

/* a[i], without a place in memory for both: indices are not known when kernels are compiled. */
static inline __host__ __device__ float *jacobi_array(const struct jacobi_grid &g, int i)
{
    return i ? g.a[1] : g.a[0];
}

/* Tiles at an edge. */
static inline __host__ __device__ int jacobi_edges(const struct jacobi_grid &g)
{
    return g.across * (g.chunks < 2 ? g.chunks : 2);
}

static inline __host__ __device__ int jacobi_tiles(const struct jacobi_grid &g)
{
    return g.across * g.chunks;
}

static inline void jacobi_cut(struct jacobi_grid *g)
{
    g->pitch = (g->nx + 127) / 128 * 128;
    g->across = (g->pitch + JACOBI_WIDE - 1) / JACOBI_WIDE;
    g->chunks = (g->rows + JACOBI_ROWS - 1) / JACOBI_ROWS;
}

static __device__ struct jacobi_tile jacobi_tile_of(const struct jacobi_grid &g, int number)
{
    int launch = number / g.across;
    int chunk = launch == 0 ? 0 : launch == 1 ? g.chunks - 1 : launch - 1;

    return jacobi_tile{(number % g.across) * JACOBI_WIDE + (int)threadIdx.x * 4, chunk};
}

/* The four new values of a thread in one row; `beside` is what the lanes at the ends of a warp read there. */
static __device__ float4 jacobi_point(const float4 &up, const float4 &at, const float4 &down, float beside, int x,
                                      int nx)
{
    int lane = threadIdx.x % 32;
    float left = __shfl_up_sync(0xffffffffu, at.w, 1), right = __shfl_down_sync(0xffffffffu, at.x, 1);
    float4 now;

    left = lane == 0 ? beside : left;
    right = lane == 31 ? beside : right;
    now.x = 0.25f * ((left + at.y) + (up.x + down.x));
    now.y = 0.25f * ((at.x + at.z) + (up.y + down.y));
    now.z = 0.25f * ((at.y + at.w) + (up.z + down.z));
    now.w = 0.25f * ((at.z + right) + (up.w + down.w));
    now.x = x == 0 || x >= nx - 1 ? at.x : now.x;
    now.y = x + 1 >= nx - 1 ? at.y : now.y;
    now.z = x + 2 >= nx - 1 ? at.z : now.z;
    now.w = x + 3 >= nx - 1 ? at.w : now.w;
    return now;
}

static __device__ float jacobi_square(const float4 &now, const float4 &was)
{
    float a = now.x - was.x, b = now.y - was.y, c = now.z - was.z, d = now.w - was.w;

    return (a * a + b * b) + (c * c + d * d);
}

/*
 * One tile from a[now] to a[1 - now]; this thread's sum of squares. EDGES: done(top, values) for what belongs to
 * row 1 and to the last row.
 */
template <bool EDGES, class DONE>
static __device__ float jacobi_compute(const struct jacobi_grid &g, int now, const struct jacobi_tile &tile, DONE done)
{
    int first = tile.chunk * JACOBI_ROWS + 1, lane = threadIdx.x % 32;
    int beside = lane == 0 ? (tile.x > 0 ? -1 : 0) : tile.x + 4 < g.pitch ? 4 : 3;
    const float *from = jacobi_array(g, now) + (size_t)(first - 1) * g.pitch + tile.x;
    float *to = jacobi_array(g, 1 - now) + (size_t)first * g.pitch + tile.x;
    float4 row[JACOBI_ROWS + 2], last = {};
    float end[JACOBI_ROWS], sum = 0;

    if (tile.x >= g.pitch)
        return 0;
#pragma unroll
    for (int r = 0; r < JACOBI_ROWS + 2; r++)
        row[r] = *(const float4 *)(from + (size_t)r * g.pitch);
#pragma unroll
    for (int r = 0; r < JACOBI_ROWS; r++)
        end[r] = lane == 0 || lane == 31 ? from[(size_t)(r + 1) * g.pitch + beside] : 0;
#pragma unroll
    for (int r = 0; r < JACOBI_ROWS; r++) {
        float4 value = jacobi_point(row[r], row[r + 1], row[r + 2], end[r], tile.x, g.nx);

        if (EDGES && first == 1 && r == 0)
            done(true, value);
        if (first + r <= g.rows) {
            *(float4 *)(to + (size_t)r * g.pitch) = value;
            sum += jacobi_square(value, row[r + 1]);
            last = value;
        }
    }
    if (EDGES && first + JACOBI_ROWS > g.rows)
        done(false, last);
    return sum;
}

/* Adds the block's sum to `total`; once in a kernel between two barriers of its grid. */
static __device__ void jacobi_add(double sum, double *total)
{
    __shared__ double warps[JACOBI_THREADS / 32];

    for (int away = 16; away; away /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, away);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x)
        return;
    for (int w = 1; w < JACOBI_THREADS / 32; w++)
        sum += warps[w];
    atomicAdd(total, sum);
}

/* The start, halos included: 0, but for a wave in the first and last column. */
static __global__ void jacobi_fill(struct jacobi_grid g)
{
    for (int i = blockIdx.x; i < g.rows + 2 + JACOBI_ROWS; i += gridDim.x) {
        int y = (g.first_row + i - 1 + g.ny) % g.ny;
        float wave = i < g.rows + 2 ? sinpif(2.0f * (float)y / (float)g.ny) : 0;

        for (int x = threadIdx.x; x < g.pitch; x += blockDim.x) {
            float value = x == 0 || x == g.nx - 1 ? wave : 0;
            g.a[0][(size_t)i * g.pitch + x] = value;
            g.a[1][(size_t)i * g.pitch + x] = value;
        }
    }
}

#endif

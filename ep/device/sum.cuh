/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of BF16 rows by one warp, FP32 in registers, in the order of the terms: products and sums are rounded one by
 * one, as on the CPU. A chunk is 256 columns, 8 of them a lane's; two chunks of eight rows are in flight at once.
 */
#ifndef WSH_EP_DEVICE_SUM_CUH
#define WSH_EP_DEVICE_SUM_CUH

#include "ep/device/run.cuh"

#ifdef __CUDACC__
#include <cuda_bf16.h>
#endif

enum { EP_SUM_COLUMNS = 8, EP_SUM_CHUNK = EP_SUM_COLUMNS * EP_LANES, EP_SUM_CHUNKS = 2, EP_SUM_ROWS = 8 };

struct ep_term {
    const void *row;
    float weight;
};

typedef struct ep_term ep_term_fn(const struct ep_run *run, const void *arg, int k);

/* Chunks of a piece: few enough that a worker has several pieces, for the last ones end at about the same time. */
EP_STEP int ep_chunks(const struct ep_run *run, int rows)
{
    int chunks = (run->shape.hidden + EP_SUM_CHUNK - 1) / EP_SUM_CHUNK;
    int64_t most = (int64_t)chunks * rows / (6 * ep_workers(run));

    if (most < EP_SUM_CHUNKS)
        return EP_SUM_CHUNKS;
    return most < chunks ? (int)most / EP_SUM_CHUNKS * EP_SUM_CHUNKS : chunks;
}

EP_STEP int ep_pieces(const struct ep_run *run, int rows)
{
    return (run->shape.hidden + ep_chunks(run, rows) * EP_SUM_CHUNK - 1) / (ep_chunks(run, rows) * EP_SUM_CHUNK);
}

EP_STEP void ep_sum_add(float (&sum)[EP_SUM_COLUMNS], uint4 columns, float weight)
{
    unsigned words[4] = {columns.x, columns.y, columns.z, columns.w};

#pragma unroll
    for (int i = 0; i < EP_SUM_COLUMNS; i++) {
        float value = wsh_ep_float(i % 2 ? words[i / 2] & 0xffff0000u : words[i / 2] << 16);

        sum[i] = wsh_ep_add(sum[i], wsh_ep_mul(weight, value));
    }
}

/* The GPU's instruction rounds as wsh_ep_to_bf16 does. */
EP_STEP unsigned ep_sum_pair(float low, float high)
{
#ifdef __CUDA_ARCH__
    __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);

    return *(const unsigned *)&pair;
#else
    return wsh_ep_to_bf16(low) | (unsigned)wsh_ep_to_bf16(high) << 16;
#endif
}

EP_STEP uint4 ep_sum_round(const float (&sum)[EP_SUM_COLUMNS])
{
    return make_uint4(ep_sum_pair(sum[0], sum[1]), ep_sum_pair(sum[2], sum[3]), ep_sum_pair(sum[4], sum[5]),
                      ep_sum_pair(sum[6], sum[7]));
}

/* Up to ROWS of the terms that lanes `has` have, in order, added to columns from this lane's `unit` on. */
template <int ROWS, int CHUNKS>
EP_STEP void ep_sum_rows(float (&sum)[CHUNKS][EP_SUM_COLUMNS], const struct ep_term &mine, unsigned has, int unit,
                         int units)
{
    uint4 held[ROWS][CHUNKS];
    unsigned next = has;

#pragma unroll
    for (int r = 0; r < ROWS; r++, next &= next - 1)
        if (next) {
            const uint4 *row = (const uint4 *)__shfl_sync(EP_ALL_LANES, (uint64_t)mine.row, __ffs((int)next) - 1);

#pragma unroll
            for (int c = 0; c < CHUNKS; c++)
                held[r][c] = unit + c * EP_LANES < units ? __ldcg(row + unit + c * EP_LANES) : make_uint4(0, 0, 0, 0);
        }
    next = has;
#pragma unroll
    for (int r = 0; r < ROWS; r++, next &= next - 1)
        if (next) {
            float weight = __shfl_sync(EP_ALL_LANES, mine.weight, __ffs((int)next) - 1);

#pragma unroll
            for (int c = 0; c < CHUNKS; c++)
                ep_sum_add(sum[c], held[r][c], weight);
        }
}

/* The lowest `rows` of the lanes in `has`. */
EP_STEP unsigned ep_sum_first_rows(unsigned has, int rows)
{
    unsigned rest = has;

#pragma unroll
    for (int r = 0; r < rows; r++)
        rest &= rest - 1;
    return has & ~rest;
}

/* All terms, at this lane's columns in CHUNKS chunks from `unit` (of 16 bytes) on, of `units`. */
template <int ROWS, int CHUNKS>
EP_STEP void ep_sum_chunks(uint4 *out, const struct ep_term &mine, unsigned has, int unit, int units)
{
    float sum[CHUNKS][EP_SUM_COLUMNS] = {};

#pragma unroll 1
    while (has) {
        unsigned now = ep_sum_first_rows(has, ROWS);

        ep_sum_rows<ROWS>(sum, mine, now, unit, units);
        has &= ~now;
    }
#pragma unroll
    for (int c = 0; c < CHUNKS; c++)
        if (unit + c * EP_LANES < units)
            out[unit + c * EP_LANES] = ep_sum_round(sum[c]);
}

#endif

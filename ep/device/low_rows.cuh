/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of low latency by one warp: copied or quantized to several PEs' slots or rows, and added up. */
#ifndef WSH_EP_DEVICE_LOW_ROWS_CUH
#define WSH_EP_DEVICE_LOW_ROWS_CUH

#include "ep/device/low.cuh"

/* bytes: a multiple of 16, as the address is. */
EP_STEP void ep_zero(void *to, size_t bytes)
{
    for (size_t at = ep_lane(); at < bytes / 16; at += EP_LANES)
        ((uint4 *)to)[at] = make_uint4(0, 0, 0, 0);
}

/* Stores what a lane holds of a row where it belongs: whole where that is aligned, else words. */
EP_STEP void ep_low_store(uint64_t to, unsigned unit, uint4 held, bool wide)
{
    if (wide) {
        ((uint4 *)to)[unit] = held;
        return;
    }
    ((unsigned *)to)[4 * unit] = held.x;
    ((unsigned *)to)[4 * unit + 1] = held.y;
    ((unsigned *)to)[4 * unit + 2] = held.z;
    ((unsigned *)to)[4 * unit + 3] = held.w;
}

EP_STEP uint4 ep_low_load(const void *from, unsigned unit, bool wide)
{
    const unsigned *words = (const unsigned *)from + 4 * unit;

    return wide ? __ldcg((const uint4 *)from + unit)
                : make_uint4(__ldcg(words), __ldcg(words + 1), __ldcg(words + 2), __ldcg(words + 3));
}

/*
 * Units of 16 bytes, and up to 2 scales of each lane, to where lanes have addresses. Addresses may still be on their
 * way when the loads begin.
 */
template <unsigned DEPTH>
EP_STEP void ep_low_copy(const void *from, unsigned units, const float *scales, unsigned n_scales, uint64_t to,
                         uint64_t scales_to)
{
    unsigned lane = ep_lane(), has;
    bool wide_from = ((uint64_t)from & 15) == 0, wide;
    float scale[2];

    for (unsigned i = 0; i < 2; i++)
        scale[i] = scales && lane + i * EP_LANES < n_scales ? __ldcg(scales + lane + i * EP_LANES) : 0.0f;
#pragma unroll 1
    for (unsigned first = 0; first < units; first += DEPTH * EP_LANES) {
        unsigned at = first + lane;
        uint4 held[DEPTH];

#pragma unroll
        for (unsigned u = 0; u < DEPTH; u++)
            if (at + u * EP_LANES < units)
                held[u] = ep_low_load(from, at + u * EP_LANES, wide_from);
        wide = __all_sync(EP_ALL_LANES, (to & 15) == 0);
        has = __ballot_sync(EP_ALL_LANES, to != 0);
        while (has) {
            uint64_t dest = __shfl_sync(EP_ALL_LANES, to, __ffs((int)has) - 1);

            has &= has - 1;
#pragma unroll
            for (unsigned u = 0; u < DEPTH; u++)
                if (at + u * EP_LANES < units)
                    ep_low_store(dest, at + u * EP_LANES, held[u], wide);
        }
    }
    has = __ballot_sync(EP_ALL_LANES, scales && to != 0);
    while (has) {
        float *dest = (float *)__shfl_sync(EP_ALL_LANES, scales_to, __ffs((int)has) - 1);

        has &= has - 1;
        for (unsigned i = 0; i < 2; i++)
            if (lane + i * EP_LANES < n_scales)
                dest[lane + i * EP_LANES] = scale[i];
        for (unsigned i = lane + 2 * EP_LANES; i < n_scales; i += EP_LANES)
            dest[i] = __ldcg(scales + i);
    }
}

EP_LOOP void ep_copy_lanes(const void *from, int bytes, const float *scales, int n_scales, uint64_t to,
                           uint64_t scales_to)
{
    unsigned units = (unsigned)bytes / 16;

    if (units <= 2 * EP_LANES)
        ep_low_copy<2>(from, units, scales, (unsigned)n_scales, to, scales_to);
    else
        ep_low_copy<7>(from, units, scales, (unsigned)n_scales, to, scales_to);
}

EP_STEP void ep_copy_to_each(const struct ep_run *run, const void *from, int bytes, const float *scales, int n_scales,
                             int n, ep_to_fn *to, ep_to_fn *scales_to, const void *arg)
{
    int k = (int)ep_lane();

    ep_copy_lanes(from, bytes, scales, n_scales, k < n ? (uint64_t)to(run, arg, k) : 0,
                  scales && k < n ? (uint64_t)scales_to(run, arg, k) : 0);
}

/* A lane's element of a row's scales to all that have an address, one column of the caller's after the other. */
EP_LOOP void ep_step_lanes(const float *scales, int first, int n, int packed, int64_t step, uint64_t mine)
{
    unsigned has = __ballot_sync(EP_ALL_LANES, mine != 0);

#pragma unroll 1
    for (int at = (int)ep_lane(); at - (int)ep_lane() < n; at += EP_LANES) {
        uint32_t word = at < n ? wsh_ep_scale_word(scales, first + at, packed) : 0;

#pragma unroll 1
        for (unsigned left = has; left; left &= left - 1) {
            uint32_t *to = (uint32_t *)__shfl_sync(EP_ALL_LANES, mine, __ffs((int)left) - 1);

            if (at < n)
                to[(first + at) * step] = word;
        }
    }
}

EP_STEP void ep_step_to_each(const struct ep_run *run, const float *scales, int first, int n, int packed, int64_t step,
                             int choices, ep_to_fn *to, const void *arg)
{
    int k = (int)ep_lane();

    ep_step_lanes(scales, first, n, packed, step, k < choices ? (uint64_t)to(run, arg, k) : 0);
}

/* 512 columns of BF16 by a warp, 16 of them a lane's: a quarter of the warp has a scale, which its lanes return. */
EP_STEP float ep_low_code(uint4 *codes, uint4 low, uint4 high, enum wsh_ep_scale kind)
{
    unsigned largest = ep_largest(low), more = ep_largest(high);
    float amax, inverse;

    largest = more > largest ? more : largest;
#pragma unroll
    for (int by = EP_LANES / 8; by; by /= 2) {
        unsigned other = __shfl_xor_sync(EP_ALL_LANES, largest, by);

        largest = other > largest ? other : largest;
    }
    amax = wsh_ep_from_bf16((uint16_t)largest);
    inverse = wsh_ep_inverse_of(amax, kind);
    *codes = make_uint4(ep_codes(low.x, low.y, inverse), ep_codes(low.z, low.w, inverse),
                        ep_codes(high.x, high.y, inverse), ep_codes(high.z, high.w, inverse));
    return wsh_ep_scale_of(amax, kind);
}

enum { EP_LOW_DEPTH = 2, EP_LOW_COLUMNS = 16 }; /* 512 columns at a time, and so often */

/* Columns from `x` on, a multiple of 128, as codes to where lanes have an address, their scales `delta` bytes on. */
EP_LOOP void ep_quantize_lanes(const uint16_t *x, int columns, uint64_t mine, int64_t delta, enum wsh_ep_scale kind)
{
    unsigned has = __ballot_sync(EP_ALL_LANES, mine != 0);
    int units = columns / EP_LOW_COLUMNS, lane = (int)ep_lane();

#pragma unroll 1
    for (int first = 0; first < units; first += EP_LOW_DEPTH * EP_LANES) {
        uint4 held[EP_LOW_DEPTH][2], codes[EP_LOW_DEPTH];
        float scale[EP_LOW_DEPTH];

#pragma unroll
        for (int u = 0; u < EP_LOW_DEPTH; u++) {
            int unit = first + u * EP_LANES + lane;
            const uint4 *from = (const uint4 *)x + 2 * unit;

            held[u][0] = unit < units ? __ldcg(from) : make_uint4(0, 0, 0, 0);
            held[u][1] = unit < units ? __ldcg(from + 1) : make_uint4(0, 0, 0, 0);
        }
#pragma unroll
        for (int u = 0; u < EP_LOW_DEPTH; u++)
            scale[u] = ep_low_code(&codes[u], held[u][0], held[u][1], kind);
        for (unsigned left = has; left; left &= left - 1) {
            char *to = (char *)__shfl_sync(EP_ALL_LANES, mine, __ffs((int)left) - 1);

#pragma unroll
            for (int u = 0; u < EP_LOW_DEPTH; u++) {
                int unit = first + u * EP_LANES + lane;

                if (unit >= units)
                    continue;
                ((uint4 *)to)[unit] = codes[u];
                if (lane % 8 == 0)
                    ((float *)(to + delta))[unit * EP_LOW_COLUMNS / EP_GROUP] = scale[u];
            }
        }
    }
}

EP_STEP void ep_quantize_to_each(const struct ep_run *run, const uint16_t *x, int columns, int n, ep_to_fn *to,
                                 const void *arg, int64_t delta)
{
    int k = (int)ep_lane();

    ep_quantize_lanes(x, columns, k < n ? (uint64_t)to(run, arg, k) : 0, delta,
                      run->shape.dtype == SHMEMX_EP_FP8_UE8M0 ? WSH_EP_SCALE_POWER2 : WSH_EP_SCALE_FLOAT);
}

/*
 * A worker adds up columns [first, first + columns) of the terms k from 0 to n - 1, in their order, and stores them
 * rounded in `out`. Inline: what it needs of the run is then a constant, and its registers are the kernel's.
 */
EP_STEP void ep_low_add(const struct ep_run *run, void *out, int first, int columns, int n, ep_term_fn *term,
                        const void *arg)
{
    enum { ROWS = 4, CHUNKS = 2 };
    int lane = (int)ep_lane(), units = (first + columns) / EP_SUM_COLUMNS;
    struct ep_term mine = {NULL, 0.0f};
    unsigned has;

    if (lane < n)
        mine = term(run, arg, lane);
    has = __ballot_sync(EP_ALL_LANES, mine.row != NULL);
#pragma unroll 1
    for (int unit = first / EP_SUM_COLUMNS + lane; unit - lane < units; unit += CHUNKS * EP_LANES)
        ep_sum_chunks<ROWS, CHUNKS>((uint4 *)out, mine, has, unit, units);
}

/* The least group of the lanes in `left`. */
EP_STEP int ep_least_group(unsigned left, int group)
{
    int least = left >> ep_lane() & 1 ? group : INT32_MAX;

#pragma unroll
    for (int by = EP_LANES / 2; by; by /= 2) {
        int other = __shfl_xor_sync(EP_ALL_LANES, least, by);

        least = other < least ? other : least;
    }
    return least;
}

/* Rows of a group are added up and rounded, and groups added in their order: as if each had been one row. */
EP_LOOP void ep_sum_groups(uint4 *out, struct ep_term mine, int group, int unit, int units)
{
    unsigned has = __ballot_sync(EP_ALL_LANES, mine.row != NULL);

#pragma unroll 1
    for (; unit - (int)ep_lane() < units; unit += EP_LANES) {
        float total[EP_SUM_COLUMNS] = {};

#pragma unroll 1
        for (unsigned left = has; left;) {
            int least = ep_least_group(left, group);
            unsigned now = __ballot_sync(EP_ALL_LANES, group == least) & left;
            float sum[1][EP_SUM_COLUMNS] = {};

            for (unsigned rows = now; rows;) {
                unsigned some = ep_sum_first_rows(rows, EP_SUM_ROWS);

                ep_sum_rows<EP_SUM_ROWS>(sum, mine, some, unit, units);
                rows &= ~some;
            }
            ep_sum_add(total, ep_sum_round(sum[0]), 1.0f);
            left &= ~now;
        }
        if (unit < units)
            out[unit] = ep_sum_round(total);
    }
}

EP_STEP void ep_sum_grouped(const struct ep_run *run, void *out, int first, int columns, int n, ep_term_fn *term,
                            ep_group_fn *group, const void *arg)
{
    int lane = (int)ep_lane(), of = -1;
    struct ep_term mine = {NULL, 0.0f};

    if (lane < n) {
        mine = term(run, arg, lane);
        of = group(run, arg, lane);
    }
    ep_sum_groups((uint4 *)out, mine, of, first / EP_SUM_COLUMNS + lane, (first + columns) / EP_SUM_COLUMNS);
}

#endif

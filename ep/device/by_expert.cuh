/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernels of by_expert.h do: an expert's places by a block, rows by warps. test/device/by_expert_on_cpu.cc
 * runs it by threads of a CPU.
 */
#ifndef WSH_EP_DEVICE_BY_EXPERT_CUH
#define WSH_EP_DEVICE_BY_EXPERT_CUH

#include "ep/by_expert.h"

enum {
    LANES = 32,
    PLACERS = 1024,
    COUNTERS = 512,
    LAYOUT_BLOCKS = 32,
    LAYOUT_TOPK = 16,
    THREADS = 256,
    IN_FLIGHT = 4
};
#define ALL_LANES 0xffffffffu

static __device__ __forceinline__ int64_t aligned(int64_t count, int64_t alignment)
{
    return (count + alignment - 1) / alignment * alignment;
}

/* Choice number `i` of a table of int64_t or int32_t: the low word of either. */
static __device__ __forceinline__ int32_t choice_at(const void *table, int64_t i, int64_t wide)
{
    return ((const int32_t *)table)[i << wide];
}

/* What is counted: experts, then ranks, then hosts, each a bin. A block has LAYOUT_BINS of them at a time. */
#ifndef LAYOUT_BINS
#define LAYOUT_BINS 512
#endif

struct layout_bins {
    int32_t *found; /* [LAYOUT_BINS], shared */
    uint32_t first, many;
};

static __device__ __forceinline__ void layout_add(const layout_bins &bins, uint32_t bin)
{
    if (bin - bins.first < bins.many)
        atomicAdd(&bins.found[bin - bins.first], 1);
}

static __device__ void layout_experts(const ep_layout &of, const layout_bins &bins, int64_t choice)
{
    for (int k = 0; k < of.topk; k++) {
        uint32_t expert = (uint32_t)choice_at(of.chosen, choice + k, of.wide);

        if (expert < (uint32_t)(of.ranks * of.local))
            layout_add(bins, expert);
    }
}

/* Each of `group` experts that follow each other, once a token, as bins from `bin` on. */
static __device__ void layout_groups(const ep_layout &of, const layout_bins &bins, int64_t choice,
                                     uint32_t group, uint32_t bin)
{
    uint32_t number[LAYOUT_TOPK];

#pragma unroll
    for (int k = 0; k < LAYOUT_TOPK; k++) {
        uint32_t expert = k < of.topk ? (uint32_t)choice_at(of.chosen, choice + k, of.wide) : UINT32_MAX;
        bool again = expert >= (uint32_t)(of.ranks * of.local);

        number[k] = expert / group;
#pragma unroll
        for (int before = 0; before < k; before++)
            again |= number[before] == number[k];
        if (!again)
            layout_add(bins, bin + number[k]);
    }
}

static __device__ int32_t *layout_out(const ep_layout &of, uint32_t bin)
{
    uint32_t experts = (uint32_t)(of.ranks * of.local), ranks = (uint32_t)of.ranks;

    if (bin < experts)
        return of.of_expert + bin;
    return bin < experts + ranks ? of.of_rank + (bin - experts) : of.of_host + (bin - experts - ranks);
}

/* All tokens, by one block. */
static __device__ void layout_count(const ep_layout &of, const layout_bins &bins)
{
    uint32_t experts = (uint32_t)(of.ranks * of.local), hosts = experts + (uint32_t)of.ranks;

    __syncthreads();
    for (uint32_t i = threadIdx.x; i < bins.many; i += blockDim.x)
        bins.found[i] = 0;
    __syncthreads();
    for (int64_t token = threadIdx.x; token < of.tokens; token += blockDim.x) {
        if (bins.first < experts)
            layout_experts(of, bins, token * of.topk);
        if (bins.first + bins.many > experts && bins.first < hosts)
            layout_groups(of, bins, token * of.topk, (uint32_t)of.local, experts);
        if (bins.first + bins.many > hosts)
            layout_groups(of, bins, token * of.topk, (uint32_t)(of.local * of.inside), hosts);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < bins.many; i += blockDim.x)
        *layout_out(of, bins.first + i) = bins.found[i];
}

/* Blocks share out the ranks of tokens, one of all of them after the other. */
static __device__ void layout_mark(const ep_layout &of)
{
    int64_t threads = (int64_t)gridDim.x * blockDim.x, all = of.tokens * of.ranks;

    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < all; i += threads) {
        uint32_t token = (uint32_t)i / (uint32_t)of.ranks, rank = (uint32_t)i - token * (uint32_t)of.ranks;
        uint8_t goes = 0;

        for (int k = 0; k < of.topk; k++) {
            uint32_t expert = (uint32_t)choice_at(of.chosen, token * of.topk + k, of.wide);

            goes |= expert - rank * (uint32_t)of.local < (uint32_t)of.local;
        }
        of.goes[i] = goes;
    }
}

/* Each block counts some of the bins, alone. */
static __device__ void layout_all(const ep_layout &of)
{
    __shared__ int32_t found[LAYOUT_BINS];
    uint32_t bins = (uint32_t)(of.ranks * of.local + of.ranks + (of.of_host ? of.ranks / of.inside : 0));
    uint32_t each = (bins + gridDim.x - 1) / gridDim.x, first = blockIdx.x * each;
    uint32_t end = first + each < bins ? first + each : bins;

    layout_mark(of);
    for (; first < end; first += LAYOUT_BINS)
        layout_count(of, layout_bins{found, first, end - first < LAYOUT_BINS ? end - first : LAYOUT_BINS});
}

/* Each thread adds up what is before it: that is little, and all of it is in the cache. */
static __device__ void sums_all(const ep_sums &of)
{
    for (int i = threadIdx.x; i < of.inside; i += blockDim.x) {
        int32_t sum = 0;

        for (int rank = 0; rank < of.ranks; rank++)
            sum += rank % of.inside <= i ? of.sources[2 * rank + 1] : 0;
        of.come[i] = sum;
    }
    for (int i = threadIdx.x; of.counts && i < of.local; i += blockDim.x) {
        int64_t sum = 0;

        for (int expert = 0; expert <= i; expert++)
            sum += aligned(of.counts[expert], of.alignment);
        of.padded[i] = (int32_t)sum;
    }
}

/* The sum of a value of each thread of the block before this one, and *all of them. Two barriers. */
static __device__ int sum_before(int value, int *all)
{
    __shared__ int of_warp[PLACERS / LANES];
    int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, sum = value, before = 0, total = 0;

    for (int step = 1; step < LANES; step *= 2) {
        int other = __shfl_up_sync(ALL_LANES, sum, step);

        sum += lane >= step ? other : 0;
    }
    if (lane == LANES - 1)
        of_warp[warp] = sum;
    __syncthreads();
    for (int i = 0; i < (int)blockDim.x / LANES; i++) {
        before += i < warp ? of_warp[i] : 0;
        total += of_warp[i];
    }
    __syncthreads();
    *all = total;
    return before + sum - value;
}

/* Give the choices of this block's expert, in order, their places from `next` on. Returns the end. */
static __device__ int64_t place_choices(const ep_places &of, int expert, int64_t next)
{
    for (int64_t first = 0; first < of.received; first += blockDim.x) {
        int64_t row = first + threadIdx.x, at;
        int mine = 0, all;

        for (int k = 0; k < of.topk && row < of.received; k++)
            mine += choice_at(of.chosen, row * of.step + k, of.wide) == expert;
        at = next + sum_before(mine, &all);
        for (int k = 0; k < of.topk && row < of.received; k++) {
            int32_t chosen = choice_at(of.chosen, row * of.step + k, of.wide);
            bool none = (uint32_t)chosen >= (uint32_t)of.local;

            if (chosen == expert) {
                of.places[row * of.topk + k] = at < of.expanded ? (int32_t)at : -1;
                if (at < of.expanded) {
                    of.sources[at] = row;
                    if (of.ids)
                        of.ids[at] = expert;
                }
                at++;
            } else if (none && expert == 0) {
                of.places[row * of.topk + k] = -1;
            }
        }
        next += all;
    }
    return next;
}

static __device__ void place_all(const ep_places &of)
{
    int expert = (int)blockIdx.x;
    int64_t first = 0, next, limit;

    for (int i = 0; i < expert; i++)
        first += aligned(of.counts[i], of.alignment);
    next = place_choices(of, expert, first);
    limit = expert == of.local - 1 ? of.expanded : first + aligned(of.counts[expert], of.alignment);
    if (threadIdx.x == 0)
        of.ends[expert] = (int32_t)(first + of.counts[expert]);
    for (int64_t at = next + threadIdx.x; at < limit && at < of.expanded; at += blockDim.x) {
        of.sources[at] = -1;
        if (of.ids)
            of.ids[at] = -1;
    }
}

/* All lanes of a warp: words of a row to where its choices are, each in `to` of the lane of its number. */
template <class T>
static __device__ void spread(const T *from, T *out, int64_t words, int32_t to, unsigned there, int lane)
{
    for (int64_t first = 0; first < words; first += LANES * IN_FLIGHT) {
        T some[IN_FLIGHT];

        for (int i = 0; i < IN_FLIGHT; i++)
            if (first + i * LANES + lane < words)
                some[i] = from[first + i * LANES + lane];
        for (unsigned left = there; left; left &= left - 1) {
            T *row = out + (int64_t)__shfl_sync(ALL_LANES, to, __ffs((int)left) - 1) * words;

            for (int i = 0; i < IN_FLIGHT; i++)
                if (first + i * LANES + lane < words)
                    row[first + i * LANES + lane] = some[i];
        }
    }
}

template <class T> static __device__ void blank(T *row, int64_t words, int lane)
{
    for (int64_t i = lane; i < words; i += LANES)
        row[i] = T();
}

static __device__ void expand_row(const ep_expand &of, int64_t row, int lane)
{
    int64_t words = of.bytes / (int64_t)sizeof(uint4);
    int32_t to = lane < of.topk ? of.places[row * of.topk + lane] : -1;
    unsigned there = __ballot_sync(ALL_LANES, to >= 0);

    if (!there)
        return;
    spread((const uint4 *)of.rows + row * words, (uint4 *)of.out, words, to, there, lane);
    if (of.scales)
        spread(of.scales + row * of.columns, of.out_scales, of.columns, to, there, lane);
    if (of.weights && to >= 0)
        of.out_weights[to] = of.weights[row * of.step + lane];
}

static __device__ void blank_row(const ep_expand &of, int64_t row, int lane)
{
    int64_t words = of.bytes / (int64_t)sizeof(uint4);

    if (of.out_weights && lane == 0)
        of.out_weights[row] = 0;
    if (!of.zero)
        return;
    blank((uint4 *)of.out + row * words, words, lane);
    if (of.out_scales)
        blank(of.out_scales + row * of.columns, of.columns, lane);
}

static __device__ void expand_all(const ep_expand &of)
{
    int lane = threadIdx.x % LANES;
    int64_t each = blockDim.x / LANES, warps = gridDim.x * each,
            warp = blockIdx.x * each + threadIdx.x / LANES;

    for (int64_t row = warp; row < of.received; row += warps)
        expand_row(of, row, lane);
    for (int64_t row = warp; (of.zero || of.out_weights) && row < of.expanded; row += warps)
        if (of.sources[row] < 0)
            blank_row(of, row, lane);
}

static __device__ void add_eight(float sum[8], uint4 words)
{
    const uint32_t each[4] = {words.x, words.y, words.z, words.w};

    for (int i = 0; i < 4; i++) {
        sum[2 * i] += __uint_as_float(each[i] << 16);
        sum[2 * i + 1] += __uint_as_float(each[i] & 0xffff0000u);
    }
}

static __device__ uint32_t bf16_pair(float low, float high)
{
    return (uint32_t)__bfloat16_as_ushort(__float2bfloat16_rn(low)) |
           (uint32_t)__bfloat16_as_ushort(__float2bfloat16_rn(high)) << 16;
}

static __device__ void fold_all(const ep_fold &of)
{
    int lane = threadIdx.x % LANES;
    int64_t words = of.hidden / 8, each = blockDim.x / LANES;

    for (int64_t row = blockIdx.x * each + threadIdx.x / LANES; row < of.received; row += gridDim.x * each) {
        int32_t from = lane < of.topk ? of.places[row * of.topk + lane] : -1;
        unsigned there = __ballot_sync(ALL_LANES, from >= 0);

        for (int64_t i = lane; i - lane < words; i += LANES) {
            float sum[8] = {};

            for (unsigned left = there; left; left &= left - 1) {
                int64_t at = __shfl_sync(ALL_LANES, from, __ffs((int)left) - 1);

                if (i < words)
                    add_eight(sum, ((const uint4 *)of.x)[at * words + i]);
            }
            if (i < words)
                ((uint4 *)of.out)[row * words + i] =
                    make_uint4(bf16_pair(sum[0], sum[1]), bf16_pair(sum[2], sum[3]),
                               bf16_pair(sum[4], sum[5]), bf16_pair(sum[6], sum[7]));
        }
    }
}

#endif

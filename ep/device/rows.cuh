/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows by one warp: copies and quantization. Loads pass the L1 by (.cg), for rows are read once, and may be of peers
 * that have written them since this SM last read there.
 */
#ifndef WSH_EP_DEVICE_ROWS_CUH
#define WSH_EP_DEVICE_ROWS_CUH

#include "ep/device/run.cuh"

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#endif

enum {
    EP_DEPTH = 14,     /* 16-byte loads in flight of a lane: 7168 columns of BF16 are two rounds, of e4m3 one */
    EP_WITH_DEPTH = 2, /* 4-byte loads of what goes with a row */
};

typedef int64_t ep_row_fn(const struct ep_run *run, const void *arg, int k);

/* Where each lane has an address, or NULL: stores units of all lanes there, at unit `at` of `units`. */
template <unsigned DEPTH, class T>
EP_STEP void ep_store_to_each(uint64_t mine, unsigned has, const T (&held)[DEPTH], unsigned at, unsigned units)
{
    while (has) {
        T *to = (T *)__shfl_sync(EP_ALL_LANES, mine, __ffs((int)has) - 1);

        has &= has - 1;
#pragma unroll
        for (unsigned u = 0; u < DEPTH; u++)
            if (at + u * EP_LANES < units)
                to[at + u * EP_LANES] = held[u];
    }
}

/* Words that go with a row, EP_WITH_DEPTH * EP_LANES of them at most. */
struct ep_words {
    const unsigned *from;
    unsigned n;
    uint64_t mine;
};

EP_STEP void ep_scatter_words(const struct ep_words &words, unsigned has)
{
    unsigned held[EP_WITH_DEPTH];

#pragma unroll
    for (unsigned u = 0; u < EP_WITH_DEPTH; u++)
        held[u] = ep_lane() + u * EP_LANES < words.n ? __ldcg(words.from + ep_lane() + u * EP_LANES) : 0;
    ep_store_to_each<EP_WITH_DEPTH>(words.mine, has, held, ep_lane(), words.n);
}

/* The words while the first units of the row are on their way. */
template <unsigned DEPTH, class T>
EP_STEP void ep_scatter_units(const T *from, unsigned units, uint64_t mine, unsigned has, struct ep_words words)
{
#pragma unroll 1
    for (unsigned first = 0; first < units; first += DEPTH * EP_LANES) {
        unsigned at = first + ep_lane();
        T held[DEPTH];

#pragma unroll
        for (unsigned u = 0; u < DEPTH; u++)
            held[u] = at + u * EP_LANES < units ? __ldcg(from + at + u * EP_LANES) : T{};
        if (words.n)
            ep_scatter_words(words, has);
        words.n = 0;
        ep_store_to_each<DEPTH>(mine, has, held, at, units);
    }
}

/* Each lane has an address to store at, or 0. Units of 16 bytes where all addresses and the length are aligned so. */
EP_STEP void ep_scatter_bytes(const void *from, size_t bytes, uint64_t mine, unsigned has, struct ep_words words)
{
    bool wide = __all_sync(EP_ALL_LANES, ((mine | (uint64_t)from | bytes) & 15) == 0);

    if (wide)
        ep_scatter_units<EP_DEPTH>((const uint4 *)from, (unsigned)(bytes / 16), mine, has, words);
    else
        ep_scatter_units<2>((const unsigned *)from, (unsigned)(bytes / 4), mine, has, words);
}

/* bytes: a multiple of 4. */
EP_LOOP void ep_copy(void *to, const void *from, size_t bytes)
{
    ep_scatter_bytes(from, bytes, ep_lane() == 0 ? (uint64_t)to : 0, 1, ep_words{nullptr, 0, 0});
}

EP_LOOP void ep_scatter_many_words(const unsigned *from, unsigned n, uint64_t mine)
{
    unsigned has = __ballot_sync(EP_ALL_LANES, mine != 0);

    ep_scatter_units<EP_WITH_DEPTH>(from, n, mine, has, ep_words{nullptr, 0, 0});
}

EP_STEP void ep_scatter_lanes(const void *from, size_t bytes, uint64_t mine, const unsigned *words, unsigned n_words,
                              uint64_t mine_words)
{
    unsigned has = __ballot_sync(EP_ALL_LANES, mine != 0);

    ep_scatter_bytes(from, bytes, mine, has, ep_words{words, n_words, mine_words});
}

EP_STEP void ep_scatter(const struct ep_run *run, const struct ep_moved *row, const struct ep_moved *with, int n,
                        ep_row_fn *place, const void *arg)
{
    int64_t at = (int)ep_lane() < n ? place(run, arg, (int)ep_lane()) : -1;
    uint64_t mine = at < 0 ? 0 : (uint64_t)(row->to + at * row->each);
    uint64_t mine_words = at < 0 ? 0 : (uint64_t)(with->to + at * with->each);
    unsigned n_words = (unsigned)(with->bytes / 4);

    if (n_words > EP_WITH_DEPTH * EP_LANES) {
        ep_scatter_many_words((const unsigned *)with->from, n_words, mine_words);
        n_words = 0;
    }
    ep_scatter_lanes(row->from, row->bytes, mine, (const unsigned *)with->from, n_words, mine_words);
}

EP_STEP int64_t ep_total(const int32_t *numbers, int rows, int each, int stride)
{
    long long total = 0;

    for (int i = (int)ep_lane(); i < rows * each; i += EP_LANES)
        total += numbers[(size_t)(i / each) * stride + i % each];
#pragma unroll
    for (int by = EP_LANES / 2; by; by /= 2)
        total += __shfl_xor_sync(EP_ALL_LANES, total, by);
    return total;
}

/* The larger of two BF16 magnitudes, in each half of a word; a NaN is passed over where the other is a number. */
EP_STEP unsigned ep_larger_pair(unsigned a, unsigned b)
{
#ifdef __CUDA_ARCH__
    __nv_bfloat162 larger = __hmax2(*(const __nv_bfloat162 *)&a, *(const __nv_bfloat162 *)&b);

    return *(const unsigned *)&larger;
#else
    unsigned larger = 0;

    for (int by = 0; by < 32; by += 16) {
        unsigned x = a >> by & 0xffff, y = b >> by & 0xffff;

        larger |= (y > 0x7f80 || (x <= 0x7f80 && x > y) ? x : y) << by;
    }
    return larger;
#endif
}

/* Of 8 columns of a lane, in two halves. */
EP_STEP unsigned ep_largest_pair(uint4 columns)
{
    const unsigned magnitudes = 0x7fff7fffu;

    return ep_larger_pair(ep_larger_pair(columns.x & magnitudes, columns.y & magnitudes),
                          ep_larger_pair(columns.z & magnitudes, columns.w & magnitudes));
}

/* Two columns as codes. The GPU's instruction, of sm_89 on, rounds as wsh_ep_to_e4m3 does. */
EP_STEP unsigned ep_code_pair(unsigned word, float inverse)
{
    float low = wsh_ep_mul(wsh_ep_float(word << 16), inverse);
    float high = wsh_ep_mul(wsh_ep_float(word & 0xffff0000u), inverse);

#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 890
    return __nv_cvt_float2_to_fp8x2(make_float2(low, high), __NV_SATFINITE, __NV_E4M3);
#else
    return wsh_ep_to_e4m3(low) | (unsigned)wsh_ep_to_e4m3(high) << 8;
#endif
}

EP_STEP unsigned ep_codes(unsigned low, unsigned high, float inverse)
{
    return ep_code_pair(low, inverse) | ep_code_pair(high, inverse) << 16;
}

/* Half a warp has 128 columns of each unit, and so one scale. */
enum { EP_HALF = EP_LANES / 2, EP_QUANTIZE_DEPTH = 14 };

/*
 * From what each lane has of EP_HALF units to what half a warp has of one: of the unit that is the lane's number in its
 * half. In each step a lane gives half of its units away.
 */
EP_STEP unsigned ep_largest_of_unit(unsigned (&largest)[EP_HALF])
{
#pragma unroll
    for (int by = EP_HALF / 2; by; by /= 2) {
        bool upper = ep_lane() & (unsigned)by;

#pragma unroll
        for (int i = 0; i < by; i++) {
            unsigned given = upper ? largest[i] : largest[i + by], kept = upper ? largest[i + by] : largest[i];

            largest[i] = ep_larger_pair(kept, __shfl_xor_sync(EP_ALL_LANES, given, by));
        }
    }
    return largest[0];
}

/* Up to EP_QUANTIZE_DEPTH units of 8 columns a lane, from `first` on; a lane makes the scale of one of them. */
EP_STEP void ep_quantize_units(uint2 *to, float *scales, const uint4 (&held)[EP_QUANTIZE_DEPTH], int first, int units,
                               enum wsh_ep_scale kind)
{
    int lane = (int)ep_lane(), half = lane & EP_HALF, unit = lane % EP_HALF;
    unsigned largest[EP_HALF] = {}, pair;
    float amax, inverse;

#pragma unroll
    for (int u = 0; u < EP_QUANTIZE_DEPTH; u++)
        largest[u] = ep_largest_pair(held[u]);
    pair = ep_largest_of_unit(largest);
    pair = ep_larger_pair(pair, pair >> 16) & 0xffff;
    amax = wsh_ep_from_bf16((uint16_t)(pair > 0x7f80 ? 0 : pair));
    inverse = wsh_ep_inverse_of(amax, kind);
    if (unit < EP_QUANTIZE_DEPTH && first + unit * EP_LANES + half < units)
        scales[(first + unit * EP_LANES + half) / EP_HALF] = wsh_ep_scale_of(amax, kind);
#pragma unroll
    for (int u = 0; u < EP_QUANTIZE_DEPTH; u++) {
        float by = __shfl_sync(EP_ALL_LANES, inverse, half + u);

        if (first + u * EP_LANES + lane < units)
            to[first + u * EP_LANES + lane] =
                make_uint2(ep_codes(held[u].x, held[u].y, by), ep_codes(held[u].z, held[u].w, by));
    }
}

EP_LOOP void ep_quantize(void *to, float *scales, const void *x, int hidden, int dtype)
{
    enum { DEPTH = EP_QUANTIZE_DEPTH, COLUMNS = 8 }; /* 7168 columns are two rounds */
    enum wsh_ep_scale kind = dtype == SHMEMX_EP_FP8_UE8M0 ? WSH_EP_SCALE_POWER2 : WSH_EP_SCALE_FLOAT;
    int units = hidden / COLUMNS;

#pragma unroll 1
    for (int first = 0; first < units; first += DEPTH * EP_LANES) {
        int at = first + (int)ep_lane();
        uint4 held[DEPTH];

#pragma unroll
        for (int u = 0; u < DEPTH; u++)
            held[u] = at + u * EP_LANES < units ? __ldcg((const uint4 *)x + at + u * EP_LANES) : make_uint4(0, 0, 0, 0);
        ep_quantize_units((uint2 *)to, scales, held, first, units, kind);
    }
}

#endif

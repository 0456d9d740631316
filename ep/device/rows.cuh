/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows by one warp: copies and quantization. Loads pass the L1 by (.cg), for rows are read once, and may be of peers
 * that have written them since this SM last read there.
 */
#ifndef WSH_EP_DEVICE_ROWS_CUH
#define WSH_EP_DEVICE_ROWS_CUH

#include "ep/device/run.cuh"

#ifdef __CUDACC__
#include <cuda_fp8.h>
#endif

enum { EP_DEPTH = 14 }; /* 16-byte loads in flight of a lane: 7168 columns of BF16 are two rounds, of e4m3 one */

typedef void *ep_to_fn(const struct ep_run *run, const void *arg, int k);

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

template <unsigned DEPTH, class T>
EP_STEP void ep_scatter_units(const T *from, unsigned units, uint64_t mine, unsigned has)
{
#pragma unroll 1
    for (unsigned first = 0; first < units; first += DEPTH * EP_LANES) {
        unsigned at = first + ep_lane();
        T held[DEPTH];

#pragma unroll
        for (unsigned u = 0; u < DEPTH; u++)
            if (at + u * EP_LANES < units)
                held[u] = __ldcg(from + at + u * EP_LANES);
        ep_store_to_each<DEPTH>(mine, has, held, at, units);
    }
}

/* Each lane has an address to store at, or 0. Units of 16 bytes where all addresses and the length are aligned so. */
EP_LOOP void ep_scatter_lanes(const void *from, size_t bytes, uint64_t mine)
{
    unsigned has = __ballot_sync(EP_ALL_LANES, mine != 0);
    bool wide = __all_sync(EP_ALL_LANES, ((mine | (uint64_t)from | bytes) & 15) == 0);

    if (wide)
        ep_scatter_units<EP_DEPTH>((const uint4 *)from, (unsigned)(bytes / 16), mine, has);
    else
        ep_scatter_units<2>((const unsigned *)from, (unsigned)(bytes / 4), mine, has);
}

EP_STEP void ep_scatter(const struct ep_run *run, const void *from, size_t bytes, int n, ep_to_fn *to, const void *arg)
{
    int k = (int)ep_lane();

    ep_scatter_lanes(from, bytes, k < n ? (uint64_t)to(run, arg, k) : 0);
}

/* bytes: a multiple of 4. */
EP_STEP void ep_copy(void *to, const void *from, size_t bytes)
{
    ep_scatter_lanes(from, bytes, ep_lane() == 0 ? (uint64_t)to : 0);
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

/* Of 8 columns of a lane; NaNs count as 0. As bits, which are in order as the numbers are. */
EP_STEP unsigned ep_largest(uint4 columns)
{
    unsigned words[4] = {columns.x, columns.y, columns.z, columns.w}, largest = 0;

#pragma unroll
    for (int i = 0; i < 8; i++) {
        unsigned magnitude = words[i / 2] >> i % 2 * 16 & 0x7fff;

        largest = magnitude <= 0x7f80 && magnitude > largest ? magnitude : largest;
    }
    return largest;
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

/* 256 columns by a warp, 8 by a lane: half a warp has a scale. */
EP_STEP void ep_quantize_unit(uint2 *to, float *scale, uint4 columns, bool there, enum wsh_ep_scale kind)
{
    unsigned largest = ep_largest(columns);
    float amax, inverse;

#pragma unroll
    for (int by = EP_LANES / 4; by; by /= 2) {
        unsigned other = __shfl_xor_sync(EP_ALL_LANES, largest, by);

        largest = other > largest ? other : largest;
    }
    if (!there)
        return;
    amax = wsh_ep_from_bf16((uint16_t)largest);
    inverse = wsh_ep_inverse_of(amax, kind);
    *to = make_uint2(ep_codes(columns.x, columns.y, inverse), ep_codes(columns.z, columns.w, inverse));
    if (ep_lane() % (EP_LANES / 2) == 0)
        *scale = wsh_ep_scale_of(amax, kind);
}

template <int DEPTH> EP_STEP void ep_quantize_columns(void *to, float *scales, const void *x, int hidden, int dtype)
{
    enum { COLUMNS = 8 };
    enum wsh_ep_scale kind = dtype == SHMEMX_EP_FP8_UE8M0 ? WSH_EP_SCALE_POWER2 : WSH_EP_SCALE_FLOAT;
    int units = hidden / COLUMNS;

#pragma unroll 1
    for (int first = 0; first < units; first += DEPTH * EP_LANES) {
        int at = first + (int)ep_lane();
        uint4 held[DEPTH];

#pragma unroll
        for (int u = 0; u < DEPTH; u++)
            held[u] = at + u * EP_LANES < units ? __ldcg((const uint4 *)x + at + u * EP_LANES) : make_uint4(0, 0, 0, 0);
#pragma unroll
        for (int u = 0; u < DEPTH; u++) {
            int unit = at + u * EP_LANES;

            ep_quantize_unit((uint2 *)to + unit, scales + unit * COLUMNS / EP_GROUP, held[u], unit < units, kind);
        }
    }
}

EP_STEP void ep_quantize(void *to, float *scales, const void *x, int hidden, int dtype)
{
    ep_quantize_columns<EP_DEPTH>(to, scales, x, hidden, dtype); /* 7168 are two rounds */
}

/* Words, where something is not aligned to 16. */
EP_LOOP void ep_copy_words(unsigned *to, const unsigned *from, unsigned words)
{
    for (unsigned at = ep_lane(); at < words; at += EP_LANES)
        to[at] = __ldcg(from + at);
}

/* Units of this lane from `at` on, EP_DEPTH at most. What is not loaded is set: else it would be kept from before. */
EP_STEP void ep_copy_rest(uint4 *to, const uint4 *from, unsigned at, unsigned units)
{
    uint4 held[EP_DEPTH];

#pragma unroll
    for (unsigned u = 0; u < EP_DEPTH; u++)
        held[u] = at + u * EP_LANES < units ? __ldcg(from + at + u * EP_LANES) : make_uint4(0, 0, 0, 0);
#pragma unroll
    for (unsigned u = 0; u < EP_DEPTH; u++)
        if (at + u * EP_LANES < units)
            to[at + u * EP_LANES] = held[u];
}

/* A row, and numbers beside it where they go somewhere; both are loaded at once. */
EP_STEP void ep_copy_row(void *to, const void *from, size_t bytes, void *beside_to, const void *beside,
                         size_t beside_bytes)
{
    enum { HELD = 2, ROUND = EP_DEPTH * EP_LANES };
    unsigned lane = ep_lane(), units = (unsigned)(bytes / 16), n = beside_to ? (unsigned)(beside_bytes / 4) : 0;
    unsigned number[HELD], whole;

    if ((((uint64_t)to | (uint64_t)from | bytes) & 15) != 0) {
        ep_copy_words((unsigned *)to, (const unsigned *)from, (unsigned)(bytes / 4));
        units = 0;
    }
    whole = units / ROUND * ROUND;
#pragma unroll
    for (unsigned i = 0; i < HELD; i++)
        number[i] = lane + i * EP_LANES < n ? __ldcg((const unsigned *)beside + lane + i * EP_LANES) : 0;
#pragma unroll 1
    for (unsigned at = lane; at < whole; at += ROUND) {
        uint4 held[EP_DEPTH];

#pragma unroll
        for (unsigned u = 0; u < EP_DEPTH; u++)
            held[u] = __ldcg((const uint4 *)from + at + u * EP_LANES);
#pragma unroll
        for (unsigned u = 0; u < EP_DEPTH; u++)
            ((uint4 *)to)[at + u * EP_LANES] = held[u];
    }
    if (whole < units)
        ep_copy_rest((uint4 *)to, (const uint4 *)from, whole + lane, units);
#pragma unroll
    for (unsigned i = 0; i < HELD; i++)
        if (lane + i * EP_LANES < n)
            ((unsigned *)beside_to)[lane + i * EP_LANES] = number[i];
    if (n > HELD * EP_LANES)
        ep_copy_words((unsigned *)beside_to + HELD * EP_LANES, (const unsigned *)beside + HELD * EP_LANES,
                      n - HELD * EP_LANES);
}

#endif

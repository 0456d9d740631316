/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of SHMEMX_EP_NVFP4 by one warp: each lane has 16 columns at a time, which share a scale (ep/nvfp4.h). */
#ifndef WSH_EP_DEVICE_NVFP4_CUH
#define WSH_EP_DEVICE_NVFP4_CUH

#include "ep/nvfp4.h"

/* Eight columns. */
EP_STEP unsigned ep_nvfp4_codes(uint4 columns, float factor)
{
    unsigned words[4] = {columns.x, columns.y, columns.z, columns.w}, codes = 0;

#pragma unroll
    for (int i = 0; i < 8; i++)
        codes |= wsh_ep_nvfp4_code((uint16_t)(words[i / 2] >> i % 2 * 16), factor) << 4 * i;
    return codes;
}

/* A lane's columns; returns the scales of four lanes as a word. */
EP_STEP unsigned ep_nvfp4_unit(uint2 *codes, uint4 low, uint4 high, float whole)
{
    unsigned largest = ep_largest(low), more = ep_largest(high), word;
    uint8_t scale = wsh_ep_nvfp4_scale(wsh_ep_from_bf16((uint16_t)(more > largest ? more : largest)), whole);
    float factor = wsh_ep_nvfp4_factor(scale, whole);

    *codes = make_uint2(ep_nvfp4_codes(low, factor), ep_nvfp4_codes(high, factor));
    word = (unsigned)scale << ep_lane() % 4 * 8;
    word |= __shfl_xor_sync(EP_ALL_LANES, word, 1);
    return word | __shfl_xor_sync(EP_ALL_LANES, word, 2);
}

/* Columns from `x` on, a multiple of 128, as codes to where lanes have an address, their scales `delta` bytes on. */
EP_LOOP void ep_nvfp4_lanes(const uint16_t *x, int columns, float whole, uint64_t mine, int64_t delta)
{
    unsigned has = __ballot_sync(EP_ALL_LANES, mine != 0);
    int units = columns / EP_NVFP4_GROUP, lane = (int)ep_lane();

#pragma unroll 1
    for (int unit = lane; unit - lane < units; unit += EP_LANES) {
        const uint4 *from = (const uint4 *)x + 2 * unit;
        bool there = unit < units;
        uint4 low = there ? __ldcg(from) : make_uint4(0, 0, 0, 0);
        uint4 high = there ? __ldcg(from + 1) : make_uint4(0, 0, 0, 0);
        uint2 codes;
        unsigned word = ep_nvfp4_unit(&codes, low, high, whole);

        for (unsigned left = has; left; left &= left - 1) {
            char *to = (char *)__shfl_sync(EP_ALL_LANES, mine, __ffs((int)left) - 1);

            if (!there)
                continue;
            ((uint2 *)to)[unit] = codes;
            if (lane % 4 == 0)
                ((unsigned *)(to + delta))[unit / 4] = word;
        }
    }
}

EP_STEP void ep_nvfp4_to_each(const struct ep_run *run, const uint16_t *x, int columns, float whole, int n,
                              ep_to_fn *to, const void *arg, int64_t delta)
{
    int k = (int)ep_lane();

    ep_nvfp4_lanes(x, columns, whole, k < n ? (uint64_t)to(run, arg, k) : 0, delta);
}

#endif

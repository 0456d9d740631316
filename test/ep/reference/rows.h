/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the rows of tests hold, and what experts make of them: functions of numbers alone, the same on the CPU and in
 * kernels, so that each PE knows every other PE's rows.
 */
#ifndef WSH_EP_CHECK_ROWS_H
#define WSH_EP_CHECK_ROWS_H

#include "ep/number.h"

#ifdef __cplusplus
extern "C" {
#endif

WSH_EP_FN uint64_t ref_mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

WSH_EP_FN uint32_t ref_mix32(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* A number for each token of each PE and call. */
WSH_EP_FN uint64_t ref_row_key(uint64_t seed, int pe, int64_t call, int token)
{
    uint64_t key = ref_mix(seed + 0x9e3779b97f4a7c15u * ((uint64_t)pe + 1));

    key = ref_mix(key + 0x9e3779b97f4a7c15u * ((uint64_t)call + 1));
    return ref_mix(key + 0x9e3779b97f4a7c15u * ((uint64_t)token + 1));
}

/* What the columns of the block that begins at `column` share. */
WSH_EP_FN uint32_t ref_row_block(uint64_t key, int column)
{
    return ref_mix32((uint32_t)(key >> 32) + (uint32_t)(column / WSH_EP_BLOCK));
}

/*
 * Column `column` of the row of `key`, as bfloat16: of either sign, within a block of 128 columns of 2^-8 to 2^7 times
 * the block's own magnitude of 2^-8 to 2^8. One block in 64 is zeros, and one is so small that the least amax counts.
 */
WSH_EP_FN uint16_t ref_column(uint64_t key, uint32_t block, int column)
{
    uint32_t draw = ref_mix32((uint32_t)key + (uint32_t)column * 0x9e3779b9u), sign = draw >> 31 << 15;
    uint32_t kind = block & 63, exponent = kind == 1 ? 100 : 119 + (block >> 6) % 17;

    return (uint16_t)(kind == 0 ? sign : sign | (exponent - 8 + (draw >> 7 & 15)) << 7 | (draw & 127));
}

WSH_EP_FN uint16_t ref_row_value(uint64_t key, int column)
{
    return ref_column(key, ref_row_block(key, column), column);
}

WSH_EP_FN void ref_row(uint64_t seed, int pe, int64_t call, int token, int hidden, uint16_t *row)
{
    uint64_t key = ref_row_key(seed, pe, call, token);

    for (int at = 0; at < hidden; at += WSH_EP_BLOCK) {
        uint32_t block = ref_row_block(key, at);
        for (int i = at; i < at + WSH_EP_BLOCK; i++)
            row[i] = ref_column(key, block, i);
    }
}

/* What an expert makes of one value: scaled by 1 to 2 and rounded once, of a sign of the expert and column. */
WSH_EP_FN uint16_t ref_expert_value(int expert, int column, uint16_t value)
{
    float factor = 1.0f + (float)(expert * 37 % 127) / 128.0f;
    uint32_t flip = ref_mix32((uint32_t)expert * 0x9e3779b9u + (uint32_t)column) & 1;

    return (uint16_t)(wsh_ep_to_bf16(wsh_ep_mul(wsh_ep_from_bf16(value), factor)) ^ flip << 15);
}

WSH_EP_FN void ref_expert_row(int expert, const uint16_t *in, int hidden, uint16_t *out)
{
    for (int column = 0; column < hidden; column++)
        out[column] = ref_expert_value(expert, column, in[column]);
}

/* The weight that PE `pe` returns, in a combine of weights, for choice k of the token of `key`. */
WSH_EP_FN float ref_returned_weight(uint64_t key, int pe, int k)
{
    return (float)(ref_mix32((uint32_t)key + (uint32_t)pe * 0x9e3779b9u + (uint32_t)k) >> 8) / 16777216.0f;
}

#ifdef __cplusplus
}
#endif

#endif

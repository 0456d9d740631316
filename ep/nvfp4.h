/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of SHMEMX_EP_NVFP4, bit for bit the same on the CPU and in kernels: e2m1 codes, two in a byte, and an e4m3 scale
 * for each 16 columns. All roundings are to nearest, ties to even; NaNs count as 0 in scales.
 */
#ifndef WSH_EP_NVFP4_H
#define WSH_EP_NVFP4_H

#include "ep/layout.h"
#include "ep/number.h"

#define WSH_EP_E2M1_MAX 6.0f

/* Of 0, 0.5, 1, 1.5, 2, 3, 4 and 6 the nearest; beyond 6 that. A sign is kept. */
WSH_EP_FN unsigned wsh_ep_to_e2m1(float value)
{
    uint32_t bits = wsh_ep_bits(value);
    float large = wsh_ep_float(bits & 0x7fffffffu);

    return (unsigned)((large > 0.25f) + (large >= 0.75f) + (large > 1.25f) + (large >= 1.75f) +
                      (large > 2.5f) + (large >= 3.5f) + (large > 5.0f)) |
           (bits >> 28 & 8);
}

WSH_EP_FN float wsh_ep_from_e2m1(unsigned code)
{
    uint32_t exponent = code >> 1 & 3, half = code & 1;
    float large = exponent ? (float)((2 + half) << exponent) / 4 : (float)half / 2;

    return code & 8 ? -large : large;
}

/* The scale of a group whose largest magnitude is `amax`. */
WSH_EP_FN uint8_t wsh_ep_nvfp4_scale(float amax, float whole)
{
    return wsh_ep_to_e4m3(wsh_ep_div(wsh_ep_mul(amax, whole), WSH_EP_E2M1_MAX));
}

/* What values of a group with that scale are multiplied by to be coded. */
WSH_EP_FN float wsh_ep_nvfp4_factor(uint8_t scale, float whole)
{
    return scale ? wsh_ep_div(whole, wsh_ep_from_e4m3(scale)) : 0.0f;
}

WSH_EP_FN unsigned wsh_ep_nvfp4_code(uint16_t value, float factor)
{
    return wsh_ep_to_e2m1(wsh_ep_mul(wsh_ep_from_bf16(value), factor));
}

/* `columns` bfloat16 values, a multiple of 16: columns / 2 bytes of codes and columns / 16 scales. */
WSH_EP_FN void wsh_ep_nvfp4_pack(const uint16_t *row, int columns, float whole, uint8_t *codes,
                                 uint8_t *scales)
{
    for (int at = 0; at < columns; at += EP_NVFP4_GROUP) {
        float amax = 0.0f, factor;

        for (int i = at; i < at + EP_NVFP4_GROUP; i++) {
            float magnitude = wsh_ep_from_bf16(row[i] & 0x7fff);

            amax = magnitude > amax ? magnitude : amax;
        }
        scales[at / EP_NVFP4_GROUP] = wsh_ep_nvfp4_scale(amax, whole);
        factor = wsh_ep_nvfp4_factor(scales[at / EP_NVFP4_GROUP], whole);
        for (int i = at; i < at + EP_NVFP4_GROUP; i += 2)
            codes[i / 2] =
                (uint8_t)(wsh_ep_nvfp4_code(row[i], factor) | wsh_ep_nvfp4_code(row[i + 1], factor) << 4);
    }
}

/* The reverse, in FP32: code * scale / whole. */
WSH_EP_FN void wsh_ep_nvfp4_unpack(const uint8_t *codes, const uint8_t *scales, int columns, float whole,
                                   float *row)
{
    for (int i = 0; i < columns; i++) {
        float value = wsh_ep_from_e2m1(codes[i / 2] >> i % 2 * 4 & 15);

        row[i] = wsh_ep_div(wsh_ep_mul(value, wsh_ep_from_e4m3(scales[i / EP_NVFP4_GROUP])), whole);
    }
}

#endif

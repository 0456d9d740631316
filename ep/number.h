/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The number formats of expert parallelism, bit for bit the same on the CPU and in kernels: bfloat16, e4m3 (the
 * variant without infinities, largest value 448) with a scale for each 128 columns, and products that are added without
 * being fused. All roundings are to nearest, ties to even, as of the conversion instructions of sm_89 and newer.
 */
#ifndef WSH_EP_NUMBER_H
#define WSH_EP_NUMBER_H

#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define WSH_EP_FN static inline __host__ __device__
#else
#define WSH_EP_FN static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
    WSH_EP_BLOCK = 128,         /* columns that share a scale */
    WSH_EP_E4M3_NAN = 0x7f,     /* of every NaN, whatever its sign */
    WSH_EP_E4M3_LARGEST = 0x7e, /* 448 */
    WSH_EP_BF16_NAN = 0x7fff,   /* of every NaN */
};
#define WSH_EP_E4M3_MAX 448.0f
#define WSH_EP_AMAX_LEAST 1e-4f /* taken for the largest magnitude of a block where that is smaller */

/* How the scales of a row are chosen. */
enum wsh_ep_scale {
    WSH_EP_SCALE_FLOAT,  /* amax / 448 */
    WSH_EP_SCALE_POWER2, /* that, rounded up to a power of two: fits ue8m0 */
};

WSH_EP_FN uint32_t wsh_ep_bits(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

WSH_EP_FN float wsh_ep_float(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Operations that are rounded one by one. Compilers may fuse a product with the sum that takes it: rounded once. */
WSH_EP_FN float wsh_ep_mul(float a, float b)
{
#ifdef __CUDA_ARCH__
    return __fmul_rn(a, b);
#else
    float product = a * b;
#if defined(__GNUC__) && (defined(__FP_FAST_FMAF) || defined(__FMA__))
    __asm__("" : "+m"(product)); /* gcc fuses over statements where the machine has an instruction for it */
#endif
    return product;
#endif
}

WSH_EP_FN float wsh_ep_add(float a, float b)
{
#ifdef __CUDA_ARCH__
    return __fadd_rn(a, b);
#else
    return a + b;
#endif
}

WSH_EP_FN float wsh_ep_div(float a, float b)
{
#ifdef __CUDA_ARCH__
    return __fdiv_rn(a, b);
#else
    return a / b;
#endif
}

WSH_EP_FN float wsh_ep_from_bf16(uint16_t value)
{
    return wsh_ep_float((uint32_t)value << 16);
}

WSH_EP_FN uint16_t wsh_ep_to_bf16(float value)
{
    uint32_t bits = wsh_ep_bits(value);

    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return WSH_EP_BF16_NAN;
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

/* Units of 2^-9, the distance of the subnormals, of a magnitude below 2^-6, the least normal value. */
WSH_EP_FN uint32_t wsh_ep_e4m3_subnormal(uint32_t magnitude)
{
    uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u, shift = 141 - (magnitude >> 23);

    if (shift > 24)
        return 0;
    return (mantissa + (1u << (shift - 1)) - 1 + (mantissa >> shift & 1)) >> shift;
}

/* Beyond 448, infinity included, the largest value. */
WSH_EP_FN uint8_t wsh_ep_to_e4m3(float value)
{
    uint32_t bits = wsh_ep_bits(value), magnitude = bits & 0x7fffffffu, sign = bits >> 24 & 0x80;

    if (magnitude > 0x7f800000u)
        return WSH_EP_E4M3_NAN;
    if (magnitude >= 0x43e00000u)
        return (uint8_t)(sign | WSH_EP_E4M3_LARGEST);
    if (magnitude < 0x3c800000u)
        return (uint8_t)(sign | wsh_ep_e4m3_subnormal(magnitude));
    return (uint8_t)(sign | (((magnitude + 0x7ffffu + (magnitude >> 20 & 1)) >> 20) - (120 << 3)));
}

WSH_EP_FN float wsh_ep_from_e4m3(uint8_t code)
{
    uint32_t sign = (uint32_t)(code & 0x80) << 24, exponent = code >> 3 & 15, mantissa = code & 7;

    if ((code & 0x7f) == WSH_EP_E4M3_NAN)
        return wsh_ep_float(0x7fffffffu);
    if (exponent == 0)
        return wsh_ep_float(wsh_ep_bits((float)mantissa / 512.0f) | sign);
    return wsh_ep_float(sign | (exponent + 120) << 23 | mantissa << 20);
}

/* The scale of a block whose largest magnitude is `amax`: what a code is multiplied by to have the value back. */
WSH_EP_FN float wsh_ep_scale_of(float amax, enum wsh_ep_scale kind)
{
    float scale = wsh_ep_div(amax > WSH_EP_AMAX_LEAST ? amax : WSH_EP_AMAX_LEAST, WSH_EP_E4M3_MAX);

    if (kind == WSH_EP_SCALE_POWER2)
        scale = wsh_ep_float((wsh_ep_bits(scale) + 0x7fffffu) & 0x7f800000u);
    return scale;
}

/* What values of that block are multiplied by to be coded. */
WSH_EP_FN float wsh_ep_inverse_of(float amax, enum wsh_ep_scale kind)
{
    if (kind == WSH_EP_SCALE_POWER2)
        return wsh_ep_div(1.0f, wsh_ep_scale_of(amax, kind));
    return wsh_ep_div(WSH_EP_E4M3_MAX, amax > WSH_EP_AMAX_LEAST ? amax : WSH_EP_AMAX_LEAST);
}

/* A scale that is a power of two as the byte of ue8m0, 2^(byte - 127), and back. */
WSH_EP_FN uint8_t wsh_ep_to_ue8m0(float scale)
{
    return (uint8_t)(wsh_ep_bits(scale) >> 23);
}

/* Element i of a row's scales as a caller has them: the scale of a column, or four of them as bytes. */
WSH_EP_FN uint32_t wsh_ep_scale_word(const float *scales, int i, int packed)
{
    uint32_t word = 0;

    if (!packed)
        return wsh_ep_bits(scales[i]);
    for (int at = 0; at < 4; at++)
        word |= (uint32_t)wsh_ep_to_ue8m0(scales[4 * i + at]) << 8 * at;
    return word;
}

WSH_EP_FN float wsh_ep_from_ue8m0(uint8_t exponent)
{
    if (exponent == 0)
        return wsh_ep_float(0x00400000u);
    return exponent == 255 ? wsh_ep_float(0x7fffffffu) : wsh_ep_float((uint32_t)exponent << 23);
}

/* The largest magnitude of one block; NaNs are passed over. */
WSH_EP_FN float wsh_ep_amax(const uint16_t *block)
{
    float amax = 0.0f;

    for (int i = 0; i < WSH_EP_BLOCK; i++) {
        float magnitude = wsh_ep_from_bf16(block[i] & 0x7fff);
        amax = magnitude > amax ? magnitude : amax;
    }
    return amax;
}

/* A row of `hidden` bfloat16 values as codes and hidden / 128 scales. */
WSH_EP_FN void wsh_ep_quantize(const uint16_t *row, int hidden, enum wsh_ep_scale kind, uint8_t *codes,
                               float *scales)
{
    for (int at = 0; at < hidden; at += WSH_EP_BLOCK) {
        float amax = wsh_ep_amax(row + at), inverse = wsh_ep_inverse_of(amax, kind);

        scales[at / WSH_EP_BLOCK] = wsh_ep_scale_of(amax, kind);
        for (int i = at; i < at + WSH_EP_BLOCK; i++)
            codes[i] = wsh_ep_to_e4m3(wsh_ep_mul(wsh_ep_from_bf16(row[i]), inverse));
    }
}

/* The reverse: `hidden` codes and their scales as a row of values, rounded to bfloat16. */
WSH_EP_FN void wsh_ep_dequantize(const uint8_t *codes, const float *scales, int hidden, uint16_t *row)
{
    for (int i = 0; i < hidden; i++)
        row[i] = wsh_ep_to_bf16(wsh_ep_mul(wsh_ep_from_e4m3(codes[i]), scales[i / WSH_EP_BLOCK]));
}

/* sum += weight * row, and sum += row, column by column. */
WSH_EP_FN void wsh_ep_add_weighted(float *sum, float weight, const uint16_t *row, int hidden)
{
    for (int i = 0; i < hidden; i++)
        sum[i] = wsh_ep_add(sum[i], wsh_ep_mul(weight, wsh_ep_from_bf16(row[i])));
}

WSH_EP_FN void wsh_ep_add_row(float *sum, const uint16_t *row, int hidden)
{
    for (int i = 0; i < hidden; i++)
        sum[i] = wsh_ep_add(sum[i], wsh_ep_from_bf16(row[i]));
}

WSH_EP_FN void wsh_ep_round_row(const float *sum, int hidden, uint16_t *row)
{
    for (int i = 0; i < hidden; i++)
        row[i] = wsh_ep_to_bf16(sum[i]);
}

#ifdef __cplusplus
}
#endif

#endif

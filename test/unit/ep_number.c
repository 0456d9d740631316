/* SPDX-License-Identifier: BSD-3-Clause */
/* The number formats of expert parallelism against double arithmetic: every code of bfloat16 and e4m3, their neighbours
 * and ties, saturation, NaN, rows with scales, and products that are not fused with sums. */
#include "ep/number.h"

#include "test/common/unit.h"

#include <math.h>
#include <stdbool.h>

enum { COLUMNS = 4 * WSH_EP_BLOCK, ROWS = 200 };

/* The value of a code with `bits` of mantissa. */
static double decoded(int sign, int exponent, int mantissa, int bits, int bias)
{
    double value =
        exponent ? ldexp(1 + ldexp(mantissa, -bits), exponent - bias) : ldexp(mantissa, 1 - bias - bits);

    return sign ? -value : value;
}

static double bf16_value(int code)
{
    return decoded(code >> 15, code >> 7 & 255, code & 127, 7, 127);
}

static double e4m3_value(int code)
{
    return decoded(code >> 7, code >> 3 & 15, code & 7, 3, 7);
}

/* `value` rounded to a multiple of what the last of `digits` binary digits stands for, at least of 2^least. */
static double rounded(double value, int digits, int least)
{
    int exponent;

    frexp(value, &exponent);
    double unit = ldexp(1, exponent - digits > least ? exponent - digits : least);
    return rint(value / unit) * unit;
}

static bool same(double a, double b)
{
    return a == b && !signbit(a) == !signbit(b);
}

static void bf16_codes(void)
{
    int wrong = 0;

    for (int code = 0; code < 65536; code++) {
        float value = wsh_ep_from_bf16((uint16_t)code);

        if ((code & 0x7fff) > 0x7f80)
            wrong += !isnan(value) || wsh_ep_to_bf16(value) != WSH_EP_BF16_NAN;
        else if ((code & 0x7fff) == 0x7f80)
            wrong += !isinf(value) || wsh_ep_to_bf16(value) != code;
        else
            wrong += !same(value, bf16_value(code)) || wsh_ep_to_bf16(value) != code;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* Between every two neighbours: next to either, the tie, next to the tie. */
static void bf16_rounding(void)
{
    static const uint32_t between[] = {1, 0x7fff, 0x8000, 0x8001, 0xffff};
    int wrong = 0;

    for (uint32_t code = 0; code < 65536; code++) {
        if ((code & 0x7fff) >= 0x7f80)
            continue;
        for (size_t i = 0; i < sizeof between / sizeof between[0]; i++) {
            float value = wsh_ep_float(code << 16 | between[i]);
            double wanted = rounded(value, 8, -133);
            uint16_t got = wsh_ep_to_bf16(value);

            if (fabs(wanted) > bf16_value(0x7f7f))
                wrong += (got & 0x7fff) != 0x7f80 || got >> 15 != code >> 15;
            else
                wrong += !same(bf16_value(got), wanted);
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(wsh_ep_to_bf16(wsh_ep_float(0x7f800001)), WSH_EP_BF16_NAN);
    CU_ASSERT_EQUAL(wsh_ep_to_bf16(wsh_ep_float(0xffffffff)), WSH_EP_BF16_NAN);
    CU_ASSERT_EQUAL(wsh_ep_to_bf16(INFINITY), 0x7f80);
    CU_ASSERT_EQUAL(wsh_ep_to_bf16(-INFINITY), 0xff80);
}

static bool e4m3_right(float value)
{
    int got = wsh_ep_to_e4m3(value);

    if (isnan(value))
        return got == WSH_EP_E4M3_NAN;
    double wanted = fabs(value) > 448 ? copysign(448, value) : rounded(value, 4, -9);
    return (got & 0x7f) != WSH_EP_E4M3_NAN &&
           same(e4m3_value(got), fabs(wanted) > 448 ? copysign(448, value) : wanted);
}

static void e4m3_codes(void)
{
    for (int code = 0; code < 256; code++) {
        float value = wsh_ep_from_e4m3((uint8_t)code);

        if ((code & 0x7f) == WSH_EP_E4M3_NAN) {
            CU_ASSERT(isnan(value));
            continue;
        }
        CU_ASSERT(same(value, e4m3_value(code)));
        CU_ASSERT_EQUAL(wsh_ep_to_e4m3(value), code);
    }
    CU_ASSERT_EQUAL(wsh_ep_from_e4m3(WSH_EP_E4M3_LARGEST), 448);
}

/* Ties between neighbours go to the even code, what is next to the tie to the nearer one. */
static void e4m3_ties(void)
{
    for (int code = 0; code < WSH_EP_E4M3_LARGEST; code++) {
        float tie = (float)((e4m3_value(code) + e4m3_value(code + 1)) / 2);

        CU_ASSERT_EQUAL(wsh_ep_to_e4m3(tie), code + (code & 1));
        CU_ASSERT_EQUAL(wsh_ep_to_e4m3(nextafterf(tie, 0)), code);
        CU_ASSERT_EQUAL(wsh_ep_to_e4m3(nextafterf(tie, 1000)), code + 1);
        CU_ASSERT_EQUAL(wsh_ep_to_e4m3(-tie), 0x80 | (code + (code & 1)));
    }
}

static void e4m3_of_bf16(void)
{
    int wrong = 0;

    for (int code = 0; code < 65536; code++)
        wrong += !e4m3_right(wsh_ep_from_bf16((uint16_t)code));
    for (uint32_t bits = 0; bits < 1u << 31; bits += 4099)
        wrong += !e4m3_right(wsh_ep_float(bits)) + !e4m3_right(wsh_ep_float(bits | 0x80000000u));
    CU_ASSERT_EQUAL(wrong, 0);
}

static void e4m3_saturates(void)
{
    static const float beyond[] = {448.0f, 448.001f, 464.0f, 480.0f, 1e30f, INFINITY};

    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
        CU_ASSERT_EQUAL(wsh_ep_to_e4m3(beyond[i]), WSH_EP_E4M3_LARGEST);
        CU_ASSERT_EQUAL(wsh_ep_to_e4m3(-beyond[i]), 0x80 | WSH_EP_E4M3_LARGEST);
    }
    CU_ASSERT_EQUAL(wsh_ep_to_e4m3(NAN), WSH_EP_E4M3_NAN);
    CU_ASSERT_EQUAL(wsh_ep_to_e4m3(wsh_ep_float(0xff800001)), WSH_EP_E4M3_NAN);
    CU_ASSERT_EQUAL(wsh_ep_to_e4m3(-0.0f), 0x80);
}

/* A row of values of all magnitudes between 2^-least and 2^most, with a block of zeros in every third. */
static void make_row(uint16_t *row, uint32_t number)
{
    uint64_t state = number + 1;

    for (int i = 0; i < COLUMNS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint32_t draw = (uint32_t)(state >> 33), exponent = 60 + number % 120 + draw % 20;
        bool zero = number % 3 == 0 && i / WSH_EP_BLOCK == 1;

        row[i] = zero ? (uint16_t)(draw & 0x8000)
                      : (uint16_t)((draw & 0x8000) | exponent << 7 | (draw >> 8 & 127));
    }
}

static double largest(const uint16_t *block)
{
    double most = 0;

    for (int i = 0; i < WSH_EP_BLOCK; i++)
        most = fmax(most, fabs(bf16_value(block[i])));
    return fmax(most, 1e-4f);
}

/* A quotient or product of floats, in double and then rounded to float, is the one rounded once. */
static int wrong_codes(const uint16_t *block, double factor, const uint8_t *codes)
{
    int wrong = 0;

    for (int i = 0; i < WSH_EP_BLOCK; i++) {
        float product = (float)(bf16_value(block[i]) * factor);

        wrong += !e4m3_right(product) || codes[i] != wsh_ep_to_e4m3(product);
    }
    return wrong;
}

static int wrong_float(const uint16_t *block, float scale, const uint8_t *codes)
{
    double amax = largest(block);

    return (scale != (float)(amax / 448)) + wrong_codes(block, (float)(448 / amax), codes);
}

static int wrong_power2(const uint16_t *block, float scale, const uint8_t *codes)
{
    float least = (float)(largest(block) / 448);
    uint8_t byte = wsh_ep_to_ue8m0(scale);
    int wrong = scale < least || scale / 2 >= least || scale != ldexp(1, byte - 127);

    wrong += wsh_ep_from_ue8m0(byte) != scale;
    return wrong + wrong_codes(block, 1 / (double)scale, codes);
}

static void rows_are_right(enum wsh_ep_scale kind,
                           int (*wrong_block)(const uint16_t *, float, const uint8_t *))
{
    uint16_t row[COLUMNS];
    uint8_t codes[COLUMNS];
    float scales[COLUMNS / WSH_EP_BLOCK];
    int wrong = 0;

    for (uint32_t number = 0; number < ROWS; number++) {
        make_row(row, number);
        wsh_ep_quantize(row, COLUMNS, kind, codes, scales);
        for (int at = 0; at < COLUMNS; at += WSH_EP_BLOCK)
            wrong += wrong_block(row + at, scales[at / WSH_EP_BLOCK], codes + at);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void rows_with_float_scales(void)
{
    rows_are_right(WSH_EP_SCALE_FLOAT, wrong_float);
}

static void rows_with_powers_of_two(void)
{
    rows_are_right(WSH_EP_SCALE_POWER2, wrong_power2);
    CU_ASSERT_EQUAL(wsh_ep_scale_of(448, WSH_EP_SCALE_POWER2), 1);
    CU_ASSERT_EQUAL(wsh_ep_scale_of(449, WSH_EP_SCALE_POWER2), 2);
    CU_ASSERT_EQUAL(wsh_ep_scale_of(0, WSH_EP_SCALE_POWER2), ldexp(1, -22));
}

/* What comes back of a row is within half a step of e4m3 and half of bfloat16. */
static void rows_come_back(void)
{
    uint16_t row[COLUMNS], back[COLUMNS];
    uint8_t codes[COLUMNS];
    float scales[COLUMNS / WSH_EP_BLOCK];
    int wrong = 0;

    for (uint32_t number = 0; number < ROWS; number++) {
        make_row(row, number);
        wsh_ep_quantize(row, COLUMNS, number % 2 ? WSH_EP_SCALE_FLOAT : WSH_EP_SCALE_POWER2, codes, scales);
        wsh_ep_dequantize(codes, scales, COLUMNS, back);
        for (int i = 0; i < COLUMNS; i++) {
            double is = bf16_value(row[i]), step = ldexp(scales[i / WSH_EP_BLOCK], -10);

            wrong += fabs(bf16_value(back[i]) - is) > fmax(fabs(is) / 16, step) * 1.07;
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* (1 + 2^-12)^2 is 1 + 2^-11 as a float; fused with the sum, 2^-24 would be left. */
static void sums_are_not_fused(void)
{
    float sum[2 * WSH_EP_BLOCK];
    uint16_t row[2 * WSH_EP_BLOCK];

    for (int i = 0; i < 2 * WSH_EP_BLOCK; i++) {
        sum[i] = -(1 + 0x1p-7f);
        row[i] = wsh_ep_to_bf16(1 + 0x1p-7f);
    }
    float weight = 1 + 0x1p-23f; /* the product is 1 + 2^-7 + 2^-23 + 2^-30 */
    wsh_ep_add_weighted(sum, weight, row, 2 * WSH_EP_BLOCK);
    for (int i = 0; i < 2 * WSH_EP_BLOCK; i++)
        CU_ASSERT_EQUAL(sum[i], 0x1p-23f);
    CU_ASSERT_EQUAL(wsh_ep_add(wsh_ep_mul(1 + 0x1p-12f, 1 + 0x1p-12f), -(1 + 0x1p-11f)), 0);
}

const struct unit_test unit_tests[] = {
    {"every bfloat16 comes from and goes to its float", bf16_codes},
    {"bfloat16 rounds to nearest, ties to even", bf16_rounding},
    {"every e4m3 comes from and goes to its float", e4m3_codes},
    {"e4m3 rounds ties to even", e4m3_ties},
    {"e4m3 of every bfloat16 and many floats is the nearest", e4m3_of_bf16},
    {"e4m3 saturates at 448, and has one NaN", e4m3_saturates},
    {"rows with float scales", rows_with_float_scales},
    {"rows with scales that are powers of two", rows_with_powers_of_two},
    {"rows come back within half a step", rows_come_back},
    {"products are not fused with sums", sums_are_not_fused},
    {NULL, NULL},
};

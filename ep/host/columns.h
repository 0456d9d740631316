/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Columns of rows by the vectors of 16 bytes that all processors have, bit for bit as number.h does them one by one.
 * Words of two BF16 columns are taken apart by a shift and a mask, as even and odd columns: no values change places.
 */
#ifndef WSH_EP_HOST_COLUMNS_H
#define WSH_EP_HOST_COLUMNS_H

#include "ep/number.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the even columns are expected in the lower halves of words"
#endif

typedef float ep_floats __attribute__((vector_size(16)));
typedef uint32_t ep_words __attribute__((vector_size(16)));
typedef int32_t ep_ints4 __attribute__((vector_size(16)));

enum { EP_COLUMNS = 32, EP_COLUMN_WORDS = EP_COLUMNS / 8 }; /* that are summed at a time: in registers */

/* Of EP_COLUMNS columns. */
struct ep_columns {
    ep_floats even[EP_COLUMN_WORDS], odd[EP_COLUMN_WORDS];
};

static inline ep_words ep_words_at(const uint16_t *row)
{
    ep_words words;

    memcpy(&words, row, sizeof words);
    return words;
}

static inline ep_floats ep_even(ep_words words)
{
    return (ep_floats)(words << 16);
}

static inline ep_floats ep_odd(ep_words words)
{
    return (ep_floats)(words & 0xffff0000u);
}

/* As wsh_ep_add_weighted. */
static inline void ep_columns_add(struct ep_columns *sums, float weight, const uint16_t *row)
{
    for (int i = 0; i < EP_COLUMN_WORDS; i++) {
        ep_words words = ep_words_at(row + 8 * i);

        sums->even[i] += weight * ep_even(words);
        sums->odd[i] += weight * ep_odd(words);
    }
}

/* As wsh_ep_to_bf16, in the upper halves; the lower ones are anything. `nans`: there may be any. */
static inline ep_words ep_rounded(ep_floats sums, int nans)
{
    ep_words bits = (ep_words)sums, nan = (ep_words)(sums != sums);

    bits += 0x7fffu + (bits >> 16 & 1);
    return nans ? (bits & ~nan) | nan >> 1 : bits;
}

/* Whether there is a NaN, or infinities of both signs: a sum of all is a NaN then. */
static inline int ep_columns_nans(const struct ep_columns *sums)
{
    ep_floats all = sums->even[0] + sums->odd[0];
    uint64_t nan[2];

    for (int i = 1; i < EP_COLUMN_WORDS; i++)
        all += sums->even[i] + sums->odd[i];
    all = (ep_floats)(all != all);
    memcpy(nan, &all, sizeof nan);
    return (nan[0] | nan[1]) != 0;
}

static inline void ep_columns_add_as(struct ep_columns *total, const struct ep_columns *sums, int nans)
{
    for (int i = 0; i < EP_COLUMN_WORDS; i++) {
        total->even[i] += ep_odd(ep_rounded(sums->even[i], nans));
        total->odd[i] += ep_odd(ep_rounded(sums->odd[i], nans));
    }
}

/* As wsh_ep_round_row, and then wsh_ep_add_row. */
static inline void ep_columns_add_rounded(struct ep_columns *total, const struct ep_columns *sums)
{
    if (ep_columns_nans(sums))
        ep_columns_add_as(total, sums, 1);
    else
        ep_columns_add_as(total, sums, 0);
}

static inline void ep_columns_round_as(const struct ep_columns *sums, uint16_t *row, int nans)
{
    for (int i = 0; i < EP_COLUMN_WORDS; i++) {
        ep_words words =
            ep_rounded(sums->even[i], nans) >> 16 | (ep_words)ep_odd(ep_rounded(sums->odd[i], nans));

        memcpy(row + 8 * i, &words, sizeof words);
    }
}

/* As wsh_ep_round_row. */
static inline void ep_columns_round(const struct ep_columns *sums, uint16_t *row)
{
    if (ep_columns_nans(sums))
        ep_columns_round_as(sums, row, 1);
    else
        ep_columns_round_as(sums, row, 0);
}

/* As wsh_ep_amax: magnitudes compare as integers do. */
static inline float ep_block_amax(const uint16_t *block)
{
    int16_t most = 0;

    for (int i = 0; i < WSH_EP_BLOCK; i++) {
        int16_t magnitude = (int16_t)(block[i] & 0x7fff);

        magnitude = magnitude > 0x7f80 ? 0 : magnitude;
        most = magnitude > most ? magnitude : most;
    }
    return wsh_ep_from_bf16((uint16_t)most);
}

static inline ep_words ep_chosen(ep_ints4 which, ep_words then, ep_words otherwise)
{
    return (then & (ep_words)which) | (otherwise & ~(ep_words)which);
}

/* As wsh_ep_to_e4m3. Subnormals are rounded by the addition of 2^14, whose last digit stands for 2^-9. */
static inline ep_words ep_codes(ep_floats values)
{
    ep_words bits = (ep_words)values, magnitude = bits & 0x7fffffffu;
    ep_ints4 compared = (ep_ints4)magnitude;
    ep_words small = (ep_words)((ep_floats)magnitude + 16384.0f) - wsh_ep_bits(16384.0f);
    ep_words codes = ((magnitude + 0x7ffffu + (magnitude >> 20 & 1)) >> 20) - (120 << 3);

    codes = ep_chosen(compared < 0x3c800000, small, codes);
    codes = ep_chosen(compared >= 0x43e00000, (ep_words){0} + WSH_EP_E4M3_LARGEST, codes);
    codes |= bits >> 24 & 0x80;
    return ep_chosen(compared > 0x7f800000, (ep_words){0} + WSH_EP_E4M3_NAN, codes);
}

/* As wsh_ep_quantize. */
static inline void ep_quantize_row(const uint16_t *row, int columns, enum wsh_ep_scale kind, uint8_t *codes,
                                   float *scales)
{
    for (int at = 0; at < columns; at += WSH_EP_BLOCK) {
        float amax = ep_block_amax(row + at), inverse = wsh_ep_inverse_of(amax, kind);

        scales[at / WSH_EP_BLOCK] = wsh_ep_scale_of(amax, kind);
        for (int i = at; i < at + WSH_EP_BLOCK; i += 8) {
            ep_words words = ep_words_at(row + i);
            ep_words pairs = ep_codes(inverse * ep_even(words)) | ep_codes(inverse * ep_odd(words)) << 8;

            for (int j = 0; j < 4; j++) {
                uint16_t pair = (uint16_t)pairs[j];

                memcpy(codes + i + 2 * j, &pair, sizeof pair);
            }
        }
    }
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums, roundings and codes of several columns at a time have the bits of those that are made one by one. */
#include "ep/host/columns.h"

#include "test/common/unit.h"

enum { BLOCKS = 512, ROWS = 5 };

static uint32_t state = 1;

static uint32_t word(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

/* Every BF16 value once in 512 blocks; and with `shuffled` in any order. */
static void fill(uint16_t *row, int block, int shuffled)
{
    for (int i = 0; i < WSH_EP_BLOCK; i++)
        row[i] = shuffled ? (uint16_t)word() : (uint16_t)(block * WSH_EP_BLOCK + i);
}

/* Few exponents, as rows have: sums that are rounded, ties, codes of all kinds. */
static void fill_near_one(uint16_t *row)
{
    for (int i = 0; i < WSH_EP_BLOCK; i++)
        row[i] = (uint16_t)((word() & 0x87ff) + 0x3c00);
}

static int codes_differ(const uint16_t *row, enum wsh_ep_scale kind)
{
    uint8_t wanted[WSH_EP_BLOCK], got[WSH_EP_BLOCK];
    float scales[2];

    wsh_ep_quantize(row, WSH_EP_BLOCK, kind, wanted, &scales[0]);
    ep_quantize_row(row, WSH_EP_BLOCK, kind, got, &scales[1]);
    return memcmp(wanted, got, sizeof got) != 0 || wsh_ep_bits(scales[0]) != wsh_ep_bits(scales[1]);
}

static void codes_are_equal(void)
{
    uint16_t row[WSH_EP_BLOCK];
    int wrong = 0;

    for (int block = 0; block < 4 * BLOCKS; block++) {
        if (block < 2 * BLOCKS)
            fill(row, block % BLOCKS, block >= BLOCKS);
        else
            fill_near_one(row);
        wrong += codes_differ(row, WSH_EP_SCALE_FLOAT) + codes_differ(row, WSH_EP_SCALE_POWER2);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* All values of floats' upper halves, with each kind of lower half: what is rounded up, down and to even. */
static void values_are_rounded_alike(void)
{
    static const uint32_t lower[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
    int wrong = 0;

    for (uint32_t upper = 0; upper < 65536; upper++)
        for (unsigned i = 0; i < sizeof lower / sizeof *lower; i++) {
            float value = wsh_ep_float(upper << 16 | lower[i]);
            ep_words rounded = ep_rounded((ep_floats){value, value, value, value}, 1);
            ep_words codes = ep_codes((ep_floats){value, value, value, value});

            wrong += rounded[i % 4] >> 16 != wsh_ep_to_bf16(value) || codes[i % 4] != wsh_ep_to_e4m3(value);
        }
    CU_ASSERT_EQUAL(wrong, 0);
}

struct sums {
    float sum[EP_COLUMNS], total[EP_COLUMNS];
    uint16_t row[EP_COLUMNS], wanted[EP_COLUMNS], got[EP_COLUMNS];
};

static int sums_differ(uint16_t rows[ROWS][WSH_EP_BLOCK], const float *weights)
{
    struct ep_columns sums = {{{0}}, {{0}}}, total = {{{0}}, {{0}}};
    struct sums one = {.sum = {0}};
    int wrong;

    for (int i = 0; i < ROWS; i++) {
        wsh_ep_add_weighted(one.sum, weights[i], rows[i], EP_COLUMNS);
        ep_columns_add(&sums, weights[i], rows[i]);
    }
    wsh_ep_round_row(one.sum, EP_COLUMNS, one.wanted);
    ep_columns_round(&sums, one.got);
    wrong = memcmp(one.wanted, one.got, sizeof one.got) != 0;
    for (int i = 0; i < 2; i++) {
        wsh_ep_round_row(one.sum, EP_COLUMNS, one.row);
        wsh_ep_add_row(one.total, one.row, EP_COLUMNS);
        ep_columns_add_rounded(&total, &sums);
    }
    wsh_ep_round_row(one.total, EP_COLUMNS, one.wanted);
    ep_columns_round(&total, one.got);
    return wrong || memcmp(one.wanted, one.got, sizeof one.got);
}

static void sums_are_equal(void)
{
    uint16_t rows[ROWS][WSH_EP_BLOCK];
    float weights[ROWS];
    int wrong = 0;

    for (int block = 0; block < 4 * BLOCKS; block++) {
        for (int i = 0; i < ROWS; i++) {
            if (block < 2 * BLOCKS)
                fill(rows[i], (block + i * 77) % BLOCKS, block >= BLOCKS);
            else
                fill_near_one(rows[i]);
            weights[i] = (float)(word() % 1000) / 500.0f;
        }
        wrong += sums_differ(rows, weights);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

const struct unit_test unit_tests[] = {
    {"codes of rows, with every BF16 value, are those of number.h", codes_are_equal},
    {"values are rounded and coded as number.h does", values_are_rounded_alike},
    {"weighted sums, and sums of rounded ones, NaN and infinities too", sums_are_equal},
    {NULL, NULL},
};

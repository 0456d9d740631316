/* SPDX-License-Identifier: BSD-3-Clause */
/* The reference of expert parallelism against examples whose numbers were worked out by hand. */
#include "test/ep/reference/reference.h"

#include "ep/number.h"
#include "test/common/unit.h"

#include <string.h>

/* 4 PEs on 2 hosts, 8 experts: PE 0 has 0 and 1, PE 1 has 2 and 3, PE 2 has 4 and 5, PE 3 has 6 and 7. */
enum { TOPK = 4, HIDDEN = 128 };
static const int tokens[4] = {3, 0, 2, 1};
static const int32_t choices[4][3][TOPK] = {
    {{2, 4, 7, 5}, {0, 1, -1, 6}, {-1, -1, -1, -1}}, {{0}}, {{4, 0, 5, 1}, {-1, 7, 2, 6}}, {{1, 2, 3, 0}}};

static int own_tokens(const struct ref_job *job, int pe)
{
    (void)job;
    return tokens[pe];
}

/* The weight of choice k is k + 1, a hundred more for each token, a thousand more for each PE. */
static void own_choice(const struct ref_job *job, int pe, int token, int32_t *topk, float *weights)
{
    for (int k = 0; k < job->topk; k++) {
        topk[k] = choices[pe][token][k];
        weights[k] = (float)(k + 1 + 100 * token + 1000 * pe);
    }
}

static const struct ref_job job = {.pes = 4,
                                   .hosts = 2,
                                   .experts = 8,
                                   .topk = TOPK,
                                   .tokens = 3,
                                   .hidden = HIDDEN,
                                   .own_tokens = own_tokens,
                                   .own_choice = own_choice};

static void is_origin(const struct ref_received *received, int part, int slot, int pe, int token)
{
    struct ref_origin origin = ref_received_origin(received, part, slot);

    CU_ASSERT_EQUAL(origin.pe, pe);
    CU_ASSERT_EQUAL(origin.token, token);
}

static void low_latency(void)
{
    static const int32_t counts[2][4] = {{1, 0, 1, 1}, {1, 0, 1, 1}},
                         offsets[2][4] = {{0, 1, 1, 2}, {0, 1, 1, 2}};
    static const int32_t counts3[2][4] = {{1, 0, 1, 0}, {1, 0, 1, 0}},
                         offsets3[2][4] = {{1, 2, 0, 1}, {1, 2, 0, 1}}; /* PEs 2 and 3 come first */
    struct ref_received received;

    CU_ASSERT_EQUAL_FATAL(ref_received_make(&received, &job, REF_LOW_LATENCY, 0), 0);
    CU_ASSERT_FALSE(memcmp(received.counts, counts, sizeof counts));
    CU_ASSERT_FALSE(memcmp(received.offsets, offsets, sizeof offsets));
    is_origin(&received, 0, 0, 0, 1);
    is_origin(&received, 0, 1, 2, 0);
    is_origin(&received, 1, 2, 3, 0);
    ref_received_free(&received);
    CU_ASSERT_EQUAL_FATAL(ref_received_make(&received, &job, REF_LOW_LATENCY, 3), 0);
    CU_ASSERT_FALSE(memcmp(received.counts, counts3, sizeof counts3));
    CU_ASSERT_FALSE(memcmp(received.offsets, offsets3, sizeof offsets3));
    is_origin(&received, 0, 0, 2, 1); /* expert 6 */
    is_origin(&received, 0, 1, 0, 1);
    is_origin(&received, 1, 0, 2, 1); /* expert 7 */
    is_origin(&received, 1, 1, 0, 0);
    ref_received_free(&received);
}

static void high_throughput(void)
{
    static const int32_t counts[4] = {1, 0, 1, 1}, offsets[4] = {0, 1, 1, 2}, expert_counts[2] = {3, 3};
    static const int32_t local[TOPK] = {-1, 0, -1, 1};
    static const float local_weights[TOPK] = {0, 2002, 0, 2004};
    struct ref_received received;
    int32_t topk[REF_TOPK_MAX];
    float weights[REF_TOPK_MAX];

    CU_ASSERT_EQUAL_FATAL(ref_received_make(&received, &job, REF_HIGH_THROUGHPUT, 0), 0);
    CU_ASSERT_FALSE(memcmp(received.counts, counts, sizeof counts));
    CU_ASSERT_FALSE(memcmp(received.offsets, offsets, sizeof offsets));
    CU_ASSERT_FALSE(memcmp(received.expert_counts, expert_counts, sizeof expert_counts));
    CU_ASSERT_EQUAL(ref_received_rows(&received, 0), 3);
    is_origin(&received, 0, 1, 2, 0);
    ref_received_topk(&received, 1, topk, weights);
    CU_ASSERT_FALSE(memcmp(topk, local, sizeof local));
    CU_ASSERT_FALSE(memcmp(weights, local_weights, sizeof local_weights));
    ref_received_free(&received);
}

/* PE 0: token 0 to PEs 2 and 3, token 1 to PE 3. PE 2: token 0 to PE 0, token 1 to PE 1. PE 3: to PEs 0 and 1. */
static void network_rows(void)
{
    static const int direct[4] = {3, 0, 2, 2}, one_copy[4] = {2, 0, 2, 1};

    for (int pe = 0; pe < 4; pe++) {
        CU_ASSERT_EQUAL(ref_network_rows(&job, pe, REF_DIRECT), direct[pe]);
        CU_ASSERT_EQUAL(ref_network_rows(&job, pe, REF_ONE_COPY), one_copy[pe]);
    }
}

/* Rows of one value, by choice. */
static void give(void *arg, const int32_t *topk, int k, uint16_t *row)
{
    const float *values = arg;

    CU_ASSERT(topk[k] >= 0);
    for (int i = 0; i < HIDDEN; i++)
        row[i] = wsh_ep_to_bf16(values[k]);
}

static bool exact;

/* The value of every column that PE 0 gets for rows of `values`. */
static float combine(enum ref_mode mode, enum ref_route route, int hosts, const int32_t *topk,
                     const float *weights, const float *values)
{
    struct ref_job here = job;
    uint16_t out[HIDDEN];

    here.hosts = hosts;
    here.exact = exact;
    CU_ASSERT_EQUAL(ref_combine(&here, mode, route, 0, topk, weights, give, (void *)values, out), 0);
    for (int i = 1; i < HIDDEN; i++)
        CU_ASSERT_EQUAL(out[i], out[0]);
    return wsh_ep_from_bf16(out[0]);
}

static const float ones[TOPK] = {1, 1, 1, 1};

/* bfloat16 steps by 2^-7 above 1. Experts 4 and 5 are on PE 2, 7 on PE 3: of the other host. */
static void groups_are_rounded(void)
{
    static const int32_t topk[TOPK] = {2, 4, 7, 5};
    static const float values[TOPK] = {-0x1p-10f, 1, 0x1p-8f, 0x1p-8f};
    static const float weights[TOPK] = {-0x1p-10f, 0.5f, 0x1p-8f, 0x1p-9f}, of_weights[TOPK] = {1, 2, 1, 2};

    exact = true;
    /* 1 + 2^-8 of PE 2 is rounded to 1, and 2^-8 - 2^-10 more is too little */
    CU_ASSERT_EQUAL(combine(REF_LOW_LATENCY, REF_DIRECT, 2, topk, ones, values), 1);
    /* 1 + 2^-8 + 2^-8 is exact */
    CU_ASSERT_EQUAL(combine(REF_LOW_LATENCY, REF_ONE_COPY, 2, topk, ones, values), 1 + 0x1p-7f);
    CU_ASSERT_EQUAL(combine(REF_LOW_LATENCY, REF_DIRECT, 1, topk, ones, values), 1 + 0x1p-7f);
    CU_ASSERT_EQUAL(combine(REF_LOW_LATENCY, REF_DIRECT, 2, topk, of_weights, weights), 1);
    CU_ASSERT_EQUAL(combine(REF_LOW_LATENCY, REF_ONE_COPY, 2, topk, weights, of_weights), 1 + 0x1p-7f);
    exact = false;
}

/* PEs 2 and 3 of the other host: 1 + 2^-8 is rounded to 1, and 1 + 2^-8 again with what PE 3 adds. */
static void hosts_reduce(void)
{
    static const int32_t topk[TOPK] = {7, 4, 0, 5};
    static const float values[TOPK] = {0x1p-8f, 1, 0x1p-7f, 0x1p-8f}, large[TOPK] = {1, 0x1p24f, -0x1p24f, 0};

    CU_ASSERT_EQUAL(combine(REF_LOW_LATENCY, REF_ONE_COPY, 2, topk, ones, values), 1 + 0x1p-7f);
    /* 2^-7 of PE 0, 1 of PE 2, 2^-8 of PE 3, which lies half way */
    CU_ASSERT_EQUAL(combine(REF_LOW_LATENCY, REF_DIRECT, 2, topk, ones, values), 1 + 0x1p-6f);
    CU_ASSERT_EQUAL(combine(REF_LOW_LATENCY, REF_DIRECT, 2, topk, ones, large), 1);
    CU_ASSERT_EQUAL(combine(REF_LOW_LATENCY, REF_ONE_COPY, 2, topk, ones, large), 0);
}

/* In one host PE 1 has expert 2, PE 2 4 and 5, PE 3 7: rounded, and added in this order, whatever the choices have. */
static void one_host_reduces(void)
{
    static const int32_t topk[TOPK] = {4, 7, 2, 5};
    static const float values[TOPK] = {1, 0x1p-8f, 0x1p24f, 0x1p-8f}, late[TOPK] = {1, 0x1p24f, -0x1p24f, 1};

    CU_ASSERT_EQUAL(combine(REF_LOW_LATENCY, REF_DIRECT, 1, topk, ones, values), 0x1p24f);
    CU_ASSERT_EQUAL(combine(REF_LOW_LATENCY, REF_DIRECT, 1, topk, ones, late), 2);
    exact = true;
    CU_ASSERT_EQUAL(combine(REF_LOW_LATENCY, REF_DIRECT, 1, topk, ones, late), 1);
    exact = false;
}

/* In high throughput each PE gives one row, where it is first named; the 99s are of PEs named before. */
static void pes_give_once(void)
{
    static const int32_t topk[TOPK] = {2, 4, 7, 5}, near[TOPK] = {1, 3, 0, 2};
    static const float values[TOPK] = {0x1p-10f, 1, 0x1p-8f, 99}, near_values[TOPK] = {2, 3, 99, 99};

    CU_ASSERT_EQUAL(combine(REF_HIGH_THROUGHPUT, REF_DIRECT, 2, topk, NULL, values), 1 + 0x1p-7f);
    CU_ASSERT_EQUAL(combine(REF_HIGH_THROUGHPUT, REF_ONE_COPY, 2, topk, NULL, values), 1);
    CU_ASSERT_EQUAL(combine(REF_HIGH_THROUGHPUT, REF_ONE_COPY, 2, near, NULL, near_values), 5);
}

/* 2^24 takes no 1. A group stands where its first choice does, and what follows is not part of it. */
static void order_counts(void)
{
    static const int32_t first[TOPK] = {4, 2, 3, 7}, last[TOPK] = {2, 3, 7, 4}, none[TOPK] = {-1, 2, -1, -1};
    static const float values[TOPK] = {0x1p24f, 1, -0x1p24f, 0}, late[TOPK] = {1, -0x1p24f, 0, 0x1p24f};
    static const float weights[TOPK] = {99, 3, 99, 99}, five[TOPK] = {0, 5, 0, 0};
    static const int32_t empty[TOPK] = {-1, -1, -1, -1};

    exact = true;
    CU_ASSERT_EQUAL(combine(REF_LOW_LATENCY, REF_ONE_COPY, 2, first, ones, values), 0);
    CU_ASSERT_EQUAL(combine(REF_LOW_LATENCY, REF_ONE_COPY, 2, last, ones, late), 1);
    exact = false;
    CU_ASSERT_EQUAL(combine(REF_LOW_LATENCY, REF_DIRECT, 2, none, weights, five), 15);
    CU_ASSERT_EQUAL(combine(REF_LOW_LATENCY, REF_DIRECT, 2, empty, weights, five), 0);
    CU_ASSERT_EQUAL(combine(REF_HIGH_THROUGHPUT, REF_ONE_COPY, 2, empty, weights, five), 0);
}

/* What a program makes of a received row, of experts 2 and 3 on PE 1 with factors 1 + 74 / 128 and 1 + 111 / 128. */
static void expert_sum(void)
{
    static const int32_t both[TOPK] = {1, -1, 0, -1}, none[TOPK] = {-1, -1, -1, -1};
    static const float weights[TOPK] = {128, 0, 0, 0};
    uint16_t in[HIDDEN], out[HIDDEN];

    for (int i = 0; i < HIDDEN; i++)
        in[i] = wsh_ep_to_bf16(1);
    ref_expert_sum(&job, 1, both, weights, in, out);
    for (int i = 0; i < HIDDEN; i++)
        CU_ASSERT_EQUAL(wsh_ep_from_bf16(out[i] & 0x7fff), 128 + 111);
    ref_expert_sum(&job, 1, none, weights, in, out);
    CU_ASSERT_EQUAL(out[0], 0);
}

static void weights_come_back(void)
{
    float weights[REF_TOPK_MAX];

    ref_combined_weights(&job, REF_DIRECT, 0, 1, weights);
    CU_ASSERT(weights[2] != 0); /* of the PEs of the other choices */
    CU_ASSERT(weights[0] != weights[1] && weights[1] != weights[3] && weights[0] != 0);
}

const struct unit_test unit_tests[] = {
    {"low latency: by expert, source, token", low_latency},
    {"high throughput: a row for each token", high_throughput},
    {"rows over the network", network_rows},
    {"groups of other hosts are rounded once", groups_are_rounded},
    {"in low latency PEs of other hosts are rounded, and then their sum", hosts_reduce},
    {"in one host each PE's sum is rounded, and PEs are added in order", one_host_reduces},
    {"in high throughput each PE gives one row", pes_give_once},
    {"sums are in the order of the choices", order_counts},
    {"what experts make of a received row", expert_sum},
    {"weights come back", weights_come_back},
    {NULL, NULL},
};

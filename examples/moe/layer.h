/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layer that moe.c and moe.cu compute: its sizes and numbers, which are functions of their places so that every PE
 * knows all of them, and the same layer for one token without any communication.
 */
#ifndef LAYER_H
#define LAYER_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define LAYER_FN static inline __host__ __device__
#else
#define LAYER_FN static inline
#endif

enum { TOKENS = 32, HIDDEN = 128, EXPERTS = 32, TOPK = 4 };

/* -1 to 1. */
LAYER_FN float layer_number(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t mixed = a * 0x9e3779b9u ^ b * 0x85ebca6bu ^ c * 0xc2b2ae35u;

    mixed = (mixed ^ mixed >> 16) * 0x7feb352du;
    mixed = (mixed ^ mixed >> 15) * 0x846ca68bu;
    return (float)((mixed ^ mixed >> 16) >> 8) / 8388608.0f - 1.0f;
}

LAYER_FN float from_bf16(uint16_t value)
{
    uint32_t bits = (uint32_t)value << 16;
    float result;

    memcpy(&result, &bits, sizeof result);
    return result;
}

LAYER_FN uint16_t to_bf16(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Of the token's row; of the router; of an expert's matrix [to][from]. */
LAYER_FN uint16_t layer_x(int pe, int token, int column)
{
    return to_bf16(layer_number(1 + (uint32_t)pe, (uint32_t)token, (uint32_t)column));
}

LAYER_FN float layer_router(int expert, int column)
{
    return layer_number(1000003, (uint32_t)expert, (uint32_t)column) / 8;
}

LAYER_FN float layer_matrix(int expert, int to, int from)
{
    return layer_number(2000003 + (uint32_t)expert, (uint32_t)to, (uint32_t)from) / sqrtf(HIDDEN);
}

/* How well an expert fits a row. fmaf in this order has the same result on CPUs and GPUs. */
LAYER_FN float layer_logit(int expert, const uint16_t *x)
{
    float sum = 0;

    for (int column = 0; column < HIDDEN; column++)
        sum = fmaf(layer_router(expert, column), from_bf16(x[column]), sum);
    return sum;
}

/* The TOPK experts with the largest logits, and their weights: the softmax over them. */
LAYER_FN void layer_choose(const float *logits, int32_t *topk, float *weights)
{
    float sum = 0;

    for (int k = 0; k < TOPK; k++) {
        topk[k] = -1;
        for (int expert = 0; expert < EXPERTS; expert++) {
            int taken = 0;
            for (int earlier = 0; earlier < k; earlier++)
                taken |= topk[earlier] == expert;
            if (!taken && (topk[k] < 0 || logits[expert] > logits[topk[k]]))
                topk[k] = expert;
        }
        weights[k] = expf(logits[topk[k]] - logits[topk[0]]);
        sum += weights[k];
    }
    for (int k = 0; k < TOPK; k++)
        weights[k] /= sum;
}

/* How many values of `out` are not those of the layer, computed here alone; rows are rounded to BF16 on their way. */
static inline int layer_wrong(const uint16_t *x, const uint16_t *out)
{
    float logits[EXPERTS], weights[TOPK];
    int32_t topk[TOPK];
    int wrong = 0;

    for (int expert = 0; expert < EXPERTS; expert++)
        logits[expert] = layer_logit(expert, x);
    layer_choose(logits, topk, weights);
    for (int to = 0; to < HIDDEN; to++) {
        float wanted = 0;
        for (int k = 0; k < TOPK; k++)
            for (int from = 0; from < HIDDEN; from++)
                wanted += weights[k] * layer_matrix(topk[k], to, from) * from_bf16(x[from]);
        wrong += !(fabsf(from_bf16(out[to]) - wanted) <= 0.02f * (1 + fabsf(wanted)));
    }
    return wrong;
}

#endif

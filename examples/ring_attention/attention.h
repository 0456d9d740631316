/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ring_attention.c and ring_attention.cu compute: attention of one head over a sequence whose tokens are shared
 * among the PEs. Queries, keys and values are functions of token and column, so that every PE can compute its part
 * alone, too.
 */
#ifndef ATTENTION_H
#define ATTENTION_H

#include <math.h>
#include <stdint.h>

#ifdef __CUDACC__
#define ATTENTION_FN static inline __host__ __device__
#else
#define ATTENTION_FN static inline
#endif

enum {
    TOKENS = 64 /* of a PE */,
    WIDTH = 64 /* of a head */,
    BLOCK = 2 * TOKENS * WIDTH /* keys, then values */
};
enum { QUERY = 1, KEY, VALUE };

/* 1 / sqrt(WIDTH) */
#define ATTENTION_SCALE 0.125f

/* -1 to 1. */
ATTENTION_FN float attention_number(int what, int token, int column)
{
    uint32_t mixed =
        (uint32_t)what * 0x9e3779b9u ^ (uint32_t)token * 0x85ebca6bu ^ (uint32_t)column * 0xc2b2ae35u;

    mixed = (mixed ^ mixed >> 16) * 0x7feb352du;
    mixed = (mixed ^ mixed >> 15) * 0x846ca68bu;
    return (float)((mixed ^ mixed >> 16) >> 8) / 8388608.0f - 1.0f;
}

/* One row of the result, computed from the whole sequence. */
static inline void attention_alone(double *out, int query, int tokens)
{
    double sum = 0;

    for (int column = 0; column < WIDTH; column++)
        out[column] = 0;
    for (int token = 0; token < tokens; token++) {
        double score = 0;
        for (int column = 0; column < WIDTH; column++)
            score += (double)attention_number(QUERY, query, column) * attention_number(KEY, token, column);
        score = exp(score * ATTENTION_SCALE);
        sum += score;
        for (int column = 0; column < WIDTH; column++)
            out[column] += score * attention_number(VALUE, token, column);
    }
    for (int column = 0; column < WIDTH; column++)
        out[column] /= sum;
}

/* Values of the PE's rows [TOKENS][WIDTH] that are not as computed alone. */
static inline long attention_wrong(const float *out, int me, int n)
{
    double alone[WIDTH];
    long wrong = 0;

    for (int token = 0; token < TOKENS; token++) {
        attention_alone(alone, me * TOKENS + token, n * TOKENS);
        for (int column = 0; column < WIDTH; column++)
            wrong += !(fabs(alone[column] - out[token * WIDTH + column]) < 1e-4);
    }
    return wrong;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A layer of a mixture of experts, whose experts are shared among the PEs, in memory of the host: a router chooses
 * experts for each token, dispatch sends the tokens there, each expert multiplies its rows by its matrix, combine
 * brings the results back. Every PE compares its tokens with the layer as it computes it alone.
 *
 *   oshcc -O2 -o moe moe.c -lwarpshmem-ep -lm && oshrun -n 4 ./moe
 */
#include "layer.h"

#include <shmemx_ep.h>

#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 3 };

/* What a PE has: its tokens, its experts, and the rows that they are given. */
struct moe {
    shmemx_ep_t ep;
    int mine, capacity; /* experts of a PE; rows that one may be given */
    uint16_t *x, *out;  /* [TOKENS][HIDDEN] BF16 */
    int32_t *topk;      /* [TOKENS][TOPK] */
    float *weights;
    uint16_t *rows, *y; /* [mine][capacity][HIDDEN] */
    int32_t *counts;    /* [mine] */
    float *matrices;    /* [mine][HIDDEN][HIDDEN] */
};

static void *take(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (!memory) {
        fprintf(stderr, "moe: no memory\n");
        shmem_global_exit(1);
    }
    return memory;
}

static void open_layer(struct moe *moe, int me, int n)
{
    shmemx_ep_config_t config = SHMEMX_EP_CONFIG_INITIALIZER;

    config.mode = SHMEMX_EP_LOW_LATENCY;
    config.dtype = SHMEMX_EP_BF16;
    config.hidden = HIDDEN;
    config.experts = EXPERTS;
    config.topk = TOPK;
    config.tokens = TOKENS;
    config.expert_capacity = n * TOKENS; /* all tokens of all PEs may choose the same expert */
    if (shmemx_ep_create(SHMEM_TEAM_WORLD, &config, &moe->ep))
        shmem_global_exit(1); /* a line says why */
    moe->mine = EXPERTS / n;
    moe->capacity = config.expert_capacity;
    moe->x = take(TOKENS * HIDDEN, sizeof *moe->x);
    moe->out = take(TOKENS * HIDDEN, sizeof *moe->out);
    moe->topk = take(TOKENS * TOPK, sizeof *moe->topk);
    moe->weights = take(TOKENS * TOPK, sizeof *moe->weights);
    moe->rows = take((size_t)moe->mine * (size_t)moe->capacity * HIDDEN, sizeof *moe->rows);
    moe->y = take((size_t)moe->mine * (size_t)moe->capacity * HIDDEN, sizeof *moe->y);
    moe->counts = take((size_t)moe->mine, sizeof *moe->counts);
    moe->matrices = take((size_t)moe->mine * HIDDEN * HIDDEN, sizeof *moe->matrices);
    for (int i = 0; i < moe->mine * HIDDEN * HIDDEN; i++)
        moe->matrices[i] =
            layer_matrix(me * moe->mine + i / HIDDEN / HIDDEN, i / HIDDEN % HIDDEN, i % HIDDEN);
}

static void close_layer(struct moe *moe)
{
    shmemx_ep_destroy(moe->ep);
    free(moe->x);
    free(moe->out);
    free(moe->topk);
    free(moe->weights);
    free(moe->rows);
    free(moe->y);
    free(moe->counts);
    free(moe->matrices);
}

/* Which experts each token goes to. */
static void route(struct moe *moe)
{
    float logits[EXPERTS];

    for (int token = 0; token < TOKENS; token++) {
        for (int expert = 0; expert < EXPERTS; expert++)
            logits[expert] = layer_logit(expert, moe->x + token * HIDDEN);
        layer_choose(logits, moe->topk + token * TOPK, moe->weights + token * TOPK);
    }
}

/* The grouped matrix product: y = matrix of the expert * row, of as many rows as each expert was given. */
static void apply_experts(struct moe *moe)
{
    for (int expert = 0; expert < moe->mine; expert++) {
        const float *matrix = moe->matrices + (size_t)expert * HIDDEN * HIDDEN;
        for (int i = 0; i < moe->counts[expert]; i++) {
            size_t at = ((size_t)expert * (size_t)moe->capacity + (size_t)i) * HIDDEN;
            for (int to = 0; to < HIDDEN; to++) {
                float sum = 0;
                for (int from = 0; from < HIDDEN; from++)
                    sum += matrix[to * HIDDEN + from] * from_bf16(moe->rows[at + (size_t)from]);
                moe->y[at + (size_t)to] = to_bf16(sum);
            }
        }
    }
}

static int layer(struct moe *moe)
{
    shmemx_ep_dispatch_t dispatch = {.version = SHMEMX_EP_CALL_VERSION,
                                     .halves = SHMEMX_EP_BOTH,
                                     .tokens = TOKENS,
                                     .x = moe->x,
                                     .topk = moe->topk,
                                     .weights = moe->weights,
                                     .by_expert = {.rows = moe->rows, .counts = moe->counts}};
    shmemx_ep_combine_t combine = {
        .version = SHMEMX_EP_CALL_VERSION, .halves = SHMEMX_EP_BOTH, .y = moe->y, .out = moe->out};

    route(moe);
    if (shmemx_ep_dispatch(moe->ep, &dispatch))
        return 1;
    apply_experts(moe);
    return shmemx_ep_combine(moe->ep, &combine);
}

int main(void)
{
    struct moe moe;
    static long wrong, all;
    int me, n;

    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    open_layer(&moe, me, n);
    for (int call = 0; call < CALLS; call++) {
        for (int i = 0; i < TOKENS * HIDDEN; i++)
            moe.x[i] = layer_x(me, call * TOKENS + i / HIDDEN, i % HIDDEN);
        if (layer(&moe))
            shmem_global_exit(1);
        for (int token = 0; token < TOKENS; token++)
            wrong += layer_wrong(moe.x + token * HIDDEN, moe.out + token * HIDDEN);
    }
    close_layer(&moe);

    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all, &wrong, 1);
    if (me == 0)
        printf("moe: %d PEs, %d experts, %d calls, %ld wrong\n", n, EXPERTS, CALLS, all);
    shmem_finalize();
    return all != 0;
}

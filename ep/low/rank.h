/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which of this PE's tokens go where, as bit sets in memory of each group: a row of bits, one for each token, for each
 * expert and each target. How many tokens have it before a token is counted by words once, and then read: the offset
 * of a token among those that have an expert, and its slot among those that go to a PE. Every group computes all of it.
 */
#ifndef WSH_EP_LOW_RANK_H
#define WSH_EP_LOW_RANK_H

#include "ep/low/call.h"

enum { EP_LOW_NONE = 0xffff, EP_LOW_AGAIN = 0x8000 };

/* Rows 0 to experts - 1 are of experts, the next ones of targets. */
struct ep_low_rank {
    uint32_t *bits;    /* [rows][words] */
    uint16_t *before;  /* [rows][words]: bits in the words before */
    uint16_t *topk;    /* [tokens][topk] experts, EP_LOW_NONE: none */
    uint16_t *targets; /* the same of targets, with EP_LOW_AGAIN where a choice before has the same */
    int words;
};

EP_STEP int ep_low_rank_rows(const struct ep_run *run)
{
    return run->shape.experts + ep_low_targets(run);
}

EP_STEP struct ep_low_rank ep_low_rank_of(const struct ep_run *run, int tokens)
{
    const struct ep_shape *shape = &run->shape;
    int rows = ep_low_rank_rows(run), most = (shape->tokens + 31) / 32;
    struct ep_low_rank rank;
    char *memory = ep_group_memory(run);

    rank.bits = (uint32_t *)memory;
    rank.before = (uint16_t *)(rank.bits + (size_t)rows * most);
    rank.topk = (uint16_t *)(memory + ep_align((size_t)rows * most * 6, 16));
    rank.targets = rank.topk + (size_t)shape->tokens * shape->topk;
    rank.words = (tokens + 31) / 32;
    return rank;
}

/* What else is in a group's memory. */
EP_STEP int32_t *ep_low_numbers(const struct ep_run *run)
{
    const struct ep_shape *shape = &run->shape;
    size_t rows = (size_t)ep_low_rank_rows(run), words = ((size_t)shape->tokens + 31) / 32;

    return (int32_t *)(ep_group_memory(run) + ep_align(rows * words * 6, 16) +
                       ep_align((size_t)shape->tokens * shape->topk * 4, 16));
}

/* The expert of a token's choice k: of the call, or of the routing that the handle has; -1: none. */
EP_STEP int ep_low_choice(const struct ep_run *run, const struct ep_low_call *call,
                          const shmemx_ep_dispatch_t *args, int token, int k)
{
    const struct ep_shape *shape = &run->shape;
    int columns = args->columns ? args->columns : shape->topk, expert;

    if (!args->topk)
        expert = ep_low_own(run, call->handle, token).experts[k];
    else
        expert = k < columns
                     ? ((const int32_t *)args->topk)[((size_t)token * columns + k) << shape->topk_shift]
                     : -1;
    if ((uint32_t)expert >= (uint32_t)shape->experts || ep_lacks(run, call, expert))
        return -1;
    return expert;
}

EP_STEP void ep_low_rank_set(const struct ep_low_rank *rank, int row, int token)
{
    ep_group_or(&rank->bits[(size_t)row * rank->words + token / 32], 1u << token % 32);
}

/* Choice i of all tokens'. */
EP_STEP void ep_low_rank_choice(const struct ep_run *run, const struct ep_low_rank *rank, int i, int token,
                                int expert)
{
    int target;

    rank->topk[i] = rank->targets[i] = EP_LOW_NONE;
    if (expert < 0)
        return;
    target = ep_low_target(run, expert);
    rank->topk[i] = (uint16_t)expert;
    rank->targets[i] = (uint16_t)target;
    ep_low_rank_set(rank, expert, token);
    ep_low_rank_set(rank, run->shape.experts + target, token);
}

/* By one lane: sums of the words of a row. */
EP_STEP void ep_low_rank_row(const struct ep_low_rank *rank, int row)
{
    uint32_t sum = 0;

    for (int word = 0; word < rank->words; word++) {
        rank->before[(size_t)row * rank->words + word] = (uint16_t)sum;
        sum += (uint32_t)ep_popc(rank->bits[(size_t)row * rank->words + word]);
    }
}

/* Others mark theirs meanwhile. */
EP_STEP void ep_low_rank_again(const struct ep_low_rank *rank, int i, int k)
{
    uint16_t target = rank->targets[i];

    for (int j = 1; j <= k; j++)
        if (target != EP_LOW_NONE && (rank->targets[i - j] & ~EP_LOW_AGAIN) == target) {
            rank->targets[i] = (uint16_t)(target | EP_LOW_AGAIN);
            return;
        }
}

/* All workers of a group. */
EP_STEP void ep_low_rank_fill(const struct ep_run *run, const struct ep_low_call *call,
                              const shmemx_ep_dispatch_t *args)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_low_rank rank = ep_low_rank_of(run, call->tokens);
    int rows = ep_low_rank_rows(run);

    EP_BY_GROUP(run, i, rows * rank.words)
    {
        rank.bits[i] = 0;
    }
    ep_sync_group(run);
    EP_BY_GROUP(run, i, call->tokens * shape->topk)
    {
        int token = ep_divide(i, shape->by_topk);

        ep_low_rank_choice(run, &rank, i, token,
                           ep_low_choice(run, call, args, token, i - token * shape->topk));
    }
    ep_sync_group(run);
    EP_BY_GROUP(run, row, rows)
    {
        ep_low_rank_row(&rank, row);
    }
    EP_BY_GROUP(run, i, call->tokens * shape->topk)
    {
        ep_low_rank_again(&rank, i, i - ep_divide(i, shape->by_topk) * shape->topk);
    }
    ep_sync_group(run);
}

/* How many of the tokens before `token` are in the row; with all tokens: how many are in it. */
EP_STEP int ep_low_before(const struct ep_low_rank *rank, int row, int token)
{
    size_t at = (size_t)row * rank->words + token / 32;

    return rank->before[at] + ep_popc(rank->bits[at] & ((1u << token % 32) - 1));
}

EP_STEP int ep_low_total(const struct ep_low_rank *rank, int row)
{
    size_t last = (size_t)row * rank->words + rank->words - 1;

    return rank->words ? rank->before[last] + ep_popc(rank->bits[last]) : 0;
}

/* The target of a token's choice k; -1: none. */
EP_STEP int ep_low_any_target(const struct ep_run *run, const struct ep_low_rank *rank, int token, int k)
{
    uint16_t target = rank->targets[token * run->shape.topk + k];

    return target == EP_LOW_NONE ? -1 : target & ~EP_LOW_AGAIN;
}

/* The target that choice k is the token's first one for; -1: none. */
EP_STEP int ep_low_first_target(const struct ep_run *run, const struct ep_low_rank *rank, int token, int k)
{
    uint16_t target = rank->targets[token * run->shape.topk + k];

    return target & EP_LOW_AGAIN ? -1 : target;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Combine's receiving side: the rows that have come for a token are added up. Reduced, or as if: rows of a PE in the
 * order of the top-k, rounded, and PEs in their order. Exact: rows in the order of the top-k.
 */
#ifndef WSH_EP_LOW_SUM_H
#define WSH_EP_LOW_SUM_H

#include "ep/low/answer.h"

struct ep_low_home {
    const struct ep_low_call *call;
    const shmemx_ep_combine_t *args;
    struct ep_low_own own;
    int token, piece, pushed;
    uint32_t summed; /* bits of choices: a PE has brought the sum of all its rows */
};

/* The target of choice k, or -1. */
EP_STEP int ep_low_home_target(const struct ep_run *run, const struct ep_low_home *home, int k)
{
    int expert = home->own.experts[k];

    return (uint32_t)expert < (uint32_t)run->shape.experts ? ep_low_target(run, expert) : -1;
}

/* The row from target i of the token's, where that is a far peer; else NULL. */
EP_STEP const char *ep_low_far_result(const struct ep_run *run, const struct ep_low_home *home, int i)
{
    const struct ep_shape *shape = &run->shape;
    int far = ep_low_far(run) ? home->own.targets[i] - shape->near : -1, record;

    if (far < 0 || far >= shape->far || ep_masked(run, ep_far_pe(shape, far)))
        return NULL;
    record = ep_low_least(home->own.records[i] & INT32_MAX, shape->tokens - 1);
    return run->arena + ep_slot_result(shape, shape->result_in, far, home->call->parity) +
           (size_t)record * shape->result;
}

/* Whether choice k is the first one that its target has. */
EP_STEP int ep_low_home_first(const struct ep_run *run, const struct ep_low_home *home, int target, int k)
{
    for (int j = 0; j < k; j++)
        if (ep_low_home_target(run, home, j) == target)
            return 0;
    return 1;
}

/* The same of the target of choice k, where it is the first choice of that. */
EP_STEP const char *ep_low_far_choice(const struct ep_run *run, const struct ep_low_home *home, int k)
{
    int target = ep_low_home_target(run, home, k);

    if (!ep_low_home_first(run, home, target, k))
        return NULL;
    for (int i = 0; i < run->shape.topk; i++)
        if (home->own.targets[i] == target)
            return ep_low_far_result(run, home, i);
    return NULL;
}

/* Whether a target of this host, which others are not asked of, is masked. */
EP_STEP int ep_low_home_lacks(const struct ep_run *run, int target)
{
    return ep_any_masked(run) && target >= 0 && target < run->shape.near &&
           ep_masked(run, ep_low_world(run, target));
}

/* Row number i of those that near PEs have reduced: its offset, or -1. */
EP_STEP int ep_low_home_reduced(const struct ep_run *run, const struct ep_low_home *home, int i)
{
    int pe = home->own.targets[i];

    return (uint32_t)pe < (uint32_t)run->shape.near ? pe * run->shape.tokens + home->token : -1;
}

EP_STEP const uint64_t *ep_low_reduced_flag(const struct ep_run *run, const void *arg, int i, int *near)
{
    const struct ep_low_home *home = (const struct ep_low_home *)arg;
    int at = ep_low_home_reduced(run, home, i);

    *near = home->own.targets[i];
    return at < 0 ? NULL : ep_low_result_flag(run, run->arena, home->call->parity, at, home->piece);
}

EP_STEP struct ep_term ep_low_reduced_term(const struct ep_run *run, const void *arg, int i)
{
    const struct ep_low_home *home = (const struct ep_low_home *)arg;
    int at = ep_low_home_reduced(run, home, i);
    struct ep_term term = {NULL, 1.0f};

    if (at >= 0 && !ep_low_home_lacks(run, home->own.targets[i]))
        term.row = ep_low_result(run, run->arena, home->call->parity, at);
    else if (at < 0 && ep_low_far(run))
        term.row = ep_low_far_result(run, home, i);
    return term;
}

/* Of the row that a target of this host pushes for choice k. */
EP_STEP int ep_low_pushed_at(const struct ep_run *run, const struct ep_low_home *home, int target, int k)
{
    int row = home->token * run->shape.topk + k;

    return ep_lie_apart(run) ? target * run->shape.tokens * run->shape.topk + row : row;
}

EP_STEP const uint64_t *ep_low_pushed_flag(const struct ep_run *run, const void *arg, int k, int *near)
{
    const struct ep_low_home *home = (const struct ep_low_home *)arg;

    *near = ep_low_home_target(run, home, k);
    return *near < 0 || *near >= run->shape.near
               ? NULL
               : ep_low_result_flag(run, run->arena, home->call->parity,
                                    ep_low_pushed_at(run, home, *near, k), home->piece);
}

EP_STEP struct ep_term ep_low_pushed_term(const struct ep_run *run, const void *arg, int k)
{
    const struct ep_low_home *home = (const struct ep_low_home *)arg;
    const shmemx_ep_combine_t *args = home->args;
    int columns = args->columns ? args->columns : run->shape.topk;
    struct ep_term term = {NULL, 0.0f};
    int target = ep_low_home_target(run, home, k);

    if (target < 0 || ep_low_home_lacks(run, target))
        return term;
    if (ep_low_far(run) && target >= run->shape.near) {
        term.row = ep_low_far_choice(run, home, k);
        term.weight = 1.0f;
        return term;
    }
    if (ep_low_sums_early(run) && home->summed >> k & 1 && !ep_low_home_first(run, home, target, k))
        return term;
    term.row = ep_low_result(run, run->arena, home->call->parity, ep_low_pushed_at(run, home, target, k));
    if (ep_low_sums_early(run) && home->summed >> k & 1)
        term.weight = 1.0f;
    else if (!args->weights)
        term.weight = home->own.weights[k];
    else if (k < columns)
        term.weight = args->weights[(size_t)home->token * columns + k];
    return term;
}

/* Which rows are added up, and rounded, before others. */
EP_STEP int ep_low_group(const struct ep_run *run, const void *arg, int k)
{
    int target = ep_low_home_target(run, (const struct ep_low_home *)arg, k);

    return target < 0 ? -1 : ep_low_target_pe(run, target);
}

EP_STEP struct ep_term ep_low_home_term(const struct ep_run *run, const void *arg, int k)
{
    const struct ep_low_home *home = (const struct ep_low_home *)arg;

    return home->pushed ? ep_low_pushed_term(run, arg, k) : ep_low_reduced_term(run, arg, k);
}

EP_STEP const uint64_t *ep_low_home_flag(const struct ep_run *run, const void *arg, int k, int *near)
{
    const struct ep_low_home *home = (const struct ep_low_home *)arg;

    return home->pushed ? ep_low_pushed_flag(run, arg, k, near) : ep_low_reduced_flag(run, arg, k, near);
}

EP_STEP void ep_low_sum_piece(const struct ep_run *run, struct ep_low_home *home, int each)
{
    const struct ep_shape *shape = &run->shape;
    char *out = (char *)home->args->out + (size_t)home->token * shape->hidden * 2;
    int first, columns = ep_low_columns(run, home->piece, each, &first);

    if (columns <= 0)
        return;
    if (ep_low_sums_early(run))
        home->summed = ep_flags_await_marked(run, EP_PHASE_RESULTS, shape->topk, ep_low_home_flag, home,
                                             home->call->number, home->pushed ? EP_LOW_SUMMED : 0);
    else
        ep_flags_await(run, EP_PHASE_RESULTS, shape->topk, ep_low_home_flag, home, home->call->number);
    if (home->pushed && !shape->exact)
        ep_sum_grouped(run, out, first, columns, shape->topk, ep_low_pushed_term, ep_low_group, home);
    else
        ep_low_add(run, out, first, columns, shape->topk, ep_low_home_term, home);
}

/* Whether a far peer adds to the token: their rows come last. */
EP_STEP int ep_low_is_far(const struct ep_run *run, const struct ep_low_home *home)
{
    for (int i = 0; i < run->shape.topk; i++)
        if (home->own.targets[i] >= run->shape.near)
            return 1;
    return 0;
}

/* With far peers: of those tokens alone to which they add, or do not. */
EP_STEP void ep_low_sum_tokens(const struct ep_run *run, const struct ep_low_call *call,
                               const shmemx_ep_combine_t *args, int far)
{
    int shift = ep_low_shift(&run->shape, call->tokens), each = ep_low_each(&run->shape, shift);
    struct ep_low_home home = {
        call, args, {NULL, NULL, NULL, NULL}, 0, 0, ep_low_form(run, args) >= EP_LOW_PUSHED, 0};

    for (int i = ep_workers(run) - 1 - ep_worker(run); i < call->tokens << shift; i += ep_workers(run)) {
        home.token = i >> shift;
        home.piece = i - (home.token << shift);
        home.own = ep_low_own(run, call->handle, home.token);
        if (ep_low_far(run) && ep_low_is_far(run, &home) != far)
            continue;
        ep_low_sum_piece(run, &home, each);
    }
}

EP_STEP void ep_low_combine_receive(const struct ep_run *run, const struct ep_low_call *call,
                                    const shmemx_ep_combine_t *args)
{
    ep_low_await_begun(run, call, args->waits);
    EP_CLOCK(run, 11);
    ep_low_sum_tokens(run, call, args, 0);
    if (!ep_low_far(run))
        return;
    ep_low_await_answers(run, call, args->waits);
    ep_low_sum_tokens(run, call, args, 1);
}

#endif

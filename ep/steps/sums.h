/* SPDX-License-Identifier: BSD-3-Clause */
/* Combine: where the rows of a sum are. */
#ifndef WSH_EP_STEPS_SUMS_H
#define WSH_EP_STEPS_SUMS_H

#include "ep/steps/dispatch.h"

/* The sum for a token, or of this host or PE for a far peer's token. */
struct ep_sum_of {
    const struct ep_meta *meta;
    const int32_t *first; /* [near]: where rows of the token's origin begin at near PEs */
    const char
        *results; /* image of far peers' results, and bytes from one's to the next's; NULL: none are added */
    size_t each;
    int only; /* the near PE whose rows are added; -1: all of the host */
};

/* The PE of entry k if its row is added here, by the first entry of a PE. -1: not. */
EP_STEP int ep_entry_near(const struct ep_run *run, const struct ep_sum_of *sum, int k)
{
    const struct ep_shape *shape = &run->shape;
    int pe = ep_entry_pe(run, sum->meta->entry[k].expert);

    if (pe < 0 || !ep_pe_is_near(shape, pe) || (sum->only >= 0 && pe % shape->near != sum->only))
        return -1;
    for (int j = 0; j < k; j++)
        if (ep_entry_pe(run, sum->meta->entry[j].expert) == pe)
            return -1;
    return pe;
}

/* The row that near PE `pe` has for entry k, among all of its Y; -1: it did not fit. */
EP_STEP int64_t ep_near_row(const struct ep_run *run, const struct ep_sum_of *sum, int k, int pe)
{
    return ep_entry_row(run, sum->meta, k, sum->first + pe % run->shape.near);
}

EP_STEP const struct ep_near_y *ep_near_y(const struct ep_run *run, int pe)
{
    return (const struct ep_near_y *)ep_at(run, run->shape.near_y) + pe % run->shape.near;
}

EP_STEP struct ep_term ep_sum_term(const struct ep_run *run, const void *arg, int k)
{
    const struct ep_sum_of *sum = (const struct ep_sum_of *)arg;
    const struct ep_entry *entry = &sum->meta->entry[k];
    struct ep_term term = {NULL, 1.0f};
    int pe = ep_entry_near(run, sum, k), far = sum->results ? ep_entry_far(run, sum->meta, k) : -1;
    int64_t row = pe < 0 ? -1 : ep_near_row(run, sum, k, pe);

    if (row >= 0)
        term.row = ep_near_arena(run, pe) + ep_near_y(run, pe)->y + row * run->shape.hidden * 2;
    if (far >= 0 && (uint32_t)entry->row < (uint32_t)run->shape.window)
        term.row = sum->results + far * sum->each + entry->row * run->shape.result;
    return term;
}

/* Column `column` of the weights that near PE `pe` brings back with the row of entry k; 0 where it brings none. */
EP_STEP float ep_near_weight(const struct ep_run *run, const struct ep_sum_of *sum, int k, int pe, int column)
{
    int64_t row = ep_near_row(run, sum, k, pe), weights = ep_near_y(run, pe)->weights;

    return row >= 0 && weights
               ? ((const float *)(ep_near_arena(run, pe) + weights))[row * run->shape.topk + column]
               : 0.0f;
}

/* The same of far peer `far`, which sends the weights behind its row. */
EP_STEP float ep_far_weight(const struct ep_run *run, const struct ep_sum_of *sum, int k, int far, int column)
{
    int row = sum->meta->entry[k].row;

    if ((uint32_t)row >= (uint32_t)run->shape.window)
        return 0.0f;
    return ((const float *)(sum->results + far * sum->each + row * run->shape.result +
                            (size_t)run->shape.hidden * 2))[column];
}

/*
 * High throughput: weights that come back with rows are added as the rows are: over PEs, in the order of the top-k. Out
 * of line: inside, it made sums of rows without weights 12 % slower.
 */
EP_LOOP void ep_sum_weights(const struct ep_run *run, const struct ep_sum_of *sum, float *to)
{
    EP_BY_LANES(run, column, run->shape.topk)
    {
        float total = 0.0f;

        for (int k = 0; k < run->shape.topk; k++) {
            int pe = ep_entry_near(run, sum, k), far = sum->results ? ep_entry_far(run, sum->meta, k) : -1;

            if (pe >= 0)
                total = wsh_ep_add(total, ep_near_weight(run, sum, k, pe, column));
            if (far >= 0)
                total = wsh_ep_add(total, ep_far_weight(run, sum, k, far, column));
        }
        to[column] = total;
    }
}

/* This PE's own rows are read where the program has them. */
EP_STEP struct ep_near_y ep_own_y(const struct ep_run *run, const shmemx_ep_combine_t *args)
{
    uintptr_t arena = (uintptr_t)run->arena, weights = (uintptr_t)args->y_weights;
    struct ep_near_y own = {(int64_t)((uintptr_t)args->y - arena), weights ? (int64_t)(weights - arena) : 0,
                            0};

    return own;
}

/*
 * What near PEs say of their Y, and where rows of origins begin there; each group for itself, as ep_count.
 */
EP_LOOP void ep_gather_near(const struct ep_run *run, const struct ep_call *call,
                            const shmemx_ep_combine_t *args, int origins, int only)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_near_y *near_y = (struct ep_near_y *)ep_at(run, shape->near_y);
    struct ep_near_y own = ep_own_y(run, args);

    EP_BY_GROUP(run, l, shape->near)
    {
        const struct ep_header *header =
            (const struct ep_header *)(run->near_arena[l] + shape->y_header[call->parity]);

        if (l == shape->local) {
            near_y[l] = own;
        } else if (only < 0) {
            near_y[l].y = header->x;
            if ((size_t)header->x != shape->y[0] && (size_t)header->x != shape->y[1])
                ep_fault_numbers(run, shape->host * shape->near + l, call, 0);
            near_y[l].weights = header->weighs ? (int64_t)shape->y_weights[call->parity] : 0;
        }
    }
    EP_BY_GROUP(run, i, origins * shape->near)
    {
        int origin = i / shape->near, l = i % shape->near;
        int pe = origin ? ep_far_pe(shape, origin - 1) : shape->me;
        const int32_t *first = (const int32_t *)(run->near_arena[l] + ep_kept_first(shape, call->handle));

        if (only < 0 || l == only)
            ep_ints(run, shape->near_first)[i] = first[pe * shape->counted];
    }
    ep_sync_group(run);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Combine: where the rows of a sum are. */
#ifndef WSH_EP_STEPS_SUMS_H
#define WSH_EP_STEPS_SUMS_H

#include "ep/steps/take.h"

/* The sum for a token, or of this host or PE for a far peer's token. */
struct ep_sum_of {
    const struct ep_meta *meta;
    const struct ep_adds *adds;
};

/* [near]: where rows of the tokens' PE begin at near PEs. */
EP_STEP const int32_t *ep_adds_first(const struct ep_run *run, const struct ep_adds *adds)
{
    return ep_ints(run, run->shape.near_first) + (size_t)adds->origin * run->shape.near;
}

/* The PE whose tokens they are. */
EP_STEP int ep_adds_pe(const struct ep_run *run, const struct ep_adds *adds)
{
    return adds->origin ? ep_far_pe(&run->shape, adds->origin - 1) : run->shape.me;
}

/* The PE of entry k if its row is added here, by the first entry of a PE. -1: not. */
EP_STEP int ep_entry_near(const struct ep_run *run, const struct ep_sum_of *sum, int k)
{
    const struct ep_shape *shape = &run->shape;
    int pe = ep_entry_pe(run, sum->meta->entry[k].expert);

    if (pe < 0 || !ep_pe_is_near(shape, pe) || (sum->adds->only >= 0 && pe % shape->near != sum->adds->only))
        return -1;
    for (int j = 0; j < k; j++)
        if (ep_entry_pe(run, sum->meta->entry[j].expert) == pe)
            return -1;
    return pe;
}

/* The row that near PE `pe` has for entry k, among all of its Y; -1: it did not fit. */
EP_STEP int64_t ep_near_row(const struct ep_run *run, const struct ep_sum_of *sum, int k, int pe)
{
    return ep_entry_row(run, sum->meta, k, ep_adds_first(run, sum->adds) + pe % run->shape.near);
}

EP_STEP const struct ep_near_y *ep_near_y(const struct ep_run *run, int pe)
{
    return (const struct ep_near_y *)ep_at(run, run->shape.near_y) + pe % run->shape.near;
}

/* Where the row that near PE `pe` has for entry k is; NULL: it did not fit. */
EP_STEP const char *ep_near_term(const struct ep_run *run, const struct ep_sum_of *sum, int k, int pe)
{
    int64_t row = ep_near_row(run, sum, k, pe);

    return row < 0 ? NULL : ep_near_arena(run, pe) + ep_near_y(run, pe)->y + row * run->shape.hidden * 2;
}

/* Where far peer `far` has put its row for an entry, which has this number in the image; NULL: there is none. */
EP_STEP const char *ep_far_term(const struct ep_run *run, const struct ep_adds *adds, int far, int row)
{
    return (uint32_t)row < (uint32_t)run->shape.window
               ? adds->results + far * adds->each + row * run->shape.result
               : NULL;
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
    const char *row = ep_far_term(run, sum->adds, far, sum->meta->entry[k].row);

    return row ? ((const float *)(row + (size_t)run->shape.hidden * 2))[column] : 0.0f;
}

/*
 * Weights that come back with rows are added as the rows are: over PEs, in the order of the top-k. Out
 * of line: inside, it made sums of rows without weights 12 % slower.
 */
EP_LOOP void ep_sum_weights(const struct ep_run *run, const struct ep_sum_of *sum, float *to)
{
    EP_BY_LANES(run, column, run->shape.topk)
    {
        float total = 0.0f;

        for (int k = 0; k < run->shape.topk; k++) {
            int pe = ep_entry_near(run, sum, k), far = -1;

            if (ep_pulls_far(run) && sum->adds->results)
                far = ep_entry_far(run, sum->meta, k);
            if (pe >= 0)
                total = wsh_ep_add(total, ep_near_weight(run, sum, k, pe, column));
            if (far >= 0)
                total = wsh_ep_add(total, ep_far_weight(run, sum, k, far, column));
        }
        to[column] = total;
    }
}

#endif

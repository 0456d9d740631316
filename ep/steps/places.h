/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows expert by expert, in high throughput in one host: what a pulled row's choices say of where it is stored, and
 * what is between the experts' rows. ep_expanded(run) is NULL in a call that is not of this kind.
 */
#ifndef WSH_EP_STEPS_PLACES_H
#define WSH_EP_STEPS_PLACES_H

#include "ep/steps/sums.h"

#ifdef EP_EXPANDS
/* Rows of an expert with its padding. */
EP_STEP int ep_padded(const struct ep_run *run, int rows)
{
    int alignment = (int)ep_expanded(run)->alignment;

    return (rows + alignment - 1) / alignment * alignment;
}

/* Sums of the call's handle: of expert e, [1 + e]. */
EP_STEP const int32_t *ep_expert_sums(const struct ep_run *run, const struct ep_call *call)
{
    return ep_ints(run, ep_kept_first(&run->shape, call->handle)) + run->shape.n * run->shape.counted;
}

/* Where expert e's padding begins. It adds up what is before: that is little, and in the cache. */
EP_STEP int ep_expert_end(const struct ep_run *run, const struct ep_call *call, int e)
{
    const int32_t *sums = ep_expert_sums(run, call) + 1;
    int end = sums[e];

    for (int i = 0; i < e; i++)
        end += ep_padded(run, sums[i]);
    return end;
}

/* Where the next expert begins. */
EP_STEP int ep_expert_next(const struct ep_run *run, const struct ep_call *call, int e)
{
    int rows = ep_expert_sums(run, call)[1 + e];

    return ep_expanded(run)->ends[e] - rows + ep_padded(run, rows);
}

/* All rows, with padding. */
EP_STEP int ep_expanded_rows(const struct ep_run *run, const struct ep_call *call)
{
    return ep_expert_next(run, call, run->shape.mine - 1);
}

/*
 * The row of a choice of near PE `l`; -1: the expert is not here, or there is no room. In entry->row is how many of its
 * rows of the expert come before: ep_rank has stored it for such a call.
 */
EP_STEP int ep_place_of(const struct ep_run *run, const struct ep_call *call, int l, int expert, int rank)
{
    const struct ep_shape *shape = &run->shape;
    int e = expert - shape->me * shape->mine, counted = shape->counted, begin, rows, place;
    const int32_t *first = ep_ints(run, ep_kept_first(shape, call->handle)) + 1 + e;

    if ((unsigned)e >= (unsigned)shape->mine)
        return -1;
    begin = first[l * counted];
    rows = first[(l + 1) * counted] - begin;
    if ((unsigned)rank >= (unsigned)rows)
        ep_fault_numbers(run, l, call, 0);
    place = ep_expanded(run)->ends[e] - first[shape->n * counted] + begin + rank;
    return (unsigned)rank < (unsigned)rows && place < ep_expanded(run)->room ? place : -1;
}

/* Of a row that has a place: its own numbers. */
EP_STEP void ep_place_out(const struct ep_run *run, int place, int row, int expert, float weight)
{
    const shmemx_ep_rows_expanded_t *expanded = ep_expanded(run);

    if (expanded->weights)
        expanded->weights[place] = weight;
    if (expanded->sources)
        expanded->sources[place] = row;
    if (expanded->experts)
        expanded->experts[place] = expert;
}
#endif

#endif

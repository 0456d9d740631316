/* SPDX-License-Identifier: BSD-3-Clause */
/* Dispatch's receiving side: how many rows come from whom, and where they begin. */
#ifndef WSH_EP_STEPS_COUNT_H
#define WSH_EP_STEPS_COUNT_H

#include "ep/steps/forward.h"

/* The image with a part of far origin `pe`: with one copy where a near PE has forwarded it; else this PE's window. */
EP_STEP char *ep_origin_image(const struct ep_run *run, int pe, int part)
{
    const struct ep_shape *shape = &run->shape;

    if (!shape->one_copy)
        return ep_window(run, ep_far_of(shape, pe), part);
    return run->near_arena[pe % shape->near] +
           ep_slot_image(shape, shape->forward, ep_far_of(shape, pe), ep_part_number(run, pe, part));
}

EP_STEP char *ep_near_arena(const struct ep_run *run, int pe)
{
    return run->near_arena[pe % run->shape.near];
}

EP_STEP const struct ep_header *ep_origin_header(const struct ep_run *run, const struct ep_call *call, int pe)
{
    if (ep_pe_is_near(&run->shape, pe))
        return (const struct ep_header *)(ep_near_arena(run, pe) + run->shape.header[call->parity]);
    return (const struct ep_header *)ep_origin_image(run, pe, 0);
}

/* [counted]: what origin `pe` has for this PE. */
EP_STEP const int32_t *ep_origin_counts(const struct ep_run *run, const struct ep_call *call, int pe)
{
    const struct ep_shape *shape = &run->shape;

    if (ep_pe_is_near(shape, pe))
        return (const int32_t *)(ep_near_arena(run, pe) + shape->counts[call->parity]) +
               (size_t)shape->me * shape->counted;
    return (const int32_t *)(ep_origin_image(run, pe, 0) + sizeof(struct ep_header)) +
           (shape->one_copy ? (size_t)shape->local * shape->counted : 0);
}

/* By counter [near][far], of what near PEs have forwarded. */
EP_STEP uint64_t ep_value_forward(const struct ep_run *run, const void *arg, int i)
{
    const struct ep_part *part = (const struct ep_part *)arg;
    int pe = ep_forward_origin(&run->shape, i / run->shape.far, i % run->shape.far);

    return ep_has_part(run, pe, part->part) ? ep_part_number(run, pe, part->part) + 1 : 0;
}

/* Until a part of all far origins can be read here. */
EP_STEP void ep_await_part(const struct ep_run *run, const struct ep_part *part)
{
    const struct ep_shape *shape = &run->shape;

    if (shape->one_copy)
        ep_await(run, EP_PHASE_FORWARD, shape->c_forward, shape->near * shape->far, ep_value_forward, part);
    else
        ep_await(run, EP_PHASE_PART, shape->c_far, shape->far * shape->slots, ep_value_part, part);
}

/* Records of a part, by far origin. Each group does it for itself. */
EP_STEP void ep_gather_rows(const struct ep_run *run, const struct ep_part *part)
{
    EP_BY_GROUP(run, i, ep_far_origins(run))
    {
        int pe = ep_far_origin(run, i);

        ep_ints(run, run->shape.in_rows)[pe] =
            ep_has_part(run, pe, part->part) ? ep_rows_of(run, part, ep_origin_image(run, pe, part->part), pe)
                                             : 0;
    }
}

/* Sums of one kind's numbers, in the order of PEs; eight are loaded before sums are stored, for that takes a while. */
EP_STEP void ep_add_up(const struct ep_shape *shape, const int32_t *counts, int32_t *first)
{
    int32_t sum = 0;

    for (int pes = 0; pes < shape->n; pes += 8) {
        int32_t held[8];

        for (int i = 0; i < 8; i++)
            held[i] = pes + i < shape->n ? counts[(pes + i) * shape->counted] : 0;
        for (int i = 0; i < 8 && pes + i < shape->n; i++) {
            first[(pes + i) * shape->counted] = sum;
            sum += held[i];
        }
    }
    first[shape->n * shape->counted] = sum;
}

/*
 * Numbers of all origins, then where the rows of each begin. Each group of workers does it for itself and stores the
 * same at the same addresses: a barrier of a group costs less than one of all.
 */
EP_LOOP void ep_count(const struct ep_run *run, const struct ep_call *call)
{
    const struct ep_shape *shape = &run->shape;
    int32_t *counts = ep_ints(run, shape->in_counts),
            *first = ep_ints(run, ep_kept_first(shape, call->handle));
    struct ep_part part = {call, 0};

    EP_BY_GROUP(run, i, shape->n * shape->counted)
    {
        counts[i] = ep_origin_counts(run, call, i / shape->counted)[i % shape->counted];
        if ((uint32_t)counts[i] > (uint32_t)(shape->tokens * shape->topk))
            ep_fault_numbers(run, i / shape->counted, call, 0);
    }
    EP_BY_GROUP(run, pe, shape->n)
    {
        const struct ep_header *header = ep_origin_header(run, call, pe);

        ep_ints(run, shape->in_tokens)[pe] = header->tokens;
        ep_ints(run, shape->in_parts)[pe] = ep_parts_of(run, call, header, pe);
        if ((uint32_t)header->tokens > (uint32_t)shape->tokens)
            ep_fault_numbers(run, pe, call, 0);
    }
    ep_gather_rows(run, &part);
    ep_sync_group(run);
    EP_BY_GROUP(run, kind, shape->counted)
    {
        ep_add_up(shape, counts + kind, first + kind);
    }
    ep_sync_group(run);
}

/* For the host: the rows received; -1: the call was declined. By one worker. */
EP_STEP void ep_count_keep(const struct ep_run *run, const struct ep_call *call, int rows)
{
    struct ep_kept *kept = ep_kept(run, call->handle);

    kept->rows = rows;
    kept->overflow = rows > run->shape.capacity;
}

/* What the caller gets of it. */
EP_LOOP void ep_count_out(const struct ep_run *run, const struct ep_call *call,
                          const shmemx_ep_dispatch_t *args)
{
    const struct ep_shape *shape = &run->shape;
    const int32_t *first = ep_ints(run, ep_kept_first(shape, call->handle)),
                  *sums = first + shape->n * shape->counted;

    if (args->counts)
        EP_BY_ALL(run, i, shape->mine)
        {
            args->counts[i] = sums[1 + i];
        }
    if (args->sources)
        EP_BY_ALL(run, pe, shape->n)
        {
            int rows = first[(pe + 1) * shape->counted] - first[pe * shape->counted];

            args->sources[2 * pe] = first[pe * shape->counted];
            args->sources[2 * pe + 1] = rows;
        }
}

/* Rows that are received. */
EP_STEP int ep_count_rows(const struct ep_run *run, const struct ep_call *call)
{
    const struct ep_shape *shape = &run->shape;

    return ep_most(ep_ints(run, ep_kept_first(shape, call->handle))[shape->n * shape->counted], 0);
}

#endif

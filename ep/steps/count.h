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

/* Where PEs agree: rows that origin `pe` has for PE `k`, from its store or behind the records of its part 0. */
EP_STEP int ep_origin_sent(const struct ep_run *run, const struct ep_call *call, int pe, int k)
{
    const struct ep_shape *shape = &run->shape;
    const struct ep_part part = {call, 0};
    const char *image;

    if (ep_pe_is_near(shape, pe))
        return ((const int32_t *)(ep_near_arena(run, pe) + shape->counts[call->parity]))[k * shape->counted];
    image = ep_origin_image(run, pe, 0);
    return ((const int32_t *)(image + ep_records_end(run, ep_rows_of(run, &part, image, pe))))[k];
}

/* Of numbers that are here: rows for PE k, of all origins; and their sums, where the caller wants them. */
EP_STEP int ep_sent_to(const struct ep_run *run, int32_t *sums, int k)
{
    const int32_t *sent = ep_ints(run, run->shape.in_sent);
    int total = 0, n = run->shape.n;

    for (int pe = 0; pe < n; pe++) {
        total += sent[pe * n + k];
        if (sums)
            sums[pe * n + k] = total;
    }
    return total;
}

/* The numbers of all PEs, for all PEs: as there are many, groups share them. */
EP_STEP void ep_count_sent(const struct ep_run *run, const struct ep_call *call)
{
    const struct ep_shape *shape = &run->shape;

    EP_BY_ALL(run, i, shape->n * shape->n)
    {
        int rows = ep_origin_sent(run, call, i / shape->n, i % shape->n);

        ep_ints(run, shape->in_sent)[i] = rows;
        if ((uint32_t)rows > (uint32_t)shape->tokens)
            ep_fault_numbers(run, i / shape->n, call, 0);
    }
    ep_sync(run);
}

/* What each PE would get; more than it can have, where it declines. */
EP_STEP void ep_count_totals(const struct ep_run *run, const struct ep_call *call, int32_t *sums)
{
    const struct ep_shape *shape = &run->shape;

    EP_BY_GROUP(run, k, shape->n)
    {
        int total = ep_sent_to(run, ep_is_first_group(run) ? sums : NULL, k);
        int declines = ep_origin_header(run, call, k)->agreed == SHMEMX_EP_DECLINES;

        ep_ints(run, shape->in_total)[k] = declines ? shape->capacity + 1 : total;
    }
}

/* Whether nobody has rows of the call. All PEs have the same numbers, and so say the same. */
EP_STEP int ep_count_declined(const struct ep_run *run)
{
    const int32_t *total = ep_ints(run, run->shape.in_total);
    int declined = 0;

    for (int k = 0; k < run->shape.n; k++)
        declined |= total[k] > run->shape.capacity;
    return declined;
}

/* Of a call that nobody has rows of there are the parts that sending halves have sent. */
EP_STEP int ep_parts_sent(const struct ep_run *run, const struct ep_call *call, int parts)
{
    return call->declined ? ep_least(parts, run->shape.slots) : parts;
}

/* What the numbers say of a call in which PEs agree; only then how many parts there are. */
EP_STEP void ep_count_agree(const struct ep_run *run, struct ep_call *call, int32_t *sums)
{
    ep_count_totals(run, call, sums);
    ep_sync_group(run);
    call->declined = ep_count_declined(run);
    call->parts = ep_parts_sent(run, call, call->parts);
    EP_BY_GROUP(run, pe, run->shape.n)
    {
        int parts = ep_parts_of(run, call, ep_origin_header(run, call, pe), pe);

        ep_ints(run, run->shape.in_parts)[pe] = ep_parts_sent(run, call, parts);
    }
}

/*
 * Numbers of all origins, then where the rows of each begin. Each group of workers does it for itself and stores the
 * same at the same addresses: a barrier of a group costs less than one of all.
 */
EP_LOOP void ep_count(const struct ep_run *run, struct ep_call *call, int32_t *row_sums)
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

        if (!ep_pe_is_near(shape, pe)) /* these have said it in a word */
            ep_ints(run, shape->in_tokens)[pe] = header->tokens;
        if (!call->agreed)
            ep_ints(run, shape->in_parts)[pe] = ep_parts_of(run, call, header, pe);
        if ((uint32_t)header->tokens > (uint32_t)shape->tokens || !header->agreed != !call->agreed)
            ep_fault_numbers(run, pe, call, 0);
    }
    if (call->agreed)
        ep_count_sent(run, call);
    ep_gather_rows(run, &part);
    ep_sync_group(run);
    if (call->agreed)
        ep_count_agree(run, call, row_sums);
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

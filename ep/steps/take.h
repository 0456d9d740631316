/* SPDX-License-Identifier: BSD-3-Clause */
/* Dispatch's receiving side: rows of far origins to where they belong. */
#ifndef WSH_EP_STEPS_TAKE_H
#define WSH_EP_STEPS_TAKE_H

#include "ep/steps/count.h"

/* A row that has come, and where this origin's begin. */
struct ep_taken {
    const struct ep_meta *meta;
    const int32_t *first; /* [counted] */
    char *base;           /* rows, or their scales, from the piece on */
    size_t each;          /* bytes from one to the next */
};

/* Whether entry k is of this PE and the first one of the token that is. */
EP_STEP int ep_entry_mine(const struct ep_run *run, const struct ep_meta *meta, int k)
{
    const struct ep_shape *shape = &run->shape;
    int first = shape->me * shape->mine;

    if ((uint32_t)(meta->entry[k].expert - first) >= (uint32_t)shape->mine)
        return 0;
    for (int j = 0; j < k; j++)
        if ((uint32_t)(meta->entry[j].expert - first) < (uint32_t)shape->mine)
            return 0;
    return 1;
}

/* The row for entry k; -1: it does not fit. */
EP_STEP int64_t ep_entry_row(const struct ep_run *run, const struct ep_meta *meta, int k,
                             const int32_t *first)
{
    uint32_t row = (uint32_t)first[0] + (uint32_t)meta->entry[k].offset;

    return row < (uint32_t)run->shape.capacity ? (int64_t)row : -1;
}

EP_STEP void *ep_taken_to(const struct ep_run *run, const void *arg, int k)
{
    const struct ep_taken *taken = (const struct ep_taken *)arg;
    int64_t row = ep_entry_mine(run, taken->meta, k) ? ep_entry_row(run, taken->meta, k, taken->first) : -1;

    return row < 0 ? NULL : taken->base + row * taken->each;
}

EP_STEP void ep_store_choice(const struct ep_run *run, void *choices, int64_t i, int expert)
{
    int32_t *words = (int32_t *)choices + (i << run->shape.topk_shift);

    words[0] = expert;
    if (run->shape.topk_shift)
        words[1] = expert < 0 ? -1 : 0;
}

/* Which of its experts are here. */
EP_STEP void ep_take_topk(const struct ep_run *run, const shmemx_ep_dispatch_t *args,
                          const struct ep_taken *taken)
{
    const struct ep_shape *shape = &run->shape;

    EP_BY_LANES(run, k, shape->topk * shape->topk)
    {
        int of = k / shape->topk, at = k % shape->topk,
            local = taken->meta->entry[at].expert - shape->me * shape->mine;
        int here = (uint32_t)local < (uint32_t)shape->mine;
        int64_t row =
            ep_entry_mine(run, taken->meta, of) ? ep_entry_row(run, taken->meta, of, taken->first) : -1;

        if (row >= 0 && args->row_topk)
            ep_store_choice(run, args->row_topk, row * shape->topk + at, here ? local : -1);
        if (row >= 0 && args->row_weights)
            args->row_weights[row * shape->topk + at] = here ? taken->meta->entry[at].weight : 0.0f;
    }
}

/* Ends the job where a row's meta names no experts or offsets. */
EP_STEP void ep_check_meta(const struct ep_run *run, const struct ep_call *call, const struct ep_meta *meta,
                           int pe)
{
    EP_BY_LANES(run, k, run->shape.topk)
    {
        int expert = meta->entry[k].expert;

        if (expert < -1 || expert >= run->shape.experts || (expert >= 0 && meta->entry[k].offset < 0))
            ep_fault_numbers(run, pe, call, meta->part);
    }
}

/* Of which token of its source each row is. */
EP_STEP void ep_take_source(const struct ep_run *run, const shmemx_ep_dispatch_t *args,
                            const struct ep_taken *taken)
{
    EP_BY_LANES(run, k, run->shape.topk)
    {
        int64_t row =
            ep_entry_mine(run, taken->meta, k) ? ep_entry_row(run, taken->meta, k, taken->first) : -1;

        if (row >= 0)
            args->row_sources[row] = taken->meta->token;
    }
}

/* One row of origin `pe`, or a piece: `row` and `scales` are where it has come to. */
EP_STEP void ep_take_row(const struct ep_run *run, const shmemx_ep_dispatch_t *args, struct ep_taken *taken,
                         const char *row, const char *scales, int piece, int pieces)
{
    const struct ep_shape *shape = &run->shape;
    int first, columns = ep_piece_columns(run, piece, pieces, &first), bytes = ep_column_bytes(run);

    if (columns) {
        taken->base = (char *)args->rows + (size_t)first * bytes;
        taken->each = shape->row;
        ep_scatter(run, row + (size_t)first * bytes, (size_t)columns * bytes, shape->topk, ep_taken_to,
                   taken);
    }
    if (piece != 0)
        return;
    if (args->row_sources)
        ep_take_source(run, args, taken);
    if (shape->scales) {
        taken->base = (char *)args->row_scales;
        taken->each = shape->scales;
        ep_scatter(run, scales, shape->scales, shape->topk, ep_taken_to, taken);
    }
    if (args->row_topk || args->row_weights)
        ep_take_topk(run, args, taken);
}

/* From images, one part of each far origin. Where nobody forwards, metas are kept here. */
EP_LOOP void ep_take_far(const struct ep_run *run, const struct ep_part *part,
                         const shmemx_ep_dispatch_t *args)
{
    const struct ep_shape *shape = &run->shape;
    const int32_t *first = ep_ints(run, ep_kept_first(shape, part->call->handle));
    const int32_t *rows = ep_ints(run, shape->in_rows);
    int origins = ep_far_origins(run), pieces = ep_copy_pieces(run, origins * shape->window);

    for (int i = ep_worker(run); i < origins * shape->window * pieces; i += ep_workers(run)) {
        int pe = ep_far_origin(run, (i / pieces + shape->local) % origins), record = i / pieces / origins;
        const char *at;
        struct ep_taken taken;

        if (record >= rows[pe])
            continue;
        at = ep_origin_image(run, pe, part->part) + shape->head + record * shape->record;
        taken.meta = (const struct ep_meta *)at;
        taken.first = first + pe * shape->counted;
        if (i % pieces == 0)
            ep_check_meta(run, part->call, taken.meta, pe);
        ep_take_row(run, args, &taken, at + shape->record - shape->row, at + shape->meta, i % pieces, pieces);
        if (!shape->one_copy && i % pieces == 0)
            ep_keep_meta(run, part, ep_far_of(shape, pe), record, at);
    }
    if (!shape->one_copy)
        ep_keep_rows(run, part);
}

/* Whoever forwarded the part, or put it, may overwrite it. All workers, after a barrier. */
EP_STEP void ep_signal_taken(const struct ep_run *run, int part)
{
    const struct ep_shape *shape = &run->shape;

    if (!shape->one_copy) {
        ep_give_back(run, part);
        return;
    }
    for (int i = ep_worker(run); i < shape->near * shape->far; i += ep_workers(run)) {
        int l = i / shape->far, f = i % shape->far;

        if (ep_has_part(run, ep_forward_origin(shape, l, f), part))
            ep_put(run, run->arena, run->arena, 0, shape->c_taken + f * shape->near + shape->local,
                   shape->host * shape->near + l);
    }
}

#endif

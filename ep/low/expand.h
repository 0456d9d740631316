/* SPDX-License-Identifier: BSD-3-Clause */
/* Dispatch's receiving side: how many rows come from whom, and each row to where it belongs. */
#ifndef WSH_EP_LOW_EXPAND_H
#define WSH_EP_LOW_EXPAND_H

#include "ep/low/forward.h"

/* Of all sources, in memory of each group. */
struct ep_low_numbers {
    int32_t *first;        /* [n + 1][mine]: where rows of a source begin; at last the sums */
    int32_t *rows;         /* [n]: distinct ones of a source */
    int32_t *tokens;       /* [n]: of a source */
    int32_t *shift, *each; /* [n]: of pieces of a source's rows; columns of each */
};

EP_STEP struct ep_low_numbers ep_low_numbers_of(const struct ep_run *run)
{
    struct ep_low_numbers numbers;

    numbers.first = ep_low_numbers(run);
    numbers.rows = numbers.first + (run->shape.n + 1) * run->shape.mine;
    numbers.tokens = numbers.rows + run->shape.n;
    numbers.shift = numbers.tokens + run->shape.n;
    numbers.each = numbers.shift + run->shape.n;
    return numbers;
}

/* Ends the job where a source says what cannot be. */
EP_STEP void ep_low_check(const struct ep_run *run, const struct ep_low_call *call, int source, int bad)
{
    if (bad)
        ep_fault(run, ep_low_source_pe(run, source), (int64_t)call->number, 0, (int64_t)call->number, 0);
}

EP_STEP void ep_low_note_source(const struct ep_run *run, const struct ep_low_numbers *numbers, int source,
                                int tokens, int rows)
{
    numbers->tokens[source] = tokens;
    numbers->rows[source] = rows;
    numbers->shift[source] = ep_low_shift(&run->shape, tokens);
    numbers->each[source] = ep_low_each(&run->shape, numbers->shift[source]);
}

/* Pieces of the rows of sources from `first` to `end` - 1. */
EP_STEP int ep_low_items(const struct ep_low_numbers *numbers, int first, int end)
{
    int items = 0;

    for (int source = first; source < end; source++)
        items += numbers->rows[source] << numbers->shift[source];
    return items;
}

/* The source, slot and piece of one of them. */
EP_STEP void ep_low_find(const struct ep_low_numbers *numbers, int item, int first, int *source, int *slot,
                         int *piece)
{
    int from = first, shift;

    for (; item >= numbers->rows[from] << numbers->shift[from]; from++)
        item -= numbers->rows[from] << numbers->shift[from];
    shift = numbers->shift[from];
    *source = from;
    *slot = item >> shift;
    *piece = item - (*slot << shift);
}

/* `waits`: of the caller, or NULL. */
EP_STEP void ep_low_take_word(const struct ep_run *run, const struct ep_low_call *call,
                              const struct ep_low_numbers *numbers, int source, int at, int64_t *waits)
{
    const struct ep_shape *shape = &run->shape;
    const uint64_t *word = (const uint64_t *)(run->arena + shape->low_words[call->parity]) +
                           (size_t)source * (shape->mine + 1) + at;
    int64_t *waited = ep_low_waited(at < shape->mine ? NULL : waits, ep_low_source_pe(run, source));
    uint32_t number =
        ep_low_await(run, EP_PHASE_COUNTS, ep_low_from(run, source), word, call->word,
                     ep_low_in_window(run, source) ? NULL : waited); /* the image has been waited for */

    if (at < shape->mine) {
        numbers->first[source * shape->mine + at] = (int32_t)number;
        ep_low_check(run, call, source, number > (uint32_t)shape->tokens);
        return;
    }
    ep_low_note_source(run, numbers, source, (int)(number >> 12), (int)(number & 0xfff));
    ep_low_check(run, call, source,
                 number >> 12 > (uint32_t)shape->tokens || (number & 0xfff) > number >> 12);
}

/* Sources that are masked have nothing in this call, whatever has come; those that are later have their rows. */
EP_STEP void ep_low_drop(const struct ep_run *run, const struct ep_low_numbers *numbers)
{
    for (int source = 0; source < run->shape.near; source++) {
        if (!ep_dropped(run, ep_low_source_pe(run, source)))
            continue;
        ep_low_note_source(run, numbers, source, 0, 0);
        for (int expert = 0; expert < run->shape.mine; expert++)
            numbers->first[source * run->shape.mine + expert] = 0;
    }
}

/* All workers of a group: waits for the words of so many sources, and adds up where their rows begin. */
EP_STEP void ep_low_count(const struct ep_run *run, const struct ep_low_call *call, int sources,
                          int64_t *waits)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_low_numbers numbers = ep_low_numbers_of(run);
    int each = shape->mine + 1;

    do
        EP_BY_GROUP(run, i, sources * each)
        {
            ep_low_take_word(run, call, &numbers, i / each, shape->mine - i % each,
                             ep_is_first_group(run) ? waits : NULL);
        }
    while (ep_low_words_again(run, call->number, sources));
    if (ep_drops(run, sources == shape->near)) {
        ep_low_drop(run, &numbers);
        ep_sync_group(run);
    }
    EP_BY_GROUP(run, i, shape->mine)
    {
        int32_t sum = 0;

        for (int source = 0; source <= sources; source++) {
            int32_t *at = &numbers.first[source * shape->mine + i], rows = source < sources ? *at : 0;

            *at = sum;
            sum += rows;
        }
    }
    ep_sync_group(run);
}

/* What the caller gets of source and expert i. */
EP_STEP void ep_low_range_out(const struct ep_run *run, const shmemx_ep_dispatch_t *args,
                              const int32_t *first, int i)
{
    const struct ep_shape *shape = &run->shape;
    int source = i / shape->mine, at = i % shape->mine * shape->n + ep_low_source_pe(run, source);
    int rows = first[i + shape->mine] - first[i];

    if (args->sources) {
        args->sources[2 * at] = first[i];
        args->sources[2 * at + 1] = rows;
    }
    if (args->ranges)
        args->ranges[at] = (int64_t)first[i] << 32 | (int64_t)rows;
}

EP_STEP void ep_low_sum_out(const shmemx_ep_dispatch_t *args, const int32_t *sums, int expert)
{
    if (args->counts)
        args->counts[expert] = sums[expert];
    if (args->totals)
        args->totals[expert] += sums[expert];
}

/* What the handle keeps of all sources. By one lane. */
EP_STEP void ep_low_keep_sources(const struct ep_run *run, const struct ep_low_call *call,
                                 const struct ep_low_numbers *numbers)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_low_source *sources = ep_low_sources(run, call->handle);
    const int32_t *sums = numbers->first + shape->n * shape->mine;
    struct ep_kept *kept = ep_low_kept(run, call->handle);
    int rows = 0;

    for (int source = 0; source < shape->n; source++) {
        sources[source].rows = numbers->rows[source];
        sources[source].tokens = numbers->tokens[source];
    }
    for (int expert = 0; expert < shape->mine; expert++)
        rows = sums[expert] > rows ? sums[expert] : rows;
    kept->rows = rows;
    kept->overflow = rows > shape->capacity;
}

/* By one group: what the caller gets of the numbers, and the handle; then the host may read them. */
EP_STEP void ep_low_count_out(const struct ep_run *run, const struct ep_low_call *call,
                              const shmemx_ep_dispatch_t *args)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_low_numbers numbers = ep_low_numbers_of(run);
    int32_t *kept = (int32_t *)(run->arena + ep_kept_first(shape, call->handle));

    EP_BY_GROUP(run, i, (shape->n + 1) * shape->mine + 1)
    {
        if (i < shape->n * shape->mine)
            ep_low_range_out(run, args, numbers.first, i);
        else if (i < (shape->n + 1) * shape->mine)
            ep_low_sum_out(args, numbers.first + shape->n * shape->mine, i - shape->n * shape->mine);
        else
            ep_low_keep_sources(run, call, &numbers);
        if (i < (shape->n + 1) * shape->mine)
            kept[i] = numbers.first[i];
    }
    ep_low_publish(run, call->handle);
}

/* A row that has come. */
struct ep_low_come {
    const struct ep_low_call *call;
    const struct ep_low_numbers *numbers;
    const struct ep_low_meta *meta;
    const char *row;
    int source, slot, piece;
    char *base, *scales; /* of the caller's rows and scales, from the piece on */
    int64_t step;        /* from a row's scales to the next one's, where these are not contiguous */
    int elements;        /* of an expert's scales there, for each row */
};

/* The flags that say that a piece is there: its own, and that of the meta. */
EP_STEP const uint64_t *ep_low_come_flag(const struct ep_run *run, const void *arg, int i, int *near)
{
    const struct ep_low_come *come = (const struct ep_low_come *)arg;

    *near = ep_low_from(run, come->source);
    return ep_low_flag(run, run->arena, come->call->parity, come->source, come->slot,
                       i ? come->piece : run->shape.pieces);
}

/* The row of local expert *kind for choice k; -1: not of this PE; EP_LOW_BEYOND the capacity. */
EP_STEP int ep_low_place(const struct ep_run *run, const struct ep_low_come *come, int k, int *kind)
{
    const struct ep_shape *shape = &run->shape;
    int at = come->meta->entry[k].at, row;

    *kind = at >> EP_LOW_SHIFT;
    if (at < 0)
        return -1;
    ep_low_check(run, come->call, come->source, *kind >= shape->mine);
    row = come->numbers->first[come->source * shape->mine + *kind] + (at & (EP_LOW_TOKENS - 1));
    return row < shape->capacity ? row : EP_LOW_BEYOND;
}

/* The same among all rows of the caller's. */
EP_STEP int64_t ep_low_row(const struct ep_run *run, const struct ep_low_come *come, int k)
{
    int kind, row = ep_low_place(run, come, k, &kind);

    return row < 0 ? row : (int64_t)kind * run->shape.capacity + row;
}

EP_STEP void *ep_low_row_address(const struct ep_run *run, const void *arg, int k)
{
    const struct ep_low_come *come = (const struct ep_low_come *)arg;
    int64_t row = ep_low_row(run, come, k);

    return row < 0 ? NULL : come->base + (size_t)row * run->shape.row;
}

EP_STEP void *ep_low_scales_address(const struct ep_run *run, const void *arg, int k)
{
    const struct ep_low_come *come = (const struct ep_low_come *)arg;
    int64_t row = ep_low_row(run, come, k);

    return row < 0 ? NULL : come->scales + (size_t)row * run->shape.scales;
}

EP_STEP void *ep_low_stepped_address(const struct ep_run *run, const void *arg, int k)
{
    const struct ep_low_come *come = (const struct ep_low_come *)arg;
    int kind, row = ep_low_place(run, come, k, &kind);

    if (row < 0)
        return NULL;
    return come->scales + 4 * ((int64_t)kind * run->shape.capacity * come->elements + row * come->step);
}

/* Scales of a row by the steps that the caller gives: elements from `first` on, each of one column or of four. */
EP_STEP void ep_low_step_scales(const struct ep_run *run, const shmemx_ep_dispatch_t *args,
                                struct ep_low_come *come, int first, int n)
{
    come->scales = (char *)args->row_scales;
    come->step = args->scales_row_step;
    come->elements = run->shape.hidden / EP_GROUP / (args->scales_packed ? 4 : 1);
    ep_step_to_each(run, (const float *)(come->row - ep_low_scales(&run->shape)), first, n,
                    args->scales_packed, args->scales_column_step, run->shape.topk, ep_low_stepped_address,
                    come);
}

/* With far peers: its number in the image that it came in, which direct is the slot's. */
EP_STEP int ep_low_come_record(const struct ep_run *run, const struct ep_low_come *come)
{
    return run->shape.one_copy ? come->meta->record : come->slot;
}

/* What the handle keeps of the row, for the slot is written again two calls later; and its token for the caller. */
EP_STEP void ep_low_keep_row(const struct ep_run *run, const shmemx_ep_dispatch_t *args,
                             const struct ep_low_come *come)
{
    struct ep_low_meta *kept = ep_low_in(run, come->call->handle, come->source, come->slot);

    ep_low_check(run, come->call, come->source,
                 (uint32_t)come->meta->token >= (uint32_t)come->numbers->tokens[come->source]);
    if (ep_low_far(run) && come->source >= run->shape.near)
        ep_low_check(run, come->call, come->source,
                     (uint32_t)ep_low_come_record(run, come) >= (uint32_t)run->shape.tokens);
    EP_BY_LANES(run, k, run->shape.topk)
    {
        int64_t row = ep_low_row(run, come, k);

        kept->entry[k].at = (int32_t)row;
        kept->entry[k].weight = come->meta->entry[k].weight;
        if (k == 0)
            kept->token = come->meta->token;
        if (k == 0 && ep_low_far(run))
            kept->record = ep_low_come_record(run, come);
        if (row >= 0 && args->row_sources)
            args->row_sources[row] = come->meta->token;
    }
}

/*
 * A row in a window is there when its meta is noted, whose flag this PE has raised (one copy); direct all of the window
 * is for this PE.
 */
EP_STEP void ep_low_locate_far(const struct ep_run *run, struct ep_low_come *come)
{
    const struct ep_shape *shape = &run->shape;
    int far = ep_far_of(shape, ep_low_source_pe(run, come->source)), record = come->slot;
    const char *records =
        run->arena + ep_slot_image(shape, shape->window_in, far, come->call->parity) + shape->head;

    if (shape->one_copy) {
        ep_flags_await(run, EP_PHASE_ROWS, 1, ep_low_come_flag, come, come->call->number);
        come->meta = ep_low_window_meta(run, far, come->slot);
        record = ep_low_least(come->meta->record & INT32_MAX, shape->tokens - 1);
    } else {
        ep_await_one(run, EP_PHASE_PART, shape->c_far, far * shape->slots + come->call->parity,
                     run->state->come[come->call->parity] + 1);
        ep_acquire(run);
        come->meta = (const struct ep_low_meta *)(records + (size_t)record * shape->record);
    }
    come->row = records + (size_t)record * shape->record + shape->far_head;
}

/* Its meta and its row in the slot. */
EP_STEP void ep_low_locate(const struct ep_run *run, struct ep_low_come *come)
{
    const char *slot = ep_low_slot(run, run->arena, come->call->parity, come->source, come->slot);

    come->meta = (const struct ep_low_meta *)slot;
    come->row = slot + run->shape.low_head;
}

/* The same of a row of this PE's own that has stayed in x. */
EP_STEP void ep_low_locate_own(const struct ep_run *run, const shmemx_ep_dispatch_t *args,
                               struct ep_low_come *come)
{
    int token = come->meta->token;

    ep_low_check(run, come->call, come->source,
                 (uint32_t)token >= (uint32_t)come->numbers->tokens[come->source]);
    come->row = (const char *)args->x + (size_t)token * run->shape.row;
}

/* Whether its row may not have come, for its source is masked since the words of the call. */
EP_STEP int ep_low_lost(const struct ep_run *run, const struct ep_low_come *come)
{
    return ep_any_masked(run) && !ep_low_in_window(run, come->source) &&
           ep_masked(run, ep_low_source_pe(run, come->source));
}

EP_STEP void ep_low_take_piece(const struct ep_run *run, const shmemx_ep_dispatch_t *args,
                               struct ep_low_come *come, int first, int columns)
{
    const struct ep_shape *shape = &run->shape;
    int unit = ep_low_bytes_unit(run), scaled = shape->scales && !args->scales_row_step;

    ep_low_locate(run, come);
    come->base = (char *)args->rows + ep_low_bytes((size_t)first, unit);
    come->scales = (char *)args->row_scales + ep_low_scale_words(run, first) * 4;
    if (ep_low_in_window(run, come->source))
        ep_low_locate_far(run, come);
    else
        ep_flags_await(run, EP_PHASE_ROWS, 2, ep_low_come_flag, come, come->call->number);
    if (ep_low_stays(run, args) && come->source == shape->local)
        ep_low_locate_own(run, args, come);
    if (ep_low_lost(run, come)) {
        ep_absent_blank(run, args, come);
        return;
    }
    ep_copy_to_each(
        run, come->row + ep_low_bytes((size_t)first, unit), ep_low_bytes(columns, unit),
        scaled ? (const float *)(come->row - ep_low_scales(shape)) + ep_low_scale_words(run, first) : NULL,
        ep_low_scale_words(run, columns), shape->topk, ep_low_row_address, ep_low_scales_address, come);
    if (args->scales_row_step && !args->scales_packed)
        ep_low_step_scales(run, args, come, first / EP_GROUP, columns / EP_GROUP);
    if (come->piece == 0)
        ep_low_keep_row(run, args, come);
}

/* Packed scales of whole rows, since a word may be of two pieces: all have to be there. */
EP_STEP const uint64_t *ep_low_all_flags(const struct ep_run *run, const void *arg, int i, int *near)
{
    const struct ep_low_come *come = (const struct ep_low_come *)arg;

    *near = ep_low_from(run, come->source);
    return ep_low_flag(run, run->arena, come->call->parity, come->source, come->slot, i);
}

EP_STEP void ep_low_take_packed(const struct ep_run *run, const shmemx_ep_dispatch_t *args,
                                struct ep_low_come *come)
{
    if (ep_low_lost(run, come))
        return;
    for (int piece = 0; piece < come->piece && !ep_low_in_window(run, come->source); piece += EP_LANES)
        ep_flags_await(run, EP_PHASE_ROWS, ep_low_least(come->piece - piece, EP_LANES), ep_low_all_flags,
                       come, come->call->number);
    ep_low_step_scales(run, args, come, 0, run->shape.hidden / EP_GROUP / 4);
}

/* Rows of sources `from` to `end` - 1. The last workers begin: with few tokens the first ones are those that send. */
EP_STEP void ep_low_expand(const struct ep_run *run, const struct ep_low_call *call,
                           const shmemx_ep_dispatch_t *args, int from, int end)
{
    struct ep_low_numbers numbers = ep_low_numbers_of(run);
    struct ep_low_come come = {call, &numbers, NULL, NULL, 0, 0, 0, NULL, NULL, 0, 0};
    int items = ep_low_items(&numbers, from, end);

    for (int i = ep_workers(run) - 1 - ep_worker(run); i < items; i += ep_workers(run)) {
        int first, columns;

        ep_low_find(&numbers, i, from, &come.source, &come.slot, &come.piece);
        columns = ep_low_columns(run, come.piece, numbers.each[come.source], &first);
        if (columns > 0)
            ep_low_take_piece(run, args, &come, first, columns);
        if (args->scales_packed && columns > 0 && first + columns == run->shape.hidden)
            ep_low_take_packed(run, args, &come);
    }
}

EP_STEP void ep_low_receive(const struct ep_run *run, const struct ep_low_call *call,
                            const shmemx_ep_dispatch_t *args)
{
    int near = run->shape.near, all = run->shape.n;

    ep_low_count(run, call, near, args->waits);
    EP_CLOCK(run, 4);
    if (ep_low_far(run)) {
        ep_low_expand(run, call, args, 0, near);
        ep_low_watch(run, EP_PHASE_PART, run->shape.c_far, call->parity, run->shape.slots,
                     run->state->come[call->parity] + 1, args->waits);
        ep_low_hand_on(run, call, args->waits);
        ep_sync_group(run); /* the numbers of near sources are read no more */
        ep_low_count(run, call, all, args->waits);
    }
    if (ep_is_first_group(run))
        ep_low_count_out(run, call, args);
    EP_CLOCK(run, 5);
    ep_low_expand(run, call, args, ep_low_far(run) ? near : 0, all);
}

#endif

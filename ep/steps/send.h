/* SPDX-License-Identifier: BSD-3-Clause */
/* Dispatch's sending side: rows into the store, records into images, images to far peers. */
#ifndef WSH_EP_STEPS_SEND_H
#define WSH_EP_STEPS_SEND_H

#include "ep/steps/ready.h"

/* Which X rows are in: the one that x is, or the other one than in the call before. */
EP_STEP int ep_x_turn(const struct ep_run *run, const shmemx_ep_dispatch_t *args)
{
    for (int turn = 0; turn < 2; turn++)
        if (args->x == run->arena + run->shape.x[turn])
            return turn;
    return 1 - (int)run->state->x_turn;
}

EP_STEP struct ep_call ep_dispatch_call(const struct ep_run *run, const shmemx_ep_dispatch_t *args,
                                        uint64_t before)
{
    struct ep_call call;

    call.number = (int64_t)before + 1;
    call.parity = (int)(call.number % 2);
    call.handle = args->handle;
    call.tokens = args->tokens;
    call.parts = ep_parts(&run->shape, args->tokens);
    call.turn = call.flagged = 0;
    call.agreed = (int)args->agreed;
    call.declined = 0;
    call.base = run->state->sent;
    return call;
}

/* What ep_rank leaves of a meta. Only experts that there are. */
EP_STEP void ep_store_metas(const struct ep_run *run, const struct ep_call *call,
                            const shmemx_ep_dispatch_t *args)
{
    int topk = run->shape.topk, columns = args->columns ? args->columns : topk;
    char *metas = (char *)ep_at(run, run->shape.metas[call->parity]);
    const int32_t *words = (const int32_t *)args->topk;

    EP_BY_ALL(run, i, call->tokens * topk)
    {
        struct ep_meta *meta = ep_meta_at(run, metas, i / topk);
        struct ep_entry *entry = &meta->entry[i % topk];
        int at = i / topk * columns + i % topk, there = i % topk < columns;

        if (i % topk == 0) {
            meta->token = i / topk;
            meta->part = i / topk / run->shape.window;
        }
        if (words) {
            int32_t expert = there ? words[at << run->shape.topk_shift] : -1;

            entry->expert = (uint32_t)expert < (uint32_t)run->shape.experts ? expert : -1;
        }
        if (args->weights || words)
            entry->weight = args->weights && there ? args->weights[at] : 1.0f;
    }
}

/* Metas between handle and store: near PEs read them in the store, for the next call may have the same handle. */
EP_STEP void ep_copy_metas(const struct ep_run *run, const struct ep_call *call, size_t to, size_t from)
{
    size_t meta = run->shape.meta;
    int each = ep_most(1, call->tokens / ep_workers(run));

    for (int i = ep_worker(run) * each; i < call->tokens; i += ep_workers(run) * each)
        ep_copy(run->arena + to + i * meta, run->arena + from + i * meta,
                ep_least(each, call->tokens - i) * meta);
}

/* A row of this PE into its store. */
EP_STEP void ep_store_row(const struct ep_run *run, const struct ep_call *call,
                          const shmemx_ep_dispatch_t *args, int token)
{
    const struct ep_shape *shape = &run->shape;
    char *to = run->arena + shape->x[call->turn] + token * shape->row;
    char *scales = run->arena + shape->x_scales[call->parity] + token * shape->scales;
    const char *given = (const char *)args->x_scales;

    if (shape->scales && !given)
        ep_quantize(to, (float *)scales, (const char *)args->x + token * (size_t)shape->hidden * 2,
                    shape->hidden, shape->dtype);
    else
        ep_copy_row(to, (const char *)args->x + token * shape->row, shape->row, given ? scales : NULL,
                    given ? given + token * shape->scales : NULL, shape->scales);
}

/* A chunk of this PE's rows, and its flags. */
EP_STEP void ep_store_chunk(const struct ep_run *run, const struct ep_call *call,
                            const shmemx_ep_dispatch_t *args, int chunk)
{
    struct ep_flagged flagged = {run->shape.near_ready[call->parity], run->shape.chunks, chunk, -1};
    int end = ep_least(call->tokens, (chunk + 1) * EP_CHUNK);

    for (int token = chunk * EP_CHUNK; token < end; token++)
        ep_store_row(run, call, args, token);
    ep_raise(run, run->shape.near, ep_raised_chunk, &flagged, (uint64_t)call->number);
}

EP_STEP void ep_store_header(const struct ep_run *run, const struct ep_call *call)
{
    struct ep_header *header = ep_own_header(run, call);
    struct ep_kept *kept = ep_kept(run, call->handle);

    header->call = call->number;
    header->x = (int64_t)run->shape.x[call->turn];
    header->tokens = call->tokens;
    header->parts = call->parts;
    header->agreed = call->agreed;
    kept->call = call->number;
    kept->tokens = call->tokens;
    kept->parts = call->parts;
}

/* Which X the rows of this call are in, and whether they have flags: none where they lie there already. */
EP_STEP void ep_choose_x(const struct ep_run *run, struct ep_call *call, const shmemx_ep_dispatch_t *args)
{
    call->turn = ep_x_turn(run, args);
    call->flagged = args->x != run->arena + run->shape.x[call->turn] || args->x_scales != NULL;
}

/* Metas, offsets and counts of this PE's tokens, for who comes after a barrier or in the last group. */
EP_STEP void ep_number_tokens(const struct ep_run *run, const struct ep_call *call,
                              const shmemx_ep_dispatch_t *args)
{
    const struct ep_shape *shape = &run->shape;
    int fewer = args->columns && args->columns < shape->topk; /* then the metas have the experts */

    if (!args->topk) {
        ep_copy_metas(run, call, shape->metas[call->parity], ep_kept_metas(shape, call->handle));
        ep_sync(run);
    }
    ep_store_metas(run, call, args);
    if (fewer)
        ep_sync(run);
    ep_rank(run, fewer ? NULL : (const int32_t *)args->topk, call->tokens,
            ep_at(run, shape->metas[call->parity]), ep_ints(run, shape->counts[call->parity]),
            ep_ints(run, shape->part_rows));
    if (ep_worker(run) == 0)
        ep_store_header(run, call);
}

/* All rows, by all workers. */
EP_LOOP void ep_store_rows(const struct ep_run *run, const struct ep_call *call,
                           const shmemx_ep_dispatch_t *args)
{
    int chunks = call->flagged ? (call->tokens + EP_CHUNK - 1) / EP_CHUNK : 0;

    for (int chunk = ep_worker(run); chunk < chunks; chunk += ep_workers(run))
        ep_store_chunk(run, call, args, chunk);
}

/* Where `rows` records of an image end. */
EP_STEP size_t ep_records_end(const struct ep_run *run, int rows)
{
    return run->shape.head + ep_within(rows, run->shape.window) * run->shape.record;
}

/* Whether what each PE gets follows a part's records. */
EP_STEP int ep_tells_sent(const struct ep_call *call, int part)
{
    return call->agreed && part == 0;
}

/* The numbers of PEs behind a far peer, in order, begin its images. Where PEs agree, those of all end the first. */
EP_STEP void ep_pack_heads(const struct ep_run *run, const struct ep_call *call, int part)
{
    const struct ep_shape *shape = &run->shape;
    const int32_t *rows = ep_ints(run, shape->part_rows), *counts = ep_ints(run, shape->counts[call->parity]);
    int pes = shape->one_copy ? shape->near : 1;

    for (int f = ep_worker(run); f < shape->far; f += ep_workers(run)) {
        char *image = run->arena + ep_slot_image(shape, shape->send, f, call->base + part);
        struct ep_header *header = (struct ep_header *)image;
        int32_t *sent = (int32_t *)(image + ep_records_end(run, rows[f * call->parts + part]));
        int first = ep_far_pe(shape, f) / pes * pes;

        header->call = call->number;
        header->tokens = call->tokens;
        header->parts = call->parts;
        header->part = part;
        header->rows = rows[f * call->parts + part];
        header->agreed = call->agreed;
        ep_copy(image + sizeof *header, counts + (size_t)first * shape->counted,
                pes * shape->counted * sizeof *counts);
        EP_BY_LANES(run, pe, ep_tells_sent(call, part) ? shape->n : 0)
        {
            sent[pe] = counts[pe * shape->counted];
        }
    }
}

/* Meta, scales and a piece of a row into a record. */
EP_STEP void ep_pack_piece(const struct ep_run *run, const struct ep_call *call, char *record, int token,
                           int piece, int pieces)
{
    const struct ep_shape *shape = &run->shape;
    int first, columns = ep_piece_columns(run, piece, pieces, &first), bytes = ep_column_bytes(run);
    size_t at = token * shape->row + (size_t)first * bytes;

    if (piece == 0) {
        ep_copy(record, ep_at(run, shape->metas[call->parity] + token * shape->meta), shape->meta);
        if (shape->scales)
            ep_copy(record + shape->meta, ep_at(run, shape->x_scales[call->parity] + token * shape->scales),
                    shape->scales);
    }
    if (columns)
        ep_copy(record + shape->record - shape->row + (size_t)first * bytes,
                run->arena + shape->x[call->turn] + at, (size_t)columns * bytes);
}

/* The far peer that entry k is the first of the token to go to; -1: none. */
EP_STEP int ep_entry_far(const struct ep_run *run, const struct ep_meta *meta, int k)
{
    const struct ep_shape *shape = &run->shape;
    int pe = ep_entry_pe(run, meta->entry[k].expert), far;

    if (pe < 0 || ep_pe_is_near(shape, pe))
        return -1;
    far = ep_far_of(shape, pe);
    for (int j = 0; j < k; j++) {
        int other = ep_entry_pe(run, meta->entry[j].expert);

        if (other >= 0 && !ep_pe_is_near(shape, other) && ep_far_of(shape, other) == far)
            return -1;
    }
    return far;
}

/* Until a token's row is in the store: another worker may have its chunk. */
EP_STEP void ep_await_stored(const struct ep_run *run, const struct ep_call *call, int token)
{
    struct ep_flagged flagged = {run->shape.near_ready[call->parity], run->shape.chunks, token / EP_CHUNK,
                                 run->shape.local};

    if (call->flagged)
        ep_flags_await(run, EP_PHASE_ROWS, 1, ep_awaited_chunk, &flagged, (uint64_t)call->number);
}

EP_LOOP void ep_pack_rows(const struct ep_run *run, const struct ep_call *call, int part)
{
    const struct ep_shape *shape = &run->shape;
    char *metas = (char *)ep_at(run, shape->metas[call->parity]);
    int from = part * shape->window, tokens = ep_least(call->tokens - from, shape->window);
    int pieces = ep_copy_pieces(run, tokens);

    for (int i = ep_worker(run); i < tokens * pieces; i += ep_workers(run)) {
        const struct ep_meta *meta = ep_meta_at(run, metas, from + i / pieces);

        ep_await_stored(run, call, from + i / pieces);
        for (int k = 0; k < shape->topk; k++) {
            int far = ep_entry_far(run, meta, k);
            char *image = run->arena + ep_slot_image(shape, shape->send, ep_most(far, 0), call->base + part);

            if (far >= 0 && (uint32_t)meta->entry[k].row < (uint32_t)shape->window)
                ep_pack_piece(run, call, image + shape->head + meta->entry[k].row * shape->record,
                              from + i / pieces, i % pieces, pieces);
        }
    }
}

/* One counted put of exactly as much as there is, to each far peer. */
EP_LOOP void ep_put_images(const struct ep_run *run, const struct ep_call *call, int part)
{
    const struct ep_shape *shape = &run->shape;
    const int32_t *rows = ep_ints(run, shape->part_rows);
    uint64_t number = call->base + part;

    for (int i = ep_worker(run); i < shape->far; i += ep_workers(run)) {
        int f = ep_far_turn(shape, i), pe = ep_far_pe(shape, f), me = ep_far_me(shape, pe);

        ep_put(run, run->arena + ep_slot_image(shape, shape->window_in, me, number),
               run->arena + ep_slot_image(shape, shape->send, f, number),
               ep_records_end(run, rows[f * call->parts + part]) +
                   (ep_tells_sent(call, part) ? ep_sent_bytes(shape) : 0),
               shape->c_far + me * shape->slots + (int)(number % shape->slots), pe);
    }
    if (ep_worker(run) != 0 || !ep_leads(run))
        return;
    for (int f = 0; f < shape->far; f++)
        run->state->network_rows += rows[f * call->parts + part];
    run->state->network_puts += shape->far;
}

/* What a far peer must have taken out of its windows before a slot is put to again. */
EP_STEP uint64_t ep_value_credit(const struct ep_run *run, const void *arg, int i)
{
    (void)run;
    (void)i;
    return *(const uint64_t *)arg - run->shape.slots + 1;
}

/* Part `part` of the call to all far peers. A slot that this call has used is packed again when its put is over. */
EP_STEP void ep_pack(const struct ep_run *run, const struct ep_call *call, int part)
{
    const struct ep_shape *shape = &run->shape;
    uint64_t number = call->base + part;

    if (number >= (uint64_t)shape->slots)
        ep_await(run, EP_PHASE_CREDIT, shape->c_credit, shape->far, ep_value_credit, &number);
    if (part >= shape->slots) {
        if (ep_worker(run) == 0)
            ep_flush(run);
        ep_sync(run);
    }
    ep_pack_heads(run, call, part);
    ep_pack_rows(run, call, part);
    ep_sync(run);
    ep_put_images(run, call, part);
}

#endif

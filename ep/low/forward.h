/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dispatch with far peers: what they have put into this PE's windows is handed on, once to each near PE that has one of
 * a row's experts. Rows for this PE stay where they are, and are noted. Groups of workers share out the images, so that
 * each waits for what it hands on alone.
 */
#ifndef WSH_EP_LOW_FORWARD_H
#define WSH_EP_LOW_FORWARD_H

#include "ep/low/send.h"

/* An image that has come. */
struct ep_low_image {
    const struct ep_low_call *call;
    const char *at;
    int far, source;         /* its number among far peers, and among sources */
    int tokens, records;     /* of the source; of the image */
    int shift, each;         /* of pieces of its rows */
    int first, behind;       /* PEs of this host that it is for */
    struct ep_low_rank rank; /* one copy: which records each of those has */
};

EP_STEP const struct ep_low_meta *ep_low_record(const struct ep_run *run, const struct ep_low_image *image,
                                                int record)
{
    return (const struct ep_low_meta *)(image->at + run->shape.head + (size_t)record * run->shape.record);
}

/* Of a row in a window, the choices that this PE has (one copy). */
EP_STEP struct ep_low_meta *ep_low_window_meta(const struct ep_run *run, int far, int slot)
{
    return (struct ep_low_meta *)(run->arena + run->shape.far_metas +
                                  ((size_t)far * run->shape.tokens + slot) * run->shape.low_meta);
}

/* An image's meta as the handle keeps it. */
EP_STEP struct ep_low_meta *ep_low_far_meta(const struct ep_run *run, int handle, int far, int record)
{
    return (struct ep_low_meta *)(run->arena + ep_low_kept_far(&run->shape, handle, far, record));
}

EP_STEP int32_t *ep_low_records(const struct ep_run *run, int handle)
{
    return (int32_t *)(run->arena + ep_low_kept_records(&run->shape, handle));
}

/* PEs behind a far peer, and their first one's number on this host. */
EP_STEP int ep_low_behind(const struct ep_run *run, int *first)
{
    *first = run->shape.one_copy ? 0 : run->shape.local;
    return run->shape.one_copy ? run->shape.near : 1;
}

/* The PE of choice k of an image's meta, among those behind; -1: none. In a window it may be any number. */
EP_STEP int ep_low_behind_of(const struct ep_run *run, const struct ep_low_meta *meta, int k)
{
    int at = meta->entry[k].at;

    return at < 0 ? -1 : ep_divide(at >> EP_LOW_SHIFT, run->shape.by_mine);
}

EP_STEP void ep_low_fault(const struct ep_run *run, const struct ep_low_image *image, int64_t found)
{
    ep_fault(run, ep_low_source_pe(run, image->source), (int64_t)image->call->number, 0, found, 0);
}

/* An image that is there. Ends the job where it is not of this call, or has numbers that cannot be. */
EP_STEP struct ep_low_image ep_low_image_of(const struct ep_run *run, const struct ep_low_call *call, int far)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_low_image image;
    const struct ep_header *header;

    image.call = call;
    image.at = run->arena + ep_slot_image(shape, shape->window_in, far, call->parity);
    image.far = far;
    image.source = ep_low_far_source(run, ep_far_pe(shape, far));
    header = (const struct ep_header *)image.at;
    image.tokens = header->tokens;
    image.records = header->rows;
    if (header->call != (int64_t)call->number || (uint32_t)image.tokens > (uint32_t)shape->tokens ||
        (uint32_t)image.records > (uint32_t)image.tokens)
        ep_low_fault(run, &image, header->call);
    image.shift = ep_low_shift(shape, image.tokens);
    image.each = ep_low_each(shape, image.shift);
    image.behind = ep_low_behind(run, &image.first);
    image.rank = ep_low_rank_of(run, image.records);
    return image;
}

/* All workers of a group: a bit for each record that a PE has, so that its slot there can be told. */
EP_STEP void ep_low_rank_image(const struct ep_run *run, const struct ep_low_image *image)
{
    int topk = run->shape.topk;

    EP_BY_GROUP(run, i, image->behind * image->rank.words)
    {
        image->rank.bits[i] = 0;
    }
    ep_sync_group(run);
    EP_BY_GROUP(run, i, image->records * topk)
    {
        int record = ep_divide(i, run->shape.by_topk);
        int of = ep_low_behind_of(run, ep_low_record(run, image, record), i - record * topk);

        if ((uint32_t)of < (uint32_t)image->behind)
            ep_low_rank_set(&image->rank, of, record);
    }
    ep_sync_group(run);
    EP_BY_GROUP(run, of, image->behind)
    {
        ep_low_rank_row(&image->rank, of);
    }
    ep_sync_group(run);
}

/* To each PE behind: words of an image's rows, and how many of the records are for it. By one group. */
EP_STEP void ep_low_hand_words(const struct ep_run *run, const struct ep_low_image *image)
{
    const struct ep_shape *shape = &run->shape;
    const int32_t *counts = (const int32_t *)(image->at + sizeof(struct ep_header));
    int each = shape->mine + 1;

    EP_BY_GROUP(run, i, image->behind * each)
    {
        int of = i / each, at = i % each;
        uint64_t *to =
            (uint64_t *)(ep_near_base(run, image->first + of) + shape->low_words[image->call->parity]) +
            (size_t)image->source * each + at;
        int distinct = shape->one_copy ? ep_low_total(&image->rank, of) : image->records;
        uint32_t number = at < shape->mine ? (uint32_t)counts[of * shape->mine + at]
                                           : (uint32_t)image->tokens << 12 | (uint32_t)distinct;

        if (at < shape->mine && number > (uint32_t)image->tokens)
            ep_low_fault(run, image, (int64_t)image->call->number);
        ep_word_store(to, (uint64_t)number << 32 | image->call->word);
    }
    if (ep_group_worker(run) == 0 && ep_leads(run))
        ep_low_records(run, image->call->handle)[image->far] = image->records;
}

/* A record, and a piece of it, on its way. */
struct ep_low_handed {
    const struct ep_low_image *image;
    const struct ep_low_meta *meta; /* in the window */
    int record, piece;
    ptrdiff_t offset, scales; /* from the row's first column, of what is copied */
};

/* The PE behind that choice k is the record's first one for; -1: none. */
EP_STEP int ep_low_handed_to(const struct ep_run *run, const struct ep_low_handed *handed, int k)
{
    int of = ep_low_behind_of(run, handed->meta, k);

    if ((uint32_t)of >= (uint32_t)handed->image->behind)
        return -1;
    for (int j = 0; j < k; j++)
        if (ep_low_behind_of(run, handed->meta, j) == of)
            return -1;
    return of;
}

EP_STEP int ep_low_handed_slot(const struct ep_low_handed *handed, int of)
{
    return ep_low_before(&handed->image->rank, of, handed->record);
}

/* The row's first column in the slot there; NULL where it stays here. */
EP_STEP char *ep_low_handed_row(const struct ep_run *run, const struct ep_low_handed *handed, int k)
{
    int of = ep_low_handed_to(run, handed, k);

    if (of < 0 || of == run->shape.local)
        return NULL;
    return ep_low_slot(run, ep_near_base(run, of), handed->image->call->parity, handed->image->source,
                       ep_low_handed_slot(handed, of)) +
           run->shape.low_head;
}

EP_STEP void *ep_low_handed_columns(const struct ep_run *run, const void *arg, int k)
{
    const struct ep_low_handed *handed = (const struct ep_low_handed *)arg;
    char *row = ep_low_handed_row(run, handed, k);

    return row ? row + handed->offset : NULL;
}

EP_STEP void *ep_low_handed_scales(const struct ep_run *run, const void *arg, int k)
{
    const struct ep_low_handed *handed = (const struct ep_low_handed *)arg;
    char *row = ep_low_handed_row(run, handed, k);

    return row ? row + handed->scales : NULL;
}

/* This PE's own says that a meta is noted: rows stay. */
EP_STEP uint64_t *ep_low_handed_flag(const struct ep_run *run, const void *arg, int k)
{
    const struct ep_low_handed *handed = (const struct ep_low_handed *)arg;
    int of = ep_low_handed_to(run, handed, k);

    if (of < 0 || (of == run->shape.local && handed->piece < run->shape.pieces))
        return NULL;
    return ep_low_flag(run, ep_near_base(run, of), handed->image->call->parity, handed->image->source,
                       ep_low_handed_slot(handed, of), handed->piece);
}

/* A meta for the combine. */
EP_STEP void ep_low_keep_meta(const struct ep_run *run, const struct ep_low_handed *handed)
{
    const struct ep_low_image *image = handed->image;
    struct ep_low_meta *kept = ep_low_far_meta(run, image->call->handle, image->far, handed->record);
    int experts = image->behind * run->shape.mine;

    EP_BY_LANES(run, k, run->shape.topk)
    {
        struct ep_low_entry entry = handed->meta->entry[k];
        int token = handed->meta->token;

        if (entry.at < -1 || (entry.at >> EP_LOW_SHIFT) >= experts ||
            (uint32_t)token >= (uint32_t)image->tokens)
            ep_low_fault(run, image, (int64_t)image->call->number);
        kept->entry[k] = entry;
        if (k == 0) {
            kept->token = token;
            kept->record = handed->record;
        }
    }
}

/* To each PE behind, one after the other, the choices that it has: into the slot, or this PE's own notes. */
EP_STEP void ep_low_hand_metas(const struct ep_run *run, const struct ep_low_handed *handed)
{
    const struct ep_shape *shape = &run->shape;
    const struct ep_low_image *image = handed->image;

    for (int first = 0; first < shape->topk; first++) {
        int of = ep_low_handed_to(run, handed, first), slot;
        struct ep_low_meta *to;

        if (of < 0)
            continue;
        slot = ep_low_handed_slot(handed, of);
        to = of == shape->local ? ep_low_window_meta(run, image->far, slot)
                                : (struct ep_low_meta *)ep_low_slot(run, ep_near_base(run, of),
                                                                    image->call->parity, image->source, slot);
        EP_BY_LANES(run, k, shape->topk)
        {
            struct ep_low_entry entry = handed->meta->entry[k];
            int local = entry.at - (of * shape->mine << EP_LOW_SHIFT);

            entry.at = ep_low_behind_of(run, handed->meta, k) == of ? local : -1;
            to->entry[k] = entry;
            if (k == 0) {
                to->token = handed->meta->token;
                to->record = handed->record;
            }
        }
    }
}

EP_STEP void ep_low_hand_meta(const struct ep_run *run, struct ep_low_handed *handed)
{
    handed->piece = run->shape.pieces;
    ep_low_keep_meta(run, handed);
    if (!run->shape.one_copy)
        return;
    ep_low_hand_metas(run, handed);
    ep_raise(run, run->shape.topk, ep_low_handed_flag, handed, handed->image->call->number);
}

/* Columns of a row, and their scales, once to each PE but this one. */
EP_STEP void ep_low_hand_piece(const struct ep_run *run, struct ep_low_handed *handed)
{
    const struct ep_shape *shape = &run->shape;
    int first, columns = ep_low_columns(run, handed->piece, handed->image->each, &first),
               unit = ep_low_bytes_unit(run);
    const char *row = (const char *)handed->meta + shape->far_head;
    const float *scales = (const float *)(row - ep_low_scales(shape)) + ep_low_scale_words(run, first);

    if (columns <= 0)
        return;
    handed->offset = ep_low_bytes((ptrdiff_t)first, unit);
    handed->scales = ep_low_scale_words(run, first) * 4 - (ptrdiff_t)ep_low_scales(shape);
    ep_copy_to_each(run, row + handed->offset, ep_low_bytes(columns, unit), shape->scales ? scales : NULL,
                    ep_low_scale_words(run, columns), shape->topk, ep_low_handed_columns,
                    ep_low_handed_scales, handed);
    ep_raise(run, shape->topk, ep_low_handed_flag, handed, handed->image->call->number);
}

/* Metas and pieces of rows, by so many workers; direct, rows are for nobody else. */
EP_STEP void ep_low_hand_rows(const struct ep_run *run, const struct ep_low_image *image, int worker,
                              int workers)
{
    int items = image->records + (run->shape.one_copy ? image->records << image->shift : 0);
    struct ep_low_handed handed = {image, NULL, 0, 0, 0, 0};

    for (int i = worker; i < items; i += workers) {
        int item = i - image->records;

        handed.record = item < 0 ? i : item >> image->shift;
        handed.meta = ep_low_record(run, image, handed.record);
        handed.piece = item - (handed.record << image->shift);
        if (item < 0)
            ep_low_hand_meta(run, &handed);
        else
            ep_low_hand_piece(run, &handed);
    }
}

/* What a far peer that is masked has for this PE: words of no rows. */
EP_STEP void ep_low_hand_none(const struct ep_run *run, const struct ep_low_call *call, int far)
{
    const struct ep_shape *shape = &run->shape;
    uint64_t *to = (uint64_t *)(run->arena + shape->low_words[call->parity]) +
                   (size_t)ep_low_far_source(run, ep_far_pe(shape, far)) * (shape->mine + 1);

    ep_low_records(run, call->handle)[far] = 0;
    for (int i = 0; i <= shape->mine; i++)
        ep_word_store(to + i, call->word);
}

/* All workers of a group, of `members` that have the image: number `member` of them. */
EP_STEP void ep_low_hand_image(const struct ep_run *run, const struct ep_low_call *call, int far, int member,
                               int members, int64_t *waits)
{
    struct ep_low_image image;

    ep_low_await_far(run, EP_PHASE_PART, run->shape.c_far, far * run->shape.slots + call->parity,
                     run->state->come[call->parity] + 1, ep_low_waited(waits, ep_far_pe(&run->shape, far)));
    ep_acquire(run);
    if (ep_masked(run, ep_far_pe(&run->shape, far))) {
        ep_low_hand_none(run, call, far);
        return;
    }
    image = ep_low_image_of(run, call, far);
    if (run->shape.one_copy)
        ep_low_rank_image(run, &image);
    if (member == 0)
        ep_low_hand_words(run, &image);
    ep_low_hand_rows(run, &image, member * ep_group_workers(run) + ep_group_worker(run),
                     members * ep_group_workers(run));
    ep_sync_group(run);
}

/*
 * From the next host's image on. The group with the worker that watches has nothing to do with it where there are
 * others: it would wait for all images before it handed on one.
 */
EP_LOOP void ep_low_hand_on(const struct ep_run *run, const struct ep_low_call *call, int64_t *waits)
{
    int groups = ep_groups(run), group = ep_group_of(run), watches = ep_watching_group(run);
    struct ep_low_share share;

    if (groups > 1 && group == watches)
        return;
    share = ep_low_share(group - (groups > 1 && group > watches), groups - (groups > 1), run->shape.far);
    for (int turn = share.first; turn < run->shape.far; turn += share.step)
        ep_low_hand_image(run, call, ep_far_turn(&run->shape, turn), ep_low_member(&share),
                          ep_low_members(&share, turn), waits);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dispatch with far peers: what they have put into this PE's windows is handed on, once to each near PE that has one of
 * a row's experts. Rows for this PE stay where they are, and are noted.
 */
#ifndef WSH_EP_LOW_FORWARD_H
#define WSH_EP_LOW_FORWARD_H

#include "ep/low/send.h"

/* An image that has come. */
struct ep_low_image {
    const struct ep_low_call *call;
    const char *at;
    int far, source;            /* its number among far peers, and among sources */
    int tokens, records, shift; /* of the source; of the image; of pieces of its rows */
};

EP_STEP const struct ep_low_meta *ep_low_record(const struct ep_run *run, const struct ep_low_image *image,
                                                int record)
{
    return (const struct ep_low_meta *)(image->at + run->shape.head + (size_t)record * run->shape.record);
}

/* Of a row in a window, the choices that this PE has. */
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

/* The PE of choice k of an image's meta, among those behind; -1: none. */
EP_STEP int ep_low_behind_of(const struct ep_run *run, const struct ep_low_meta *meta, int k)
{
    int at = meta->entry[k].at;

    return at < 0 ? -1 : ep_divide(at >> EP_LOW_SHIFT, run->shape.by_mine);
}

EP_STEP int ep_low_has(const struct ep_run *run, const struct ep_low_meta *meta, int behind)
{
    for (int k = 0; k < run->shape.topk; k++)
        if (ep_low_behind_of(run, meta, k) == behind)
            return 1;
    return 0;
}

EP_STEP void ep_low_fault(const struct ep_run *run, const struct ep_low_image *image, int64_t found)
{
    ep_fault(run, ep_low_source_pe(run, image->source), (int64_t)image->call->number, 0, found, 0);
}

/* Ends the job where an image is not of this call, or has numbers that cannot be. */
EP_STEP void ep_low_check_image(const struct ep_run *run, const struct ep_low_image *image)
{
    const struct ep_header *header = (const struct ep_header *)image->at;
    const int32_t *counts = (const int32_t *)(header + 1);
    int first, numbers = ep_low_behind(run, &first) * run->shape.mine;

    if (header->call != (int64_t)image->call->number)
        ep_low_fault(run, image, header->call);
    if ((uint32_t)image->tokens > (uint32_t)run->shape.tokens ||
        (uint32_t)image->records > (uint32_t)image->tokens)
        ep_low_fault(run, image, header->call);
    for (int i = 0; i < numbers; i++)
        if ((uint32_t)counts[i] > (uint32_t)image->tokens)
            ep_low_fault(run, image, header->call);
}

/* A meta into the handle; it is read there from now on, for nobody else writes to it. */
EP_STEP void ep_low_keep_meta(const struct ep_run *run, const struct ep_low_image *image, int record)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_low_meta *kept = ep_low_far_meta(run, image->call->handle, image->far, record);
    int first, experts = ep_low_behind(run, &first) * shape->mine;

    ep_copy(kept, ep_low_record(run, image, record), shape->low_meta);
    kept->record = record;
    if ((uint32_t)kept->token >= (uint32_t)image->tokens)
        ep_low_fault(run, image, (int64_t)image->call->number);
    for (int k = 0; k < shape->topk; k++)
        if (kept->entry[k].at < -1 || (kept->entry[k].at >> EP_LOW_SHIFT) >= experts)
            ep_low_fault(run, image, (int64_t)image->call->number);
}

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
    ep_low_check_image(run, &image);
    image.shift = ep_low_shift(shape, image.tokens);
    return image;
}

/* To the near PE number `behind`: words of an image's rows, `distinct` of which are for it. */
EP_STEP void ep_low_hand_words(const struct ep_run *run, const struct ep_low_image *image, int near,
                               int behind, int distinct)
{
    const struct ep_shape *shape = &run->shape;
    const int32_t *counts = (const int32_t *)(image->at + sizeof(struct ep_header)) + behind * shape->mine;
    uint64_t *to = (uint64_t *)(ep_near_base(run, near) + shape->low_words[image->call->parity]) +
                   (size_t)image->source * (shape->mine + 1);

    for (int i = 0; i <= shape->mine; i++) {
        uint32_t number =
            i < shape->mine ? (uint32_t)counts[i] : (uint32_t)image->tokens << 12 | (uint32_t)distinct;

        ep_word_store(to + i, (uint64_t)number << 32 | image->call->word);
    }
}

/* A meta with the choices of one PE alone. */
EP_STEP void ep_low_hand_meta(const struct ep_run *run, const struct ep_low_meta *meta, int behind,
                              struct ep_low_meta *to)
{
    for (int k = 0; k < run->shape.topk; k++) {
        int mine = ep_low_behind_of(run, meta, k) == behind, at = meta->entry[k].at;

        to->entry[k].at = mine ? at - (behind * run->shape.mine << EP_LOW_SHIFT) : -1;
        to->entry[k].weight = meta->entry[k].weight;
    }
    to->token = meta->token;
    to->record = meta->record;
}

/* A slot that is filled. */
struct ep_low_filled {
    const struct ep_low_image *image;
    int near, slot;
};

/* Flags of all pieces, and at last of the meta. */
EP_STEP uint64_t *ep_low_filled_flag(const struct ep_run *run, const void *arg, int i)
{
    const struct ep_low_filled *filled = (const struct ep_low_filled *)arg;
    const struct ep_low_image *image = filled->image;

    return ep_low_flag(run, ep_near_base(run, filled->near), image->call->parity, image->source, filled->slot,
                       i >> image->shift ? run->shape.pieces : i);
}

/* A row that one PE has: into its slot there, scales and columns in one; what is for this PE stays. */
EP_STEP void ep_low_hand_row(const struct ep_run *run, const struct ep_low_image *image, int behind,
                             const struct ep_low_meta *meta, const struct ep_low_filled *filled)
{
    const struct ep_shape *shape = &run->shape;
    size_t scales = ep_low_scales(shape);
    char *slot;

    if (filled->near == shape->local) {
        ep_low_hand_meta(run, meta, behind, ep_low_window_meta(run, image->far, filled->slot));
        return;
    }
    slot =
        ep_low_slot(run, ep_near_base(run, filled->near), image->call->parity, image->source, filled->slot);
    ep_low_hand_meta(run, meta, behind, (struct ep_low_meta *)slot);
    ep_copy(slot + shape->low_head - scales,
            (const char *)ep_low_record(run, image, meta->record) + shape->far_head - scales,
            scales + shape->row);
    ep_raise(run, (1 << image->shift) + 1, ep_low_filled_flag, filled, image->call->number);
}

/* To one near PE: how many rows there are, then the rows. */
EP_STEP void ep_low_hand_to(const struct ep_run *run, const struct ep_low_image *image, int near, int behind)
{
    struct ep_low_filled filled = {image, near, 0};
    int handle = image->call->handle, distinct = 0;

    for (int record = 0; record < image->records; record++)
        distinct += ep_low_has(run, ep_low_far_meta(run, handle, image->far, record), behind);
    ep_low_hand_words(run, image, near, behind, distinct);
    for (int record = 0; record < image->records; record++) {
        const struct ep_low_meta *meta = ep_low_far_meta(run, handle, image->far, record);

        if (!ep_low_has(run, meta, behind))
            continue;
        ep_low_hand_row(run, image, behind, meta, &filled);
        filled.slot++;
    }
}

/* Image by image, from the next host's on. */
EP_STEP void ep_low_hand_on(const struct ep_run *run, const struct ep_low_call *call)
{
    const struct ep_shape *shape = &run->shape;

    for (int i = 0; i < shape->far; i++) {
        int far = ep_far_turn(shape, i), first, behind = ep_low_behind(run, &first);
        struct ep_low_image image;

        ep_await_one(run, EP_PHASE_PART, shape->c_far, far * shape->slots + call->parity,
                     run->state->come[call->parity] + 1);
        image = ep_low_image_of(run, call, far);
        ep_low_records(run, call->handle)[far] = image.records;
        for (int record = 0; record < image.records; record++)
            ep_low_keep_meta(run, &image, record);
        for (int at = 0; at < behind; at++)
            ep_low_hand_to(run, &image, first + at, at);
    }
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Dispatch's sending side: words, and each row once to each near PE, and each far peer, that has one of its experts. */
#ifndef WSH_EP_LOW_SEND_H
#define WSH_EP_LOW_SEND_H

#include "ep/low/rank.h"

/* To each near PE a word for each of its experts, and one of the rows and tokens that there are. */
EP_STEP void ep_low_tell(const struct ep_run *run, const struct ep_low_call *call,
                         const struct ep_low_rank *rank)
{
    const struct ep_shape *shape = &run->shape;
    int each = shape->mine + 1;

    EP_BY_LAST(run, i, shape->near * each)
    {
        int near = (i / each + shape->local) % shape->near, at = i % each;
        uint64_t *to = (uint64_t *)(ep_near_base(run, near) + shape->low_words[call->parity]) +
                       (size_t)shape->local * each + at;
        uint32_t number =
            at < shape->mine
                ? (uint32_t)ep_low_total(rank, ep_low_world(run, near) * shape->mine + at)
                : (uint32_t)call->tokens << 12 | (uint32_t)ep_low_total(rank, shape->experts + near);

        if (ep_masked_before(run, call, ep_low_world(run, near)))
            continue;
        ep_word_store(to, (uint64_t)number << 32 | call->word);
    }
}

/* A piece of a row on its way. */
struct ep_low_sent {
    const struct ep_low_call *call;
    struct ep_low_rank rank;
    int token, piece;
    ptrdiff_t offset, scales; /* from the row's first column, of what is copied */
    int pieces;               /* with far peers: of a row that have columns */
    int stays;                /* a row for this PE itself stays in x */
    int side;                 /* of targets that get it now */
};

/* Kernels send a row to all of its targets at once. */
enum ep_low_side { EP_LOW_ALL, EP_LOW_TO_FAR, EP_LOW_TO_NEAR };

/* The target that choice k is the first one for, of those that get it now; or -1. */
EP_STEP int ep_low_sent_to(const struct ep_run *run, const struct ep_low_sent *sent, int k)
{
    int target = ep_low_first_target(run, &sent->rank, sent->token, k);

    if (ep_low_sides(run) && sent->side && (target < run->shape.near) != (sent->side == EP_LOW_TO_NEAR))
        return -1;
    return target;
}

/* Where it goes there, a slot or a record of an image; or NULL. */
EP_STEP char *ep_low_slot_of(const struct ep_run *run, const struct ep_low_sent *sent, int k)
{
    const struct ep_shape *shape = &run->shape;
    int target = ep_low_sent_to(run, sent, k), before;

    if (target < 0)
        return NULL;
    before = ep_low_before(&sent->rank, shape->experts + target, sent->token);
    if (ep_low_far(run) && target >= shape->near)
        return run->arena + ep_slot_image(shape, shape->send, target - shape->near, sent->call->parity) +
               shape->head + (size_t)before * shape->record;
    return ep_low_slot(run, ep_near_base(run, target), sent->call->parity, shape->local, before);
}

/* The same of its row's first column. */
EP_STEP char *ep_low_row_of(const struct ep_run *run, const struct ep_low_sent *sent, int k)
{
    char *slot = ep_low_slot_of(run, sent, k);
    int target = slot ? ep_low_first_target(run, &sent->rank, sent->token, k) : -1;
    int far = ep_low_far(run) && target >= run->shape.near;

    if (ep_low_sides(run) && sent->stays && target == run->shape.local)
        return NULL;
    return slot ? slot + (far ? run->shape.far_head : run->shape.low_head) : NULL;
}

EP_STEP void *ep_low_to(const struct ep_run *run, const void *arg, int k)
{
    const struct ep_low_sent *sent = (const struct ep_low_sent *)arg;
    char *row = ep_low_row_of(run, sent, k);

    return row ? row + sent->offset : NULL;
}

EP_STEP uint64_t *ep_low_flag_of(const struct ep_run *run, const void *arg, int k)
{
    const struct ep_low_sent *sent = (const struct ep_low_sent *)arg;
    int target = ep_low_sent_to(run, sent, k);

    if (target < 0 || (ep_low_far(run) && target >= run->shape.near))
        return NULL;
    return ep_low_flag(run, ep_near_base(run, target), sent->call->parity, run->shape.local,
                       ep_low_before(&sent->rank, run->shape.experts + target, sent->token), sent->piece);
}

/* The first expert behind a target: those of its PE, or with one copy of the far peer's host. */
EP_STEP int ep_low_first_expert(const struct ep_run *run, int target)
{
    const struct ep_shape *shape = &run->shape;
    int pe = ep_low_target_pe(run, target);

    if (ep_low_far(run) && target >= shape->near && shape->one_copy)
        pe -= shape->local;
    return pe * shape->mine;
}

EP_STEP float ep_low_weight_given(const struct ep_run *run, const struct ep_low_call *call,
                                  const shmemx_ep_dispatch_t *args, int token, int k)
{
    int columns = args->columns ? args->columns : run->shape.topk;

    if (args->weights && k < columns)
        return args->weights[(size_t)token * columns + k];
    return args->topk ? 1.0f : ep_low_own(run, call->handle, token).weights[k];
}

EP_STEP struct ep_low_entry ep_low_entry_of(const struct ep_run *run, const struct ep_low_sent *sent,
                                            const shmemx_ep_dispatch_t *args, int k)
{
    const struct ep_low_rank *rank = &sent->rank;
    int expert = rank->topk[sent->token * run->shape.topk + k];
    int first = ep_divide(expert, run->shape.by_mine) * run->shape.mine;
    struct ep_low_entry entry = {-1, 0.0f};

    if (expert == EP_LOW_NONE)
        return entry;
    if (ep_low_far(run))
        first = ep_low_first_expert(run, ep_low_any_target(run, rank, sent->token, k));
    entry.at = (expert - first) << EP_LOW_SHIFT | ep_low_before(rank, expert, sent->token);
    entry.weight = ep_low_weight_given(run, sent->call, args, sent->token, k);
    return entry;
}

/* What begins the image for a far peer; returns its bytes. By one worker. */
EP_STEP size_t ep_low_head(const struct ep_run *run, const struct ep_low_call *call,
                           const struct ep_low_rank *rank, int far, char *image)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_header *header = (struct ep_header *)image;
    int32_t *counts = (int32_t *)(header + 1);
    int first = ep_low_first_expert(run, shape->near + far), pes = shape->one_copy ? shape->near : 1;
    int rows = ep_low_total(rank, shape->experts + shape->near + far);

    if (ep_leads(run)) {
        header->call = (int64_t)call->number;
        header->tokens = call->tokens;
        header->rows = rows;
    }
    EP_BY_LANES(run, i, pes * shape->mine)
    {
        counts[i] = ep_low_total(rank, first + i);
    }
    ep_meet(run);
    return shape->head + (size_t)rows * shape->record;
}

/* One counted put of exactly as much as there is. By one worker, when all of it is stored. */
EP_STEP void ep_low_put_image(const struct ep_run *run, const struct ep_low_call *call,
                              const struct ep_low_rank *rank, int far)
{
    const struct ep_shape *shape = &run->shape;
    int pe = ep_far_pe(shape, far), me = ep_far_me(shape, pe);
    char *image = run->arena + ep_slot_image(shape, shape->send, far, call->parity);
    size_t bytes = ep_low_head(run, call, rank, far, image);

    if (ep_masked(run, pe))
        return;
    ep_put(run, run->arena + ep_slot_image(shape, shape->window_in, me, call->parity), image, bytes,
           shape->c_far + me * shape->slots + call->parity, pe);
    ep_note_put(run, shape->c_far + me * shape->slots + call->parity, pe);
    ep_tally(run, &run->state->network_rows, (bytes - shape->head) / shape->record);
    ep_tally(run, &run->state->network_puts, 1);
}

/* Far peers that no row goes to are told so at once. */
EP_STEP void ep_low_put_heads(const struct ep_run *run, const struct ep_low_call *call,
                              const struct ep_low_rank *rank)
{
    const struct ep_shape *shape = &run->shape;

    for (int i = ep_workers(run) - 1 - ep_worker(run); i < shape->far; i += ep_workers(run)) {
        int far = ep_far_turn(shape, i);

        if (!ep_low_total(rank, shape->experts + shape->near + far))
            ep_low_put_image(run, call, rank, far);
    }
}

/* How much has been stored of the image that choice k is the token's first one for; or NULL. *total: of all. */
EP_STEP uint64_t *ep_low_packed(const struct ep_run *run, const void *arg, int k, uint64_t *total)
{
    const struct ep_low_sent *sent = (const struct ep_low_sent *)arg;
    int target = ep_low_sent_to(run, sent, k);

    if (target < run->shape.near)
        return NULL;
    *total = (uint64_t)ep_low_total(&sent->rank, run->shape.experts + target) * (uint64_t)(sent->pieces + 1);
    return ep_low_stored(run, target - run->shape.near);
}

/* After a piece, or metas, of a token: the images that have all they are to have are put. */
EP_STEP void ep_low_pack(const struct ep_run *run, const struct ep_low_sent *sent)
{
    uint32_t whole = ep_count_up(run, run->shape.topk, ep_low_packed, sent);

    for (; whole; whole &= whole - 1)
        ep_low_put_image(run, sent->call, &sent->rank,
                         ep_low_first_target(run, &sent->rank, sent->token, ep_lowest(whole)) -
                             run->shape.near);
}

/* The metas of a token, each with the choices that its target has. */
EP_STEP void ep_low_send_metas(const struct ep_run *run, const struct ep_low_sent *sent,
                               const shmemx_ep_dispatch_t *args)
{
    const struct ep_low_entry none = {-1, 0.0f};
    int topk = run->shape.topk;

    for (int lanes = 0; lanes < topk; lanes += EP_LANES) {
        int k = lanes + (int)ep_lane(),
            target = k < topk ? ep_low_any_target(run, &sent->rank, sent->token, k) : -1;
        struct ep_low_entry entry = k < topk ? ep_low_entry_of(run, sent, args, k) : none;

        for (int of = 0; of < topk; of++) {
            int to = ep_low_sent_to(run, sent, of);
            struct ep_low_meta *meta = (struct ep_low_meta *)ep_low_slot_of(run, sent, of);

            if (to < 0 || k >= topk)
                continue;
            meta->entry[k] = target == to ? entry : none;
            if (k == 0)
                meta->token = sent->token;
        }
    }
}

/* What the handle keeps of a token of this PE; of a call with the handle's routing what it has already. */
EP_STEP void ep_low_keep_own(const struct ep_run *run, const struct ep_low_sent *sent,
                             const shmemx_ep_dispatch_t *args)
{
    struct ep_low_own own = ep_low_own(run, sent->call->handle, sent->token);
    int topk = run->shape.topk;

    EP_BY_LANES(run, k, topk)
    {
        int expert = sent->rank.topk[sent->token * topk + k], before = 0, targets = 0;
        int target = ep_low_first_target(run, &sent->rank, sent->token, k);
        float weight = ep_low_weight_given(run, sent->call, args, sent->token, k);

        for (int j = 0; j < topk; j++) {
            int other = ep_low_first_target(run, &sent->rank, sent->token, j);

            before += other >= 0 && ep_low_target_pe(run, other) < ep_low_target_pe(run, target);
            targets += other >= 0;
        }
        own.experts[k] = expert == EP_LOW_NONE ? -1 : expert;
        own.weights[k] = weight;
        if (target >= 0)
            own.targets[before] = target;
        if (target >= 0 && ep_low_far(run))
            own.records[before] = ep_low_before(&sent->rank, run->shape.experts + target, sent->token);
        if (k >= targets)
            own.targets[k] = -1;
    }
}

/* Where its scales go, which lie before the row. */
EP_STEP void *ep_low_scales_to(const struct ep_run *run, const void *arg, int k)
{
    const struct ep_low_sent *sent = (const struct ep_low_sent *)arg;
    char *row = ep_low_row_of(run, sent, k);

    return row ? row + sent->scales : NULL;
}

EP_STEP void ep_low_send_piece(const struct ep_run *run, struct ep_low_sent *sent,
                               const shmemx_ep_dispatch_t *args, int each)
{
    const struct ep_shape *shape = &run->shape;
    int first, columns = ep_low_columns(run, sent->piece, each, &first), unit = ep_low_bytes_unit(run);
    size_t at = (size_t)sent->token * shape->hidden + first;

    if (columns <= 0)
        return;
    sent->offset = ep_low_bytes((ptrdiff_t)first, unit);
    sent->scales = ep_low_scale_words(run, first) * 4 - (ptrdiff_t)ep_low_scales(shape);
    if (ep_low_nvfp4(run))
        ep_nvfp4_to_each(run, (const uint16_t *)args->x + at, columns, *args->global_scale, shape->topk,
                         ep_low_to, sent, sent->scales - sent->offset);
    else if (shape->scales && !args->x_scales)
        ep_quantize_to_each(run, (const uint16_t *)args->x + at, columns, shape->topk, ep_low_to, sent,
                            sent->scales - sent->offset);
    else
        ep_copy_to_each(run, (const char *)args->x + ep_low_bytes(at, unit), ep_low_bytes(columns, unit),
                        args->x_scales ? args->x_scales + at / EP_GROUP : NULL, columns / EP_GROUP,
                        shape->topk, ep_low_to, ep_low_scales_to, sent);
    ep_raise(run, shape->topk, ep_low_flag_of, sent, sent->call->number);
    if (ep_low_far(run))
        ep_low_pack(run, sent);
}

EP_STEP void ep_low_send_meta(const struct ep_run *run, struct ep_low_sent *sent,
                              const shmemx_ep_dispatch_t *args)
{
    sent->piece = run->shape.pieces;
    ep_low_send_metas(run, sent, args);
    ep_raise(run, run->shape.topk, ep_low_flag_of, sent, sent->call->number);
    if (ep_low_far(run))
        ep_low_pack(run, sent);
    if (sent->side != EP_LOW_TO_NEAR)
        ep_low_keep_own(run, sent, args);
}

/* Metas and pieces of rows are sent by different workers, and have flags of their own. */
EP_STEP void ep_low_send_to(const struct ep_run *run, const struct ep_low_call *call,
                            const shmemx_ep_dispatch_t *args, enum ep_low_side side)
{
    int shift = ep_low_shift(&run->shape, call->tokens), each = ep_low_each(&run->shape, shift);
    struct ep_low_sent sent = {call, ep_low_rank_of(run, call->tokens), 0, 0, 0, 0, 0, 0, side};

    sent.stays = ep_low_stays(run, args);
    if (ep_low_far(run))
        sent.pieces = (run->shape.hidden + each - 1) / each;
    for (int i = ep_worker(run); i < call->tokens + (call->tokens << shift); i += ep_workers(run)) {
        int item = i - call->tokens;

        if (item < 0) {
            sent.token = i;
            ep_low_send_meta(run, &sent, args);
            continue;
        }
        sent.token = item >> shift;
        sent.piece = item - (sent.token << shift);
        ep_low_send_piece(run, &sent, args, each);
    }
}

/*
 * One worker alone puts images before it stores rows for near PEs, where a row is only copied: the network works
 * meanwhile. Quantizing it twice would take longer.
 */
EP_STEP void ep_low_send_rows(const struct ep_run *run, const struct ep_low_call *call,
                              const shmemx_ep_dispatch_t *args)
{
    if (!ep_low_sides(run) || !ep_low_far(run) || (run->shape.scales && !args->x_scales)) {
        ep_low_send_to(run, call, args, EP_LOW_ALL);
        return;
    }
    ep_low_send_to(run, call, args, EP_LOW_TO_FAR);
    ep_low_send_to(run, call, args, EP_LOW_TO_NEAR);
}

/* By one worker. */
EP_STEP void ep_low_keep_call(const struct ep_run *run, const struct ep_low_call *call,
                              const struct ep_low_rank *rank)
{
    struct ep_kept *kept = ep_low_kept(run, call->handle);
    int rows = 0;

    for (int near = 0; near < run->shape.near; near++)
        if (near != run->shape.local)
            rows += ep_low_total(rank, run->shape.experts + near);
    if (!ep_leads(run))
        return;
    run->state->near_rows += (uint64_t)rows;
    kept->call = (int64_t)call->number;
    kept->tokens = call->tokens;
    kept->parts = 1;
}

EP_STEP void ep_low_send(const struct ep_run *run, const struct ep_low_call *call,
                         const shmemx_ep_dispatch_t *args)
{
    struct ep_low_rank rank = ep_low_rank_of(run, call->tokens);

    if (ep_low_far(run))
        ep_low_settle(run);
    ep_low_rank_fill(run, call, args);
    EP_CLOCK(run, 1);
    ep_low_tell(run, call, &rank);
    EP_CLOCK(run, 2);
    if (ep_low_far(run))
        ep_low_put_heads(run, call, &rank);
    ep_low_send_rows(run, call, args);
    if (ep_worker(run) == ep_workers(run) - 1)
        ep_low_keep_call(run, call, &rank);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the numbers and offsets that follow from a configuration. */
#include "ep/ep.h"

#include <string.h>

/* The arena and the counters so far; each take returns the offset or number of what it took. */
struct room {
    size_t bytes;
    int counters;
};

static size_t room_take(struct room *room, size_t count, size_t each)
{
    size_t at = room->bytes;

    room->bytes += ep_align(count * each, EP_ALIGN);
    return at;
}

static int room_count(struct room *room, int counters)
{
    int first = room->counters;

    room->counters += counters;
    return first;
}

static int most_of(int a, int b)
{
    return a > b ? a : b;
}

static int or_else(int value, int otherwise)
{
    return value ? value : otherwise;
}

static void fill_numbers(struct ep_shape *shape, const shmemx_ep_config_t *config)
{
    bool low = config->mode == SHMEMX_EP_LOW_LATENCY;
    int n = shape->n;

    shape->mode = config->mode;
    shape->dtype = config->dtype;
    shape->device = config->device;
    shape->hidden = config->hidden;
    shape->experts = config->experts;
    shape->topk = config->topk;
    shape->tokens = config->tokens;
    shape->one_copy =
        n > shape->near && shape->near > 1 && config->route != SHMEMX_EP_DIRECT && !config->masks;
    shape->far = shape->one_copy ? n / shape->near - 1 : n - shape->near;
    shape->mine = config->experts / n;
    shape->by_mine = ep_divisor(shape->mine);
    shape->counted = low ? shape->mine : 1 + shape->mine;
    shape->slots = low ? EP_SLOTS_LOW : EP_SLOTS_HIGH;
    shape->capacity =
        or_else(config->capacity, config->tokens * (low || n < config->topk ? n : config->topk));
    shape->window = low || !shape->far ? config->tokens : or_else(config->window, 512);
    if (shape->window > config->tokens)
        shape->window = config->tokens;
    shape->handles = or_else(config->handles, 2);
    shape->blocks = config->blocks;
    shape->topk_shift = config->topk_bits == 64;
    shape->y_rows = (int64_t)(low ? shape->mine : 1) * shape->capacity;
    shape->pushes = low;
    shape->pulls = !low && !shape->far;
    shape->chunks = low ? 0 : (shape->tokens + EP_CHUNK - 1) / EP_CHUNK;
    shape->exact = config->exact;
}

static void fill_sizes(struct ep_shape *shape, const shmemx_ep_config_t *config)
{
    bool bytes = shape->dtype == SHMEMX_EP_BYTES, nvfp4 = shape->dtype == SHMEMX_EP_NVFP4;
    bool fp8 = shape->dtype == SHMEMX_EP_FP8 || shape->dtype == SHMEMX_EP_FP8_UE8M0;
    bool low = shape->mode == SHMEMX_EP_LOW_LATENCY;
    size_t counts = (size_t)(shape->one_copy ? shape->near : 1) * shape->counted * sizeof(int32_t);

    shape->row = bytes   ? (size_t)config->row_bytes
                 : nvfp4 ? (size_t)shape->hidden / 2
                         : (size_t)shape->hidden * (fp8 ? 1 : 2);
    shape->group_bytes = (int)(shape->row / ((size_t)shape->hidden / EP_GROUP));
    shape->scales = fp8     ? (size_t)shape->hidden / EP_GROUP * sizeof(float)
                    : nvfp4 ? (size_t)shape->hidden / EP_NVFP4_GROUP
                            : 0;
    shape->meta = sizeof(struct ep_meta) + shape->topk * sizeof(struct ep_entry);
    shape->low_meta = ep_align(sizeof(struct ep_low_meta) + shape->topk * sizeof(struct ep_low_entry), 16);
    shape->far_head = (shape->pushes ? shape->low_meta : shape->meta) + ep_align(shape->scales, 16);
    shape->record = shape->far_head + shape->row;
    shape->head = ep_align(sizeof(struct ep_header) + counts, 64);
    shape->image =
        ep_align(shape->head + shape->window * shape->record + (low ? 0 : ep_sent_bytes(shape)), EP_ALIGN);
    shape->result = (size_t)shape->hidden * 2 + (low ? 0 : ep_align(shape->topk * sizeof(float), 16));
    shape->result_image = ep_align(shape->window * shape->result, EP_ALIGN);
}

static void lay_out_store(struct ep_shape *shape, struct room *room, int parity)
{
    size_t tokens = (size_t)shape->tokens;

    shape->header[parity] = room_take(room, 1, sizeof(struct ep_header));
    shape->counts[parity] = room_take(room, (size_t)shape->n * shape->counted, sizeof(int32_t));
    shape->metas[parity] = room_take(room, tokens, shape->meta);
    shape->x_scales[parity] = room_take(room, tokens, shape->scales);
    shape->x[parity] = room_take(room, tokens, shape->row);
    shape->y[parity] = room_take(room, (size_t)shape->y_rows, (size_t)shape->hidden * 2);
    shape->y_weights[parity] = room_take(room, (size_t)shape->y_rows, shape->topk * sizeof(float));
}

static void lay_out_weights(struct ep_shape *shape, struct room *room)
{
    size_t choices = (size_t)shape->tokens * shape->topk;

    for (int parity = 0; parity < 2; parity++)
        shape->weights_send[parity] = room_take(room, choices, sizeof(float));
    shape->weights_in = room_take(room, shape->far * choices, sizeof(float));
}

static void lay_out_images(struct ep_shape *shape, struct room *room)
{
    size_t images = (size_t)shape->far * shape->slots;

    shape->send = room_take(room, images, shape->image);
    shape->window_in = room_take(room, images, shape->image);
    shape->forward = room_take(room, shape->one_copy && !shape->pushes ? images : 0, shape->image);
    shape->result_send = room_take(room, images, shape->result_image);
    shape->result_in = room_take(room, images, shape->result_image);
}

/* What workers of a group share: the routing of tokens as bits (ep/low/rank.h), and numbers of sources (expand.h). */
static size_t group_bytes(const struct ep_shape *shape)
{
    size_t words = ((size_t)shape->tokens + 31) / 32, n = (size_t)shape->n;
    size_t rows = (size_t)shape->experts + (size_t)shape->near + (size_t)shape->far;
    size_t bytes = ep_align(rows * words * (sizeof(uint32_t) + sizeof(uint16_t)), 16);

    bytes += ep_align((size_t)shape->tokens * shape->topk * 2 * sizeof(uint16_t), 16);
    return bytes + ep_align(((n + 1) * (size_t)shape->mine + 4 * n) * sizeof(int32_t), 16);
}

static void fill_low(struct ep_shape *shape, int masks)
{
    int results = masks ? shape->near * shape->topk : most_of(shape->near, shape->topk);

    shape->masks = masks;
    shape->by_topk = ep_divisor(shape->topk);
    shape->low_workers = shape->device ? EP_LOW_WORKERS : ep_host_workers();
    shape->units = ep_low_units(shape);
    shape->pieces = 1;
    while (shape->pieces < (shape->units + 1) / 2)
        shape->pieces *= 2;
    shape->low_sources = shape->one_copy ? shape->n : shape->near;
    shape->low_head = ep_align(shape->low_meta + shape->scales, 128);
    shape->low_slot = ep_align(shape->low_head + shape->row, 128);
    shape->low_results = (size_t)results * shape->tokens; /* with masks apart by PE */
    shape->group = group_bytes(shape);
}

/* That near PEs push here: for this PE's tokens, and for the records of each far peer that this PE answers. */
static size_t result_rows(const struct ep_shape *shape)
{
    return shape->low_results * (shape->one_copy ? 1 + (size_t)shape->far : 1);
}

/* What near PEs write here: words and flags, which begin as zeros, and then rows. */
static void lay_out_flags(struct ep_shape *shape, struct room *room, int parity)
{
    size_t n = (size_t)shape->n, tokens = (size_t)shape->tokens, pieces = (size_t)shape->pieces;
    size_t flags = (size_t)shape->low_sources * tokens * (pieces + 1);

    shape->low_words[parity] = room_take(room, n * ((size_t)shape->mine + 1), sizeof(uint64_t));
    shape->low_begun[parity] = room_take(room, (size_t)shape->near, sizeof(uint64_t));
    shape->low_flags[parity] = room_take(room, flags, sizeof(uint64_t));
    shape->low_sum_flags[parity] = room_take(room, result_rows(shape) * pieces, sizeof(uint64_t));
    shape->low_weights[parity] = room_take(room, n * tokens * shape->topk, sizeof(uint64_t));
}

static void lay_out_rows(struct ep_shape *shape, struct room *room, int parity)
{
    shape->low_slots[parity] = room_take(room, (size_t)shape->low_sources * shape->tokens, shape->low_slot);
    shape->low_sums[parity] = room_take(room, result_rows(shape), (size_t)shape->hidden * 2);
}

/* What this PE alone uses during a call. */
static void lay_out_work(struct ep_shape *shape, struct room *room)
{
    size_t n = (size_t)shape->n, far = (size_t)shape->far, near = (size_t)shape->near;

    shape->part_rows = room_take(room, far * ep_parts(shape, shape->tokens), sizeof(int32_t));
    if (n <= EP_SHARES_PES)
        shape->shares = room_take(room, EP_SHARES * n, sizeof(int32_t));
    if (shape->pulls)
        shape->expert_shares = room_take(room, EP_SHARES * (size_t)shape->experts, sizeof(int32_t));
    shape->in_counts = room_take(room, n * shape->counted, sizeof(int32_t));
    shape->in_tokens = room_take(room, n, sizeof(int32_t));
    shape->in_parts = room_take(room, n, sizeof(int32_t));
    shape->in_rows = room_take(room, n, sizeof(int32_t));
    shape->in_sent = room_take(room, n * n, sizeof(int32_t));
    shape->in_total = room_take(room, shape->pulls ? 0 : n, sizeof(int32_t));
    shape->near_first = room_take(room, (1 + far) * near, sizeof(int32_t));
    shape->near_y = room_take(room, near, sizeof(struct ep_near_y));
}

static void lay_out_counters(struct ep_shape *shape, struct room *room)
{
    int between = shape->one_copy ? shape->near * shape->far : 0;

    if (shape->pulls)
        return;
    shape->c_far = room_count(room, shape->far * shape->slots);
    shape->c_credit = room_count(room, shape->far);
    shape->c_forward = room_count(room, between);
    shape->c_taken = room_count(room, between);
    shape->c_result = room_count(room, shape->far * shape->slots);
    shape->c_result_credit = room_count(room, shape->far);
    shape->counters = room->counters;
}

/* Of one with far peers: a part and its results each way, and weights that come late. */
static void place_far(struct ep_shape *shape, struct room *room)
{
    lay_out_images(shape, room);
    lay_out_weights(shape, room);
    shape->far_metas = room_take(room, (size_t)shape->far * shape->tokens, shape->low_meta);
    shape->c_far = room_count(room, shape->far * shape->slots);
    shape->c_result = room_count(room, shape->far * shape->slots);
    shape->c_weights = room_count(room, shape->far);
    shape->counters = room->counters;
}

/* Of an instance that pushes. */
static void lay_out_pushed(struct ep_shape *shape, struct room *room, int masks)
{
    fill_low(shape, masks);
    for (int parity = 0; parity < 2; parity++)
        lay_out_flags(shape, room, parity);
    shape->zeros = room->bytes;
    for (int parity = 0; parity < 2; parity++)
        lay_out_rows(shape, room, parity);
    if (shape->far)
        place_far(shape, room);
    shape->handle = room->bytes;
    shape->kept =
        ep_align(ep_low_kept_records(shape, 0) + shape->far * sizeof(int32_t) - shape->handle, EP_ALIGN);
}

/* What near PEs write here, which begins as zeros. */
static void lay_out_ready(struct ep_shape *shape, struct room *room, int parity)
{
    size_t near = (size_t)shape->near, back = (size_t)ep_flags_back(shape);

    shape->near_words[parity] = room_take(room, near * ((size_t)shape->counted + 1 + near), sizeof(uint64_t));
    shape->near_begun[parity] = room_take(room, near, sizeof(uint64_t));
    shape->near_ready[parity] = room_take(room, near * (size_t)shape->chunks, sizeof(uint64_t));
    shape->near_back[parity] = room_take(room, near * back, sizeof(uint64_t));
}

/* Of one whose near PEs pull. */
static void lay_out_pulled(struct ep_shape *shape, struct room *room)
{
    for (int parity = 0; parity < 2; parity++)
        lay_out_ready(shape, room, parity);
    shape->zeros = room->bytes;
    for (int parity = 0; parity < 2; parity++)
        lay_out_store(shape, room, parity);
    lay_out_images(shape, room);
    lay_out_work(shape, room);
    lay_out_counters(shape, room);
    shape->handle = room->bytes;
    shape->kept = ep_align(ep_kept_far_metas(shape, 0, shape->far) - shape->handle, EP_ALIGN);
}

void ep_shape_fill(struct ep_shape *shape, const shmemx_ep_config_t *config, int me, int n, int near)
{
    struct room room = {0, 0};

    memset(shape, 0, sizeof *shape);
    shape->n = n;
    shape->near = near;
    shape->me = me;
    shape->host = me / near;
    shape->local = me % near;
    fill_numbers(shape, config);
    fill_sizes(shape, config);
    if (shape->pushes)
        lay_out_pushed(shape, &room, config->masks);
    else
        lay_out_pulled(shape, &room);
    room_take(&room, (size_t)shape->handles, shape->kept);
    shape->bytes = room.bytes + (config->masks && !config->device ? ep_masks_arena(shape) : 0);
}

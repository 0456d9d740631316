/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows expert by expert (ep/steps/places.h), by one warp: a row is loaded once and stored at each of its places. */
#ifndef WSH_EP_DEVICE_PLACES_CUH
#define WSH_EP_DEVICE_PLACES_CUH

#include "ep/device/run.cuh"

/* Units of this lane from `at` on, as ep_copy_rest loads them, to each address of a lane in `has`. */
EP_STEP void ep_spread_rest(uint64_t mine, unsigned has, const uint4 *from, unsigned at, unsigned units)
{
    uint4 held[EP_DEPTH];

#pragma unroll
    for (unsigned u = 0; u < EP_DEPTH; u++)
        held[u] = at + u * EP_LANES < units ? __ldcg(from + at + u * EP_LANES) : make_uint4(0, 0, 0, 0);
    ep_store_to_each<EP_DEPTH>(mine, has, held, at, units);
}

EP_STEP void ep_spread_units(uint64_t mine, unsigned has, const uint4 *from, unsigned units)
{
    enum { ROUND = EP_DEPTH * EP_LANES };
    unsigned lane = ep_lane(), whole = units / ROUND * ROUND;

#pragma unroll 1
    for (unsigned first = 0; first < whole; first += ROUND) {
        uint4 held[EP_DEPTH];

#pragma unroll
        for (unsigned u = 0; u < EP_DEPTH; u++)
            held[u] = __ldcg(from + first + lane + u * EP_LANES);
        ep_store_to_each<EP_DEPTH>(mine, has, held, first + lane, units);
    }
    if (whole < units)
        ep_spread_rest(mine, has, from, whole + lane, units);
}

/* Of the scales of a row that goes to places `to` of lanes in `has`: EP_HELD of each lane from number `first` on. */
struct ep_spread_scales {
    const float *from;
    int first, n;
    float held[2];
};

EP_STEP struct ep_spread_scales ep_spread_load(const float *from, int first, int n)
{
    struct ep_spread_scales scales = {from, first, n, {0, 0}};

#pragma unroll
    for (int i = 0; i < 2; i++)
        if (first + (int)ep_lane() + i * EP_LANES < n)
            scales.held[i] = __ldcg(from + first + ep_lane() + i * EP_LANES);
    return scales;
}

EP_STEP void ep_spread_store(const struct ep_run *run, const struct ep_spread_scales &scales, int to, unsigned has)
{
    const shmemx_ep_rows_expanded_t *expanded = ep_expanded(run);
    int64_t row_step = expanded->scales_row_step, column_step = expanded->scales_column_step;

    if (!row_step) {
        row_step = scales.n;
        column_step = 1;
    }
    for (; has; has &= has - 1) {
        float *row = expanded->row_scales + ep_of_lane(to, __ffs((int)has) - 1) * row_step;

#pragma unroll
        for (int i = 0; i < 2; i++) {
            int at = scales.first + (int)ep_lane() + i * EP_LANES;

            if (at < scales.n)
                row[at * column_step] = scales.held[i];
        }
    }
}

/* Token i of a chunk. Its first scales are loaded before the row. */
EP_STEP void ep_spread_row(const struct ep_run *run, const char *from, const float *scales,
                           const struct ep_chunk_rows *rows, int i)
{
    const shmemx_ep_rows_expanded_t *expanded = ep_expanded(run);
    int topk = run->shape.topk, lane = (int)ep_lane(), n = (int)(run->shape.scales / sizeof(float));
    int held = ep_held_of(rows->place, i * topk + (lane < topk ? lane : 0)), to = lane < topk ? held : -1;
    unsigned has = __ballot_sync(EP_ALL_LANES, to >= 0);
    size_t bytes = run->shape.row;
    uint64_t mine = to < 0 ? 0 : (uint64_t)((char *)expanded->rows + to * bytes);
    struct ep_spread_scales some;

    if (!has)
        return;
    some = ep_spread_load(scales, 0, n);
    if ((((uint64_t)expanded->rows | (uint64_t)from | bytes) & 15) == 0)
        ep_spread_units(mine, has, (const uint4 *)from, (unsigned)(bytes / 16));
    else
        ep_scatter_lanes(from, bytes, mine);
    ep_spread_store(run, some, to, has);
#pragma unroll 1
    for (int first = 2 * EP_LANES; first < n; first += 2 * EP_LANES)
        ep_spread_store(run, ep_spread_load(scales, first, n), to, has);
}

/* Zeros in place of a row. */
EP_STEP void ep_blank_row(const struct ep_run *run, int row)
{
    const shmemx_ep_rows_expanded_t *expanded = ep_expanded(run);
    char *to = (char *)expanded->rows + row * run->shape.row;
    unsigned words = (unsigned)(run->shape.row / 4), lane = ep_lane();
    struct ep_spread_scales none = {NULL, 0, (int)(run->shape.scales / sizeof(float)), {0, 0}};

    if (((uint64_t)expanded->rows & 15) == 0) /* rows are multiples of 128 bytes */
        for (unsigned at = lane; at < words / 4; at += EP_LANES)
            ((uint4 *)to)[at] = make_uint4(0, 0, 0, 0);
    else
        for (unsigned at = lane; at < words; at += EP_LANES)
            ((unsigned *)to)[at] = 0;
    for (; none.first < none.n; none.first += 2 * EP_LANES)
        ep_spread_store(run, none, row, 1);
}

/* What a chunk's choices say, of tokens that have a row here: places, and the numbers of expanded rows. */
EP_STEP void ep_chunk_places(const struct ep_run *run, const struct ep_call *call, const struct ep_chunk *chunk,
                             const struct ep_chunk_entries *entries, struct ep_chunk_rows *rows)
{
    const struct ep_shape *shape = &run->shape;

    if (!ep_expanded(run))
        return;
#pragma unroll
    for (int i = 0; i < EP_HELD; i++) {
        int k, token = ep_held_token(run, i, &k), row = __shfl_sync(EP_ALL_LANES, rows->row, token % EP_LANES);
        const struct ep_entry *entry = &entries->held[i];

        rows->place[i] = -1;
        if (token >= chunk->n || row < 0)
            continue;
        rows->place[i] = ep_place_of(run, call, chunk->pe, entry->expert, entry->row);
        if (ep_expanded(run)->places)
            ep_expanded(run)->places[(int64_t)row * shape->topk + k] = rows->place[i];
        if (rows->place[i] >= 0)
            ep_place_out(run, rows->place[i], row, entry->expert - shape->me * shape->mine, entry->weight);
    }
}

#endif

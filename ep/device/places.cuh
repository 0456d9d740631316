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

/* Where expanded rows lie: what a loop keeps of it in registers. */
struct ep_spread_to {
    char *rows;
    float *scales;
    int64_t row_step, column_step;
    size_t bytes;
    int n; /* scales of a row */
};

EP_STEP struct ep_spread_to ep_spread_to(const struct ep_run *run)
{
    const shmemx_ep_rows_expanded_t *expanded = ep_expanded(run);
    struct ep_spread_to to = {(char *)expanded->rows, expanded->row_scales, expanded->scales_row_step,
                              expanded->scales_column_step, run->shape.row, (int)(run->shape.scales / sizeof(float))};

    if (!to.row_step) {
        to.row_step = to.n;
        to.column_step = 1;
    }
    return to;
}

/* Of the scales of a row that goes to places of lanes in `has`: EP_HELD of each lane from number `first` on. */
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

EP_STEP void ep_spread_store(const struct ep_spread_to &to, const struct ep_spread_scales &scales, int place,
                             unsigned has)
{
    for (; has; has &= has - 1) {
        float *row = to.scales + ep_of_lane(place, __ffs((int)has) - 1) * to.row_step;

#pragma unroll
        for (int i = 0; i < 2; i++) {
            int at = scales.first + (int)ep_lane() + i * EP_LANES;

            if (at < scales.n)
                row[at * to.column_step] = scales.held[i];
        }
    }
}

/* A row to the places of lanes that have one. Its first scales are loaded before it. */
EP_STEP void ep_spread_row(const struct ep_spread_to &to, const char *from, const float *scales, int place)
{
    unsigned has = __ballot_sync(EP_ALL_LANES, place >= 0);
    uint64_t mine = place < 0 ? 0 : (uint64_t)(to.rows + place * to.bytes);
    struct ep_spread_scales some;

    if (!has)
        return;
    some = ep_spread_load(scales, 0, to.n);
    if ((((uint64_t)to.rows | (uint64_t)from | to.bytes) & 15) == 0)
        ep_spread_units(mine, has, (const uint4 *)from, (unsigned)(to.bytes / 16));
    else
        for (unsigned left = has; left; left &= left - 1)
            ep_copy_words((unsigned *)__shfl_sync(EP_ALL_LANES, mine, __ffs((int)left) - 1), (const unsigned *)from,
                          (unsigned)(to.bytes / 4));
    ep_spread_store(to, some, place, has);
#pragma unroll 1
    for (int first = 2 * EP_LANES; first < to.n; first += 2 * EP_LANES)
        ep_spread_store(to, ep_spread_load(scales, first, to.n), place, has);
}

/* n rows, whose places lanes have. Out of line, as ep_sum_held. */
EP_LOOP void ep_spread_held(struct ep_spread_to to, const char *from, const float *scales, struct ep_chunk_rows rows,
                            int topk, int n)
{
    int lane = (int)ep_lane();

#pragma unroll 1
    for (int i = 0; i < n; i++, from += to.bytes, scales += to.n) {
        int held = ep_held_of(rows.place, i * topk + (lane < topk ? lane : 0));

        ep_spread_row(to, from, scales, lane < topk ? held : -1);
    }
}

/* A chunk's rows, n of them. */
EP_STEP void ep_spread_rows(const struct ep_run *run, const char *from, const float *scales,
                            const struct ep_chunk_rows *rows, int n)
{
    ep_spread_held(ep_spread_to(run), from, scales, *rows, run->shape.topk, n);
}

/* Zeros in place of a row. */
EP_STEP void ep_blank_row(const struct ep_run *run, int row)
{
    const shmemx_ep_rows_expanded_t *expanded = ep_expanded(run);
    char *to = (char *)expanded->rows + row * run->shape.row;
    unsigned words = (unsigned)(run->shape.row / 4), lane = ep_lane();
    struct ep_spread_to scales = ep_spread_to(run);
    struct ep_spread_scales none = {NULL, 0, scales.n, {0, 0}};

    if (((uint64_t)expanded->rows & 15) == 0) /* rows are multiples of 128 bytes */
        for (unsigned at = lane; at < words / 4; at += EP_LANES)
            ((uint4 *)to)[at] = make_uint4(0, 0, 0, 0);
    else
        for (unsigned at = lane; at < words; at += EP_LANES)
            ((unsigned *)to)[at] = 0;
    for (; none.first < none.n; none.first += 2 * EP_LANES)
        ep_spread_store(scales, none, row, 1);
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

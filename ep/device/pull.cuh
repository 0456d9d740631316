/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chunks of high throughput (ep/steps/pull.h), by one warp: its lanes hold what is known of the choices of
 * a chunk's tokens, so that all of it is loaded at once.
 */
#ifndef WSH_EP_DEVICE_PULL_CUH
#define WSH_EP_DEVICE_PULL_CUH

#include "ep/device/publish.cuh"
#include "ep/device/run.cuh"

enum { EP_HELD = EP_CHUNK * EP_TOPK_MAX / EP_LANES }; /* entries of a lane: number lane + i * EP_LANES */

struct ep_chunk_entries {
    struct ep_entry held[EP_HELD];
};

/* Lane i has the row of token i, here; -1: none. Expanded: of each entry its place. */
struct ep_chunk_rows {
    int row;
    EP_EXPANDING(int place[EP_HELD];)
};

/* Of each entry the row to add, or NULL. */
struct ep_chunk_terms {
    const char *row[EP_HELD];
};

/* As ep_last, at another point of a call. */
EP_STEP int ep_met(const struct ep_run *run)
{
    return ep_grid_last(run->state->arrived + EP_ARRIVED_MET);
}

/* The number of this call's next item. */
EP_STEP int ep_turn(const struct ep_run *run)
{
    int number = 0;

    if (ep_lane() == 0)
        number = (int)atomicAdd(&run->state->turn, 1u);
    return ep_of_lane(number, 0);
}

/* All of a block: true in the first of the call that asks. */
EP_STEP int ep_tells(const struct ep_run *run)
{
    return __syncthreads_or(threadIdx.x == 0 && atomicExch(&run->state->told, 1u) == 0);
}

/* Of which token of the chunk this lane's entry i is; those beyond are of none. */
EP_STEP int ep_held_token(const struct ep_run *run, int i, int *k)
{
    int number = (int)ep_lane() + i * EP_LANES;

    *k = number % run->shape.topk;
    return number / run->shape.topk;
}

EP_STEP struct ep_chunk_entries ep_chunk_load(const struct ep_run *run, const struct ep_chunk *chunk)
{
    struct ep_chunk_entries entries;

#pragma unroll
    for (int i = 0; i < EP_HELD; i++) {
        int k, token = ep_held_token(run, i, &k);
        uint4 words = make_uint4(0xffffffffu, 0, 0, 0);

        if (token < chunk->n)
            words = __ldcg((const uint4 *)&ep_meta_at(run, chunk->metas, chunk->token + token)->entry[k]);
        entries.held[i].expert = (int)words.x;
        entries.held[i].offset = (int)words.y;
        entries.held[i].row = (int)words.z;
        entries.held[i].weight = wsh_ep_float(words.w);
    }
    return entries;
}

/* Metas as they are in the chunk. */
EP_STEP void ep_chunk_keep(const struct ep_run *run, const struct ep_chunk *chunk,
                           const struct ep_chunk_entries *entries, char *metas)
{
#pragma unroll
    for (int i = 0; i < EP_HELD; i++) {
        int k, token = ep_held_token(run, i, &k);
        struct ep_meta *meta = ep_meta_at(run, metas, chunk->token + token);

        if (token >= chunk->n)
            continue;
        meta->entry[k] = entries->held[i];
        if (k == 0) {
            meta->token = chunk->token + token;
            meta->part = 0;
        }
    }
}

/* Bits of a token's entries, of those of the chunk. */
EP_STEP unsigned ep_held_bits(const struct ep_run *run, uint64_t of_chunk, int token)
{
    return (unsigned)(of_chunk >> token * run->shape.topk) & ((1u << run->shape.topk) - 1);
}

/* What lane and place of entry `number` hold. */
template <class T> EP_STEP T ep_held_of(const T (&values)[EP_HELD], int number)
{
    T low = __shfl_sync(EP_ALL_LANES, values[0], number % EP_LANES);
    T high = __shfl_sync(EP_ALL_LANES, values[1], number % EP_LANES);

    return number < EP_LANES ? low : high;
}

/* What a lane's entries say to the caller, of tokens that have a row here. */
EP_STEP void ep_chunk_out(const struct ep_run *run, const shmemx_ep_dispatch_t *args, const struct ep_chunk *chunk,
                          const struct ep_chunk_entries *entries, int rows)
{
    const struct ep_shape *shape = &run->shape;

#pragma unroll
    for (int i = 0; i < EP_HELD; i++) {
        int k, token = ep_held_token(run, i, &k), row = __shfl_sync(EP_ALL_LANES, rows, token % EP_LANES);
        int local = entries->held[i].expert - shape->me * shape->mine;
        bool here = (unsigned)local < (unsigned)shape->mine;

        if (token >= chunk->n || row < 0)
            continue;
        if (args->row_topk)
            ep_store_choice(run, args->row_topk, (int64_t)row * shape->topk + k, here ? local : -1);
        if (args->row_weights)
            args->row_weights[(int64_t)row * shape->topk + k] = here ? entries->held[i].weight : 0.0f;
        if (args->row_sources && k == 0)
            args->row_sources[row] = chunk->token + token;
    }
}

#ifdef EP_EXPANDS
#include "ep/device/places.cuh"
#endif

/* Where the rows belong; tells the caller what it wants to know of them. */
EP_STEP struct ep_chunk_rows ep_chunk_find(const struct ep_run *run, const struct ep_call *call,
                                           const shmemx_ep_dispatch_t *args, const struct ep_chunk *chunk,
                                           const struct ep_chunk_entries *entries)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_chunk_rows rows = {-1};
    int offsets[EP_HELD];
    uint64_t here = 0;

#pragma unroll
    for (int i = 0; i < EP_HELD; i++) {
        int expert = entries->held[i].expert;

        offsets[i] = entries->held[i].offset;
        here |= (uint64_t)__ballot_sync(EP_ALL_LANES, (unsigned)(expert - shape->me * shape->mine) <
                                                          (unsigned)shape->mine)
                << i * EP_LANES;
        if (expert < -1 || expert >= shape->experts || (expert >= 0 && offsets[i] < 0))
            ep_fault_numbers(run, chunk->pe, call, 0);
    }
#pragma unroll
    for (int token = 0; token < EP_CHUNK; token++) {
        unsigned bits = ep_held_bits(run, here, token);
        int offset = ep_held_of(offsets, token * shape->topk + __ffs((int)(bits | 1u << (shape->topk - 1))) - 1);
        unsigned row = (unsigned)chunk->first + (unsigned)offset;

        if ((int)ep_lane() == token && bits && row < (unsigned)shape->capacity)
            rows.row = (int)row;
    }
    ep_chunk_out(run, args, chunk, entries, rows.row);
    EP_EXPANDING(ep_chunk_places(run, call, chunk, entries, &rows);)
    return rows;
}

EP_STEP int ep_chunk_row(const struct ep_chunk_rows *rows, int i)
{
    return ep_of_lane(rows->row, i);
}

/* Of an entry that is added: its row; and its flag, or NULL. */
struct ep_added_row {
    const char *row;
    const uint64_t *flag;
    int near;
};

/* What an entry is one of: a near PE's number, or n + a far peer's, that brings a row for it; -1: nothing is added. */
EP_STEP int ep_added_by(const struct ep_run *run, const struct ep_adds *adds, int expert)
{
    const struct ep_shape *shape = &run->shape;
    int pe = ep_entry_pe(run, expert);

    if (!ep_pulls_far(run) || pe < 0)
        return pe;
    if (!ep_pe_is_near(shape, pe))
        return adds->results ? shape->n + ep_far_of(shape, pe) : -1;
    return adds->only >= 0 && pe % shape->near != adds->only ? -1 : pe;
}

EP_STEP struct ep_added_row ep_added_row(const struct ep_run *run, const struct ep_call *call,
                                         const struct ep_adds *adds, int pe, const struct ep_entry *entry)
{
    const struct ep_shape *shape = &run->shape;
    int l = ep_pulls_far(run) ? pe % shape->near : pe, offset = entry->offset;
    struct ep_added_row added = {NULL, NULL, l};
    const struct ep_near_y *y = (const struct ep_near_y *)ep_at(run, shape->near_y) + l;
    unsigned row;

    if (ep_pulls_far(run) && pe >= shape->n) {
        added.row = ep_far_term(run, adds, pe - shape->n, entry->row);
        return added;
    }
    row = (unsigned)ep_adds_first(run, adds)[l] + (unsigned)offset;
    if ((unsigned)offset >= (unsigned)shape->tokens || row >= (unsigned)shape->capacity)
        return added;
    added.row = ep_near_base(run, l) + y->y + (size_t)row * shape->hidden * 2;
    if (y->flagged) {
        struct ep_flagged flagged = {shape->near_back[call->parity], ep_flags_back(shape), offset, l};

        flagged.chunk /= y->flagged == EP_CHUNK ? EP_CHUNK : 1;
        if (ep_pulls_far(run))
            flagged.chunk = ep_back_chunk(run, ep_adds_pe(run, adds), flagged.chunk);
        added.flag = ep_chunk_flag(run->arena, &flagged, l);
    }
    return added;
}

/* Whether an entry of the same token before this one is of the same PE. */
EP_STEP bool ep_held_again(const struct ep_run *run, const int (&pes)[EP_HELD], int i, int k)
{
    bool again = false;

#pragma unroll 1
    for (int back = 1; back < run->shape.topk; back++) {
        int number = (int)ep_lane() + i * EP_LANES - back, at = number < 0 ? 0 : number;
        int other = ep_held_of(pes, at);

        again = again || (back <= k && other == pes[i]);
    }
    return again;
}

EP_STEP const uint64_t *ep_added_flag(const struct ep_run *, const void *arg, int, int *near)
{
    const struct ep_added_row *added = (const struct ep_added_row *)arg;

    *near = added->near;
    return added->flag;
}

/* The rows of a chunk's tokens, when they are there. */
EP_STEP struct ep_chunk_terms ep_terms_of(const struct ep_run *run, const struct ep_call *call,
                                          const struct ep_chunk *chunk, const struct ep_adds *adds)
{
    struct ep_chunk_entries entries = ep_chunk_load(run, chunk);
    struct ep_chunk_terms terms;
    int pes[EP_HELD];

#pragma unroll
    for (int i = 0; i < EP_HELD; i++)
        pes[i] = ep_added_by(run, adds, entries.held[i].expert);
#pragma unroll
    for (int i = 0; i < EP_HELD; i++) {
        struct ep_added_row added = {NULL, NULL, 0};
        int k, token = ep_held_token(run, i, &k);

        if (i * EP_LANES < EP_CHUNK * run->shape.topk) {
            bool again = ep_held_again(run, pes, i, k);

            if (token < chunk->n && pes[i] >= 0 && !again)
                added = ep_added_row(run, call, adds, pes[i], &entries.held[i]);
            ep_flags_await(run, EP_PHASE_RESULTS, EP_LANES, ep_added_flag, &added, (uint64_t)call->number);
        }
        terms.row[i] = added.row;
    }
    return terms;
}

EP_STEP void ep_plain_add(float (&sum)[EP_SUM_COLUMNS], uint4 columns)
{
    unsigned words[4] = {columns.x, columns.y, columns.z, columns.w};

#pragma unroll
    for (int i = 0; i < EP_SUM_COLUMNS; i++)
        sum[i] = wsh_ep_add(sum[i], wsh_ep_float(i % 2 ? words[i / 2] & 0xffff0000u : words[i / 2] << 16));
}

/* Chunks [chunk, end) of the sum of ROWS rows at most, those that lanes `has` have, in their order. */
template <int ROWS, int CHUNKS>
EP_STEP void ep_plain_sum(uint4 *out, uint64_t mine, unsigned has, int chunk, int end, int units)
{
    const uint4 *rows[ROWS];
    int n = __popc(has);

#pragma unroll
    for (int r = 0; r < ROWS; r++, has &= has - 1)
        rows[r] = (const uint4 *)__shfl_sync(EP_ALL_LANES, mine, has ? __ffs((int)has) - 1 : 0);
#pragma unroll 1
    for (int unit = chunk * EP_LANES + (int)ep_lane(); chunk < end; chunk += CHUNKS, unit += CHUNKS * EP_LANES) {
        float sum[CHUNKS][EP_SUM_COLUMNS] = {};
        uint4 held[ROWS][CHUNKS];

#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int c = 0; c < CHUNKS; c++)
                held[r][c] = r < n && unit + c * EP_LANES < units ? __ldcg(rows[r] + unit + c * EP_LANES)
                                                                 : make_uint4(0, 0, 0, 0);
#pragma unroll
        for (int c = 0; c < CHUNKS; c++) {
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                if (r < n)
                    ep_plain_add(sum[c], held[r][c]);
            if (unit + c * EP_LANES < units)
                out[unit + c * EP_LANES] = ep_sum_round(sum[c]);
        }
    }
}

/* The same of any number of rows. */
EP_STEP void ep_plain_sum_many(uint4 *out, uint64_t mine, unsigned has, int chunk, int end, int units)
{
    enum { ROWS = 4 };

#pragma unroll 1
    for (int unit = chunk * EP_LANES + (int)ep_lane(); chunk < end; chunk++, unit += EP_LANES) {
        float sum[EP_SUM_COLUMNS] = {};

#pragma unroll 1
        for (unsigned left = has; left;) {
            uint4 held[ROWS];
            int n = __popc(left);

#pragma unroll
            for (int r = 0; r < ROWS; r++, left &= left - 1) {
                const uint4 *row = (const uint4 *)__shfl_sync(EP_ALL_LANES, mine, left ? __ffs((int)left) - 1 : 0);

                held[r] = r < n && unit < units ? __ldcg(row + unit) : make_uint4(0, 0, 0, 0);
            }
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                if (r < n)
                    ep_plain_add(sum, held[r]);
        }
        if (unit < units)
            out[unit] = ep_sum_round(sum);
    }
}

/*
 * Chunks [first, end) of the sums of n tokens, rows of `units` each, whose terms lanes have. With few of them more
 * chunks are in flight; MORE: of rows of this GPU, where no other PE has it. Over links 14 instead of 10 loads a lane
 * took 4 % longer. Out of line: callers have registers that it would put into local memory.
 */
template <bool MORE>
EP_LOOP void ep_sum_held(uint4 *out, struct ep_chunk_terms terms, int topk, int n, int first, int end, int units)
{
    uint64_t rows[EP_HELD] = {(uint64_t)terms.row[0], (uint64_t)terms.row[1]};
    int lane = (int)ep_lane(), most = end * EP_LANES < units ? end * EP_LANES : units;

#pragma unroll 1
    for (int i = 0; i < n; i++, out += units) {
        uint64_t row = ep_held_of(rows, i * topk + (lane < topk ? lane : 0)), mine = lane < topk ? row : 0;
        unsigned has = __ballot_sync(EP_ALL_LANES, mine != 0);

        if (__popc(has) <= 2)
            ep_plain_sum<2, MORE ? 7 : 5>(out, mine, has, first, end, most);
        else if (__popc(has) <= 4)
            ep_plain_sum<4, MORE ? 4 : 3>(out, mine, has, first, end, most);
        else if (__popc(has) <= 8)
            ep_plain_sum<8, MORE ? 2 : 1>(out, mine, has, first, end, most);
        else
            ep_plain_sum_many(out, mine, has, first, end, most);
    }
}

template <bool MORE = false>
EP_STEP void ep_sum_chunk(const struct ep_run *run, void *out, int piece, int pieces,
                          const struct ep_chunk_terms *terms, int n)
{
    int units = run->shape.hidden / EP_SUM_COLUMNS, chunks = (units + EP_LANES - 1) / EP_LANES;
    int each = (chunks + pieces - 1) / pieces, first = piece * each;
    int end = first + each < chunks ? first + each : chunks;

    ep_sum_held<MORE>((uint4 *)out, *terms, run->shape.topk, n, first, end, units);
}

#ifdef EP_EXPANDS
/* Of n received rows, a chunk at most, the sums of their expanded ones, in the order of choices. */
EP_STEP void ep_fold_rows(const struct ep_run *run, const shmemx_ep_combine_t *args, void *out, int row, int n)
{
    const int32_t *places = ep_places(args) + (int64_t)row * run->shape.topk;
    struct ep_chunk_terms terms;

#pragma unroll
    for (int i = 0; i < EP_HELD; i++) {
        int k, place = ep_held_token(run, i, &k) < n ? places[(int)ep_lane() + i * EP_LANES] : -1;

        terms.row[i] = place < 0 ? NULL : (const char *)args->y + (int64_t)place * run->shape.hidden * 2;
    }
    if (ep_alone(run))
        ep_sum_chunk<true>(run, out, 0, 1, &terms, n);
    else
        ep_sum_chunk(run, out, 0, 1, &terms, n);
}
#endif

#endif

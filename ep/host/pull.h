/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks of high throughput (ep/steps/pull.h), by one CPU thread. */
#ifndef WSH_EP_HOST_PULL_H
#define WSH_EP_HOST_PULL_H

#include "ep/steps/places.h"

/* What is known of a chunk's tokens: it is read where it lies. */
struct ep_chunk_entries {
    char *metas;
};

struct ep_chunk_rows {
    int row[EP_CHUNK];                /* here, of each token; -1: none */
    int place[EP_CHUNK][EP_TOPK_MAX]; /* expanded, of each choice */
};

struct ep_chunk_terms {
    struct ep_term term[EP_CHUNK][EP_TOPK_MAX];
};

/* The number of this call's next item. */
EP_STEP int ep_turn(const struct ep_run *run)
{
    return (int)run->state->turn++;
}

EP_STEP int ep_tells(const struct ep_run *run)
{
    (void)run;
    return 1;
}

EP_STEP struct ep_chunk_entries ep_chunk_load(const struct ep_run *run, const struct ep_chunk *chunk)
{
    struct ep_chunk_entries entries = {chunk->metas};

    (void)run;
    return entries;
}

/* Metas as they are in the chunk. */
EP_STEP void ep_chunk_keep(const struct ep_run *run, const struct ep_chunk *chunk,
                           const struct ep_chunk_entries *entries, char *metas)
{
    memcpy(ep_meta_at(run, metas, chunk->token), ep_meta_at(run, entries->metas, chunk->token),
           chunk->n * run->shape.meta);
}

/* What a token's choices say that has a row here: places, and the numbers of expanded rows. */
EP_STEP void ep_chunk_places(const struct ep_run *run, const struct ep_call *call,
                             const struct ep_chunk *chunk, const struct ep_meta *meta, int row, int *places)
{
    const struct ep_shape *shape = &run->shape;

    for (int k = 0; k < shape->topk; k++) {
        const struct ep_entry *entry = &meta->entry[k];

        places[k] = row < 0 ? -1 : ep_place_of(run, call, chunk->pe, entry->expert, entry->row);
        if (row >= 0 && ep_expanded(run)->places)
            ep_expanded(run)->places[(size_t)row * shape->topk + k] = places[k];
        if (places[k] >= 0)
            ep_place_out(run, places[k], row, entry->expert - shape->me * shape->mine, entry->weight);
    }
}

EP_STEP void ep_place_scales(const struct ep_run *run, const float *scales, int place)
{
    const shmemx_ep_rows_expanded_t *expanded = ep_expanded(run);
    int64_t row = expanded->scales_row_step, column = expanded->scales_column_step;
    int n = (int)(run->shape.scales / sizeof(float));

    for (int i = 0; i < n; i++)
        expanded->row_scales[row ? place * row + i * column : (int64_t)place * n + i] =
            scales ? scales[i] : 0.0f;
}

/* A chunk's rows, n of them, each to all of its places. */
EP_STEP void ep_spread_rows(const struct ep_run *run, const char *from, const float *scales,
                            const struct ep_chunk_rows *rows, int n)
{
    size_t bytes = run->shape.row, n_scales = run->shape.scales / sizeof *scales;

    for (int i = 0; i < n * run->shape.topk; i++) {
        int row = i / run->shape.topk, place = rows->place[row][i % run->shape.topk];

        if (place < 0)
            continue;
        memcpy((char *)ep_expanded(run)->rows + (size_t)place * bytes, from + (size_t)row * bytes, bytes);
        ep_place_scales(run, scales + (size_t)row * n_scales, place);
    }
}

/* Zeros in place of a row. */
EP_STEP void ep_blank_row(const struct ep_run *run, int row)
{
    memset((char *)ep_expanded(run)->rows + row * run->shape.row, 0, run->shape.row);
    ep_place_scales(run, NULL, row);
}

EP_STEP struct ep_chunk_rows ep_chunk_find(const struct ep_run *run, const struct ep_call *call,
                                           const shmemx_ep_dispatch_t *args, const struct ep_chunk *chunk,
                                           const struct ep_chunk_entries *entries)
{
    struct ep_chunk_rows rows;

    for (int i = 0; i < chunk->n; i++) {
        const struct ep_meta *meta = ep_meta_at(run, entries->metas, chunk->token + i);
        struct ep_taken taken = {meta, &chunk->first, NULL, 0};

        rows.row[i] = -1;
        ep_check_meta(run, call, meta, chunk->pe);
        for (int k = 0; k < run->shape.topk; k++)
            if (ep_entry_mine(run, meta, k))
                rows.row[i] = (int)ep_entry_row(run, meta, k, taken.first);
        if (rows.row[i] >= 0 && args->row_sources)
            args->row_sources[rows.row[i]] = chunk->token + i;
        if (args->row_topk || args->row_weights)
            ep_take_topk(run, args, &taken);
        if (ep_expanded(run))
            ep_chunk_places(run, call, chunk, meta, rows.row[i], rows.place[i]);
    }
    return rows;
}

EP_STEP int ep_chunk_row(const struct ep_chunk_rows *rows, int i)
{
    return rows->row[i];
}

/* The row that is added for entry k, when it is there; NULL: none is. */
EP_STEP const char *ep_added_row(const struct ep_run *run, const struct ep_call *call,
                                 const struct ep_sum_of *sum, int k)
{
    const struct ep_shape *shape = &run->shape;
    const struct ep_entry *entry = &sum->meta->entry[k];
    int pe = ep_entry_near(run, sum, k),
        far = pe < 0 && sum->adds->results ? ep_entry_far(run, sum->meta, k) : -1;
    const char *row = NULL;

    if (far >= 0)
        return ep_far_term(run, sum->adds, far, entry->row);
    if (pe >= 0 && (uint32_t)entry->offset < (uint32_t)shape->tokens)
        row = ep_near_term(run, sum, k, pe);
    if (row && ep_near_y(run, pe)->flagged) {
        int chunk = ep_near_y(run, pe)->flagged == EP_CHUNK ? entry->offset / EP_CHUNK : entry->offset;
        struct ep_flagged flagged = {shape->near_back[call->parity], ep_flags_back(shape),
                                     ep_back_chunk(run, ep_adds_pe(run, sum->adds), chunk), pe % shape->near};

        ep_flags_await(run, EP_PHASE_RESULTS, 1, ep_awaited_chunk, &flagged, (uint64_t)call->number);
    }
    return row;
}

/* The rows of a chunk's tokens, when they are there. */
EP_STEP struct ep_chunk_terms ep_terms_of(const struct ep_run *run, const struct ep_call *call,
                                          const struct ep_chunk *chunk, const struct ep_adds *adds)
{
    struct ep_chunk_terms terms;

    for (int i = 0; i < chunk->n; i++) {
        struct ep_sum_of sum = {ep_meta_at(run, chunk->metas, chunk->token + i), adds};

        for (int k = 0; k < run->shape.topk; k++) {
            terms.term[i][k].row = ep_added_row(run, call, &sum, k);
            terms.term[i][k].weight = 1.0f;
        }
    }
    return terms;
}

EP_STEP struct ep_term ep_term_at(const struct ep_run *run, const void *arg, int k)
{
    (void)run;
    return ((const struct ep_term *)arg)[k];
}

EP_STEP void ep_sum_chunk(const struct ep_run *run, void *out, int piece, int pieces,
                          const struct ep_chunk_terms *terms, int n)
{
    for (int i = 0; i < n; i++)
        ep_sum(run, (char *)out + (size_t)i * run->shape.hidden * 2, piece, pieces, run->shape.topk,
               ep_term_at, terms->term[i]);
}

/* The expanded rows of a received one. */
struct ep_folded {
    const shmemx_ep_combine_t *args;
    int row;
};

EP_STEP struct ep_term ep_folded_term(const struct ep_run *run, const void *arg, int k)
{
    const struct ep_folded *folded = (const struct ep_folded *)arg;
    int place = ep_places(folded->args)[(size_t)folded->row * run->shape.topk + k];
    struct ep_term term = {NULL, 1.0f};

    if (place >= 0)
        term.row = (const char *)folded->args->y + (size_t)place * run->shape.hidden * 2;
    return term;
}

/* Of n received rows the sums of their expanded ones, in the order of choices. */
EP_STEP void ep_fold_rows(const struct ep_run *run, const shmemx_ep_combine_t *args, void *out, int row,
                          int n)
{
    for (int i = 0; i < n; i++) {
        struct ep_folded folded = {args, row + i};

        ep_sum(run, (char *)out + (size_t)i * run->shape.hidden * 2, 0, 1, run->shape.topk, ep_folded_term,
               &folded);
    }
}

#endif

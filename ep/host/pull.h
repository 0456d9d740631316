/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks of high throughput in one host (ep/steps/pull.h), by one CPU thread. */
#ifndef WSH_EP_HOST_PULL_H
#define WSH_EP_HOST_PULL_H

#include "ep/steps/ready.h"

/* What is known of a chunk's tokens: it is read where it lies. */
struct ep_chunk_entries {
    char *metas;
};

struct ep_chunk_rows {
    int row[EP_CHUNK]; /* here, of each token; -1: none */
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

/* The host reads them in the arena. */
EP_STEP void ep_publish_numbers(const struct ep_run *run, int handle)
{
    (void)run;
    (void)handle;
}

EP_STEP void ep_words_seen(const struct ep_run *run)
{
    (void)run;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

EP_STEP void ep_quantize_row(const struct ep_run *run, void *to, float *scales, const void *x)
{
    ep_quantize(to, scales, x, run->shape.hidden, run->shape.dtype);
}

/* A row, and numbers beside it where they go somewhere. */
EP_STEP void ep_copy_row(void *to, const void *from, size_t bytes, void *beside_to, const void *beside,
                         size_t beside_bytes)
{
    memcpy(to, from, bytes);
    if (beside_to)
        memcpy(beside_to, beside, beside_bytes);
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
    }
    return rows;
}

EP_STEP int ep_chunk_row(const struct ep_chunk_rows *rows, int i)
{
    return rows->row[i];
}

/* The rows of a chunk's tokens, when they are there. */
EP_STEP struct ep_chunk_terms ep_terms_of(const struct ep_run *run, const struct ep_call *call,
                                          const struct ep_chunk *chunk)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_chunk_terms terms;

    for (int i = 0; i < chunk->n; i++) {
        struct ep_sum_of sum = {ep_meta_at(run, chunk->metas, chunk->token + i),
                                ep_ints(run, shape->near_first), NULL, 0, -1};

        for (int k = 0; k < shape->topk; k++) {
            int offset = sum.meta->entry[k].offset, pe = ep_entry_near(run, &sum, k);
            struct ep_flagged flagged = {shape->near_back[call->parity], offset / EP_CHUNK, pe};

            terms.term[i][k].row = NULL;
            if (pe < 0 || (uint32_t)offset >= (uint32_t)shape->tokens)
                continue;
            terms.term[i][k] = ep_sum_term(run, &sum, k);
            if (terms.term[i][k].row && ep_near_y(run, pe)->flagged)
                ep_flags_await(run, EP_PHASE_RESULTS, 1, ep_awaited_chunk, &flagged, (uint64_t)call->number);
        }
    }
    return terms;
}

EP_STEP struct ep_term ep_term_at(const struct ep_run *run, const void *arg, int k)
{
    (void)run;
    return ((const struct ep_term *)arg)[k];
}

EP_STEP void ep_sum_terms(const struct ep_run *run, void *out, int piece, int pieces,
                          const struct ep_chunk_terms *terms, int i)
{
    ep_sum(run, out, piece, pieces, run->shape.topk, ep_term_at, terms->term[i]);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a dispatch and a combine give what the reference says. */
#include "perftest/ep/moe.h"

#include "test/ep/reference/rows.h"

#include <stdlib.h>
#include <string.h>

/* One part of what was received, in the host's memory, and the rows that experts make of it. */
struct part {
    int number, rows, rows_max;
    uint8_t *values;
    float *scales;
    uint16_t *y;
    uint16_t *row; /* one, of the reference */
    float *row_scales;
};

static size_t value_size(const struct moe_run *run)
{
    return run->config.dtype == SHMEMX_EP_BF16 ? 2 : 1;
}

static long capacity(const struct moe_run *run)
{
    return run->rows / run->parts;
}

/* Values of one received row that differ; leaves the row as bfloat16 in part->row. */
static long row_wrong(struct moe_run *run, const struct ref_received *wanted, struct part *part, int slot)
{
    size_t hidden = (size_t)run->job.hidden, bytes = hidden * value_size(run), blocks = hidden / WSH_EP_BLOCK;
    struct ref_origin origin = ref_received_origin(wanted, part->number, slot);
    long wrong;

    if (run->config.dtype == SHMEMX_EP_BF16) {
        ref_received_row(wanted, part->number, slot, part->row);
        return memcmp(part->row, part->values + (size_t)slot * bytes, bytes) != 0;
    }
    ref_received_codes(wanted, part->number, slot, (uint8_t *)part->row, part->row_scales);
    wrong = memcmp(part->row, part->values + (size_t)slot * bytes, bytes) != 0;
    wrong += memcmp(part->row_scales, part->scales + (size_t)slot * blocks, blocks * sizeof(float)) != 0;
    ref_dispatched_row(&run->job, origin.pe, origin.token, part->row);
    return wrong;
}

/* What this PE's experts make of the row: in decode of the part's expert, in prefill of all that it chose. */
static void answer(struct moe_run *run, const struct ref_received *wanted, struct part *part, int slot)
{
    size_t hidden = (size_t)run->job.hidden;
    uint16_t *y = part->y + (size_t)slot * hidden;
    int32_t topk[REF_TOPK_MAX];
    float weights[REF_TOPK_MAX];

    if (run->mode == REF_LOW_LATENCY) {
        ref_expert_row(run->me * run->parts + part->number, part->row, run->job.hidden, y);
        return;
    }
    ref_received_topk(wanted, slot, topk, weights);
    ref_expert_sum(&run->job, run->me, topk, weights, part->row, y);
}

/* Compares a part, and writes its answer to every buffer that a combine may take it from. */
static long part_wrong(struct moe_run *run, const struct ref_received *wanted, struct part *part)
{
    size_t hidden = (size_t)run->job.hidden, row = hidden * value_size(run), blocks = hidden / WSH_EP_BLOCK;
    size_t first = (size_t)part->number * (size_t)capacity(run);
    long wrong = 0;

    part->rows = ref_received_rows(wanted, part->number);
    run->backend->read(part->values, (char *)run->rows_at + first * row, (size_t)part->rows * row);
    if (run->row_scales)
        run->backend->read(part->scales, run->row_scales + first * blocks,
                           (size_t)part->rows * blocks * sizeof(float));
    for (int slot = 0; slot < part->rows; slot++) {
        wrong += row_wrong(run, wanted, part, slot);
        answer(run, wanted, part, slot);
    }
    run->backend->write((char *)run->y + first * hidden * 2, part->y, (size_t)part->rows * hidden * 2);
    return wrong;
}

/* 0, or -1 without memory. */
static int part_make(struct moe_run *run, const struct ref_received *wanted, struct part *part)
{
    size_t hidden = (size_t)run->job.hidden, rows;

    for (int number = 0; number < run->parts; number++) {
        int here = ref_received_rows(wanted, number);
        part->rows_max = here > part->rows_max ? here : part->rows_max;
    }
    rows = (size_t)part->rows_max + 1;
    part->values = malloc(rows * hidden * 2);
    part->scales = malloc(rows * hidden / WSH_EP_BLOCK * sizeof *part->scales);
    part->y = malloc(rows * hidden * 2);
    part->row = malloc(hidden * 2);
    part->row_scales = malloc(hidden / WSH_EP_BLOCK * sizeof *part->row_scales);
    return part->values && part->scales && part->y && part->row && part->row_scales ? 0 : -1;
}

static void part_free(struct part *part)
{
    free(part->values);
    free(part->scales);
    free(part->y);
    free(part->row);
    free(part->row_scales);
}

static long rows_wrong(struct moe_run *run, const struct ref_received *wanted)
{
    struct part part = {0};
    long wrong = 0;

    if (part_make(run, wanted, &part)) {
        perf_complain("no memory for %d rows of --check", part.rows_max);
        wrong = 1;
    }
    if (run->options->in_place)
        run->y = shmemx_ep_buffer(run->ep, SHMEMX_EP_BUFFER_Y);
    for (part.number = 0; part.number < run->parts && part.values && part.y; part.number++)
        wrong += part_wrong(run, wanted, &part);
    part_free(&part);
    return wrong;
}

/* Combined rows that differ. */
static long out_wrong(struct moe_run *run)
{
    size_t hidden = (size_t)run->job.hidden, bytes = hidden * 2;
    int tokens = ref_tokens(&run->job, run->me);
    uint16_t *out = malloc((size_t)tokens * bytes + 1), *row = malloc(bytes);
    long wrong = !out || !row;

    if (!wrong)
        run->backend->read(out, run->out, (size_t)tokens * bytes);
    for (int token = 0; token < tokens && out && row; token++)
        wrong += ref_combined_row(&run->job, run->mode, run->route, run->me, token, row) ||
                 memcmp(row, out + (size_t)token * hidden, bytes) != 0;
    free(out);
    free(row);
    return wrong;
}

static long counts_wrong(struct moe_run *run, const struct ref_received *wanted)
{
    int mine = ref_experts_a_pe(&run->job);
    int32_t *counts = malloc((size_t)mine * sizeof *counts), rows = 0, most = 0;
    long wrong = !counts || shmemx_ep_counts(run->ep, 0, counts, &rows);

    for (int e = 0; e < mine && counts && !wrong; e++)
        wrong += counts[e] != wanted->expert_counts[e];
    for (int part = 0; part < run->parts; part++) {
        int here = ref_received_rows(wanted, part);
        most = here > most ? here : most;
    }
    free(counts);
    return wrong + (rows != most);
}

long moe_check(struct moe_run *run, bool rows)
{
    struct ref_received wanted;
    long wrong;

    if (ref_received_make(&wanted, &run->job, run->mode, run->me) || moe_dispatch(run, SHMEMX_EP_BOTH)) {
        ref_received_free(&wanted);
        return 1;
    }
    wrong = counts_wrong(run, &wanted);
    run->backend->finish();
    if (rows)
        wrong += rows_wrong(run, &wanted);
    ref_received_free(&wanted);
    shmem_barrier_all();
    if (moe_combine(run, SHMEMX_EP_BOTH))
        return wrong + 1;
    run->backend->finish();
    return wrong + (rows ? out_wrong(run) : 0);
}

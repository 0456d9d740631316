/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of calls, filled and compared row by row. */
#include "test/ep/reference/judge.h"

#include "test/ep/reference/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ref_fill_inputs(const struct ref_job *job, int pe, uint16_t *x, int32_t *topk, float *weights)
{
    int32_t experts[REF_TOPK_MAX];
    float of_experts[REF_TOPK_MAX];

    for (int token = 0, tokens = ref_tokens(job, pe); token < tokens; token++) {
        size_t row = (size_t)token * (size_t)job->hidden;
        ref_choose(job, pe, token, experts, of_experts);
        for (int k = 0; k < job->topk && topk; k++)
            topk[token * job->topk + k] = experts[k];
        for (int k = 0; k < job->topk && weights; k++)
            weights[token * job->topk + k] = of_experts[k];
        if (x)
            ref_row(job->seed, ref_like(job, pe), job->call, token, job->hidden, x + row);
    }
}

void ref_fill_codes(const struct ref_job *job, int pe, uint8_t *x, float *scales)
{
    size_t hidden = (size_t)job->hidden;

    for (int token = 0, tokens = ref_tokens(job, pe); token < tokens; token++)
        ref_row_codes(job, pe, token, x + (size_t)token * hidden,
                      scales + (size_t)token * (hidden / WSH_EP_BLOCK));
}

static void fill_y_weights(const struct ref_received *received, int slot, float *weights)
{
    const struct ref_job *job = &received->job;
    struct ref_origin from = ref_received_origin(received, 0, slot);
    uint64_t key = ref_row_key(job->seed, ref_like(job, from.pe), job->call, from.token);

    for (int k = 0; k < job->topk; k++)
        weights[k] = ref_returned_weight(key, ref_like(job, received->pe), k);
}

static void fill_y_row(const struct ref_received *received, int part, int slot, uint16_t *in, uint16_t *out)
{
    const struct ref_job *job = &received->job;
    struct ref_origin from = ref_received_origin(received, part, slot);
    int32_t topk[REF_TOPK_MAX];
    float weights[REF_TOPK_MAX];

    ref_dispatched_row(job, from.pe, from.token, in);
    if (received->mode == REF_LOW_LATENCY) {
        ref_expert_row(ref_like_expert(job, received->pe * ref_experts_a_pe(job) + part), in, job->hidden,
                       out);
        return;
    }
    ref_received_topk(received, slot, topk, weights);
    ref_expert_sum(job, received->pe, topk, weights, in, out);
}

int ref_fill_y(const struct ref_received *received, int capacity, uint16_t *y, float *y_weights)
{
    size_t hidden = (size_t)received->job.hidden;
    uint16_t *in = (uint16_t *)malloc(hidden * sizeof *in);

    for (int part = 0; part < received->parts && in; part++) {
        for (int slot = 0; slot < ref_received_rows(received, part); slot++) {
            size_t row = (size_t)part * (size_t)capacity + (size_t)slot;
            fill_y_row(received, part, slot, in, y + row * hidden);
            if (y_weights)
                fill_y_weights(received, slot, y_weights + row * (size_t)received->job.topk);
        }
    }
    free(in);
    return in ? 0 : -1;
}

/* A comparison of one call's arrays. */
struct judge {
    const struct ref_received *received;
    const struct ref_output *output;
    char *line;
    size_t size;
    uint16_t *row; /* [hidden], or as many bytes of codes */
    float *scales; /* [hidden / 128] */
};

static int say(const struct judge *judge, int part, int slot, const char *what, int at, double is,
               double should)
{
    const struct ref_job *job = &judge->received->job;
    struct ref_origin from = ref_received_origin(judge->received, part, slot);

    snprintf(judge->line, judge->size,
             "PE %d, call %lld, dispatch: %s %d of row %d of part %d (PE %d's token %d) is %.9g, not %.9g",
             judge->received->pe, (long long)job->call, what, at, slot, part, from.pe, from.token, is,
             should);
    return 1;
}

static int say_count(const struct judge *judge, const char *what, int part, int source, int is, int should)
{
    snprintf(judge->line, judge->size, "PE %d, call %lld, dispatch: %s of part %d, source %d, is %d, not %d",
             judge->received->pe, (long long)judge->received->job.call, what, part, source, is, should);
    return 1;
}

static int counts_wrong(const struct judge *judge)
{
    const struct ref_received *received = judge->received;
    const int32_t *counts = judge->output->counts, *sources = judge->output->sources;
    int pes = received->job.pes;

    for (int local = 0; local < ref_experts_a_pe(&received->job) && counts; local++)
        if (counts[local] != received->expert_counts[local])
            return say_count(judge, "count", local, -1, counts[local], received->expert_counts[local]);
    for (int at = 0; at < received->parts * pes && sources; at++) {
        if (sources[2 * at] != received->offsets[at])
            return say_count(judge, "first row", at / pes, at % pes, sources[2 * at], received->offsets[at]);
        if (sources[2 * at + 1] != received->counts[at])
            return say_count(judge, "rows", at / pes, at % pes, sources[2 * at + 1], received->counts[at]);
    }
    return 0;
}

static int values_wrong(const struct judge *judge, int part, int slot, const uint16_t *row)
{
    ref_received_row(judge->received, part, slot, judge->row);
    for (int i = 0; i < judge->received->job.hidden; i++)
        if (row[i] != judge->row[i])
            return say(judge, part, slot, "column", i, wsh_ep_from_bf16(row[i]),
                       wsh_ep_from_bf16(judge->row[i]));
    return 0;
}

static int codes_wrong(const struct judge *judge, int part, int slot, const uint8_t *row, const float *scales)
{
    uint8_t *codes = (uint8_t *)judge->row;
    int hidden = judge->received->job.hidden;

    ref_received_codes(judge->received, part, slot, codes, judge->scales);
    for (int i = 0; i < hidden; i++)
        if (row[i] != codes[i])
            return say(judge, part, slot, "code", i, row[i], codes[i]);
    for (int i = 0; i < hidden / WSH_EP_BLOCK && scales; i++)
        if (wsh_ep_bits(scales[i]) != wsh_ep_bits(judge->scales[i]))
            return say(judge, part, slot, "scale", i, scales[i], judge->scales[i]);
    return 0;
}

static int row_wrong(const struct judge *judge, int part, int slot)
{
    const struct ref_output *output = judge->output;
    size_t hidden = (size_t)judge->received->job.hidden;
    size_t row = (size_t)part * (size_t)output->capacity + (size_t)slot;

    if (!output->rows)
        return 0;
    if (judge->received->job.dtype == REF_BF16)
        return values_wrong(judge, part, slot, (const uint16_t *)output->rows + row * hidden);
    return codes_wrong(judge, part, slot, (const uint8_t *)output->rows + row * hidden,
                       output->row_scales ? output->row_scales + row * (hidden / WSH_EP_BLOCK) : NULL);
}

static int topk_wrong(const struct judge *judge, int slot)
{
    const struct ref_output *output = judge->output;
    int n = judge->received->job.topk;
    int32_t topk[REF_TOPK_MAX];
    float weights[REF_TOPK_MAX];

    if (judge->received->mode == REF_LOW_LATENCY)
        return 0;
    ref_received_topk(judge->received, slot, topk, weights);
    for (int k = 0; k < n; k++) {
        if (output->row_topk && output->row_topk[slot * n + k] != topk[k])
            return say(judge, 0, slot, "expert", k, output->row_topk[slot * n + k], topk[k]);
        if (output->row_weights && wsh_ep_bits(output->row_weights[slot * n + k]) != wsh_ep_bits(weights[k]))
            return say(judge, 0, slot, "weight", k, output->row_weights[slot * n + k], weights[k]);
    }
    return 0;
}

int ref_dispatch_wrong(const struct ref_received *received, const struct ref_output *output, char *line,
                       size_t size)
{
    size_t hidden = (size_t)received->job.hidden;
    float *memory = (float *)malloc(hidden * (sizeof(float) + sizeof(uint16_t)));
    struct judge judge = {received, output, line, size, (uint16_t *)(memory + hidden), memory};
    int wrong = memory ? counts_wrong(&judge) : -1;

    for (int part = 0; part < received->parts; part++) {
        for (int slot = 0; slot < ref_received_rows(received, part) && !wrong; slot++) {
            wrong = row_wrong(&judge, part, slot);
            if (!wrong)
                wrong = topk_wrong(&judge, slot);
        }
    }
    free(memory);
    return wrong;
}

static int combined_wrong(const struct ref_job *job, int pe, int token, const uint16_t *is,
                          const uint16_t *should, char *line, size_t size)
{
    int i = 0;

    while (i < job->hidden && is[i] == should[i])
        i++;
    if (i == job->hidden)
        return 0;
    snprintf(line, size, "PE %d, call %lld, combine: column %d of token %d is %.9g, not %.9g", pe,
             (long long)job->call, i, token, wsh_ep_from_bf16(is[i]), wsh_ep_from_bf16(should[i]));
    return 1;
}

static int weights_wrong(const struct ref_job *job, enum ref_route route, int pe, int token, const float *is,
                         char *line, size_t size)
{
    float should[REF_TOPK_MAX];

    ref_combined_weights(job, route, pe, token, should);
    for (int k = 0; k < job->topk; k++) {
        if (wsh_ep_bits(is[k]) == wsh_ep_bits(should[k]))
            continue;
        snprintf(line, size, "PE %d, call %lld, combine: weight %d of token %d is %.9g, not %.9g", pe,
                 (long long)job->call, k, token, is[k], should[k]);
        return 1;
    }
    return 0;
}

int ref_combine_wrong(const struct ref_job *job, enum ref_mode mode, enum ref_route route, int pe,
                      const uint16_t *out, const float *out_weights, char *line, size_t size)
{
    size_t hidden = (size_t)job->hidden;
    uint16_t *row = (uint16_t *)malloc(hidden * sizeof *row);
    int wrong = row ? 0 : -1;

    for (int token = 0, tokens = ref_tokens(job, pe); token < tokens && !wrong; token++) {
        wrong = ref_combined_row(job, mode, route, pe, token, row);
        if (!wrong && out)
            wrong = combined_wrong(job, pe, token, out + (size_t)token * hidden, row, line, size);
        if (!wrong && out_weights)
            wrong = weights_wrong(job, route, pe, token, out_weights + token * job->topk, line, size);
    }
    free(row);
    return wrong;
}

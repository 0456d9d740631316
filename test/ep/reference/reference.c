/* SPDX-License-Identifier: BSD-3-Clause */
/* What each PE holds after dispatch, and how many rows went between hosts. */
#include "test/ep/reference/reference.h"

#include "test/ep/reference/rows.h"

#include <stdbool.h>
#include <stdlib.h>

/* How the choices of one token name parts of a PE: the part of choice k, or -1; high throughput names its part once. */
static int part_named(const struct ref_received *received, const int32_t *topk, int k)
{
    if (ref_pe_of(&received->job, topk[k]) != received->pe)
        return -1;
    if (received->mode == REF_LOW_LATENCY)
        return topk[k] % ref_experts_a_pe(&received->job);
    for (int earlier = 0; earlier < k; earlier++)
        if (ref_pe_of(&received->job, topk[earlier]) == received->pe)
            return -1;
    return 0;
}

typedef void (*visit_fn)(struct ref_received *received, int part, int pe, int token);

/* Source PE number i of those that rows are ordered by: in low latency the PEs of this host come first. */
static int source_pe(const struct ref_received *received, int i)
{
    const struct ref_job *job = &received->job;
    int near = ref_pes_a_host(job), first = ref_host_of(job, received->pe) * near;

    if (received->mode == REF_HIGH_THROUGHPUT)
        return i;
    return i < near ? first + i : i - near < first ? i - near : i;
}

/* Every row of the PE, each part in order. */
static void each_row(struct ref_received *received, visit_fn visit)
{
    const struct ref_job *job = &received->job;
    int32_t topk[REF_TOPK_MAX];
    float weights[REF_TOPK_MAX];

    for (int i = 0; i < job->pes; i++) {
        int pe = source_pe(received, i);

        for (int token = 0, tokens = ref_tokens(job, pe); token < tokens; token++) {
            ref_choose(job, pe, token, topk, weights);
            for (int k = 0; k < job->topk; k++) {
                int part = part_named(received, topk, k);
                if (part >= 0)
                    visit(received, part, pe, token);
            }
        }
    }
}

static void count_row(struct ref_received *received, int part, int pe, int token)
{
    (void)token;
    received->counts[part * received->job.pes + pe]++;
}

/* first[part] is where the next row of the part goes, until all are there. */
static void note_row(struct ref_received *received, int part, int pe, int token)
{
    received->origin[received->first[part]++] = (struct ref_origin){pe, token};
}

static void sum_counts(struct ref_received *received)
{
    int pes = received->job.pes;

    for (int part = 0; part < received->parts; part++) {
        int32_t rows = 0;
        for (int i = 0; i < pes; i++) {
            int pe = source_pe(received, i);

            received->offsets[part * pes + pe] = rows;
            rows += received->counts[part * pes + pe];
        }
        received->first[part + 1] = received->first[part] + rows;
    }
}

static void count_choices(struct ref_received *received)
{
    const struct ref_job *job = &received->job;
    int32_t topk[REF_TOPK_MAX];
    float weights[REF_TOPK_MAX];

    for (int pe = 0; pe < job->pes; pe++) {
        for (int token = 0, tokens = ref_tokens(job, pe); token < tokens; token++) {
            ref_choose(job, pe, token, topk, weights);
            for (int k = 0; k < job->topk; k++)
                if (ref_pe_of(job, topk[k]) == received->pe)
                    received->expert_counts[topk[k] % ref_experts_a_pe(job)]++;
        }
    }
}

int ref_received_make(struct ref_received *received, const struct ref_job *job, enum ref_mode mode, int pe)
{
    int parts = mode == REF_LOW_LATENCY ? ref_experts_a_pe(job) : 1;
    size_t cells = (size_t)parts * (size_t)job->pes;

    *received = (struct ref_received){.job = *job, .mode = mode, .pe = pe, .parts = parts};
    received->counts = (int32_t *)calloc(cells, sizeof(int32_t));
    received->offsets = (int32_t *)calloc(cells, sizeof(int32_t));
    received->expert_counts = (int32_t *)calloc((size_t)ref_experts_a_pe(job), sizeof(int32_t));
    received->first = (int64_t *)calloc((size_t)parts + 1, sizeof(int64_t));
    if (!received->counts || !received->offsets || !received->expert_counts || !received->first)
        return -1;
    count_choices(received);
    each_row(received, count_row);
    sum_counts(received);
    received->origin =
        (struct ref_origin *)calloc((size_t)received->first[parts] + 1, sizeof(struct ref_origin));
    if (!received->origin)
        return -1;
    each_row(received, note_row);
    for (int part = parts; part > 0; part--)
        received->first[part] = received->first[part - 1];
    received->first[0] = 0;
    return 0;
}

void ref_received_free(struct ref_received *received)
{
    free(received->counts);
    free(received->offsets);
    free(received->expert_counts);
    free(received->first);
    free(received->origin);
    *received = (struct ref_received){.pe = -1};
}

int ref_received_rows(const struct ref_received *received, int part)
{
    return (int)(received->first[part + 1] - received->first[part]);
}

struct ref_origin ref_received_origin(const struct ref_received *received, int part, int slot)
{
    return received->origin[received->first[part] + slot];
}

void ref_received_row(const struct ref_received *received, int part, int slot, uint16_t *row)
{
    struct ref_origin from = ref_received_origin(received, part, slot);

    ref_row(received->job.seed, ref_like(&received->job, from.pe), received->job.call, from.token,
            received->job.hidden, row);
}

static enum wsh_ep_scale scale_kind(enum ref_dtype dtype)
{
    return dtype == REF_FP8_UE8M0 ? WSH_EP_SCALE_POWER2 : WSH_EP_SCALE_FLOAT;
}

/* A block of the row at a time, as it is made. */
static void block_codes(const struct ref_job *job, int pe, int token, int at, uint8_t *codes, float *scale)
{
    uint64_t key = ref_row_key(job->seed, ref_like(job, pe), job->call, token);
    uint16_t block[WSH_EP_BLOCK];

    for (int i = 0; i < WSH_EP_BLOCK; i++)
        block[i] = ref_row_value(key, at + i);
    wsh_ep_quantize(block, WSH_EP_BLOCK, scale_kind(job->dtype), codes, scale);
}

void ref_row_codes(const struct ref_job *job, int pe, int token, uint8_t *codes, float *scales)
{
    for (int at = 0; at < job->hidden; at += WSH_EP_BLOCK)
        block_codes(job, pe, token, at, codes + at, scales + at / WSH_EP_BLOCK);
}

void ref_received_codes(const struct ref_received *received, int part, int slot, uint8_t *codes,
                        float *scales)
{
    struct ref_origin from = ref_received_origin(received, part, slot);

    ref_row_codes(&received->job, from.pe, from.token, codes, scales);
}

void ref_received_topk(const struct ref_received *received, int slot, int32_t *topk, float *weights)
{
    const struct ref_job *job = &received->job;
    struct ref_origin from = ref_received_origin(received, 0, slot);

    ref_choose(job, from.pe, from.token, topk, weights);
    for (int k = 0; k < job->topk; k++) {
        bool here = ref_pe_of(job, topk[k]) == received->pe;
        topk[k] = here ? topk[k] % ref_experts_a_pe(job) : -1;
        weights[k] = here ? weights[k] : 0.0f;
    }
}

void ref_dispatched_row(const struct ref_job *job, int pe, int token, uint16_t *row)
{
    uint8_t codes[WSH_EP_BLOCK];
    float scale;

    if (job->dtype == REF_BF16) {
        ref_row(job->seed, ref_like(job, pe), job->call, token, job->hidden, row);
        return;
    }
    for (int at = 0; at < job->hidden; at += WSH_EP_BLOCK) {
        block_codes(job, pe, token, at, codes, &scale);
        wsh_ep_dequantize(codes, &scale, WSH_EP_BLOCK, row + at);
    }
}

/* Of two PEs of other hosts: whether a row for the one is there for the other too. */
static bool shares_row(const struct ref_job *job, enum ref_route route, int a, int b)
{
    return a >= 0 && (route == REF_ONE_COPY ? ref_host_of(job, a) == ref_host_of(job, b) : a == b);
}

int64_t ref_network_rows(const struct ref_job *job, int pe, enum ref_route route)
{
    int32_t topk[REF_TOPK_MAX];
    float weights[REF_TOPK_MAX];
    int64_t rows = 0;

    for (int token = 0, tokens = ref_tokens(job, pe); token < tokens; token++) {
        ref_choose(job, pe, token, topk, weights);
        for (int k = 0; k < job->topk; k++) {
            int to = ref_pe_of(job, topk[k]);
            bool again = to < 0 || ref_host_of(job, to) == ref_host_of(job, pe);
            for (int earlier = 0; earlier < k && !again; earlier++)
                again = shares_row(job, route, ref_pe_of(job, topk[earlier]), to);
            rows += !again;
        }
    }
    return rows;
}

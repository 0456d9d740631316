/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of expert parallelism: a dispatch and a combine of a few short rows, each judged by test/ep/reference. */
#include "sim/programs/program.h"

#include "test/ep/reference/judge.h"

#include <shmemx_ep.h>

#include <stdio.h>
#include <stdlib.h>

enum { TOKENS = 8, HIDDEN = 128, TOPK = 8, EXPERTS = 256, CAPACITY = 256, CAPACITY_ALL = 512 };

/* What a PE keeps between calls, and gives and gets in one. */
struct moe {
    shmemx_ep_t ep; /* first: ep_mirror.c */
    struct ref_job job;
    enum ref_mode mode;
    uint16_t *x, *rows, *y, *out;
    int32_t *topk, *counts, *sources, *row_topk;
    float *weights, *row_weights, *y_weights, *out_weights;
};

/* Rows, of which no more come than all PEs have tokens. */
static int capacity_of(int pes, enum ref_mode mode)
{
    int most = mode == REF_LOW_LATENCY ? CAPACITY : CAPACITY_ALL;

    return pes * TOKENS < most ? pes * TOKENS : most;
}

static shmemx_ep_config_t config_of(const struct sim_options *set, enum ref_mode mode)
{
    shmemx_ep_config_t config = SHMEMX_EP_CONFIG_INITIALIZER;

    config.mode = mode == REF_LOW_LATENCY ? SHMEMX_EP_LOW_LATENCY : SHMEMX_EP_HIGH_THROUGHPUT;
    config.hidden = HIDDEN;
    config.experts = set->pes * ((EXPERTS + set->pes - 1) / set->pes);
    config.topk = TOPK;
    config.tokens = TOKENS;
    config.capacity = capacity_of(set->pes, mode);
    return config;
}

static size_t moe_bytes(const struct sim_options *set, enum ref_mode mode)
{
    const shmemx_ep_config_t config = config_of(set, mode);
    shmemx_ep_bytes_t bytes = {0};

    if (set->pes % set->per_host || shmemx_ep_bytes(&config, set->pes, set->per_host, &bytes)) {
        fprintf(stderr,
                "sim: --run decode, prefill: %d PEs on hosts of %d; give hosts with equally many PEs\n",
                set->pes, set->per_host);
        exit(2);
    }
    return bytes.symmetric + (size_t)bytes.counters * sizeof(uint64_t) + 65536;
}

static size_t decode_bytes(const struct sim_options *set)
{
    return moe_bytes(set, REF_LOW_LATENCY);
}

static size_t prefill_bytes(const struct sim_options *set)
{
    return moe_bytes(set, REF_HIGH_THROUGHPUT);
}

static void moe_take(struct moe *moe, int parts, int capacity)
{
    size_t rows = (size_t)parts * (size_t)capacity;

    moe->x = calloc(TOKENS * HIDDEN, sizeof *moe->x);
    moe->out = calloc(TOKENS * HIDDEN, sizeof *moe->out);
    moe->topk = calloc(TOKENS * TOPK, sizeof *moe->topk);
    moe->weights = calloc(TOKENS * TOPK, sizeof *moe->weights);
    moe->out_weights = calloc(TOKENS * TOPK, sizeof *moe->out_weights);
    moe->rows = calloc(rows * HIDDEN, sizeof *moe->rows);
    moe->y = calloc(rows * HIDDEN, sizeof *moe->y);
    moe->row_topk = calloc(rows * TOPK, sizeof *moe->row_topk);
    moe->row_weights = calloc(rows * TOPK, sizeof *moe->row_weights);
    moe->y_weights = calloc(rows * TOPK, sizeof *moe->y_weights);
    moe->counts = calloc((size_t)moe->job.experts / (size_t)sim.n_pes, sizeof *moe->counts);
    moe->sources = calloc((size_t)parts * (size_t)sim.n_pes * 2, sizeof *moe->sources);
    if (!moe->x || !moe->out || !moe->rows || !moe->y || !moe->sources || !moe->row_topk)
        abort();
}

static void moe_give(struct moe *moe)
{
    void *all[] = {moe->x, moe->out,      moe->topk,        moe->weights,   moe->out_weights, moe->rows,
                   moe->y, moe->row_topk, moe->row_weights, moe->y_weights, moe->counts,      moe->sources};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* With few hosts in full what a PE has and chooses is what its like on host 0 does, seen from its own host. */
static void choose_alike(const struct ref_job *job, int pe, int token, int32_t *topk, float *weights)
{
    struct ref_job first = *job;
    int ahead = ref_host_of(job, pe) * ref_pes_a_host(job) * ref_experts_a_pe(job);

    first.own_choice = NULL;
    ref_choose(&first, ref_like(job, pe), token, topk, weights);
    for (int k = 0; k < job->topk; k++)
        topk[k] = topk[k] < 0 ? -1 : (topk[k] + ahead) % job->experts;
}

static int begin(struct sim_pe *pe, enum ref_mode mode)
{
    const shmemx_ep_config_t config = config_of(&sim.set, mode);
    struct moe *moe = calloc(1, sizeof *moe);

    if (!moe)
        abort();
    pe->program = moe;
    moe->mode = mode;
    moe->job = (struct ref_job){.pes = sim.n_pes,
                                .hosts = sim.n_hosts,
                                .experts = config.experts,
                                .topk = TOPK,
                                .tokens = TOKENS,
                                .hidden = HIDDEN,
                                .dtype = REF_BF16,
                                .routing = REF_UNIFORM,
                                .seed = sim.set.seed,
                                .own_choice = sim.n_full < sim.n_pes ? choose_alike : NULL,
                                .alike = sim.n_full < sim.n_pes};
    moe_take(moe, mode == REF_LOW_LATENCY ? config.experts / sim.n_pes : 1, config.capacity);
    return shmemx_ep_create(SHMEM_TEAM_WORLD, &config, &moe->ep);
}

static int begin_decode(struct sim_pe *pe)
{
    return begin(pe, REF_LOW_LATENCY);
}

static int begin_prefill(struct sim_pe *pe)
{
    return begin(pe, REF_HIGH_THROUGHPUT);
}

static void end(struct sim_pe *pe)
{
    struct moe *moe = pe->program;

    shmemx_ep_destroy(moe->ep);
    moe_give(moe);
}

static int dispatch(struct moe *moe, const struct ref_received *received, struct sim_pe *pe)
{
    const bool high = moe->mode == REF_HIGH_THROUGHPUT;
    const int capacity = capacity_of(sim.n_pes, moe->mode);
    const shmemx_ep_dispatch_t call = {.version = SHMEMX_EP_CALL_VERSION,
                                       .halves = SHMEMX_EP_BOTH,
                                       .tokens = ref_tokens(&moe->job, pe->number),
                                       .x = moe->x,
                                       .topk = moe->topk,
                                       .weights = moe->weights,
                                       .rows = moe->rows,
                                       .counts = moe->counts,
                                       .sources = moe->sources,
                                       .row_topk = high ? moe->row_topk : NULL,
                                       .row_weights = high ? moe->row_weights : NULL};
    const struct ref_output output = {moe->rows,
                                      NULL,
                                      moe->counts,
                                      moe->sources,
                                      high ? moe->row_topk : NULL,
                                      high ? moe->row_weights : NULL,
                                      capacity};
    char line[256] = "";
    int rc = shmemx_ep_dispatch(moe->ep, &call);

    if (!rc && (rc = ref_dispatch_wrong(received, &output, line, sizeof line)))
        sim_violation("PE %d: dispatch: %s", pe->number, line);
    sim.debt = 0;
    return rc ? rc : ref_fill_y(received, capacity, moe->y, high ? moe->y_weights : NULL);
}

static int combine(struct moe *moe, struct sim_pe *pe)
{
    const bool high = moe->mode == REF_HIGH_THROUGHPUT;
    const shmemx_ep_combine_t call = {.version = SHMEMX_EP_CALL_VERSION,
                                      .halves = SHMEMX_EP_BOTH,
                                      .y = moe->y,
                                      .y_weights = high ? moe->y_weights : NULL,
                                      .out = moe->out,
                                      .out_weights = high ? moe->out_weights : NULL};
    const enum ref_route route = sim.n_hosts > 1 && sim.set.per_host > 1 ? REF_ONE_COPY : REF_DIRECT;
    char line[256] = "";
    int rc;

    sim.debt = 0;
    rc = shmemx_ep_combine(moe->ep, &call);
    if (!rc && (rc = ref_combine_wrong(&moe->job, moe->mode, route, pe->number, moe->out,
                                       high ? moe->out_weights : NULL, line, sizeof line)))
        sim_violation("PE %d: combine: %s", pe->number, line);
    sim.debt = 0;
    return rc;
}

static int run(struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    struct moe *moe = pe->program;
    struct ref_received received;
    int rc;

    (void)call;
    moe->job.call = (int64_t)round;
    ref_fill_inputs(&moe->job, pe->number, moe->x, moe->topk, moe->weights);
    rc = ref_received_make(&received, &moe->job, moe->mode, pe->number);
    sim.debt = 0;
    if (!rc)
        rc = dispatch(moe, &received, pe);
    if (!rc)
        rc = combine(moe, pe);
    ref_received_free(&received);
    return rc;
}

const struct sim_work sim_decode = {.name = "decode",
                                    .bytes = decode_bytes,
                                    .begin = begin_decode,
                                    .run = run,
                                    .end = end,
                                    .reflect = &sim_ep_reflect};
const struct sim_work sim_prefill = {.name = "prefill",
                                     .bytes = prefill_bytes,
                                     .begin = begin_prefill,
                                     .run = run,
                                     .end = end,
                                     .reflect = &sim_ep_reflect};

/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of expert parallelism: a dispatch, a combine or both, each judged by test/ep/reference. */
#include "sim/programs/program.h"

#include "test/ep/reference/judge.h"

#include <shmemx_ep.h>

#include <stdio.h>
#include <stdlib.h>

enum { TOPK = 8, EXPERTS = 256, CAPACITY = 256, CAPACITY_ALL = 512, GROUP = 128 };

/* What a PE keeps between calls, and gives and gets in one. */
struct moe {
    shmemx_ep_t ep; /* first: ep_mirror.c */
    struct ref_job job;
    enum ref_mode mode;
    uint16_t *x, *rows, *y, *out;
    int32_t *topk, *counts, *sources, *row_topk;
    float *weights, *row_weights, *y_weights, *out_weights, *row_scales;
    struct ref_received received;
};

static int experts_of(const struct sim_options *set)
{
    return set->pes * ((EXPERTS + set->pes - 1) / set->pes);
}

static int greater(int a, int b)
{
    return a > b ? a : b;
}

/* Rows, of which no more come than all PEs have tokens, and twice the mean is enough. */
static int capacity_of(const struct sim_options *set, enum ref_mode mode)
{
    int all = set->pes * set->tokens, mean = set->tokens * TOPK;
    int most = mode == REF_LOW_LATENCY
                   ? greater(CAPACITY, (int)(2 * (int64_t)set->pes * mean / experts_of(set)))
                   : greater(CAPACITY_ALL, 2 * mean);

    return all < most ? all : most;
}

static shmemx_ep_config_t config_of(const struct sim_options *set, enum ref_mode mode)
{
    shmemx_ep_config_t config = SHMEMX_EP_CONFIG_INITIALIZER;

    config.mode = mode == REF_LOW_LATENCY ? SHMEMX_EP_LOW_LATENCY : SHMEMX_EP_HIGH_THROUGHPUT;
    config.dtype = set->fp8 ? SHMEMX_EP_FP8 : SHMEMX_EP_BF16;
    config.hidden = set->hidden;
    config.experts = experts_of(set);
    config.topk = TOPK;
    config.tokens = set->tokens;
    *(mode == REF_LOW_LATENCY ? &config.expert_capacity : &config.pe_capacity) = capacity_of(set, mode);
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
    size_t tokens = (size_t)sim.set.tokens, hidden = (size_t)sim.set.hidden;

    moe->x = calloc(tokens * hidden, sizeof *moe->x);
    moe->out = calloc(tokens * hidden, sizeof *moe->out);
    moe->topk = calloc(tokens * TOPK, sizeof *moe->topk);
    moe->weights = calloc(tokens * TOPK, sizeof *moe->weights);
    moe->out_weights = calloc(tokens * TOPK, sizeof *moe->out_weights);
    moe->rows = calloc(rows * hidden, sizeof *moe->rows);
    moe->row_scales = calloc(rows * hidden / GROUP, sizeof *moe->row_scales);
    moe->y = calloc(rows * hidden, sizeof *moe->y);
    moe->row_topk = calloc(rows * TOPK, sizeof *moe->row_topk);
    moe->row_weights = calloc(rows * TOPK, sizeof *moe->row_weights);
    moe->y_weights = calloc(rows * TOPK, sizeof *moe->y_weights);
    moe->counts = calloc((size_t)moe->job.experts / (size_t)sim.n_pes, sizeof *moe->counts);
    moe->sources = calloc((size_t)parts * (size_t)sim.n_pes * 2, sizeof *moe->sources);
    if (!moe->x || !moe->out || !moe->rows || !moe->row_scales || !moe->y || !moe->sources || !moe->row_topk)
        abort();
}

static void moe_give(struct moe *moe)
{
    void *all[] = {moe->x,          moe->out,    moe->topk,     moe->weights,     moe->out_weights,
                   moe->rows,       moe->y,      moe->row_topk, moe->row_weights, moe->y_weights,
                   moe->row_scales, moe->counts, moe->sources};

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
                                .tokens = sim.set.tokens,
                                .hidden = sim.set.hidden,
                                .dtype = sim.set.fp8 ? REF_FP8 : REF_BF16,
                                .routing = REF_UNIFORM,
                                .seed = sim.set.seed,
                                .own_choice = sim.n_full < sim.n_pes ? choose_alike : NULL,
                                .alike = sim.n_full < sim.n_pes};
    moe_take(moe, mode == REF_LOW_LATENCY ? config.experts / sim.n_pes : 1, capacity_of(&sim.set, mode));
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
    ref_received_free(&moe->received);
    moe_give(moe);
}

/* Distinct hosts besides its own among those of the token's experts. */
static int hosts_chosen(const struct moe *moe, const struct sim_pe *pe, int token)
{
    const int a_host = moe->job.experts / sim.n_hosts;
    int n = 0;

    for (int k = 0; k < TOPK; k++) {
        int expert = moe->topk[token * TOPK + k], before = 0;

        for (int i = 0; i < k; i++)
            before |=
                moe->topk[token * TOPK + i] >= 0 && moe->topk[token * TOPK + i] / a_host == expert / a_host;
        n += expert >= 0 && !before && expert / a_host != pe->host;
    }
    return n;
}

/* Of a put of so many bytes: where the PE has more NICs than far peers, one for each NIC. */
static int least_pieces(const struct sim_pe *pe, int far, uint64_t bytes)
{
    const int most = (int)(bytes / WSH_EFA_STRIPE), pieces = sim_nics_of(&sim.host[pe->host]) / far;

    return most < 2 || pieces < 2 ? 1 : pieces < most ? pieces : most;
}

/* One put to each far peer, by the mean of them; a row of so many bytes for each other host that a token goes to. */
static void tally_least(const struct moe *moe, struct sim_pe *pe, size_t row)
{
    int far = sim.set.per_host > 1 ? sim.n_hosts - 1 : sim.n_pes - 1;
    uint64_t bytes = 0;

    for (int token = 0; token < ref_tokens(&moe->job, pe->number); token++)
        bytes += (uint64_t)hosts_chosen(moe, pe, token) * row;
    pe->given.least_bytes += bytes;
    if (far)
        pe->given.least_messages += (uint64_t)(far * least_pieces(pe, far, bytes / (uint64_t)far));
}

static size_t dispatched_bytes(void)
{
    size_t hidden = (size_t)sim.set.hidden;

    return sim.set.fp8 ? hidden + hidden / GROUP * sizeof(float) : 2 * hidden;
}

static int fill(struct sim_pe *pe, uint64_t round)
{
    struct moe *moe = pe->program;

    moe->job.call = (int64_t)round;
    ref_fill_inputs(&moe->job, pe->number, moe->x, moe->topk, moe->weights);
    ref_received_free(&moe->received);
    return ref_received_make(&moe->received, &moe->job, moe->mode, pe->number);
}

static void call_begin(void)
{
    sim.debt = (sim_time)(sim.set.call * 1000);
}

static int dispatch(struct sim_pe *pe)
{
    struct moe *moe = pe->program;
    shmemx_ep_dispatch_t call = {.version = SHMEMX_EP_CALL_VERSION,
                                 .halves = SHMEMX_EP_BOTH,
                                 .tokens = ref_tokens(&moe->job, pe->number),
                                 .x = moe->x,
                                 .topk = moe->topk,
                                 .weights = moe->weights};
    float *row_scales = sim.set.fp8 ? moe->row_scales : NULL;

    if (moe->mode == REF_HIGH_THROUGHPUT)
        call.by_source = (shmemx_ep_rows_by_source_t){.rows = moe->rows,
                                                      .row_scales = row_scales,
                                                      .counts = moe->counts,
                                                      .sources = moe->sources,
                                                      .row_topk = moe->row_topk,
                                                      .row_weights = moe->row_weights};
    else
        call.by_expert = (shmemx_ep_rows_by_expert_t){
            .rows = moe->rows, .row_scales = row_scales, .counts = moe->counts, .sources = moe->sources};
    call_begin();
    tally_least(moe, pe, dispatched_bytes());
    return shmemx_ep_dispatch(moe->ep, &call);
}

/* Of what the dispatch has brought; experts make y of it. No time passes. */
static int dispatch_judge(struct sim_pe *pe)
{
    struct moe *moe = pe->program;
    const bool high = moe->mode == REF_HIGH_THROUGHPUT;
    const struct ref_output output = {moe->rows,
                                      sim.set.fp8 ? moe->row_scales : NULL,
                                      moe->counts,
                                      moe->sources,
                                      high ? moe->row_topk : NULL,
                                      high ? moe->row_weights : NULL,
                                      capacity_of(&sim.set, moe->mode)};
    char line[256] = "";
    int rc = ref_dispatch_wrong(&moe->received, &output, line, sizeof line);

    if (rc)
        sim_violation("PE %d: dispatch: %s", pe->number, line);
    else
        rc = ref_fill_y(&moe->received, output.capacity, moe->y, high ? moe->y_weights : NULL);
    sim.debt = 0;
    return rc;
}

static int combine(struct sim_pe *pe)
{
    struct moe *moe = pe->program;
    const bool high = moe->mode == REF_HIGH_THROUGHPUT;
    const shmemx_ep_combine_t call = {.version = SHMEMX_EP_CALL_VERSION,
                                      .halves = SHMEMX_EP_BOTH,
                                      .y = moe->y,
                                      .y_weights = high ? moe->y_weights : NULL,
                                      .out = moe->out,
                                      .out_weights = high ? moe->out_weights : NULL};

    call_begin();
    tally_least(moe, pe, (size_t)sim.set.hidden * 2);
    return shmemx_ep_combine(moe->ep, &call);
}

static int combine_judge(struct sim_pe *pe)
{
    struct moe *moe = pe->program;
    const bool high = moe->mode == REF_HIGH_THROUGHPUT;
    const enum ref_route route = sim.n_hosts > 1 && sim.set.per_host > 1 ? REF_ONE_COPY : REF_DIRECT;
    char line[256] = "";
    int rc = ref_combine_wrong(&moe->job, moe->mode, route, pe->number, moe->out,
                               high ? moe->out_weights : NULL, line, sizeof line);

    if (rc)
        sim_violation("PE %d: combine: %s", pe->number, line);
    sim.debt = 0;
    return rc;
}

/* A dispatch and a combine; what is copied behind the last wait of either takes no time. */
static int run(struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    int rc = fill(pe, round);

    (void)call;
    if (!rc)
        rc = dispatch(pe);
    if (!rc)
        rc = dispatch_judge(pe);
    if (!rc)
        rc = combine(pe);
    return rc ? rc : combine_judge(pe);
}

static int run_dispatch(struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    int rc = fill(pe, round);

    (void)call;
    if (!rc)
        rc = dispatch(pe);
    sim_settle();
    return rc ? rc : dispatch_judge(pe);
}

static int prepare_combine(struct sim_pe *pe, uint64_t round)
{
    return run_dispatch(pe, NULL, round);
}

static int run_combine(struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    int rc = combine(pe);

    (void)call;
    (void)round;
    sim_settle();
    return rc ? rc : combine_judge(pe);
}

#define LOW_LATENCY(NAME, RUN, PREPARE)                                                             \
    {                                                                                               \
        .name = NAME, .bytes = decode_bytes, .begin = begin_decode, .prepare = PREPARE, .run = RUN, \
        .end = end, .reflect = &sim_ep_reflect                                                      \
    }

const struct sim_work sim_decode = LOW_LATENCY("decode", run, NULL);
const struct sim_work sim_dispatch = LOW_LATENCY("dispatch", run_dispatch, NULL);
const struct sim_work sim_combine = LOW_LATENCY("combine", run_combine, prepare_combine);
const struct sim_work sim_prefill = {.name = "prefill",
                                     .bytes = prefill_bytes,
                                     .begin = begin_prefill,
                                     .run = run,
                                     .end = end,
                                     .reflect = &sim_ep_reflect};

/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of the program and of a case, and figures that PEs add up. */
#include "perftest/ep/moe.h"

#include "test/ep/reference/rows.h"

#include <stdlib.h>
#include <string.h>

int moe_begin(struct moe_run *run)
{
    const struct moe_backend *backend = run->backend;

    run->figures = shmem_malloc(2 * (MOE_SAMPLES_MAX + 1) * sizeof *run->figures);
    run->source = backend->take_symmetric(backend->window);
    run->dest = backend->take(backend->window);
    if (run->figures && run->source && run->dest) {
        backend->fill(run->source, 1, backend->window);
        return 0;
    }
    perf_complain("no %zu bytes of symmetric memory for copies, and as many of its own; set "
                  "SHMEM_SYMMETRIC_SIZE, on GPUs SHMEM_DEVICE_SYMMETRIC_SIZE",
                  backend->window);
    return -1;
}

void moe_end(struct moe_run *run)
{
    run->backend->release(run->dest);
    shmem_barrier_all();
    run->backend->release_symmetric(run->source);
    shmem_free(run->figures);
}

size_t moe_x_bytes(const struct moe_run *run)
{
    return (size_t)ref_tokens(&run->job, run->me) * (size_t)run->job.hidden * (run->x_scales ? 1 : 2);
}

double moe_sum(struct moe_run *run, double figure)
{
    double *all = run->figures + MOE_SAMPLES_MAX + 1;

    run->figures[0] = figure;
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, all, run->figures, 1);
    return all[0];
}

double moe_max(struct moe_run *run, double figure)
{
    double *all = run->figures + MOE_SAMPLES_MAX + 1;

    run->figures[0] = figure;
    shmem_double_max_reduce(SHMEM_TEAM_WORLD, all, run->figures, 1);
    return all[0];
}

/* The rows as the program gives them: BF16, or with --coded in its place what a cast has made of them. */
static int fill_rows(struct moe_run *run, uint16_t *x, int tokens)
{
    size_t hidden = (size_t)run->job.hidden, blocks = hidden / WSH_EP_BLOCK;
    float *scales = malloc(((size_t)tokens + 1) * blocks * sizeof *scales);
    uint16_t *row = malloc(hidden * sizeof *row);
    bool failed = !scales || !row;

    for (int token = 0; token < tokens && run->x_scales && !failed; token++) {
        memcpy(row, x + (size_t)token * hidden, hidden * sizeof *row);
        wsh_ep_quantize(row, (int)hidden,
                        run->config.dtype == SHMEMX_EP_FP8 ? WSH_EP_SCALE_FLOAT : WSH_EP_SCALE_POWER2,
                        (uint8_t *)x + (size_t)token * hidden, scales + (size_t)token * blocks);
    }
    if (run->x_scales && !failed)
        run->backend->write(run->x_scales, scales, (size_t)tokens * blocks * sizeof *scales);
    if (!failed)
        run->backend->write(run->x, x, moe_x_bytes(run));
    free(scales);
    free(row);
    return failed;
}

/* Tokens, what they choose, and the weights, from the generator of the reference. */
static int fill(struct moe_run *run)
{
    int tokens = ref_tokens(&run->job, run->me), topk = run->job.topk, hidden = run->job.hidden;
    uint16_t *x = malloc((size_t)tokens * (size_t)hidden * sizeof *x);
    int32_t *chosen = malloc((size_t)tokens * (size_t)topk * sizeof *chosen);
    float *weights = malloc((size_t)tokens * (size_t)topk * sizeof *weights);
    int failed = tokens && (!x || !chosen || !weights);

    for (int token = 0; token < tokens && !failed; token++) {
        ref_row(run->job.seed, run->me, run->job.call, token, hidden, x + (size_t)token * (size_t)hidden);
        ref_choose(&run->job, run->me, token, chosen + token * topk, weights + token * topk);
    }
    failed = failed || fill_rows(run, x, tokens);
    if (!failed) {
        run->backend->write(run->topk, chosen, (size_t)tokens * (size_t)topk * sizeof *chosen);
        run->backend->write(run->weights, weights, (size_t)tokens * (size_t)topk * sizeof *weights);
    }
    if (run->options->in_place && (run->config.dtype == SHMEMX_EP_BF16 || run->x_scales))
        run->x_host = x;
    else
        free(x);
    free(chosen);
    free(weights);
    return failed;
}

/* Rows that come for experts of this PE, with padding; -1: no memory. */
static int64_t padded(const struct moe_run *run)
{
    int local = ref_experts_a_pe(&run->job), first = run->me * local;
    int64_t alignment = run->options->expanded, *rows = calloc((size_t)local, sizeof *rows), sum = 0;
    int32_t topk[REF_TOPK_MAX];
    float weights[REF_TOPK_MAX];

    for (int pe = 0; pe < run->npes && rows; pe++)
        for (int token = 0; token < ref_tokens(&run->job, pe); token++) {
            ref_choose(&run->job, pe, token, topk, weights);
            for (int k = 0; k < run->job.topk; k++)
                if (topk[k] >= first && topk[k] < first + local)
                    rows[topk[k] - first]++;
        }
    for (int i = 0; i < local && rows; i++)
        sum += (rows[i] + alignment - 1) / alignment * alignment;
    sum = rows ? sum : -1;
    free(rows);
    return sum;
}

/* --expanded: room for just the rows that come, and their padding. 0, or -1: no memory. */
static int widen(struct moe_run *run)
{
    const struct moe_backend *backend = run->backend;
    int64_t alignment = run->options->expanded;

    run->wide = (shmemx_ep_rows_expanded_t){.alignment = alignment, .zero = 1};
    if (!alignment || run->mode == REF_LOW_LATENCY)
        return 0;
    run->wide.room = padded(run);
    if (run->wide.room < 0)
        return -1;
    run->wide.ends = backend->take((size_t)ref_experts_a_pe(&run->job) * sizeof *run->wide.ends);
    run->wide.places = backend->take((size_t)(run->rows * run->job.topk) * sizeof *run->wide.places);
    run->wide.weights = backend->take((size_t)run->wide.room * sizeof *run->wide.weights);
    return run->wide.ends && run->wide.places && run->wide.weights ? 0 : -1;
}

/* 0, or -1: no memory. */
static int take(struct moe_run *run)
{
    const struct moe_backend *backend = run->backend;
    size_t hidden = (size_t)run->job.hidden, tokens = (size_t)run->now->tokens, topk = (size_t)run->job.topk;
    size_t value = run->config.dtype == SHMEMX_EP_BF16 ? 2 : 1, rows, received = (size_t)run->rows;
    bool scales = value == 1, high = run->mode == REF_HIGH_THROUGHPUT;

    if (widen(run))
        return -1;
    rows = run->wide.alignment && high ? (size_t)run->wide.room : received;
    run->x_given = 0;
    run->x = run->x_own = backend->take(tokens * hidden * 2);
    run->x_scales = scales && run->options->coded
                        ? backend->take(tokens * hidden / WSH_EP_BLOCK * sizeof *run->x_scales)
                        : NULL;
    run->out = backend->take(tokens * hidden * 2);
    run->topk = backend->take(tokens * topk * sizeof *run->topk);
    run->weights = backend->take(tokens * topk * sizeof *run->weights);
    run->rows_at = backend->take(rows * hidden * value);
    run->row_scales = scales ? backend->take(rows * hidden / WSH_EP_BLOCK * sizeof *run->row_scales) : NULL;
    run->y = run->y_own = run->options->in_place ? NULL : backend->take(rows * hidden * 2);
    run->counts = backend->take((size_t)ref_experts_a_pe(&run->job) * sizeof *run->counts);
    run->row_topk = high ? backend->take(received * topk * sizeof *run->row_topk) : NULL;
    run->row_weights = high ? backend->take(received * topk * sizeof *run->row_weights) : NULL;
    if (!run->x || !run->out || !run->topk || !run->weights || !run->rows_at ||
        (scales && (!run->row_scales || (run->options->coded && !run->x_scales))) ||
        (!run->y && !run->options->in_place) || !run->counts ||
        (high && (!run->row_topk || !run->row_weights)))
        return -1;
    if (run->y)
        backend->fill(run->y, 0x3c, rows * hidden * 2);
    if (run->wide.alignment && high) {
        run->wide.rows = run->rows_at;
        run->wide.row_scales = run->row_scales;
    }
    return fill(run) ? -1 : 0;
}

/* --routing alone */
static int tokens_of_first(const struct ref_job *job, int pe)
{
    return pe == 0 ? job->tokens : 0;
}

/* What the case's numbers are; shmemx_ep_bytes says whether the library takes them. */
static int describe(struct moe_run *run)
{
    const struct moe_options *o = run->options;
    const struct moe_case *now = run->now;
    int low = now->phase == MOE_DECODE, fan = o->topk < run->npes ? (int)o->topk : run->npes;
    long capacity = moe_capacity(o, now, run->npes);
    static const enum ref_routing routings[] = {REF_UNIFORM, REF_ZIPF, REF_HOT_EXPERT, REF_UNIFORM};

    run->config =
        moe_config(o, now, run->npes, run->backend->device, run->blocks ? run->blocks : (int)o->blocks);
    run->mode = low ? REF_LOW_LATENCY : REF_HIGH_THROUGHPUT;
    run->job = (struct ref_job){.pes = run->npes,
                                .hosts = run->npes / run->near,
                                .experts = now->experts,
                                .topk = (int)o->topk,
                                .exact = o->exact,
                                .tokens = now->tokens,
                                .hidden = (int)o->hidden,
                                .dtype = (enum ref_dtype)now->dtype,
                                .routing = routings[o->routing],
                                .seed = 1,
                                .own_tokens = o->routing == MOE_ALONE ? tokens_of_first : NULL};
    run->route = moe_one_copy(run) ? REF_ONE_COPY : REF_DIRECT;
    run->parts = low ? now->experts / run->npes : 1;
    run->rows = low ? (long)run->parts * (capacity ? capacity : (long)run->npes * now->tokens)
                    : (capacity ? capacity : (long)now->tokens * fan);
    run->row_bytes = (size_t)o->hidden * (now->dtype == SHMEMX_EP_BF16 ? 2 : 1) +
                     (now->dtype == SHMEMX_EP_BF16 ? 0 : (size_t)o->hidden / WSH_EP_BLOCK * sizeof(float));
    return shmemx_ep_bytes(&run->config, run->npes, run->near, &run->bytes);
}

/* What moe_close releases. */
static void forget(struct moe_run *run)
{
    run->ep = NULL;
    run->links = NULL;
    run->x_host = NULL;
    run->x_own = run->y_own = run->rows_at = run->out = NULL;
    run->weights = run->row_scales = run->row_weights = run->x_scales = NULL;
    run->topk = run->row_topk = run->counts = NULL;
    run->wide = (shmemx_ep_rows_expanded_t){.rows = NULL};
}

int moe_open(struct moe_run *run)
{
    int failed = describe(run);

    forget(run);
    if (!failed) {
        moe_load_count(run);
        failed = shmemx_ep_create(SHMEM_TEAM_WORLD, &run->config, &run->ep);
    }
    if (!failed && take(run)) {
        perf_complain("no memory for %ld rows of %zu bytes, received and combined; give fewer --tokens, or "
                      "--capacity",
                      run->rows, run->row_bytes);
        failed = 1;
    }
    return moe_sum(run, failed) > 0 ? -1 : 0;
}

void moe_close(struct moe_run *run)
{
    void *const memory[] = {run->x_own,       run->out,         run->topk,     run->weights,
                            run->rows_at,     run->row_scales,  run->y_own,    run->counts,
                            run->row_topk,    run->row_weights, run->x_scales, run->wide.ends,
                            run->wide.places, run->wide.weights};

    if (run->ep)
        shmemx_ep_destroy(run->ep);
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        run->backend->release(memory[i]);
    free(run->x_host);
    free(run->links);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens instances, fills the arrays of calls and makes them. */
#include "test/ep/calls.h"

#include "test/ep/reference/judge.h"
#include "ep/number.h"

#include <stdlib.h>
#include <string.h>

enum { AGREED_PES = 16 };

static const int dtypes[REF_DTYPES] = {SHMEMX_EP_BF16, SHMEMX_EP_FP8, SHMEMX_EP_FP8_UE8M0};

const struct calls_memory *calls_memory;

static void *take(size_t count, size_t each)
{
    size_t bytes = (count ? count : 1) * each;
    void *memory = calls_memory ? calls_memory->take(bytes) : calloc(1, bytes);

    if (!memory)
        abort();
    return memory;
}

static void take_arrays(struct calls *calls)
{
    const struct ref_job *job = &calls->job;
    size_t tokens = (size_t)job->tokens, hidden = (size_t)job->hidden, topk = (size_t)job->topk;
    size_t rows = (size_t)(calls->kinds * calls->capacity);

    calls->x = take(tokens * hidden, 2);
    calls->x_scales = take(tokens * hidden / WSH_EP_BLOCK, 4);
    calls->topk = take(tokens * topk, 4);
    calls->wide_topk = take(tokens * topk, 8);
    calls->weights = take(tokens * topk, 4);
    calls->got = take(rows * hidden, 2);
    calls->got_scales = take(rows * hidden / WSH_EP_BLOCK, 4);
    calls->counts = take((size_t)ref_experts_a_pe(job), 4);
    calls->sources = take((size_t)calls->kinds * (size_t)job->pes * 2, 4);
    calls->got_topk = take(rows * topk, 4);
    calls->row_sources = take(rows, 4);
    calls->totals = take((size_t)ref_experts_a_pe(job), 4);
    calls->last_totals = take((size_t)ref_experts_a_pe(job), 4);
    calls->ranges = take((size_t)calls->kinds * (size_t)job->pes, 8);
    calls->by_column = take(rows * hidden / WSH_EP_BLOCK, 4);
    calls->wide_got = take(rows * topk, 8);
    calls->got_weights = take(rows * topk, 4);
    calls->y = take(rows * hidden, 2);
    calls->y_weights = take(rows * topk, 4);
    calls->out = take(tokens * hidden, 2);
    calls->out_weights = take(tokens * topk, 4);
}

/* Choices of every second call are those of the one before; rows are its own. */
static struct ref_job drawn_job(const struct ref_job *job)
{
    struct ref_job drawn = *job;

    drawn.own_tokens = NULL;
    drawn.own_choice = NULL;
    drawn.call -= drawn.call % 2;
    return drawn;
}

static int kept_tokens(const struct ref_job *job, int pe)
{
    struct ref_job drawn = drawn_job(job);

    return ref_tokens(&drawn, pe);
}

static void kept_choice(const struct ref_job *job, int pe, int token, int32_t *topk, float *weights)
{
    struct ref_job drawn = drawn_job(job);

    ref_choose(&drawn, pe, token, topk, weights);
}

static shmemx_ep_config_t config_of(const struct calls *calls)
{
    const struct ref_job *job = &calls->job;
    shmemx_ep_config_t config = SHMEMX_EP_CONFIG_INITIALIZER;

    config.mode = calls->mode == REF_LOW_LATENCY ? SHMEMX_EP_LOW_LATENCY : SHMEMX_EP_HIGH_THROUGHPUT;
    config.dtype = dtypes[job->dtype];
    config.route = calls->route == REF_ONE_COPY ? SHMEMX_EP_ONE_COPY : SHMEMX_EP_DIRECT;
    config.hidden = job->hidden;
    config.experts = job->experts;
    config.topk = job->topk + calls->options.spare;
    config.tokens = job->tokens ? job->tokens : 1;
    *(config.mode == SHMEMX_EP_LOW_LATENCY ? &config.expert_capacity : &config.pe_capacity) =
        (int)calls->capacity;
    config.window = calls->options.window;
    config.handles = calls->options.handles;
    config.topk_bits = calls->options.wide ? 64 : 0;
    config.exact = job->exact;
    config.device = calls_memory != NULL;
    config.masks = calls->options.masks != 0;
    config.limit_ms = calls->options.masks;
    return config;
}

/* What the heap has held before must not matter: an instance begins in memory full of ones. */
static void soil_heap(shmem_team_t team)
{
    size_t bytes = (size_t)1 << 20;
    void *memory = calls_memory ? NULL : shmemx_team_malloc(team, bytes);

    if (!memory)
        return;
    memset(memory, 0xff, bytes);
    shmemx_team_free(team, memory);
}

bool calls_open(struct calls *calls, shmem_team_t team, const struct ref_job *job, enum ref_mode mode,
                enum ref_route route, const struct calls_options *options)
{
    shmemx_ep_config_t config;

    memset(calls, 0, sizeof *calls);
    calls->job = *job;
    calls->mode = mode;
    calls->route = route;
    calls->options = *options;
    calls->me = shmem_team_my_pe(team);
    calls->kinds = mode == REF_LOW_LATENCY ? ref_experts_a_pe(job) : 1;
    calls->capacity =
        options->capacity ? options->capacity : (job->tokens ? job->tokens : 1) * (int64_t)job->pes;
    if (mode != REF_LOW_LATENCY || job->topk + options->spare > REF_TOPK_MAX ||
        job->topk + options->spare > job->experts)
        calls->options.spare = 0;
    if (options->kept) {
        calls->job.own_tokens = kept_tokens;
        calls->job.own_choice = kept_choice;
    }
    config = config_of(calls);
    soil_heap(team);
    if (!mp_check(!shmemx_ep_create(team, &config, &calls->ep), "no instance"))
        return false;
    take_arrays(calls);
    return true;
}

void calls_share(struct calls *calls, const struct calls *other)
{
    *calls = *other;
    calls->shares = true;
    calls->network_rows = 0;
    take_arrays(calls);
}

void calls_close(struct calls *calls)
{
    void *arrays[] = {calls->x,           calls->x_scales,    calls->topk,        calls->weights,
                      calls->got,         calls->got_scales,  calls->counts,      calls->sources,
                      calls->got_topk,    calls->got_weights, calls->y,           calls->y_weights,
                      calls->out,         calls->out_weights, calls->wide_topk,   calls->wide_got,
                      calls->row_sources, calls->totals,      calls->last_totals, calls->ranges,
                      calls->by_column};

    mp_check(calls->shares || !shmemx_ep_destroy(calls->ep), "destroy");
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        calls_memory ? calls_memory->give(arrays[i]) : free(arrays[i]);
}

int calls_hosts(void)
{
    if (mp_path_is("local") || mp_path_is("single"))
        return 1;
    return mp_path_is("mixed") || mp_path_is("mixedefa") || mp_path_is("mixedshm") ? 2 : mp_npes;
}

struct ref_job calls_random_job(uint64_t *state, int pes, int hosts)
{
    static const int hiddens[] = {128, 128, 256, 384, 1024, 2560};
    struct ref_job job = {.pes = pes, .hosts = hosts};

    job.experts = pes * (int)(1 + mp_random_below(state, 6));
    job.topk =
        (int)(1 + mp_random_below(state, job.experts < REF_TOPK_MAX ? (size_t)job.experts : REF_TOPK_MAX));
    job.tokens = (int)mp_random_below(state, mp_random_below(state, 3) ? 20 : 150);
    job.hidden = hiddens[mp_random_below(state, sizeof hiddens / sizeof hiddens[0])];
    job.dtype = (enum ref_dtype)mp_random_below(state, REF_DTYPES);
    job.routing = (enum ref_routing)mp_random_below(state, REF_ROUTINGS);
    job.seed = mp_random(state);
    job.exact = job.seed >> 33 & 1;
    return job;
}

struct calls_options calls_random_options(uint64_t *state)
{
    uint64_t bits = mp_random(state);

    return (struct calls_options){.halves = bits & 1,
                                  .buffers = bits >> 1 & 1,
                                  .kept = bits >> 2 & 1,
                                  .coded = bits >> 3 & 1,
                                  .spare = (int)(bits >> 20 & 3),
                                  .window = (int)(1 + (bits >> 4) % 24),
                                  .handles = (int)(1 + (bits >> 12) % 3)};
}

bool calls_are_late(const struct calls *calls, int64_t call)
{
    return calls->mode == REF_LOW_LATENCY && (call % 4 == 1 || (call % 4 == 2 && !calls->options.kept));
}

bool calls_are_full(const struct calls *calls, int64_t call)
{
    return calls->mode == REF_LOW_LATENCY && call % 2 == 0;
}

bool calls_are_former(int64_t call)
{
    return call % 5 == 4;
}

static void fill_full(struct calls *calls)
{
    struct calls_rows *into = &calls->into;

    into->ranges = calls->ranges;
    into->row_sources = calls->row_sources;
    into->totals = calls->totals;
    memcpy(calls->last_totals, calls->totals, (size_t)ref_experts_a_pe(&calls->job) * 4);
    if (calls->job.dtype == REF_BF16)
        return;
    into->row_scales = calls->by_column;
    into->scales_row_step = 1;
    into->scales_column_step = calls->capacity;
    into->scales_packed = calls->job.dtype == REF_FP8_UE8M0 && calls->job.hidden % 512 == 0;
}

static void fill_into(struct calls *calls, int64_t call)
{
    bool low = calls->mode == REF_LOW_LATENCY, wide = calls->options.wide, some = !calls->options.masks;

    calls->into = (struct calls_rows){.rows = calls->got,
                                      .row_scales = calls->job.dtype != REF_BF16 ? calls->got_scales : NULL,
                                      .counts = some && call % 3 == 1 ? NULL : calls->counts,
                                      .sources = some && call % 3 == 2 ? NULL : calls->sources,
                                      .row_topk = low    ? NULL
                                                  : wide ? (void *)calls->wide_got
                                                         : calls->got_topk,
                                      .row_weights = low ? NULL : calls->got_weights,
                                      .row_sources = !low && call % 3 == 1 ? calls->row_sources : NULL};
    if (calls_are_full(calls, call))
        fill_full(calls);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void give_former(shmemx_ep_dispatch_t *dispatch, const struct calls_rows *into)
{
    dispatch->version = 1;
    memset(&dispatch->by_expert, 0xff, sizeof dispatch->by_expert); /* which it does not have */
    memset(&dispatch->by_source, 0xff, sizeof dispatch->by_source);
    dispatch->rows = into->rows;
    dispatch->row_scales = into->row_scales;
    dispatch->counts = into->counts;
    dispatch->sources = into->sources;
    dispatch->row_topk = into->row_topk;
    dispatch->row_weights = into->row_weights;
    dispatch->ranges = into->ranges;
    dispatch->row_sources = into->row_sources;
    dispatch->totals = into->totals;
    dispatch->scales_row_step = into->scales_row_step;
    dispatch->scales_column_step = into->scales_column_step;
    dispatch->scales_packed = (int)into->scales_packed;
}
#pragma GCC diagnostic pop

static void give_rows(struct calls *calls)
{
    const struct calls_rows *into = &calls->into;

    if (calls_are_former(calls->job.call))
        give_former(&calls->dispatch, into);
    else if (calls->mode == REF_LOW_LATENCY)
        calls->dispatch.by_expert =
            (shmemx_ep_rows_by_expert_t){.rows = into->rows,
                                         .row_scales = into->row_scales,
                                         .counts = into->counts,
                                         .sources = into->sources,
                                         .ranges = into->ranges,
                                         .row_sources = into->row_sources,
                                         .totals = into->totals,
                                         .scales_row_step = into->scales_row_step,
                                         .scales_column_step = into->scales_column_step,
                                         .scales_packed = into->scales_packed};
    else
        calls->dispatch.by_source = (shmemx_ep_rows_by_source_t){.rows = into->rows,
                                                                 .row_scales = into->row_scales,
                                                                 .counts = into->counts,
                                                                 .sources = into->sources,
                                                                 .row_sources = into->row_sources,
                                                                 .row_topk = into->row_topk,
                                                                 .row_weights = into->row_weights};
}

static void fill_dispatch(struct calls *calls, int64_t call)
{
    bool kept = calls->options.kept && call % 2, fp8 = calls->job.dtype != REF_BF16;
    int64_t routing = calls->options.kept ? call / 2 : call;
    shmemx_ep_dispatch_t *dispatch = &calls->dispatch;

    memset(dispatch, 0, sizeof *dispatch);
    dispatch->version = SHMEMX_EP_CALL_VERSION;
    dispatch->handle = (int)(routing % (calls->options.handles ? calls->options.handles : 2));
    dispatch->tokens = ref_tokens(&calls->job, calls->me);
    dispatch->columns = calls->options.spare ? calls->job.topk : 0;
    dispatch->x_scales = calls->options.coded && fp8 ? calls->x_scales : NULL;
    dispatch->topk = kept ? NULL : calls->options.wide ? (void *)calls->wide_topk : calls->topk;
    dispatch->weights = (kept && call % 4 == 3) || calls_are_late(calls, call) ? NULL : calls->weights;
    fill_into(calls, call);
    give_rows(calls);
}

void calls_fill(struct calls *calls, int64_t call)
{
    bool in_buffer = calls->options.buffers && (calls->job.dtype == REF_BF16 || calls->options.coded);
    char *x;

    calls->job.call = call;
    fill_dispatch(calls, call);
    x = in_buffer ? shmemx_ep_buffer(calls->ep, SHMEMX_EP_BUFFER_X) : calls->x;
    ref_fill_inputs(&calls->job, calls->me, calls->dispatch.x_scales ? NULL : (uint16_t *)x, calls->topk,
                    calls->weights);
    for (int i = 0; i < calls->dispatch.tokens * calls->job.topk; i++)
        calls->wide_topk[i] = calls->topk[i];
    if (calls->dispatch.x_scales)
        ref_fill_codes(&calls->job, calls->me, (uint8_t *)x, calls->x_scales);
    calls->dispatch.x = x;
    calls->network_rows += (uint64_t)ref_network_rows(&calls->job, calls->me, calls->route);
}

void calls_dispatch(struct calls *calls, int halves)
{
    calls->dispatch.halves = halves;
    mp_check(!shmemx_ep_dispatch(calls->ep, &calls->dispatch), "dispatch %lld, halves %d, is refused",
             (long long)calls->job.call, halves);
    if (calls_memory)
        calls_memory->wait();
}

/* Whether PEs of a call agree by its kernels; version 1 does not have that. */
static bool calls_agree(const struct calls *calls)
{
    return calls->mode == REF_HIGH_THROUGHPUT && calls->job.pes <= AGREED_PES && !calls->options.plain &&
           !calls->options.capacity && calls->job.call % 5 < 2;
}

/* A call before this one that a PE declines. X is in no buffer, for those come in turn. */
static void decline(struct calls *calls)
{
    shmemx_ep_dispatch_t dispatch = calls->dispatch;
    shmemx_ep_statistics_t before, after;
    int32_t rows = 0;

    if (calls->options.buffers || !dispatch.topk || calls->job.call % 3)
        return;
    dispatch.halves = SHMEMX_EP_BOTH;
    dispatch.agreed = SHMEMX_EP_AGREES;
    if (calls->job.call % calls->job.pes == calls->me) {
        dispatch.agreed = SHMEMX_EP_DECLINES;
        dispatch.tokens = 0;
    }
    mp_check(!shmemx_ep_statistics(calls->ep, &before), "no statistics");
    mp_check(!shmemx_ep_dispatch(calls->ep, &dispatch), "a call that is declined is refused");
    mp_check(!shmemx_ep_statistics(calls->ep, &after), "no statistics");
    calls->declined++;
    calls->declined_rows += after.network_rows - before.network_rows;
    mp_check(!shmemx_ep_counts(calls->ep, dispatch.handle, NULL, &rows) && rows == -1,
             "a call that is declined has %d rows", rows);
}

/* Both halves; where there is no room for all rows, the receiving half again. */
static void dispatch_agreed(struct calls *calls)
{
    int32_t sums[AGREED_PES * AGREED_PES], rows = -1, last = 0, n = calls->job.pes;
    shmemx_ep_dispatch_t *dispatch = &calls->dispatch;

    decline(calls);
    dispatch->agreed = SHMEMX_EP_AGREES;
    dispatch->rows_most = (calls->job.call + calls->me) % 3 ? 1 + calls->job.call % calls->capacity : 0;
    dispatch->row_sums = sums;
    calls_dispatch(calls, SHMEMX_EP_BOTH);
    mp_check(!shmemx_ep_counts(calls->ep, dispatch->handle, NULL, &rows), "counts");
    if (dispatch->rows_most && rows > dispatch->rows_most) {
        dispatch->rows_most = rows;
        calls_dispatch(calls, SHMEMX_EP_RECEIVE);
    }
    for (int i = 0; i < n; last = sums[i++ * n + calls->me])
        mp_check(sums[i * n + calls->me] >= last, "row_sums[%d] is %d after %d", i, sums[i * n + calls->me],
                 last);
    mp_check(last == rows, "row_sums end with %d, and %d rows have come", last, rows);
}

void calls_combine(struct calls *calls, int halves)
{
    calls->combine.halves = halves;
    mp_check(!shmemx_ep_combine(calls->ep, &calls->combine), "combine %lld, halves %d, is refused",
             (long long)calls->job.call, halves);
    if (calls_memory)
        calls_memory->wait();
}

void calls_be_late(const struct calls *calls, int64_t call)
{
    if (call % 8 == calls->me % 8)
        mp_sleep(0.003);
}

void calls_round(struct calls *calls, int64_t call)
{
    calls_fill(calls, call);
    if (calls->options.halves) {
        calls_dispatch(calls, SHMEMX_EP_SEND);
        calls_be_late(calls, call);
        calls_dispatch(calls, SHMEMX_EP_RECEIVE);
    } else if (calls_agree(calls)) {
        dispatch_agreed(calls);
    } else {
        calls_dispatch(calls, SHMEMX_EP_BOTH);
    }
    calls_received(calls);
    if (calls->options.halves) {
        calls_combine(calls, SHMEMX_EP_SEND);
        calls_be_late(calls, call);
        calls_combine(calls, SHMEMX_EP_RECEIVE);
    } else {
        calls_combine(calls, SHMEMX_EP_BOTH);
    }
    calls_combined(calls);
}

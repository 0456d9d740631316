/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arguments that are wrong are refused with one line each, which names what is wrong; nothing is sent, and calls that
 * follow are right.
 * paths: single local:2
 */
#include "test/ep/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TOKENS = 8, HIDDEN = 128, TOPK = 2, EXPERTS = 4 };

static int saved_stderr, kinds;
static FILE *caught;

static void catch_begin(void)
{
    fflush(stderr);
    rewind(caught);
    if (ftruncate(fileno(caught), 0))
        abort();
    dup2(fileno(caught), STDERR_FILENO);
}

/* One line, with the words in it. */
static void catch_end(int refused, const char *words)
{
    char line[2048] = "", more[64];
    bool one;

    dup2(saved_stderr, STDERR_FILENO);
    rewind(caught);
    one = fgets(line, sizeof line, caught) && !fgets(more, sizeof more, caught);
    mp_check(refused, "accepted: %s", words);
    mp_check(one && strstr(line, words) && !strncmp(line, "warpshmem-ep: ", 14),
             "no line, several or another than '%s': %s", words, line);
    kinds++;
}

#define REFUSED(words, call)       \
    do {                           \
        int refused;               \
                                   \
        catch_begin();             \
        refused = (call);          \
        catch_end(refused, words); \
    } while (0)

static shmemx_ep_config_t good_config(void)
{
    shmemx_ep_config_t config = SHMEMX_EP_CONFIG_INITIALIZER;

    config.hidden = HIDDEN;
    config.experts = EXPERTS;
    config.topk = TOPK;
    config.tokens = TOKENS;
    return config;
}

/* A configuration that is right but for one member. */
#define BAD_CONFIG(words, member, value)                                 \
    do {                                                                 \
        shmemx_ep_config_t bad = good_config();                          \
        shmemx_ep_bytes_t bytes;                                         \
        shmemx_ep_t none = NULL;                                         \
                                                                         \
        bad.member = (value);                                            \
        REFUSED(words, shmemx_ep_bytes(&bad, 2, 1, &bytes));             \
        REFUSED(words, shmemx_ep_create(SHMEM_TEAM_WORLD, &bad, &none)); \
        mp_check(!none, "a handle");                                     \
    } while (0)

static void configurations(void)
{
    BAD_CONFIG("version is 7", version, 7);
    BAD_CONFIG("mode is 2", mode, 2);
    BAD_CONFIG("dtype is -1", dtype, -1);
    BAD_CONFIG("dtype is 5", dtype, 5);
    BAD_CONFIG("row_bytes is 0", dtype, SHMEMX_EP_BYTES);
    BAD_CONFIG("row_bytes is 64, and dtype is 0", row_bytes, 64);
    BAD_CONFIG("route is 3", route, 3);
    BAD_CONFIG("device is 2", device, 2);
    BAD_CONFIG("hidden is 100", hidden, 100);
    BAD_CONFIG("hidden is 65664", hidden, 65664);
    BAD_CONFIG("experts is 0", experts, 0);
    BAD_CONFIG("topk is 17", topk, 17);
    BAD_CONFIG("topk is 5", topk, 5); /* more than experts */
    BAD_CONFIG("tokens is 0", tokens, 0);
    BAD_CONFIG("tokens is 65537", tokens, 65537);
    BAD_CONFIG("tokens is 2049", tokens, 2049);
    BAD_CONFIG("exact is 2", exact, 2);
    BAD_CONFIG("masks is 2", masks, 2);
    BAD_CONFIG("fewer_blocks is 2", fewer_blocks, 2);
    BAD_CONFIG("limit_ms is 5", limit_ms, 5);
    BAD_CONFIG("expert_capacity is -1", expert_capacity, -1);
    BAD_CONFIG("expert_capacity is 999", expert_capacity, 999);
    BAD_CONFIG("pe_capacity is given, which mode 0", pe_capacity, 8);
    BAD_CONFIG("window is -1", window, -1);
    BAD_CONFIG("handles is 5000", handles, 5000);
    BAD_CONFIG("blocks is -1", blocks, -1);
    BAD_CONFIG("topk_bits is 16", topk_bits, 16);
    BAD_CONFIG("unused[3] is 1", unused[3], 1);
}

static void masks(void)
{
    shmemx_ep_config_t config = good_config();
    shmemx_ep_bytes_t bytes;
    shmemx_ep_t ep;
    int32_t masked[8];

    config.masks = 1;
    mp_check(!shmemx_ep_create(SHMEM_TEAM_WORLD, &config, &ep), "refused with masks");
    REFUSED("pe is -1", shmemx_ep_mask_update(ep, -1, 1));
    REFUSED("not this PE's own", shmemx_ep_mask_update(ep, mp_me, 1));
    REFUSED("it is from 0 to", shmemx_ep_mask_update(ep, mp_npes, 0));
    if (mp_npes > 1)
        REFUSED("masked is 2", shmemx_ep_mask_update(ep, 1 - mp_me, 2));
    REFUSED("masked is NULL", shmemx_ep_mask_query(ep, NULL));
    mp_check(!shmemx_ep_mask_query(ep, masked) && !masked[0], "PE 0 is masked");
    shmemx_ep_destroy(ep);
    config.mode = SHMEMX_EP_HIGH_THROUGHPUT;
    REFUSED("masks is 1", shmemx_ep_bytes(&config, 2, 1, &bytes));
    config.mode = SHMEMX_EP_LOW_LATENCY;
    config.route = SHMEMX_EP_ONE_COPY;
    REFUSED("masks is 1", shmemx_ep_bytes(&config, 2, 1, &bytes));
}

/* Only one PE is wrong: all are told, and none waits for it. */
static void one_is_wrong(void)
{
    shmemx_ep_config_t config = good_config();
    shmemx_ep_t ep;
    bool last = mp_me == mp_npes - 1;

    if (mp_npes == 1)
        return;
    config.hidden = last ? 1 : HIDDEN;
    REFUSED(last ? "hidden is 1" : "another PE refuses", shmemx_ep_create(SHMEM_TEAM_WORLD, &config, &ep));
    config.hidden = last ? 2 * HIDDEN : HIDDEN;
    REFUSED("configurations of PEs differ", shmemx_ep_create(SHMEM_TEAM_WORLD, &config, &ep));
}

static void nulls(void)
{
    shmemx_ep_config_t config = good_config();
    shmemx_ep_bytes_t bytes;
    shmemx_ep_t ep;

    REFUSED("config is NULL", shmemx_ep_bytes(NULL, 2, 1, &bytes));
    REFUSED("bytes is NULL", shmemx_ep_bytes(&config, 2, 1, NULL));
    REFUSED("n_pes is 3", shmemx_ep_bytes(&config, 3, 2, &bytes));
    config.experts = 5;
    REFUSED("experts is 5", shmemx_ep_bytes(&config, 2, 1, &bytes));
    config.experts = EXPERTS;
    REFUSED("config is NULL", shmemx_ep_create(SHMEM_TEAM_WORLD, NULL, &ep));
    REFUSED("ep is NULL", shmemx_ep_create(SHMEM_TEAM_WORLD, &config, NULL));
    REFUSED("team is", shmemx_ep_create(SHMEM_TEAM_INVALID, &config, &ep));
    REFUSED("ep is NULL", shmemx_ep_destroy(NULL));
    REFUSED("ep is NULL", shmemx_ep_dispatch(NULL, NULL));
    REFUSED("ep is NULL", shmemx_ep_combine(NULL, NULL));
    REFUSED("ep is NULL", shmemx_ep_counts(NULL, 0, NULL, NULL));
    REFUSED("ep is NULL", shmemx_ep_statistics(NULL, NULL));
    REFUSED("ep is NULL", !shmemx_ep_buffer(NULL, 0));
}

/* A call that is right but for one member. */
#define BAD_CALL(words, kind, calls, member, value)          \
    do {                                                     \
        shmemx_ep_##kind##_t bad = (calls)->kind;            \
                                                             \
        bad.halves = SHMEMX_EP_BOTH;                         \
        bad.member = (value);                                \
        REFUSED(words, shmemx_ep_##kind((calls)->ep, &bad)); \
    } while (0)

/* The same of a member that both kinds of rows have. */
#define BAD_ROWS(low, words, calls, member, value)                     \
    do {                                                               \
        if (low)                                                       \
            BAD_CALL(words, dispatch, calls, by_expert.member, value); \
        else                                                           \
            BAD_CALL(words, dispatch, calls, by_source.member, value); \
    } while (0)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
/* Members of version 1, in low latency. */
static void former_members(struct calls *calls)
{
    shmemx_ep_config_t config = good_config();
    shmemx_ep_bytes_t bytes;

    BAD_CALL("rows and by_expert are given", dispatch, calls, rows, calls->got);
    BAD_CALL("row_topk is given", dispatch, calls, row_topk, calls->got_topk);
    BAD_CALL("row_weights is given", dispatch, calls, row_weights, calls->got_weights);
    config.capacity = config.expert_capacity = 8;
    REFUSED("capacity and expert_capacity are given", shmemx_ep_bytes(&config, 2, 1, &bytes));
    config.expert_capacity = 0;
    mp_check(!shmemx_ep_bytes(&config, 2, 1, &bytes), "capacity is refused");
    config.capacity = 999;
    REFUSED("expert_capacity is 999", shmemx_ep_bytes(&config, 2, 1, &bytes));
}
#pragma GCC diagnostic pop

/* A dispatch of rows expert by expert with one member of that wrong. */
#define BAD_EXPANDED(words, calls, member, value)              \
    do {                                                       \
        shmemx_ep_rows_expanded_t wrong = good;                \
        shmemx_ep_dispatch_t bad = (calls)->dispatch;          \
                                                               \
        wrong.member = (value);                                \
        bad.halves = SHMEMX_EP_BOTH;                           \
        bad.expanded = &wrong;                                 \
        bad.by_source.rows = NULL;                             \
        bad.by_source.row_scales = NULL;                       \
        REFUSED(words, shmemx_ep_dispatch((calls)->ep, &bad)); \
    } while (0)

/* High throughput on one host. */
static void expanded_rows(struct calls *calls)
{
    bool fp8 = calls->job.dtype != REF_BF16;
    shmemx_ep_rows_expanded_t good = {.rows = calls->got,
                                      .row_scales = fp8 ? calls->got_scales : NULL,
                                      .ends = calls->counts,
                                      .room = 1,
                                      .alignment = 1};

    BAD_CALL("rows is given, and expanded has them", dispatch, calls, expanded, &good);
    BAD_EXPANDED("expanded->rows is NULL", calls, rows, NULL);
    BAD_EXPANDED("expanded->ends is NULL", calls, ends, NULL);
    BAD_EXPANDED("expanded->row_scales is", calls, row_scales, fp8 ? NULL : calls->got_scales);
    BAD_EXPANDED("expanded->room is 0", calls, room, 0);
    BAD_EXPANDED("expanded->alignment is 0", calls, alignment, 0);
    BAD_EXPANDED("expanded->alignment is 2147483647", calls, alignment, 2147483647);
    BAD_EXPANDED("expanded->zero is 2", calls, zero, 2);
    BAD_EXPANDED("expanded->scales_row_step is 1", calls, scales_row_step, 1);
}

static void dispatches(struct calls *calls)
{
    bool low = calls->mode == REF_LOW_LATENCY, fp8 = calls->job.dtype != REF_BF16;
    static int32_t wrong[TOKENS * TOPK];

    REFUSED("call is NULL", shmemx_ep_dispatch(calls->ep, NULL));
    BAD_CALL("version is 0", dispatch, calls, version, 0);
    BAD_CALL("unused[0] is 1", dispatch, calls, unused[0], 1);
    if (low) {
        BAD_CALL("rows_most is given", dispatch, calls, rows_most, 1);
        BAD_CALL("agreed is given", dispatch, calls, agreed, SHMEMX_EP_AGREES);
        BAD_CALL("row_sums is given", dispatch, calls, row_sums, calls->counts);
    } else {
        BAD_CALL("rows_most is -1", dispatch, calls, rows_most, -1);
        BAD_CALL("agreed is 3", dispatch, calls, agreed, 3);
        BAD_CALL("agreed is SHMEMX_EP_DECLINES", dispatch, calls, agreed, SHMEMX_EP_DECLINES);
    }
    BAD_CALL("halves is 0", dispatch, calls, halves, 0);
    BAD_CALL("halves is 4", dispatch, calls, halves, 4);
    BAD_CALL("receiving half without a sending half", dispatch, calls, halves, SHMEMX_EP_RECEIVE);
    BAD_CALL("handle is 2", dispatch, calls, handle, 2);
    BAD_CALL("handle is -1", dispatch, calls, handle, -1);
    BAD_CALL("tokens is -1", dispatch, calls, tokens, -1);
    BAD_CALL("tokens is 9", dispatch, calls, tokens, TOKENS + 1);
    BAD_CALL("x is NULL", dispatch, calls, x, NULL);
    if (!low)
        BAD_CALL("x is inside", dispatch, calls, x,
                 (char *)shmemx_ep_buffer(calls->ep, SHMEMX_EP_BUFFER_X) + 16);
    BAD_CALL("topk is NULL", dispatch, calls, topk, NULL);
    BAD_ROWS(low, "rows is NULL", calls, rows, NULL);
    if (low)
        BAD_CALL("by_source is given", dispatch, calls, by_source.rows, wrong);
    else
        BAD_CALL("by_expert is given", dispatch, calls, by_expert.totals, wrong);
    BAD_CALL("stream is given", dispatch, calls, stream, wrong);
    BAD_CALL("global_scale is", dispatch, calls, global_scale, calls->weights);
    wrong[2 * TOPK + 1] = EXPERTS;
    wrong[1] = wrong[TOPK] = wrong[TOPK * 2] = -1;
    BAD_CALL("topk[2][1] is 4", dispatch, calls, topk, wrong);
    wrong[2 * TOPK + 1] = 3;
    BAD_CALL("topk[3] has expert 0 twice", dispatch, calls, topk, wrong);
    if (fp8) {
        BAD_ROWS(low, "row_scales is NULL", calls, row_scales, NULL);
        BAD_CALL("x is in the buffer", dispatch, calls, x, shmemx_ep_buffer(calls->ep, SHMEMX_EP_BUFFER_X));
    } else {
        BAD_CALL("x_scales is given", dispatch, calls, x_scales, calls->x_scales);
        BAD_ROWS(low, "row_scales is given", calls, row_scales, calls->got_scales);
    }
    if (!low)
        BAD_CALL("waits is given", dispatch, calls, waits, calls->ranges);
    if (low)
        former_members(calls);
    else if (calls->job.hosts == 1)
        expanded_rows(calls);
}

/* Sums of expanded rows lie where the rows are said to be. */
static void combine_in_place(struct calls *calls)
{
    shmemx_ep_combine_t bad = calls->combine;

    bad.halves = SHMEMX_EP_BOTH;
    bad.y = shmemx_ep_buffer(calls->ep, SHMEMX_EP_BUFFER_Y);
    bad.places = calls->counts;
    REFUSED("y is a buffer of shmemx_ep_buffer", shmemx_ep_combine(calls->ep, &bad));
}

static void combines(struct calls *calls)
{
    REFUSED("call is NULL", shmemx_ep_combine(calls->ep, NULL));
    BAD_CALL("version is 3", combine, calls, version, 3);
    BAD_CALL("unused[1] is 1", combine, calls, unused[1], 1);
    if (calls->mode == REF_LOW_LATENCY)
        BAD_CALL("places is given", combine, calls, places, calls->counts);
    else
        combine_in_place(calls);
    BAD_CALL("signal_value is given without signals", combine, calls, signal_value, 1);
    BAD_CALL("signal_rows is given without signals", combine, calls, signal_rows, 1);
    BAD_CALL("signal_blocks is given without signals", combine, calls, signal_blocks, 1);
    if (calls->mode == REF_HIGH_THROUGHPUT)
        BAD_CALL("signals is given", combine, calls, signals, (const uint32_t *)calls->counts);
    else
        BAD_CALL("no symmetric memory", combine, calls, signals, (const uint32_t *)calls->counts);
    BAD_CALL("halves is 8", combine, calls, halves, 8);
    BAD_CALL("receiving half without a sending half", combine, calls, halves, SHMEMX_EP_RECEIVE);
    BAD_CALL("handle is 2", combine, calls, handle, 2);
    BAD_CALL("handle 1 has no routing", combine, calls, handle, 1);
    BAD_CALL("y is NULL", combine, calls, y, NULL);
    if (calls->mode == REF_HIGH_THROUGHPUT)
        BAD_CALL("y is inside", combine, calls, y,
                 (char *)shmemx_ep_buffer(calls->ep, SHMEMX_EP_BUFFER_Y) + 16);
    BAD_CALL("out is NULL", combine, calls, out, NULL);
    BAD_CALL("stream is given", combine, calls, stream, calls);
    if (calls->mode == REF_LOW_LATENCY) {
        BAD_CALL("y_weights is given", combine, calls, y_weights, calls->y_weights);
        BAD_CALL("out_weights is given", combine, calls, out_weights, calls->out_weights);
    } else {
        BAD_CALL("weights is given", combine, calls, weights, calls->weights);
    }
    REFUSED("handle is 2", shmemx_ep_counts(calls->ep, 2, NULL, NULL));
    REFUSED("handle 1 has no routing", shmemx_ep_counts(calls->ep, 1, NULL, NULL));
    REFUSED("statistics is NULL", shmemx_ep_statistics(calls->ep, NULL));
    REFUSED("has no masks", shmemx_ep_mask_clean(calls->ep));
    REFUSED("which is 2", !shmemx_ep_buffer(calls->ep, 2));
}

/* Between the halves of a dispatch, and of a combine. */
static void between(struct calls *calls)
{
    shmemx_ep_dispatch_t receive;

    calls_dispatch(calls, SHMEMX_EP_SEND);
    REFUSED("receiving half of the call before", shmemx_ep_dispatch(calls->ep, &calls->dispatch));
    receive = calls->dispatch;
    receive.halves = SHMEMX_EP_RECEIVE;
    receive.handle = 1;
    REFUSED("the sending half had", shmemx_ep_dispatch(calls->ep, &receive));
    receive.handle = 0;
    receive.tokens -= 1;
    REFUSED("the sending half had", shmemx_ep_dispatch(calls->ep, &receive));
    REFUSED("receiving half has not come",
            shmemx_ep_combine(calls->ep, &(shmemx_ep_combine_t){.version = SHMEMX_EP_CALL_VERSION,
                                                                .halves = SHMEMX_EP_BOTH}));
    REFUSED("receiving half has not come", shmemx_ep_counts(calls->ep, 0, NULL, NULL));
    REFUSED("receiving half of a dispatch", shmemx_ep_destroy(calls->ep));
    calls_dispatch(calls, SHMEMX_EP_RECEIVE);
    calls_received(calls);
    combines(calls);
    calls_combine(calls, SHMEMX_EP_SEND);
    BAD_CALL("in use by a combine", dispatch, calls, handle, 0);
    REFUSED("receiving half of a combine", shmemx_ep_destroy(calls->ep));
    calls_combine(calls, SHMEMX_EP_RECEIVE);
    calls_combined(calls);
    calls->dispatch.topk = NULL;
    BAD_CALL("the routing that handle 0 has is of 8", dispatch, calls, tokens, TOKENS - 1);
}

static void calls_of(enum ref_mode mode, enum ref_dtype dtype)
{
    struct ref_job job = {.pes = mp_npes,
                          .hosts = 1,
                          .experts = EXPERTS,
                          .topk = TOPK,
                          .tokens = TOKENS,
                          .hidden = HIDDEN,
                          .dtype = dtype,
                          .seed = 1};
    struct calls_options options = {.handles = 2};
    struct calls calls;

    if (!calls_open(&calls, SHMEM_TEAM_WORLD, &job, mode, REF_DIRECT, &options))
        return;
    calls_fill(&calls, 0);
    dispatches(&calls);
    between(&calls);
    for (int64_t call = 1; call < 4; call++)
        calls_round(&calls, call);
    calls_close(&calls);
}

/* The buffer of the call before. */
static void busy_buffer(void)
{
    struct ref_job job = {
        .pes = mp_npes, .hosts = 1, .experts = EXPERTS, .topk = TOPK, .tokens = TOKENS, .hidden = HIDDEN};
    struct calls_options options = {.buffers = true};
    struct calls calls;

    if (!calls_open(&calls, SHMEM_TEAM_WORLD, &job, REF_HIGH_THROUGHPUT, REF_DIRECT, &options))
        return;
    calls_round(&calls, 0);
    BAD_CALL("x is in the buffer that the call before had", dispatch, &calls, handle, 0);
    BAD_CALL("y is in the buffer that the call before had", combine, &calls, handle, 0);
    calls_close(&calls);
}

int main(void)
{
    mp_begin();
    saved_stderr = dup(STDERR_FILENO);
    caught = tmpfile();
    if (!caught)
        abort();
    configurations();
    masks();
    one_is_wrong();
    nulls();
    calls_of(REF_LOW_LATENCY, REF_FP8);
    calls_of(REF_HIGH_THROUGHPUT, REF_BF16);
    busy_buffer();
    mp_note("%d refusals", kinds);
    return mp_end();
}

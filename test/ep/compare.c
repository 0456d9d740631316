/* SPDX-License-Identifier: BSD-3-Clause */
/* What has come, judged; and what experts make of it. */
#include "test/ep/calls.h"

#include "ep/check/judge.h"

#include <stdlib.h>
#include <string.h>

static int most_rows(const struct ref_received *received)
{
    int most = 0;

    for (int part = 0; part < received->parts; part++)
        most = ref_received_rows(received, part) > most ? ref_received_rows(received, part) : most;
    return most;
}

/* shmemx_ep_counts, which fails where rows exceed the capacity. */
static void compare_counts(struct calls *calls, const struct ref_received *received)
{
    int32_t counts[512], rows = -1;
    int most = most_rows(received), code = shmemx_ep_counts(calls->ep, calls->dispatch.handle, counts, &rows);

    mp_check(rows == most && !code == (most <= calls->capacity), "call %lld: %d rows, not %d, status %d",
             (long long)calls->job.call, rows, most, code);
    for (int i = 0; i < ref_experts_a_pe(&calls->job); i++)
        mp_check(counts[i] == received->expert_counts[i], "call %lld: %d rows of local expert %d, not %d",
                 (long long)calls->job.call, counts[i], i, received->expert_counts[i]);
}

/* The numbers that came of 64 bits as the reference has them; what is not one of 32 is an expert that there is not. */
static int32_t *narrow_topk(struct calls *calls)
{
    size_t n = (size_t)calls->capacity * (size_t)calls->job.topk;

    for (size_t i = 0; calls->options.wide && i < n; i++)
        calls->got_topk[i] =
            calls->wide_got[i] == (int32_t)calls->wide_got[i] ? (int32_t)calls->wide_got[i] : INT32_MAX;
    return calls->got_topk;
}

static void judge(struct calls *calls, const struct ref_received *received)
{
    const shmemx_ep_dispatch_t *dispatch = &calls->dispatch;
    struct ref_output output = {.rows = dispatch->rows,
                                .row_scales = dispatch->row_scales,
                                .counts = dispatch->counts,
                                .sources = dispatch->sources,
                                .row_topk = dispatch->row_topk ? narrow_topk(calls) : NULL,
                                .row_weights = dispatch->row_weights,
                                .capacity = (int)calls->capacity};
    char line[256] = "no memory";

    mp_check(!ref_dispatch_wrong(received, &output, line, sizeof line), "%s", line);
}

/* y is what experts make of the rows; none where rows did not fit. */
static void fill_combine(struct calls *calls, const struct ref_received *received)
{
    bool weights = calls->mode == REF_HIGH_THROUGHPUT;
    uint16_t *y = calls->options.buffers ? shmemx_ep_buffer(calls->ep, SHMEMX_EP_BUFFER_Y) : calls->y;
    shmemx_ep_combine_t combine = {.handle = calls->dispatch.handle,
                                   .y = y,
                                   .y_weights = weights ? calls->y_weights : NULL,
                                   .out = calls->out,
                                   .out_weights = weights ? calls->out_weights : NULL};

    if (!calls->options.capacity)
        mp_check(!ref_fill_y(received, (int)calls->capacity, y, weights ? calls->y_weights : NULL),
                 "no memory");
    calls->combine = combine;
}

void calls_received(struct calls *calls)
{
    size_t rows = (size_t)(calls->kinds * calls->capacity);
    struct ref_received received;

    if (ref_received_make(&received, &calls->job, calls->mode, calls->me))
        abort();
    compare_counts(calls, &received);
    if (most_rows(&received) <= calls->capacity)
        judge(calls, &received);
    fill_combine(calls, &received);
    ref_received_free(&received);
    memset(calls->got, 0xa5, rows * (size_t)calls->job.hidden);
}

/* Where rows did not fit there is nothing to compare with. */
void calls_combined(struct calls *calls)
{
    size_t hidden = (size_t)calls->job.hidden;
    char line[256] = "no memory";

    if (!calls->options.capacity)
        mp_check(!ref_combine_wrong(&calls->job, calls->mode, calls->route, calls->me, calls->out,
                                    calls->combine.out_weights, line, sizeof line),
                 "%s", line);
    memset(calls->out, 0x5a, (size_t)calls->job.tokens * hidden * 2);
}

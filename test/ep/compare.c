/* SPDX-License-Identifier: BSD-3-Clause */
/* What has come, judged; and what experts make of it. */
#include "test/ep/calls.h"

#include "test/ep/reference/judge.h"
#include "ep/number.h"

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

/* Scales as the reference has them; of exponents, the powers of two. */
static const float *scales_by_row(struct calls *calls)
{
    int64_t columns = calls->job.hidden / 128, rows = calls->kinds * calls->capacity;

    if (!calls->into.scales_row_step)
        return calls->into.row_scales;
    for (int64_t i = 0; i < rows * columns; i++) {
        int64_t row = i / columns, column = i % columns, packed = calls->into.scales_packed ? 4 : 1;
        int64_t at = row / calls->capacity * calls->capacity * (columns / packed) +
                     column / packed * calls->capacity + row % calls->capacity;

        calls->got_scales[i] =
            packed == 4 ? wsh_ep_from_ue8m0(((const uint8_t *)calls->by_column)[4 * at + column % 4])
                        : calls->by_column[at];
    }
    return calls->got_scales;
}

static void compare_sources(const struct calls *calls, const struct ref_received *received)
{
    for (int part = 0; part < received->parts; part++)
        for (int slot = 0; slot < ref_received_rows(received, part); slot++)
            mp_check(calls->row_sources[part * calls->capacity + slot] ==
                         ref_received_origin(received, part, slot).token,
                     "call %lld: row %d of part %d is of token %d", (long long)calls->job.call, slot, part,
                     calls->row_sources[part * calls->capacity + slot]);
}

/* Ranges and totals. */
static void compare_full(const struct calls *calls, const struct ref_received *received)
{
    long long call = (long long)calls->job.call;
    int pes = calls->job.pes;

    for (int i = 0; i < received->parts * pes; i++)
        mp_check(calls->ranges[i] == ((int64_t)received->offsets[i] << 32 | received->counts[i]),
                 "call %lld: range %d is %llx", call, i, (long long)calls->ranges[i]);
    for (int part = 0; part < received->parts; part++)
        mp_check(calls->totals[part] == calls->last_totals[part] + received->expert_counts[part],
                 "call %lld: total %d is %d", call, part, calls->totals[part]);
}

static void judge(struct calls *calls, const struct ref_received *received)
{
    const struct calls_rows *into = &calls->into;
    struct ref_output output = {.rows = into->rows,
                                .row_scales = into->row_scales ? scales_by_row(calls) : NULL,
                                .counts = into->counts,
                                .sources = into->sources,
                                .row_topk = into->row_topk ? narrow_topk(calls) : NULL,
                                .row_weights = into->row_weights,
                                .capacity = (int)calls->capacity};
    char line[256] = "no memory";

    mp_check(!ref_dispatch_wrong(received, &output, line, sizeof line), "%s", line);
}

/* y is what experts make of the rows; none where rows did not fit. */
static void fill_combine(struct calls *calls, const struct ref_received *received)
{
    bool weights = calls->mode == REF_HIGH_THROUGHPUT;
    uint16_t *y = calls->options.buffers ? shmemx_ep_buffer(calls->ep, SHMEMX_EP_BUFFER_Y) : calls->y;
    shmemx_ep_combine_t combine = {.version = SHMEMX_EP_CALL_VERSION,
                                   .handle = calls->dispatch.handle,
                                   .y = y,
                                   .y_weights = weights ? calls->y_weights : NULL,
                                   .columns = calls->dispatch.columns,
                                   .out = calls->out,
                                   .weights = calls_are_late(calls, calls->job.call) ? calls->weights : NULL,
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
    if (calls->into.row_sources && most_rows(&received) <= calls->capacity)
        compare_sources(calls, &received);
    if (calls_are_full(calls, calls->job.call) && most_rows(&received) <= calls->capacity)
        compare_full(calls, &received);
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

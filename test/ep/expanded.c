/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * High throughput on one host gives rows expert by expert where a dispatch asks for that, bit for bit, with padding and
 * nothing else written; and a combine adds up expanded rows as the program would have, in the order of choices. All
 * dtypes and routings, in halves and whole, with kept routings, with too little room. With the argument `gpu` rows lie
 * where kernels reach them.
 * paths: local:1,2,4,8
 * timeout: 200
 */
#include "test/ep/calls.h"

#include "ep/number.h"
#include "test/ep/reference/rows.h"

#include <stdlib.h>
#include <string.h>

enum { CALLS = 4, SOILED = 0xa5, GUARD = 3, CASES = REF_DTYPES * REF_ROUTINGS };

/* The arrays of one instance's calls, and what the reference has. */
struct expanded {
    shmemx_ep_rows_expanded_t out;
    struct ref_received received;
    int64_t most;    /* rows that arrays have room for, without GUARD */
    int32_t *wanted; /* as out.places */
    int total;       /* rows with padding, as the reference has them */
    uint16_t *y, *folded, *sums;
    size_t row; /* bytes */
    bool columns;
    bool whole; /* all PEs have room for all rows of the call */
};

static void *take(int64_t count, size_t each)
{
    void *memory = calls_memory ? calls_memory->take((size_t)count * each) : malloc((size_t)count * each);

    if (!memory)
        abort();
    return memory;
}

static void give(void *memory)
{
    calls_memory ? calls_memory->give(memory) : free(memory);
}

static size_t scales_of(const struct calls *calls)
{
    return calls->job.dtype == REF_BF16 ? 0 : (size_t)calls->job.hidden / WSH_EP_BLOCK;
}

static void expanded_open(struct expanded *of, const struct calls *calls, int64_t alignment, bool columns)
{
    const struct ref_job *job = &calls->job;
    int64_t local = ref_experts_a_pe(job), choices = calls->capacity * job->topk, rows;

    of->most = choices + (alignment - 1) * local + alignment;
    rows = of->most + GUARD;
    of->row = (size_t)job->hidden * (job->dtype == REF_BF16 ? 2 : 1);
    of->columns = columns && job->dtype != REF_BF16;
    of->out = (shmemx_ep_rows_expanded_t){.rows = take(rows, of->row),
                                          .weights = take(rows, 4),
                                          .ends = take(local, 4),
                                          .places = take(choices, 4),
                                          .sources = take(rows, 4),
                                          .experts = take(rows, 4),
                                          .alignment = alignment};
    if (job->dtype != REF_BF16)
        of->out.row_scales = take(rows, 4 * scales_of(calls));
    of->wanted = take(choices, 4);
    of->y = take(rows, (size_t)job->hidden * 2);
    of->folded = take(calls->capacity, (size_t)job->hidden * 2);
    of->sums = take(job->tokens + 1, (size_t)job->hidden * 2);
}

static void expanded_close(struct expanded *of)
{
    void *arrays[] = {of->out.rows,    of->out.weights, of->out.ends, of->out.places, of->out.sources,
                      of->out.experts, of->wanted,      of->y,        of->folded,     of->sums};

    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        give(arrays[i]);
    if (of->out.row_scales)
        give(of->out.row_scales);
}

static void soil(const struct expanded *of, const struct calls *calls)
{
    size_t rows = (size_t)of->most + GUARD;

    memset(of->out.rows, SOILED, rows * of->row);
    if (of->out.row_scales)
        memset(of->out.row_scales, SOILED, rows * scales_of(calls) * 4);
    memset(of->out.weights, SOILED, rows * 4);
    memset(of->out.sources, SOILED, rows * 4);
    memset(of->out.experts, SOILED, rows * 4);
    memset(of->out.places, SOILED, (size_t)(calls->capacity * calls->job.topk) * 4);
}

static int64_t aligned(int64_t count, int64_t alignment)
{
    return (count + alignment - 1) / alignment * alignment;
}

/* Where the reference has each choice, whatever room there is; the end of each expert's rows is in ends[]. */
static void want(struct expanded *of, const struct calls *calls, int32_t *ends)
{
    int local = ref_experts_a_pe(&calls->job), topk = calls->job.topk;
    int32_t chosen[REF_TOPK_MAX];
    float weights[REF_TOPK_MAX];

    of->total = 0;
    for (int e = 0; e < local; e++) {
        ends[e] = of->total;
        of->total += (int)aligned(of->received.expert_counts[e], of->out.alignment);
    }
    for (int row = 0; row < ref_received_rows(&of->received, 0); row++) {
        ref_received_topk(&of->received, row, chosen, weights);
        for (int k = 0; k < topk; k++)
            of->wanted[row * topk + k] = chosen[k] < 0 ? -1 : ends[chosen[k]]++;
    }
}

/* One expanded row as the reference has row `row`, of the call's dtype. */
static void compare_row(const struct expanded *of, const struct calls *calls, int place, int row)
{
    int hidden = calls->job.hidden, n = (int)scales_of(calls);
    uint16_t wanted[hidden];
    float scales[n + 1];
    bool same = true;

    if (n)
        ref_received_codes(&of->received, 0, row, (uint8_t *)wanted, scales);
    else
        ref_received_row(&of->received, 0, row, wanted);
    for (int i = 0; i < n; i++)
        same = same && !memcmp(&scales[i],
                               of->columns ? &of->out.row_scales[i * of->out.room + place]
                                           : &of->out.row_scales[place * n + i],
                               4);
    mp_check(same, "call %lld: scales of expanded row %d", (long long)calls->job.call, place);
    mp_check(!memcmp((char *)of->out.rows + (size_t)place * of->row, wanted, of->row),
             "call %lld: expanded row %d is not received row %d", (long long)calls->job.call, place, row);
}

/* Bytes of one value. */
static bool is_full(const void *memory, size_t bytes, unsigned char value)
{
    const unsigned char *at = memory;

    for (size_t i = 0; i < bytes; i++)
        if (at[i] != value)
            return false;
    return true;
}

/* A row that is of no choice: within the room padding, behind it not written. */
static void compare_padding(const struct expanded *of, const struct calls *calls, int at)
{
    bool inside = at < of->out.room, zeros = inside && of->out.zero;
    size_t n = scales_of(calls);
    int32_t soiled;

    memset(&soiled, SOILED, sizeof soiled);
    mp_check(of->out.sources[at] == (inside ? -1 : soiled) && of->out.experts[at] == (inside ? -1 : soiled),
             "call %lld: padding %d is of row %d, expert %d", (long long)calls->job.call, at,
             of->out.sources[at], of->out.experts[at]);
    mp_check(!memcmp(&of->out.weights[at], inside ? &(float){0.0f} : (float *)&soiled, 4),
             "call %lld: padding %d has a weight", (long long)calls->job.call, at);
    mp_check(is_full((char *)of->out.rows + (size_t)at * of->row, of->row, zeros ? 0 : SOILED),
             "call %lld: padding %d, of %lld rows, is written wrongly", (long long)calls->job.call, at,
             (long long)of->out.room);
    if (n && !of->columns)
        mp_check(is_full(of->out.row_scales + (size_t)at * n, n * 4, zeros ? 0 : SOILED),
                 "call %lld: scales of padding %d", (long long)calls->job.call, at);
}

/* Numbers of expanded rows, and rows. Returns which ones are of a choice. */
static bool *compare_rows(const struct expanded *of, const struct calls *calls)
{
    bool *has = calloc((size_t)of->most + GUARD, 1);
    int topk = calls->job.topk;
    int32_t chosen[REF_TOPK_MAX];
    float weights[REF_TOPK_MAX];

    for (int i = 0; has && i < ref_received_rows(&of->received, 0) * topk; i++) {
        int row = i / topk, k = i % topk, wanted = of->wanted[i] < of->out.room ? of->wanted[i] : -1;

        mp_check(of->out.places[i] == wanted, "call %lld: choice %d of row %d has place %d, not %d",
                 (long long)calls->job.call, k, row, of->out.places[i], wanted);
        if (wanted < 0)
            continue;
        has[wanted] = true;
        ref_received_topk(&of->received, row, chosen, weights);
        mp_check(of->out.sources[wanted] == row && of->out.experts[wanted] == chosen[k],
                 "call %lld: expanded row %d is of row %d, expert %d", (long long)calls->job.call, wanted,
                 of->out.sources[wanted], of->out.experts[wanted]);
        mp_check(!memcmp(&of->out.weights[wanted], &calls->into.row_weights[i], 4),
                 "call %lld: weight of expanded row %d", (long long)calls->job.call, wanted);
        compare_row(of, calls, wanted, row);
    }
    return has;
}

static void compare(struct expanded *of, const struct calls *calls)
{
    int local = ref_experts_a_pe(&calls->job);
    int32_t ends[local];
    bool *has;

    want(of, calls, ends);
    for (int e = 0; e < local; e++)
        mp_check(of->out.ends[e] == ends[e], "call %lld: expert %d ends at %d, not %d",
                 (long long)calls->job.call, e, of->out.ends[e], ends[e]);
    has = compare_rows(of, calls);
    for (int at = 0; has && at < of->most + GUARD; at++)
        if (!has[at])
            compare_padding(of, calls, at);
    free(has);
}

/* Rows as received ones, for the comparison that all dispatches have. */
static void gather(const struct expanded *of, struct calls *calls)
{
    for (int row = 0; row < ref_received_rows(&of->received, 0); row++) {
        char *to = calls->got + (size_t)row * of->row;
        float *scales = calls->got_scales + (size_t)row * scales_of(calls);

        if (calls->job.dtype == REF_BF16)
            ref_received_row(&of->received, 0, row, (uint16_t *)to);
        else
            ref_received_codes(&of->received, 0, row, (uint8_t *)to, scales);
    }
}

/* How much room a call has: all that is there; just enough; or too little. */
static int64_t room_of(const struct expanded *of, int64_t call)
{
    if (call % 3 == 1)
        return of->total ? of->total : 1;
    return call % 3 ? 1 + of->total / 2 : of->most;
}

/* With too little room, and told so: the receiving half comes with more. */
static void dispatch_again(struct expanded *of, struct calls *calls)
{
    int32_t counts[512], rows = -1;
    int64_t expanded = 0, room = of->out.room;

    calls->dispatch.rows_most = calls->capacity;
    of->out.room = of->total > 1 ? of->total - 1 : 1;
    calls_dispatch(calls, SHMEMX_EP_BOTH);
    mp_check(!shmemx_ep_counts(calls->ep, calls->dispatch.handle, counts, &rows), "counts");
    for (int e = 0; e < ref_experts_a_pe(&calls->job); e++)
        expanded += aligned(counts[e], of->out.alignment);
    mp_check(expanded == of->total, "%lld rows are counted, not %d", (long long)expanded, of->total);
    if (expanded <= of->out.room) {
        of->out.room = 1;
        return;
    }
    of->out.room = room < expanded ? expanded : room;
    soil(of, calls);
    calls_dispatch(calls, SHMEMX_EP_RECEIVE);
}

static void dispatch(struct expanded *of, struct calls *calls, int64_t call)
{
    int32_t ends[512];

    calls_fill(calls, call);
    if (ref_received_make(&of->received, &calls->job, REF_HIGH_THROUGHPUT, calls->me))
        abort();
    want(of, calls, ends);
    of->out.room = room_of(of, call);
    of->out.zero = call % 2 == 0 || call % 3 == 1;
    of->out.scales_row_step = of->columns;
    of->out.scales_column_step = of->columns ? of->out.room : 0;
    of->whole = call % 3 != 2;
    calls->dispatch.expanded = &of->out;
    calls->dispatch.by_source.rows = NULL;
    calls->dispatch.by_source.row_scales = NULL;
    soil(of, calls);
    if (calls->options.halves) {
        calls_dispatch(calls, SHMEMX_EP_SEND);
        calls_be_late(calls, call);
        calls_dispatch(calls, SHMEMX_EP_RECEIVE);
    } else if (call % 3 == 2 && !of->columns) {
        dispatch_again(of, calls);
        of->whole = true;
    } else {
        calls_dispatch(calls, SHMEMX_EP_BOTH);
    }
    compare(of, calls);
    gather(of, calls);
}

/* Numbers whose sum is one, however they are added: of m, -1, -2, -4 ..., and 2^(m - 1). */
static float part_of(int i, int m)
{
    return i == m - 1 ? (float)(1 << (m - 1)) : -(float)(1 << i);
}

/* Expanded rows that add up to those that the reference has experts make. */
static void divide(const struct expanded *of, const struct calls *calls)
{
    int hidden = calls->job.hidden, topk = calls->job.topk;

    for (int row = 0; row < ref_received_rows(&of->received, 0); row++) {
        const uint16_t *y = calls->combine.y;
        int m = 0, i = 0;

        for (int k = 0; k < topk; k++)
            m += of->out.places[row * topk + k] >= 0;
        for (int k = 0; k < topk; k++)
            for (int c = 0, at = of->out.places[row * topk + k]; at >= 0 && c < hidden; i += ++c == hidden)
                of->y[(size_t)at * hidden + c] =
                    wsh_ep_to_bf16(wsh_ep_from_bf16(y[(size_t)row * hidden + c]) * part_of(i, m));
    }
}

static void combine(struct calls *calls, const void *y, const int32_t *places)
{
    calls->combine.y = y;
    calls->combine.places = places;
    if (calls->options.halves && places) {
        calls_combine(calls, SHMEMX_EP_SEND);
        calls_be_late(calls, calls->job.call);
        calls_combine(calls, SHMEMX_EP_RECEIVE);
    } else {
        calls_combine(calls, SHMEMX_EP_BOTH);
    }
}

/* Random rows, and their sums as a program makes them. */
static void fold(const struct expanded *of, const struct calls *calls, uint64_t seed)
{
    int hidden = calls->job.hidden, topk = calls->job.topk;

    for (int at = 0; at < of->most; at++)
        ref_row(seed, calls->me, calls->job.call, at, hidden, of->y + (size_t)at * hidden);
    for (int row = 0; row < ref_received_rows(&of->received, 0); row++)
        for (int c = 0; c < hidden; c++) {
            float sum = 0;

            for (int k = 0; k < topk; k++)
                if (of->out.places[row * topk + k] >= 0)
                    sum += wsh_ep_from_bf16(of->y[(size_t)of->out.places[row * topk + k] * hidden + c]);
            of->folded[(size_t)row * hidden + c] = wsh_ep_to_bf16(sum);
        }
}

/* Sums of random rows are those of the rows that a program has added up before, bit for bit. */
static void compare_sums(const struct expanded *of, struct calls *calls)
{
    size_t bytes = (size_t)calls->dispatch.tokens * calls->job.hidden * 2;

    fold(of, calls, calls->job.seed + 1);
    memset(calls->out, SOILED, bytes);
    combine(calls, of->y, of->out.places);
    memcpy(of->sums, calls->out, bytes);
    memset(calls->out, 0, bytes);
    combine(calls, of->folded, NULL);
    mp_check(!memcmp(of->sums, calls->out, bytes), "call %lld: sums of expanded rows are others",
             (long long)calls->job.call);
}

static void make_calls(struct calls *calls, struct expanded *of)
{
    for (int64_t call = 0; call < CALLS; call++) {
        dispatch(of, calls, call);
        calls->into.rows = calls->got;
        calls->into.row_scales = scales_of(calls) ? calls->got_scales : NULL;
        calls_received(calls);
        if (of->whole) {
            divide(of, calls);
            combine(calls, of->y, of->out.places);
            calls_combined(calls);
        }
        compare_sums(of, calls);
        ref_received_free(&of->received);
    }
}

static void make_case(const struct ref_job *job, int64_t alignment, int number)
{
    struct calls_options options = {.halves = number % 4 == 1,
                                    .buffers = !calls_memory && number % 3 == 2, /* a GPU's are its own */
                                    .coded = number % 2 == 1,
                                    .kept = number % 5 > 2,
                                    .wide = number % 7 == 3};
    struct expanded of;
    struct calls calls;

    if (!calls_open(&calls, SHMEM_TEAM_WORLD, job, REF_HIGH_THROUGHPUT, REF_DIRECT, &options))
        return;
    memset(&of, 0, sizeof of);
    expanded_open(&of, &calls, alignment, number % 6 >= 4);
    make_calls(&calls, &of);
    expanded_close(&of);
    calls_close(&calls);
}

int main(int argc, char **argv)
{
    static const int alignments[] = {1, 4, 3, 16, 128};
    bool gpu = argc == 2 && !strcmp(argv[1], "gpu");

    mp_begin();
    if (gpu && !calls_use_gpu())
        mp_skip("no GPU");
    for (int i = 0; i < mp_rounds(CASES, 3 * CASES); i++) {
        int number = i * 8 % CASES; /* every dtype soon */
        int experts = number == 4 ? 60 : 1 + number % 5;
        struct ref_job job = {.pes = mp_npes,
                              .hosts = 1,
                              .experts = experts * mp_npes,
                              .tokens = number == 6 ? 0 : 5 + number * 7 % 40,
                              .hidden = number % 7 == 2 ? 1024 : 128 * (1 + number % 3),
                              .dtype = (enum ref_dtype)(number / REF_ROUTINGS),
                              .routing = (enum ref_routing)(number % REF_ROUTINGS),
                              .seed = mp_seed() + (uint64_t)i};

        job.topk = job.experts < 1 + number % 9 ? job.experts : 1 + number % 9;
        make_case(&job, alignments[number % 5], number);
    }
    return mp_end();
}

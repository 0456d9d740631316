/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests of expert parallelism expect: rows and sums of ep/check; and experts that make y of rows. */
#include "test/device/ep.cuh"

#include <stdlib.h>

/* What kernels check: rows by part, from first[part] on. */
struct check {
    struct ref_job job;
    struct ep_arrays a;
    const void *rows;
    uint16_t *y;
    int64_t capacity; /* rows a part */
    int parts, me;
    bool high;
    struct dev_report *report;
};

/* Where row `row` of a part lies, among all; -1: it does not fit. */
static __device__ int64_t row_at(const struct check &check, int part, int64_t row)
{
    return row < check.capacity ? part * check.capacity + row : -1;
}

static __device__ uint64_t key_of(const struct check &check, int64_t at)
{
    struct ref_origin origin = check.a.origin[at];

    return ref_row_key(check.job.seed, origin.pe, check.job.call, origin.token);
}

static __device__ void expect_codes(const struct check &check, uint64_t key, int64_t row, int block)
{
    enum wsh_ep_scale kind = check.job.dtype == REF_FP8 ? WSH_EP_SCALE_FLOAT : WSH_EP_SCALE_POWER2;
    size_t at = (size_t)row * (size_t)check.job.hidden + (size_t)block * WSH_EP_BLOCK;
    uint16_t values[WSH_EP_BLOCK];
    uint8_t codes[WSH_EP_BLOCK];
    float scale;

    for (int i = 0; i < WSH_EP_BLOCK; i++)
        values[i] = ref_row_value(key, block * WSH_EP_BLOCK + i);
    wsh_ep_quantize(values, WSH_EP_BLOCK, kind, codes, &scale);
    dev_expect(check.report, at, wsh_ep_bits(scale), wsh_ep_bits(check.a.row_scales[at / WSH_EP_BLOCK]));
    for (int i = 0; i < WSH_EP_BLOCK; i++)
        dev_expect(check.report, at + (size_t)i, codes[i], ((const uint8_t *)check.rows)[at + (size_t)i]);
}

/* Each block of threads takes rows of part blockIdx.y. */
static __global__ void check_rows(struct check check)
{
    int part = (int)blockIdx.y;
    int64_t begin = check.a.first[part], n = check.a.first[part + 1] - begin;

    for (int64_t i = blockIdx.x; i < n; i += gridDim.x) {
        uint64_t key = key_of(check, begin + i);
        int64_t row = row_at(check, part, i);

        if (row < 0)
            continue;
        if (check.job.dtype != REF_BF16) {
            for (int b = (int)threadIdx.x; b < check.job.hidden / WSH_EP_BLOCK; b += (int)blockDim.x)
                expect_codes(check, key, row, b);
            continue;
        }
        for (int c = (int)threadIdx.x; c < check.job.hidden; c += (int)blockDim.x) {
            size_t at = (size_t)row * (size_t)check.job.hidden + (size_t)c;

            dev_expect(check.report, at, ref_row_value(key, c), ((const uint16_t *)check.rows)[at]);
        }
    }
}

/* What has come, as bfloat16. */
static __device__ uint16_t came(const struct check &check, int64_t row, int column)
{
    size_t at = (size_t)row * (size_t)check.job.hidden + (size_t)column;

    if (check.job.dtype == REF_BF16)
        return ((const uint16_t *)check.rows)[at];
    return wsh_ep_to_bf16(wsh_ep_mul(wsh_ep_from_e4m3(((const uint8_t *)check.rows)[at]),
                                     check.a.row_scales[at / WSH_EP_BLOCK]));
}

static __device__ uint16_t experts_make(const struct check &check, int part, int64_t row, int column)
{
    uint16_t value = came(check, row, column);
    int topk = check.job.topk, first = check.me * (check.job.experts / check.job.pes);
    float sum = 0.0f;

    if (!check.high)
        return ref_expert_value(first + part, column, value);
    for (int k = 0; k < topk; k++) {
        int32_t expert = check.a.row_topk[row * topk + k];

        if (expert >= 0)
            sum = wsh_ep_add(sum, wsh_ep_mul(check.a.row_weights[row * topk + k],
                                             wsh_ep_from_bf16(ref_expert_value(first + expert, column, value))));
    }
    return wsh_ep_to_bf16(sum);
}

static __global__ void run_experts(struct check check)
{
    int part = (int)blockIdx.y;
    int64_t begin = check.a.first[part], n = check.a.first[part + 1] - begin;

    for (int64_t i = blockIdx.x; i < n; i += gridDim.x) {
        int64_t row = row_at(check, part, i);

        for (int c = (int)threadIdx.x; row >= 0 && c < check.job.hidden; c += (int)blockDim.x)
            check.y[(size_t)row * (size_t)check.job.hidden + (size_t)c] = experts_make(check, part, row, c);
        for (int k = (int)threadIdx.x; row >= 0 && check.high && k < check.job.topk; k += (int)blockDim.x)
            check.a.y_weights[row * check.job.topk + k] = ref_returned_weight(key_of(check, begin + i), check.me, k);
    }
}

static struct check check_of(const struct ep_world *world)
{
    bool high = world->of.mode == REF_HIGH_THROUGHPUT;
    int parts = high ? 1 : world->of.mine;

    return check{world->job, world->a, world->a.rows, (uint16_t *)world->y, world->rows / parts, parts, mp_me, high,
                 world->report};
}

static bool is_first_wrong(const char *what, const struct ep_world *world, int64_t at, double expected, double got)
{
    mp_check(false, "%s, call %lld: %s: %.9g expected at %lld, got %.9g", ep_case_name(&world->of),
             (long long)world->job.call, what, expected, (long long)at, got);
    return false;
}

#define EXPECT_ALL(what, n, expected_at, got)                                                                      \
    for (int64_t at_ = 0, good_ = 1; good_ && at_ < (int64_t)(n); at_++)                                           \
        if ((expected_at) != (got)[at_])                                                                           \
            good_ = is_first_wrong(what, world, at_, (double)(expected_at), (double)(got)[at_])

template <class T> static T *fetch(const T *from, size_t n)
{
    T *to = (T *)malloc((n + 1) * sizeof *to);

    dev_download(to, from, n * sizeof *to);
    return to;
}

static void check_numbers(struct ep_world *world, const struct ref_received *received)
{
    int parts = received->parts, mine = world->of.mine, most = 0, rows = 0;
    bool low = world->of.mode == REF_LOW_LATENCY, overflows;
    int32_t *counts = fetch(world->a.counts, (size_t)mine), reported[1024];
    int32_t *sources = fetch(world->a.sources, (size_t)(parts * mp_npes) * 2);

    for (int part = 0; part < parts; part++)
        most = ref_received_rows(received, part) > most ? ref_received_rows(received, part) : most;
    overflows = most > world->rows / parts;
    mp_check((shmemx_ep_counts(world->ep, (int)(world->routed % 2), reported, &rows) != 0) == overflows,
             "%s: %d rows for %lld, an overflow said otherwise", ep_case_name(&world->of), most,
             (long long)(world->rows / parts));
    EXPECT_ALL("rows that counts gives", 1, most, &rows);
    if (world->soon >= 0)
        EXPECT_ALL("rows that counts gives at once", 1, most, &world->soon);
    EXPECT_ALL("counts of counts", mine,
               low ? ref_received_rows(received, (int)at_) : received->expert_counts[at_], reported);
    if (!(world->of.options & EP_BARE)) {
        EXPECT_ALL("counts", mine, low ? ref_received_rows(received, (int)at_) : received->expert_counts[at_], counts);
        EXPECT_ALL("sources", parts * mp_npes * 2,
                   at_ % 2 ? received->counts[at_ / 2] : received->offsets[at_ / 2], sources);
    }
    free(counts);
    free(sources);
}

static void check_topk(struct ep_world *world, const struct ref_received *received)
{
    int topk = world->job.topk, n = ref_received_rows(received, 0);
    int64_t rows = n < world->rows ? n : world->rows;
    int32_t *got = fetch(world->a.row_topk, (size_t)rows * (size_t)topk), choices[REF_TOPK_MAX];
    float *got_weights = fetch(world->a.row_weights, (size_t)rows * (size_t)topk), weights[REF_TOPK_MAX];

    for (int slot = 0; slot < rows; slot++) {
        ref_received_topk(received, slot, choices, weights);
        EXPECT_ALL("experts of rows", topk, choices[at_], got + slot * topk);
        EXPECT_ALL("weights of rows", topk, weights[at_], got_weights + slot * topk);
    }
    free(got);
    free(got_weights);
}

void ep_check_dispatch(struct ep_world *world)
{
    struct ref_received received;
    struct check check = check_of(world);

    mp_check(cudaStreamSynchronize(world->stream) == cudaSuccess, "%s: dispatch", ep_case_name(&world->of));
    mp_check(!ref_received_make(&received, &world->job, world->of.mode, mp_me), "no memory");
    check_numbers(world, &received);
    if (check.high)
        check_topk(world, &received);
    dev_upload(world->a.origin, received.origin, (size_t)received.first[check.parts] * sizeof *received.origin);
    dev_upload(world->a.first, received.first, (size_t)(check.parts + 1) * sizeof *received.first);
    check_rows<<<dim3(16, (unsigned)check.parts), 128, 0, world->stream>>>(check);
    mp_check(cudaStreamSynchronize(world->stream) == cudaSuccess, "%s: rows", ep_case_name(&world->of));
    dev_check_report(world->report, ep_case_name(&world->of));
    ref_received_free(&received);
}

void ep_start_experts(struct ep_world *world)
{
    struct check check;

    world->y = world->of.options & EP_IN_Y ? shmemx_ep_buffer(world->ep, SHMEMX_EP_BUFFER_Y) : world->a.y;
    check = check_of(world);
    run_experts<<<dim3(16, (unsigned)check.parts), 128, 0, world->stream>>>(check);
}

/* Each row, or about fifty. */
void ep_check_combine(struct ep_world *world)
{
    int tokens = ref_tokens(&world->job, mp_me), hidden = world->job.hidden, topk = world->job.topk;
    bool weighs = world->of.mode == REF_HIGH_THROUGHPUT && !(world->of.options & EP_BARE);
    int step = world->of.whole_check || tokens < 50 ? 1 : tokens / 50;
    uint16_t *out, *expected = (uint16_t *)malloc((size_t)hidden * sizeof *expected);
    float *out_weights, weights[REF_TOPK_MAX];

    mp_check(cudaStreamSynchronize(world->stream) == cudaSuccess, "%s: combine", ep_case_name(&world->of));
    out = fetch((const uint16_t *)world->a.out, (size_t)tokens * (size_t)hidden);
    out_weights = fetch(world->a.out_weights, (size_t)tokens * (size_t)topk);
    for (int token = (int)(world->job.call % step); token < tokens; token += step) {
        ref_combined_row(&world->job, world->of.mode, world->route, mp_me, token, expected);
        EXPECT_ALL("sums", hidden, expected[at_], out + (size_t)token * (size_t)hidden);
        if (weighs) {
            ref_combined_weights(&world->job, world->route, mp_me, token, weights);
            EXPECT_ALL("weights back", topk, weights[at_], out_weights + token * topk);
        }
    }
    free(out);
    free(out_weights);
    free(expected);
}

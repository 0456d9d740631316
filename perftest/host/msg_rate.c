/* SPDX-License-Identifier: BSD-3-Clause */
/* Rate of small non-blocking puts and gets, each to a slot of its own, with a quiet per window. */
#include "perftest/common/perf.h"

static void put_nbi(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++) {
        for (size_t at = 0; at < run->span; at += run->len)
            shmem_putmem_nbi(run->dest + at, run->source + at, run->len, run->peer);
        shmem_quiet();
    }
}

/* The same puts, announced as a batch: neighbours may leave together. Sessions are new in 1.6. */
#if PERF_SHMEM_AT_LEAST(1, 6)
static void put_nbi_batch(struct perf_run *run, long count)
{
    shmem_ctx_session_start(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH, NULL, 0);
    put_nbi(run, count);
    shmem_ctx_session_stop(SHMEM_CTX_DEFAULT);
}
#endif

static void get_nbi(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++) {
        for (size_t at = 0; at < run->span; at += run->len)
            shmem_getmem_nbi(run->dest + at, run->source + at, run->len, run->peer);
        shmem_quiet();
    }
}

static size_t slots(const struct perf_run *run, size_t len)
{
    return len * (size_t)run->window;
}

static const struct perf_op ops[] = {
    {.name = "put_nbi", .batch = put_nbi, .check = perf_check_put},
#if PERF_SHMEM_AT_LEAST(1, 6)
    {.name = "put_nbi_batch", .batch = put_nbi_batch, .check = perf_check_put},
#endif
    {.name = "get_nbi", .batch = get_nbi, .check = perf_check_get},
    {.name = NULL},
};
const struct perf_program perf_program = {
    .name = "msg_rate",
    .what = "rate of put_nbi (one by one, and as a batch) and get_nbi to and from the last PE, quiet "
            "after each window",
    .ops = ops,
    .unit = PERF_RATE,
    .min_pes = 2,
    .defaults = {.begin = 8, .end = 64, .window = 256},
    .buffer_size = slots,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* Time of shmem_putmem to the last PE, with and without a quiet after each. */
#include "perftest/common/perf.h"

static void put_quiet(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++) {
        shmem_putmem(run->dest, run->source, run->len, run->peer);
        shmem_quiet();
    }
}

static void put(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++)
        shmem_putmem(run->dest, run->source, run->len, run->peer);
}

static const struct perf_op ops[] = {
    {.name = "put+quiet", .each = 1, .batch = put_quiet, .check = perf_check_put},
    {.name = "put", .each = 1, .batch = put, .check = perf_check_put},
    {.name = NULL},
};

const struct perf_program perf_program = {
    .name = "put_latency",
    .what = "put with quiet (data at the last PE), and put alone (source reusable)",
    .ops = ops,
    .min_pes = 2,
    .defaults = {.begin = 1, .end = 1 << 20},
};

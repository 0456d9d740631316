/* SPDX-License-Identifier: BSD-3-Clause */
/* Time of shmem_getmem from the last PE by message size. */
#include "perftest/common/perf.h"

static void get(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++)
        shmem_getmem(run->dest, run->source, run->len, run->peer);
}

static const struct perf_op ops[] = {
    {.name = "get", .each = 1, .batch = get, .check = perf_check_get},
    {.name = NULL},
};

const struct perf_program perf_program = {
    .name = "get_latency",
    .what = "get from the last PE, until the data is here",
    .ops = ops,
    .min_pes = 2,
    .defaults = {.begin = 1, .end = 1 << 20},
};

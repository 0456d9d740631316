/* SPDX-License-Identifier: BSD-3-Clause */
/* Time of one 8-byte value by shmem_long_p and shmem_long_g. */
#include "perftest/common/perf.h"

static void p_quiet(struct perf_run *run, long count)
{
    long *dest = (long *)run->dest, value = *(long *)run->source;
    for (long i = 0; i < count; i++) {
        shmem_long_p(dest, value, run->peer);
        shmem_quiet();
    }
}

static void p(struct perf_run *run, long count)
{
    long *dest = (long *)run->dest, value = *(long *)run->source;
    for (long i = 0; i < count; i++)
        shmem_long_p(dest, value, run->peer);
}

static void g(struct perf_run *run, long count)
{
    long *source = (long *)run->source, value = 0;
    for (long i = 0; i < count; i++)
        value = shmem_long_g(source, run->peer);
    *(long *)run->dest = value;
}

static const struct perf_op ops[] = {
    {.name = "p+quiet", .len = 8, .each = 1, .batch = p_quiet, .check = perf_check_put},
    {.name = "p", .len = 8, .each = 1, .batch = p, .check = perf_check_put},
    {.name = "g", .len = 8, .each = 1, .batch = g, .check = perf_check_get},
    {.name = NULL},
};

const struct perf_program perf_program = {
    .name = "p_g_latency",
    .what = "one value: p with and without quiet, and g",
    .ops = ops,
    .min_pes = 2,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* Bandwidth of windows of shmem_putmem_nbi, each ended by a quiet. */
#include "perftest/common/perf.h"

static void put_nbi(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++) {
        for (long j = 0; j < run->window; j++)
            shmem_putmem_nbi(run->dest, run->source, run->len, run->peer);
        shmem_quiet();
    }
}

static const struct perf_op ops[] = {
    {.name = "put_nbi", .batch = put_nbi, .check = perf_check_put},
    {.name = NULL},
};

const struct perf_program perf_program = {
    .name = "put_bw",
    .what = "bandwidth to the last PE: a window of put_nbi, then quiet",
    .ops = ops,
    .unit = PERF_BANDWIDTH,
    .min_pes = 2,
    .defaults = {.begin = 1, .end = 4 << 20, .window = 64},
};

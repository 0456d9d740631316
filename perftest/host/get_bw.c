/* SPDX-License-Identifier: BSD-3-Clause */
/* Bandwidth of windows of shmem_getmem_nbi, each ended by a quiet. */
#include "perftest/common/perf.h"

static void get_nbi(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++) {
        for (long j = 0; j < run->window; j++)
            shmem_getmem_nbi(run->dest, run->source, run->len, run->peer);
        shmem_quiet();
    }
}

static const struct perf_op ops[] = {
    {.name = "get_nbi", .batch = get_nbi, .check = perf_check_get},
    {.name = NULL},
};

const struct perf_program perf_program = {
    .name = "get_bw",
    .what = "bandwidth from the last PE: a window of get_nbi, then quiet",
    .ops = ops,
    .unit = PERF_BANDWIDTH,
    .min_pes = 2,
    .defaults = {.begin = 1, .end = 4 << 20, .window = 64},
};

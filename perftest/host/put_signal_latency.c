/* SPDX-License-Identifier: BSD-3-Clause */
/* Time of shmem_putmem_signal with quiet, seen by its initiator, by message size. */
#include "perftest/common/perf.h"

#if PERF_SHMEM_AT_LEAST(1, 5)
static void put_signal_quiet(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++) {
        shmem_putmem_signal(run->dest, run->source, run->len, run->flag, ++run->seq, SHMEM_SIGNAL_SET,
                            run->peer);
        shmem_quiet();
    }
}

static void put_signal(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++)
        shmem_putmem_signal(run->dest, run->source, run->len, run->flag, ++run->seq, SHMEM_SIGNAL_SET,
                            run->peer);
}

static long check_signal(struct perf_run *run, const struct perf_op *op)
{
    long wrong = perf_check_put(run, op);
    long sent = perf_agree(run, (long)run->seq);
    if (run->me == run->npes - 1)
        wrong += shmem_signal_fetch(run->flag) != (uint64_t)sent;
    return wrong;
}
#else
#define put_signal_quiet NULL
#define put_signal NULL
#define check_signal NULL
#endif

static const char needs[] = "shmem_putmem_signal (OpenSHMEM 1.5)";
static const struct perf_op ops[] = {
    {.name = "put_signal+quiet", .each = 1, .batch = put_signal_quiet, .check = check_signal, .needs = needs},
    {.name = "put_signal", .each = 1, .batch = put_signal, .check = check_signal, .needs = needs},
    {.name = NULL},
};

const struct perf_program perf_program = {
    .name = "put_signal_latency",
    .what = "put_signal with quiet (data and signal at the last PE), and alone",
    .ops = ops,
    .min_pes = 2,
    .defaults = {.begin = 1, .end = 1 << 20},
};

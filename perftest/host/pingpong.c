/* SPDX-License-Identifier: BSD-3-Clause */
/* Half a round trip between PE 0 and the last PE, by three methods to signal that data has arrived. */
#include "perftest/common/perf.h"

static void flag_send(struct perf_run *run)
{
    shmem_uint64_p(run->flag, run->seq, run->peer);
}

static void flag_wait(struct perf_run *run)
{
    shmem_uint64_wait_until(run->flag, SHMEM_CMP_EQ, run->seq);
}

static void p(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++) {
        run->seq++;
        if (run->me == 0)
            flag_send(run);
        flag_wait(run);
        if (run->me != 0)
            flag_send(run);
    }
}

static void data_and_flag_send(struct perf_run *run)
{
    shmem_putmem(run->dest, run->source, run->len, run->peer);
    shmem_fence();
    flag_send(run);
}

static void put_fence_p(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++) {
        run->seq++;
        if (run->me == 0)
            data_and_flag_send(run);
        flag_wait(run);
        if (run->me != 0)
            data_and_flag_send(run);
    }
}

#if PERF_SHMEM_AT_LEAST(1, 5)
static void signal_send(struct perf_run *run)
{
    shmem_putmem_signal(run->dest, run->source, run->len, run->flag, run->seq, SHMEM_SIGNAL_SET, run->peer);
}

static void put_signal(struct perf_run *run, long count)
{
    for (long i = 0; i < count; i++) {
        run->seq++;
        if (run->me == 0)
            signal_send(run);
        shmem_signal_wait_until(run->flag, SHMEM_CMP_EQ, run->seq);
        if (run->me != 0)
            signal_send(run);
    }
}
#else
#define put_signal NULL
#endif

/* The flag carries the sequence number: a wrong value would have hung, a right one is the check. */
static long check_flag(struct perf_run *run, const struct perf_op *op)
{
    shmem_barrier_all();
    perf_once(run, op, 1);
    return (run->me == 0 || run->me == run->npes - 1) && run->flag[0] != run->seq;
}

static const struct perf_op ops[] = {
    {.name = "p", .who = PERF_PAIR, .len = 8, .each = 2, .batch = p, .check = check_flag},
    {.name = "put_fence_p", .who = PERF_PAIR, .each = 2, .batch = put_fence_p, .check = perf_check_both},
    {.name = "put_signal",
     .who = PERF_PAIR,
     .each = 2,
     .batch = put_signal,
     .check = perf_check_both,
     .needs = "shmem_putmem_signal (OpenSHMEM 1.5)"},
    {.name = NULL},
};

const struct perf_program perf_program = {
    .name = "pingpong",
    .what = "half a round trip between PE 0 and the last PE",
    .ops = ops,
    .min_pes = 2,
    .defaults = {.begin = 8, .end = 1 << 20},
};

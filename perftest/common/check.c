/* SPDX-License-Identifier: BSD-3-Clause */
/* Data checks: a pattern is sent once by the timed loop's own code and compared afterwards. */
#include "perftest/common/perf.h"

#include <string.h>

static char pattern(size_t i, size_t seed)
{
    return (char)(1 + (i * 7 + i / 251 + seed * 31) % 251);
}

void perf_fill(char *buffer, size_t len, size_t seed)
{
    for (size_t i = 0; i < len; i++)
        buffer[i] = pattern(i, seed);
}

long perf_wrong(const char *buffer, size_t len, size_t seed)
{
    long wrong = 0;
    for (size_t i = 0; i < len; i++)
        wrong += buffer[i] != pattern(i, seed);
    return wrong;
}

static bool is_last(const struct perf_run *run)
{
    return run->me == run->npes - 1;
}

long perf_check_put(struct perf_run *run, const struct perf_op *op)
{
    if (run->me == 0)
        perf_fill(run->source, run->span, run->len);
    if (is_last(run))
        memset(run->dest, 0, run->span);
    shmem_barrier_all();
    perf_once(run, op, 1);
    return is_last(run) ? perf_wrong(run->dest, run->span, run->len) : 0;
}

long perf_check_get(struct perf_run *run, const struct perf_op *op)
{
    if (is_last(run))
        perf_fill(run->source, run->span, run->len);
    if (run->me == 0)
        memset(run->dest, 0, run->span);
    shmem_barrier_all();
    perf_once(run, op, 1);
    return run->me == 0 ? perf_wrong(run->dest, run->span, run->len) : 0;
}

long perf_check_both(struct perf_run *run, const struct perf_op *op)
{
    if (run->me != 0 && !is_last(run)) {
        shmem_barrier_all();
        perf_once(run, op, 1);
        return 0;
    }
    size_t mine = run->len + (run->me ? 1 : 0), theirs = run->len + (run->me ? 0 : 1);
    perf_fill(run->source, run->span, mine);
    memset(run->dest, 0, run->span);
    shmem_barrier_all();
    perf_once(run, op, 1);
    return perf_wrong(run->dest, run->span, theirs);
}

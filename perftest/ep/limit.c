/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the links allow: plain copies of the bytes that the routing sends between PEs of a host, by all PEs at once and
 * by all SMs of each, in the same run.
 */
#include "perftest/ep/moe.h"

#include <math.h>

enum { COPIES = 5, COPY_ROUNDS = 4 };

/* Bytes that this PE fetches from the PE `step` after it on its host, in a copy of `what`. */
static double bytes_from(const struct moe_run *run, enum moe_what what, int step)
{
    const struct moe_link *link = &run->links[step];

    return (what != MOE_COMBINE ? link->rows * (double)run->row_bytes : 0) +
           (what != MOE_DISPATCH ? link->back * (double)run->job.hidden * 2 : 0);
}

double moe_link_bytes(const struct moe_run *run, enum moe_what what)
{
    double bytes = 0;

    for (int step = 1; step < run->near; step++)
        bytes += bytes_from(run, what, step);
    return bytes;
}

double moe_link_rows(const struct moe_run *run, enum moe_what what)
{
    double rows = 0;

    for (int step = 1; step < run->near; step++)
        rows += (what != MOE_COMBINE ? run->links[step].rows : 0) +
                (what != MOE_DISPATCH ? run->links[step].back : 0);
    return rows;
}

/* `rounds` times the bytes of `what` from every other PE of the host, each in one go. us. */
static double copy_once(struct moe_run *run, enum moe_what what, long rounds, size_t window)
{
    const struct moe_backend *backend = run->backend;
    int first = run->me / run->near * run->near;

    backend->begin();
    backend->barrier();
    backend->mark(0);
    for (int step = 1; step < run->near; step++) {
        size_t bytes = ((size_t)bytes_from(run, what, step) + 15) / 16 * 16 * (size_t)rounds;
        if (bytes)
            backend->copy(run->dest, shmem_ptr(run->source, first + (run->me - first + step) % run->near),
                          bytes, window, run->sms);
    }
    backend->mark(1);
    backend->finish();
    return backend->between(0, 1);
}

static double copies(struct moe_run *run, enum moe_what what, long rounds, size_t window)
{
    double us[COPIES + 1];
    struct perf_stats stats;

    for (int i = 0; i <= COPIES; i++)
        us[i] = copy_once(run, what, rounds, window);
    moe_slowest(run, us + 1, COPIES, &stats);
    return stats.p50 / (double)rounds;
}

/* The same bytes again and again, which caches hold, or others, whichever is shorter. */
double moe_limit(struct moe_run *run, enum moe_what what)
{
    double bytes = moe_max(run, moe_link_bytes(run, what)), same, others;
    size_t window = 4096, most = run->backend->window;

    if (run->near != run->npes || bytes <= 0)
        return NAN;
    while (window < most && (double)window < bytes)
        window *= 2;
    long rounds = 1 + (long)(COPY_ROUNDS * (double)most / bytes);
    same = copies(run, what, rounds, window);
    others = copies(run, what, rounds, most);
    return same < others ? same : others;
}

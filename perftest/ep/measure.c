/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a row is measured. An iteration begins with a barrier that is not timed; its time is that of the slowest PE. On a
 * GPU some iterations are in the stream before the first begins, so that none waits for the host.
 */
#include "perftest/ep/moe.h"

#include <math.h>
#include <stdlib.h>

enum { COPIES = 5, COPY_ROUNDS = 4, ALONE = 9, PREFILL_PERCENT = 80 };
#define DECODE_US 15.0 /* of a decode's goal, beside twice the copy */

/* A refused call would leave the other PEs waiting. */
static void done(int failed)
{
    if (failed)
        shmem_global_exit(PERF_FAILED);
}

static void calls(struct moe_run *run, enum moe_what what)
{
    for (long i = 0; i < run->options->perf.batch; i++) {
        if (what != MOE_COMBINE)
            done(moe_dispatch(run, SHMEMX_EP_BOTH));
        if (what != MOE_DISPATCH)
            done(moe_combine(run, SHMEMX_EP_BOTH));
    }
}

/* The iteration's calls, between marks from `first` on. */
static void iterate(struct moe_run *run, enum moe_what what, int first)
{
    run->place->barrier();
    run->place->mark(first);
    if (run->options->graph)
        run->place->replay();
    else
        calls(run, what);
    run->place->mark(first + 1);
}

static void iterate_overlap(struct moe_run *run, long rounds, int first)
{
    const struct moe_place *place = run->place;

    place->barrier();
    place->mark(first);
    done(moe_dispatch(run, SHMEMX_EP_SEND));
    place->mark(first + 1);
    place->compute(rounds);
    place->mark(first + 2);
    done(moe_dispatch(run, SHMEMX_EP_RECEIVE));
    place->mark(first + 3);
    done(moe_combine(run, SHMEMX_EP_SEND));
    place->mark(first + 4);
    place->compute(rounds);
    place->mark(first + 5);
    done(moe_combine(run, SHMEMX_EP_RECEIVE));
    place->mark(first + 6);
}

/* us[i] of `n` iterations of this PE; with overlap of the halves alone, and in computing[i] of a compute kernel. */
static void iterations(struct moe_run *run, enum moe_what what, long rounds, long n, double *us,
                       double *computing)
{
    const struct moe_place *place = run->place;

    for (long done_n = 0, chunk; done_n < n; done_n += chunk) {
        chunk = n - done_n < MOE_CHUNK ? n - done_n : MOE_CHUNK;
        place->begin();
        for (int i = 0; i < chunk && what == MOE_OVERLAP; i++)
            iterate_overlap(run, rounds, i * MOE_MARKS);
        for (int i = 0; i < chunk && what != MOE_OVERLAP; i++)
            iterate(run, what, i * MOE_MARKS);
        place->finish();
        for (int i = 0, first = 0; i < chunk; i++, first += MOE_MARKS) {
            if (what != MOE_OVERLAP) {
                us[done_n + i] = place->between(first, first + 1) / (double)run->options->perf.batch;
                continue;
            }
            computing[done_n + i] =
                place->between(first + 1, first + 2) + place->between(first + 4, first + 5);
            us[done_n + i] = place->between(first, first + 6) - computing[done_n + i];
            computing[done_n + i] /= 2;
        }
    }
}

/* Of each iteration the largest of all PEs; sorts them. */
static void slowest(struct moe_run *run, double *us, long n, struct perf_stats *stats)
{
    double *all = run->figures + MOE_SAMPLES_MAX + 1;

    for (long i = 0; i < n; i++)
        run->figures[i] = us[i];
    shmem_double_max_reduce(SHMEM_TEAM_WORLD, all, run->figures, (size_t)n);
    for (long i = 0; i < n; i++)
        us[i] = all[i];
    perf_stats_from(stats, us, n);
    shmem_barrier_all();
}

/* us that copies of `all` bytes take by the same blocks, while all PEs copy theirs; from the next PE's memory. */
static double copies_us(struct moe_run *run, size_t all, size_t window)
{
    const struct moe_place *place = run->place;
    int first = run->me / run->near * run->near, next = first + (run->me - first + 1) % run->near;
    double us[COPIES + 1];
    struct perf_stats stats;

    for (int i = 0; i <= COPIES; i++) {
        place->begin();
        place->barrier();
        place->mark(0);
        place->copy(run->dest, shmem_ptr(run->source, next), all, window, run->config.blocks);
        place->mark(1);
        place->finish();
        us[i] = place->between(0, 1);
    }
    slowest(run, us + 1, COPIES, &stats);
    return stats.p50;
}

/* us of a copy of `bytes`: of the same ones again and again, which caches hold, or of others, whichever is shorter. */
static double copy_us(struct moe_run *run, double bytes)
{
    double mean = moe_sum(run, bytes) / run->npes, same, others;
    long rounds = mean > 0 ? 1 + (long)(COPY_ROUNDS * (double)run->place->window / mean) : 0;
    size_t all = ((size_t)bytes + 15) / 16 * 16 * (size_t)rounds, window = 4096;

    if (!rounds || run->near != run->npes)
        return NAN;
    while (window < run->place->window && (double)window < bytes)
        window *= 2;
    same = copies_us(run, all, window) / (double)rounds;
    others = copies_us(run, all, run->place->window) / (double)rounds;
    return same < others ? same : others;
}

static double compute_once(struct moe_run *run, long rounds)
{
    run->place->begin();
    run->place->barrier();
    run->place->mark(0);
    run->place->compute(rounds);
    run->place->mark(1);
    run->place->finish();
    return run->place->between(0, 1);
}

/* Rounds of a compute kernel that last as long as the options say, and us that it takes alone. */
static long compute_calibrate(struct moe_run *run, double *us)
{
    double wanted = (double)run->options->compute, took[ALONE];
    long rounds = 1000;
    struct perf_stats stats;

    for (int tries = 0; tries < 30; tries++) {
        double last = moe_max(run, compute_once(run, rounds));
        if (last > wanted / 2) {
            rounds = (long)((double)rounds * wanted / last) + 1;
            break;
        }
        rounds *= 2;
    }
    for (int i = 0; i < ALONE; i++)
        took[i] = compute_once(run, rounds);
    slowest(run, took, ALONE, &stats);
    *us = stats.p50;
    return rounds;
}

/* What one call gives to peers and to the network: means of PEs. */
static void count(struct moe_run *run, struct moe_row *row)
{
    shmemx_ep_statistics_t before, after;
    uint64_t network[4];
    int peers = run->route == REF_ONE_COPY ? run->npes / run->near - 1 : run->npes - run->near;

    shmem_barrier_all();
    shmemx_ep_statistics(run->ep, &before);
    shmemx_network_counts(&network[0], &network[1]);
    if (row->what != MOE_COMBINE)
        done(moe_dispatch(run, SHMEMX_EP_BOTH));
    if (row->what != MOE_DISPATCH)
        done(moe_combine(run, SHMEMX_EP_BOTH));
    run->place->finish();
    shmemx_network_counts(&network[2], &network[3]);
    shmemx_ep_statistics(run->ep, &after);
    row->network = moe_sum(run, (double)(after.network_rows - before.network_rows)) / run->npes;
    row->near = moe_sum(run, (double)(after.near_rows - before.near_rows)) / run->npes;
    row->puts = moe_sum(run, (double)(after.network_puts - before.network_puts)) / run->npes;
    row->puts = peers > 0 ? row->puts / peers : 0;
    row->operations = moe_sum(run, (double)(network[2] - network[0])) / run->npes;
    row->network_bytes = moe_sum(run, (double)(network[3] - network[1])) / run->npes;
}

/* What follows from the routing; and the copy of the same bytes, with the goal. */
static void expect(struct moe_run *run, struct moe_row *row)
{
    bool there = row->what != MOE_COMBINE, back = row->what != MOE_DISPATCH;
    double hosts = moe_sum(run, run->load.hosts) / run->npes;
    double host_bytes =
        hosts * ((there ? (double)run->row_bytes : 0) + (back ? (double)run->job.hidden * 2 : 0));
    double copied = NAN;

    row->rows = moe_sum(run, (there ? run->load.received : 0) + (back ? run->load.back : 0)) / run->npes;
    row->bytes =
        moe_sum(run, (there ? run->load.dispatched : 0) + (back ? run->load.combined : 0)) / run->npes;
    row->least = moe_sum(run, run->load.network) / run->npes * (there + back);
    row->scale_up = row->bytes / row->us.p50 / 1e3;
    row->scale_out = run->near == run->npes ? NAN : host_bytes / row->us.p50 / 1e3;
    if (row->what != MOE_OVERLAP)
        copied =
            (there ? copy_us(run, run->load.dispatched) : 0) + (back ? copy_us(run, run->load.combined) : 0);
    row->copy_us = copied;
    row->goal_us = !run->place->device              ? NAN
                   : run->now->phase == MOE_PREFILL ? copied * 100 / PREFILL_PERCENT
                                                    : 2 * copied + DECODE_US * (there + back);
}

void moe_measure(struct moe_run *run, enum moe_what what, struct moe_row *row)
{
    long n = run->options->perf.samples, rounds = 0;
    double *us = malloc((size_t)(n + run->options->perf.warmup + 1) * 2 * sizeof *us);
    bool graph = run->options->graph && what != MOE_OVERLAP;
    struct perf_stats computing;

    *row = (struct moe_row){.run = run, .what = what, .compute_us = NAN, .loss = NAN};
    done(!us);
    if (what == MOE_COMBINE)
        done(moe_dispatch(run, SHMEMX_EP_BOTH));
    if (what == MOE_OVERLAP)
        rounds = compute_calibrate(run, &row->compute_us);
    if (graph) {
        run->place->capture();
        calls(run, what);
        run->place->captured();
    }
    iterations(run, what, rounds, run->options->perf.warmup, us, us + run->options->perf.warmup);
    iterations(run, what, rounds, n, us, us + n);
    slowest(run, us, n, &row->us);
    if (what == MOE_OVERLAP) {
        slowest(run, us + n, n, &computing);
        row->loss = (computing.p50 / row->compute_us - 1) * 100;
    }
    if (graph)
        run->place->release_graph();
    free(us);
    expect(run, row);
    count(run, row);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a row is measured. An iteration begins with a barrier that is not timed; its time is that of the slowest PE. On a
 * GPU some iterations are in the stream before the first begins, so that none waits for the host.
 */
#include "perftest/ep/moe.h"

#include <math.h>
#include <stdlib.h>

#define PIECE (128 << 10) /* the least bytes of a piece of a put, which several NICs share */

enum { ALONE = 9, GLANCE = 10 };
enum { CAME = 1, SENT, ENDED = MOE_MARKS - 1 }; /* marks of an iteration after its first */

/* Of iterations of this PE. */
struct times {
    double *us;        /* from the barrier to the end; of overlap without its compute kernels */
    double *late;      /* from the barrier until this PE has come */
    double *computing; /* overlap: of a compute kernel; and of each half */
    double *half[MOE_HALVES];
};

/* A refused call would leave the other PEs waiting. */
static void done(int failed)
{
    if (failed)
        shmem_global_exit(PERF_FAILED);
}

static void calls(struct moe_run *run, enum moe_what what, long n)
{
    for (long i = 0; i < n; i++) {
        if (what != MOE_COMBINE)
            done(moe_dispatch(run, SHMEMX_EP_BOTH));
        if (what != MOE_DISPATCH)
            done(moe_combine(run, SHMEMX_EP_BOTH));
    }
}

static void capture(struct moe_run *run, enum moe_what what)
{
    run->backend->capture();
    calls(run, what, run->options->perf.batch);
    run->backend->captured();
}

/* The last PE comes later, where the options say so. */
static void begin_iteration(struct moe_run *run, int first)
{
    const struct moe_backend *backend = run->backend;

    backend->barrier();
    backend->mark(first);
    if (!run->options->late)
        return;
    if (run->me == run->npes - 1)
        backend->wait(run->options->late);
    backend->mark(first + CAME);
}

/* The iteration's calls, between marks from `first` on. */
static void iterate(struct moe_run *run, enum moe_what what, int first)
{
    begin_iteration(run, first);
    if (run->options->graph)
        run->backend->replay();
    else
        calls(run, what, run->options->perf.batch);
    run->backend->mark(first + ENDED);
}

static void iterate_overlap(struct moe_run *run, long rounds, int first)
{
    const struct moe_backend *backend = run->backend;

    begin_iteration(run, first);
    done(moe_dispatch(run, SHMEMX_EP_SEND));
    backend->mark(first + SENT);
    backend->compute(rounds);
    backend->mark(first + SENT + 1);
    done(moe_dispatch(run, SHMEMX_EP_RECEIVE));
    backend->mark(first + SENT + 2);
    done(moe_combine(run, SHMEMX_EP_SEND));
    backend->mark(first + SENT + 3);
    backend->compute(rounds);
    backend->mark(first + SENT + 4);
    done(moe_combine(run, SHMEMX_EP_RECEIVE));
    backend->mark(first + ENDED);
}

/* What iteration i has taken, from its marks. */
static void read_marks(struct moe_run *run, enum moe_what what, int first, const struct times *times, long i)
{
    double (*between)(int, int) = run->backend->between;
    int came = first + (run->options->late ? CAME : 0);

    times->late[i] = between(first, came);
    times->us[i] = between(first, first + ENDED);
    if (what != MOE_OVERLAP)
        return;
    times->half[MOE_DISPATCH_SEND][i] = between(came, first + SENT);
    times->half[MOE_DISPATCH_RECEIVE][i] = between(first + SENT + 1, first + SENT + 2);
    times->half[MOE_COMBINE_SEND][i] = between(first + SENT + 2, first + SENT + 3);
    times->half[MOE_COMBINE_RECEIVE][i] = between(first + SENT + 4, first + ENDED);
    times->computing[i] =
        between(first + SENT, first + SENT + 1) + between(first + SENT + 3, first + SENT + 4);
    times->us[i] -= times->computing[i];
    times->computing[i] /= 2;
}

static void iterations(struct moe_run *run, enum moe_what what, long rounds, long n,
                       const struct times *times)
{
    const struct moe_backend *backend = run->backend;

    for (long done_n = 0, chunk; done_n < n; done_n += chunk) {
        chunk = n - done_n < MOE_CHUNK ? n - done_n : MOE_CHUNK;
        backend->begin();
        for (int i = 0; i < chunk && what == MOE_OVERLAP; i++)
            iterate_overlap(run, rounds, i * MOE_MARKS);
        for (int i = 0; i < chunk && what != MOE_OVERLAP; i++)
            iterate(run, what, i * MOE_MARKS);
        backend->finish();
        for (int i = 0; i < chunk; i++)
            read_marks(run, what, i * MOE_MARKS, times, done_n + i);
    }
}

void moe_largest(struct moe_run *run, double *us, long n)
{
    double *all = run->figures + MOE_SAMPLES_MAX + 1;

    for (long i = 0; i < n; i++)
        run->figures[i] = us[i];
    shmem_double_max_reduce(SHMEM_TEAM_WORLD, all, run->figures, (size_t)n);
    for (long i = 0; i < n; i++)
        us[i] = all[i];
    shmem_barrier_all();
}

void moe_slowest(struct moe_run *run, double *us, long n, struct perf_stats *stats)
{
    moe_largest(run, us, n);
    perf_stats_from(stats, us, n);
}

static double compute_once(struct moe_run *run, long rounds)
{
    run->backend->begin();
    run->backend->barrier();
    run->backend->mark(0);
    run->backend->compute(rounds);
    run->backend->mark(1);
    run->backend->finish();
    return run->backend->between(0, 1);
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
    moe_slowest(run, took, ALONE, &stats);
    *us = stats.p50;
    return rounds;
}

/* Calls that are counted: acknowledgements of counted puts come once in several. */
#define COUNTED 16

/* What one of these calls gives, the mean of all PEs. */
static double mean(struct moe_run *run, uint64_t before, uint64_t after)
{
    return moe_sum(run, (double)(after - before)) / run->npes / COUNTED;
}

int moe_far_peers(const struct moe_run *run)
{
    return run->route == REF_ONE_COPY ? run->npes / run->near - 1 : run->npes - run->near;
}

bool moe_puts_weights(const struct moe_run *run, enum moe_what what)
{
    return run->options->weights == MOE_LATE && what != MOE_DISPATCH;
}

/* Of a put of so many bytes, by a PE that has so many NICs for each far peer. */
static long least_pieces(double bytes, long nics)
{
    long most = (long)bytes / PIECE, pieces = nics < most ? nics : most;

    return pieces > 1 ? pieces : 1;
}

/* One a put, of which pieces are worth a message only where NICs would have nothing to do; by the mean of peers. */
static long least_messages(struct moe_run *run, enum moe_what what)
{
    long peers = moe_far_peers(run), sum = moe_puts_weights(run, what);
    double rows = moe_sum(run, run->load.network) / run->npes;

    if (peers <= 0)
        return 0;
    rows /= (double)peers;
    if (what != MOE_COMBINE)
        sum += least_pieces(rows * (double)run->row_bytes, run->options->nics / peers);
    if (what != MOE_DISPATCH)
        sum += least_pieces(rows * (double)run->job.hidden * 2, run->options->nics / peers);
    return sum * peers;
}

/* What one call gives to peers and to the network: means of PEs. */
static void count(struct moe_run *run, struct moe_row *row)
{
    shmemx_ep_statistics_t before, after;
    shmemx_stats_t first, last;
    double posts;
    int peers = moe_far_peers(run);

    shmem_barrier_all();
    shmemx_ep_statistics(run->ep, &before);
    shmemx_stats(&first, sizeof first);
    calls(run, row->what, COUNTED);
    run->backend->finish();
    if (run->backend->device)
        shmem_quiet(); /* what kernels posted counts once it is complete */
    shmemx_stats(&last, sizeof last);
    shmemx_ep_statistics(run->ep, &after);
    row->network = mean(run, before.network_rows, after.network_rows);
    row->near = mean(run, before.near_rows, after.near_rows);
    row->puts = mean(run, before.network_puts, after.network_puts);
    row->puts = peers > 0 ? row->puts / peers : 0;
    row->operations = mean(run, first.network_operations, last.network_operations);
    row->network_bytes = mean(run, first.network_bytes, last.network_bytes);
    /* What kernels post has a doorbell each at most. */
    posts = mean(run, first.gda_operations, last.gda_operations);
    row->messages = row->operations + posts;
    row->doorbells = mean(run, first.network_doorbells, last.network_doorbells) + posts;
    row->least_messages = least_messages(run, row->what);
}

/* What follows from the routing; and what the links allow. */
static void expect(struct moe_run *run, struct moe_row *row)
{
    bool there = row->what != MOE_COMBINE, back = row->what != MOE_DISPATCH;
    double hosts = moe_sum(run, run->load.hosts) / run->npes;
    double host_bytes =
        hosts * ((there ? (double)run->row_bytes : 0) + (back ? (double)run->job.hidden * 2 : 0));

    row->rows = moe_sum(run, (there ? run->load.received : 0) + (back ? run->load.back : 0)) / run->npes;
    row->bytes =
        moe_sum(run, (there ? run->load.dispatched : 0) + (back ? run->load.combined : 0)) / run->npes;
    row->least = moe_sum(run, run->load.network) / run->npes * (there + back);
    row->link_rows = moe_sum(run, moe_link_rows(run, row->what)) / run->npes;
    row->link_bytes = moe_sum(run, moe_link_bytes(run, row->what)) / run->npes;
    row->scale_up = row->bytes / row->us.p50 / 1e3;
    row->scale_out = run->near == run->npes ? NAN : host_bytes / row->us.p50 / 1e3;
    row->limit_us = moe_limit(run, row->what);
}

/* Room for `n` iterations, freed by times->us. */
static struct times times_make(long n)
{
    struct times times = {.us = calloc((size_t)n * (3 + MOE_HALVES) + 1, sizeof(double))};

    done(!times.us);
    times.late = times.us + n;
    times.computing = times.late + n;
    for (int half = 0; half < MOE_HALVES; half++)
        times.half[half] = times.computing + (half + 1) * n;
    return times;
}

/* Of each iteration the slowest PE, from when the last one came. */
static void sum_up(struct moe_run *run, enum moe_what what, const struct times *times, long n,
                   struct moe_row *row)
{
    struct perf_stats stats;

    moe_largest(run, times->us, n);
    moe_largest(run, times->late, n);
    for (long i = 0; i < n; i++)
        times->us[i] =
            (times->us[i] - times->late[i]) / (double)(what == MOE_OVERLAP ? 1 : run->options->perf.batch);
    perf_stats_from(&row->us, times->us, n);
    if (what != MOE_OVERLAP)
        return;
    moe_slowest(run, times->computing, n, &stats);
    row->loss = (stats.p50 / row->compute_us - 1) * 100;
    for (int half = 0; half < MOE_HALVES; half++) {
        moe_slowest(run, times->half[half], n, &stats);
        row->half_us[half] = stats.p50;
    }
}

double moe_glance(struct moe_run *run)
{
    struct times times = times_make(GLANCE);
    struct moe_row row = {.run = run};
    bool graph = run->options->graph;

    if (graph)
        capture(run, MOE_BOTH);
    iterations(run, MOE_BOTH, 0, GLANCE / 2, &times);
    iterations(run, MOE_BOTH, 0, GLANCE, &times);
    sum_up(run, MOE_BOTH, &times, GLANCE, &row);
    if (graph)
        run->backend->release_graph();
    free(times.us);
    return row.us.p50;
}

void moe_count(struct moe_run *run, enum moe_what what, struct moe_row *row)
{
    double there = what != MOE_COMBINE, back = what != MOE_DISPATCH;

    *row = (struct moe_row){.run = run, .what = what};
    if (what == MOE_COMBINE) {
        done(moe_dispatch(run, SHMEMX_EP_BOTH));
        run->backend->finish();
    }
    count(run, row);
    row->least = moe_sum(run, run->load.network) / run->npes * (there + back);
    row->bytes = moe_sum(run, run->load.network) / run->npes *
                 (there * (double)run->row_bytes + back * (double)run->job.hidden * 2);
}

void moe_measure(struct moe_run *run, enum moe_what what, struct moe_row *row)
{
    long n = run->options->perf.samples, warmup = run->options->perf.warmup, rounds = 0;
    struct times times = times_make(n > warmup ? n : warmup);
    bool graph = run->options->graph && what != MOE_OVERLAP;

    *row = (struct moe_row){.run = run, .what = what, .compute_us = NAN, .loss = NAN};
    for (int half = 0; half < MOE_HALVES; half++)
        row->half_us[half] = NAN;
    if (what == MOE_COMBINE)
        done(moe_dispatch(run, SHMEMX_EP_BOTH));
    if (what == MOE_OVERLAP)
        rounds = compute_calibrate(run, &row->compute_us);
    if (graph)
        capture(run, what);
    iterations(run, what, rounds, warmup, &times);
    iterations(run, what, rounds, n, &times);
    sum_up(run, what, &times, n, row);
    if (graph)
        run->backend->release_graph();
    free(times.us);
    expect(run, row);
    count(run, row);
}

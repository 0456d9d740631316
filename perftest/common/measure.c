/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timing in batches: a sample is the time of `batch` operations divided by their number, and the
 * batch is so long that two clock readings (some 50 ns) are lost in it.
 */
#include "perftest/common/measure.h"

/* Where all take part a batch is longer, so that one process leaving it late does not count as its time. */
#define BATCH_NS 5e4
#define COLLECTIVE_BATCH_NS 25e4
enum { CALIBRATION_RUNS = 3, FIRST_CALLS = 4, MIN_SAMPLES = 10 };

static double shortest(const double *times, long n)
{
    double least = times[0];

    for (long i = 1; i < n; i++)
        least = times[i] < least ? times[i] : least;
    return least;
}

static long next_count(long count, double ns, double target)
{
    if (ns >= target || count > 1L << 30)
        return count;
    double wanted = ns > 0 ? (double)count * target / ns * 1.05 + 1 : (double)count * 16;
    double most = (double)count * 16;
    return (long)(wanted < most ? wanted : most);
}

/* Returns the number of calls of a batch. The first calls may connect, register and map, and so are not timed. */
static long batch_calibrate(const struct perf_timing *t, const struct perf_options *opts, double *times)
{
    double target = t->slowest ? COLLECTIVE_BATCH_NS : BATCH_NS;
    long runs = opts->samples < CALIBRATION_RUNS ? opts->samples : CALIBRATION_RUNS;

    for (int i = 0; i < FIRST_CALLS; i++) {
        t->run(t->arg, 1, times, 1);
        t->barrier(t->arg);
    }
    if (opts->batch)
        return opts->batch;
    for (long count = 1;;) {
        t->run(t->arg, count, times, runs);
        t->barrier(t->arg);
        long next = t->agree(t->arg, next_count(count, shortest(times, runs), target));
        if (next == count)
            return count;
        count = next;
    }
}

/* Returns how many samples fit into the time of a row. */
static long warm_up(const struct perf_timing *t, const struct perf_options *opts, double *times, long batch)
{
    double before = perf_now();

    for (long i = 0; i < opts->warmup; i++)
        t->run(t->arg, batch, times, 1);
    double each = opts->warmup ? (perf_now() - before) / (double)opts->warmup : 0;
    double fit = each > 0 ? opts->seconds * 1e9 / each : (double)opts->samples;
    long least = opts->samples < MIN_SAMPLES ? opts->samples : MIN_SAMPLES;
    long samples = fit < (double)opts->samples ? (long)fit : opts->samples;
    return t->agree(t->arg, samples < least ? least : samples);
}

void perf_measure(const struct perf_timing *t, const struct perf_options *opts, double *times,
                  struct perf_row *row)
{
    long batch = batch_calibrate(t, opts, times), samples = warm_up(t, opts, times, batch);
    double cpu = perf_cpu_now(), operations = (double)batch * t->each;

    t->run(t->arg, batch, times, samples);
    cpu = perf_cpu_now() - cpu;
    t->barrier(t->arg);
    if (t->slowest)
        t->slowest(t->arg, times, samples);
    for (long i = 0; i < samples; i++)
        times[i] /= operations * 1e3;
    row->batch = batch;
    row->samples = samples;
    perf_stats_from(&row->us, times, samples);
    row->cpu_ns = cpu / (operations * (double)samples);
}

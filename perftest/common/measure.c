/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timing in batches: a sample is the time of `batch` operations divided by their number, and the
 * batch is so long that two clock readings (some 50 ns) are lost in it.
 */
#include "perftest/common/measure.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A collective's batch is longer, so that one PE leaving it late does not count as its time. */
#define BATCH_NS 5e4
#define COLLECTIVE_BATCH_NS 25e4
enum { CALIBRATION_RUNS = 3, FIRST_CALLS = 4, MIN_SAMPLES = 10 };

double perf_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* Of all threads of this process, in ns. */
static double cpu_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

struct perf_control *perf_control_open(const struct perf_options *opts, int npes)
{
    size_t samples = (size_t)opts->samples * sizeof(double);
    struct perf_control *control = shmem_malloc(sizeof(*control));
    long *slots = shmem_malloc((size_t)npes * sizeof(long));
    double *times = shmem_malloc(samples);
    double *others = malloc(samples);
    if (!control || !slots || !times || !others) {
        perf_complain("no room for %ld samples; take fewer (-n) or set SHMEM_SYMMETRIC_SIZE", opts->samples);
        free(others);
        return NULL;
    }
    *control = (struct perf_control){.slots = slots, .samples = times, .others = others};
    memset(times, 0, samples);
    shmem_barrier_all();
    return control;
}

void perf_control_close(struct perf_control *control)
{
    free(control->others);
    shmem_free(control->samples);
    shmem_free(control->slots);
    shmem_free(control);
}

long perf_agree(struct perf_run *run, long value)
{
    struct perf_control *c = run->control;
    if (run->me == 0)
        c->agreed = value;
    shmem_barrier_all();
    if (run->me != 0)
        value = shmem_long_g(&c->agreed, 0);
    shmem_barrier_all();
    return value;
}

long perf_sum(struct perf_run *run, long value)
{
    struct perf_control *c = run->control;
    shmem_long_p(&c->slots[run->me], value, 0);
    shmem_barrier_all();
    long sum = 0;
    for (int pe = 0; pe < run->npes; pe++)
        sum += c->slots[pe];
    return perf_agree(run, sum);
}

static bool takes_part(const struct perf_run *run, const struct perf_op *op)
{
    return run->me == 0 || op->who == PERF_SLOWEST || (op->who == PERF_PAIR && run->me == run->npes - 1);
}

static bool served(const struct perf_run *run, const struct perf_op *op)
{
    return op->who != PERF_SLOWEST && run->program->serve;
}

static void serve(struct perf_run *run)
{
    struct perf_control *c = run->control;
    c->rounds++;
    /* PE 0 may be rounds ahead by now: equality could be missed. */
    while (!shmem_uint64_test(&c->stop, SHMEM_CMP_GE, c->rounds))
        run->program->serve(run);
}

/* Runs `n` batches of `count` operations; stores the ns of each in the control's samples. */
static void run_batches(struct perf_run *run, const struct perf_op *op, long count, long n)
{
    struct perf_control *c = run->control;
    if (takes_part(run, op)) {
        double before = perf_now();
        for (long i = 0; i < n; i++) {
            op->batch(run, count);
            double after = perf_now();
            c->samples[i] = after - before;
            before = after;
        }
    }
    if (served(run, op) && run->me == 0)
        shmem_uint64_p(&c->stop, ++c->rounds, run->npes - 1);
    else if (served(run, op) && run->me == run->npes - 1)
        serve(run);
}

void perf_once(struct perf_run *run, const struct perf_op *op, long count)
{
    run_batches(run, op, count, 1);
    shmem_barrier_all();
}

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

/* The first calls may connect, register and map: they must not make a batch look long enough. */
static long calibrate(struct perf_run *run, const struct perf_op *op)
{
    double target = op->who == PERF_SLOWEST ? COLLECTIVE_BATCH_NS : BATCH_NS;
    long runs = run->opts->samples < CALIBRATION_RUNS ? run->opts->samples : CALIBRATION_RUNS;
    for (int i = 0; i < FIRST_CALLS; i++)
        perf_once(run, op, 1);
    if (run->opts->batch)
        return run->opts->batch;
    for (long count = 1;;) {
        run_batches(run, op, count, runs);
        double ns = shortest(run->control->samples, runs);
        long next = perf_agree(run, next_count(count, ns, target));
        if (next == count)
            return count;
        count = next;
    }
}

static long warm_up(struct perf_run *run, const struct perf_op *op, long batch)
{
    const struct perf_options *o = run->opts;
    double before = perf_now();
    for (long i = 0; i < o->warmup; i++)
        run_batches(run, op, batch, 1);
    double each = o->warmup ? (perf_now() - before) / (double)o->warmup : 0;
    double fit = each > 0 ? o->seconds * 1e9 / each : (double)o->samples;
    long least = o->samples < MIN_SAMPLES ? o->samples : MIN_SAMPLES;
    long samples = fit < (double)o->samples ? (long)fit : o->samples;
    return perf_agree(run, samples < least ? least : samples);
}

/* Leaves in the samples of PE 0, per batch, the time of the PE that took longest. */
static void take_slowest(struct perf_run *run, long samples)
{
    struct perf_control *c = run->control;
    shmem_barrier_all();
    for (int pe = 1; run->me == 0 && pe < run->npes; pe++) {
        shmem_double_get(c->others, c->samples, (size_t)samples, pe);
        for (long i = 0; i < samples; i++)
            if (c->others[i] > c->samples[i])
                c->samples[i] = c->others[i];
    }
    shmem_barrier_all();
}

void perf_measure(struct perf_run *run, const struct perf_op *op, struct perf_row *row)
{
    long batch = calibrate(run, op);
    long samples = warm_up(run, op, batch);
    double cpu = cpu_now();
    run_batches(run, op, batch, samples);
    cpu = cpu_now() - cpu;
    shmem_barrier_all();
    if (op->who == PERF_SLOWEST)
        take_slowest(run, samples);
    if (run->me != 0)
        return;
    double operations = (double)batch * (double)(op->each ? op->each : run->window);
    for (long i = 0; i < samples; i++)
        run->control->samples[i] /= operations * 1e3;
    row->op = op->name;
    row->len = run->len;
    row->batch = batch;
    row->samples = samples;
    row->cpu_ns = cpu / (operations * (double)samples);
    perf_stats_from(&row->us, run->control->samples, samples);
}

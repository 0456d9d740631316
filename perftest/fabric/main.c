/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how a row is timed and its data checked, and the course of every fabric test. */
#include "perftest/fabric/report.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCH_NS 5e4
#define ALL_BATCH_NS \
    25e4 /* longer where all take part: one that leaves a batch late must not count as its time */
#define IMMEDIATE_NS 5e9 /* an immediate that has not come by then is lost */
enum { FIRST_CALLS = 4, CALIBRATION_RUNS = 3, MIN_SAMPLES = 10 };
enum { STATUS_OK = 0, STATUS_FAILED = 1, STATUS_USAGE = 2, STATUS_SKIP = 77 };

static double now(clockid_t clock)
{
    struct timespec ts;

    clock_gettime(clock, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static bool takes_part(const struct fab_net *net, const struct fab_row *row)
{
    return net->boot.me == 0 || row->who == FAB_ALL || (row->who == FAB_PAIR && fab_is_last(net));
}

/* Runs `n` batches of `count` calls: the ns of each in `times`; then all wait, serving. Returns the CPU ns. */
static double run(struct fab_net *net, const struct fab_row *row, long count, double *times, long n)
{
    double cpu = now(CLOCK_PROCESS_CPUTIME_ID), before = now(CLOCK_MONOTONIC);

    for (long i = 0; i < n && takes_part(net, row); i++) {
        row->batch(net, count);
        double after = now(CLOCK_MONOTONIC);
        times[i] = after - before;
        before = after;
    }
    cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    fab_boot_barrier(&net->boot);
    return cpu;
}

static double shortest(const double *times, long n)
{
    double least = times[0];

    for (long i = 1; i < n; i++)
        least = times[i] < least ? times[i] : least;
    return least;
}

static long calibrate(struct fab_net *net, const struct fab_row *row, double *times)
{
    double target = row->who == FAB_ALL ? ALL_BATCH_NS : BATCH_NS;
    long count = net->opts->common.batch ? net->opts->common.batch : 1;
    long runs = net->opts->common.samples < CALIBRATION_RUNS ? net->opts->common.samples : CALIBRATION_RUNS;

    run(net, row, 1, times,
        net->opts->common.batch                   ? 1
        : net->opts->common.samples < FIRST_CALLS ? 1
                                                  : FIRST_CALLS);
    while (!net->opts->common.batch) {
        run(net, row, count, times, runs);
        double ns = shortest(times, runs), most = (double)count * 16;
        double wanted = ns >= target ? (double)count : (double)count * target / (ns > 0 ? ns : 1) * 1.05 + 1;
        long next = fab_boot_agree(&net->boot, (long)(wanted < most ? wanted : most));
        if (next <= count)
            break;
        count = next;
    }
    return count;
}

static long warm_up(struct fab_net *net, const struct fab_row *row, long count, double *times)
{
    const struct perf_options *o = &net->opts->common;
    double before = now(CLOCK_MONOTONIC), each, fit;
    long least = o->samples < MIN_SAMPLES ? o->samples : MIN_SAMPLES;

    for (long i = 0; i < o->warmup; i++)
        run(net, row, count, times, 1);
    each = o->warmup ? (now(CLOCK_MONOTONIC) - before) / (double)o->warmup : 0;
    fit = each > 0 ? o->seconds * 1e9 / each : (double)o->samples;
    fit = fit < (double)o->samples ? fit : (double)o->samples;
    return fab_boot_agree(&net->boot, fit < (double)least ? least : (long)fit);
}

static void take_slowest(struct fab_net *net, double *times, long samples)
{
    double *all = calloc((size_t)net->boot.n * (size_t)samples, sizeof(*all));

    if (!all)
        fab_fail("no memory for the samples of %d processes; take fewer (-n)", net->boot.n);
    fab_boot_share(&net->boot, times, (size_t)samples * sizeof(*times), all);
    for (int i = 0; i < net->boot.n; i++)
        for (long j = 0; j < samples; j++)
            if (all[(long)i * samples + j] > times[j])
                times[j] = all[(long)i * samples + j];
    free(all);
}

static double per_count(const struct fab_net *net, const struct fab_row *row)
{
    return row->each ? row->each : (double)net->window;
}

static void measure(struct fab_net *net, const struct fab_row *row, double *times, struct fab_result *result)
{
    long count = calibrate(net, row, times), samples = warm_up(net, row, count, times);
    double cpu = run(net, row, count, times, samples), operations = (double)count * per_count(net, row);

    if (row->who == FAB_ALL)
        take_slowest(net, times, samples);
    for (long i = 0; i < samples; i++)
        times[i] /= operations * 1e3;
    *result = (struct fab_result){.op = row->name,
                                  .len = net->len,
                                  .batch = count,
                                  .samples = samples,
                                  .copies = row->who == FAB_ALL ? net->boot.n - 1 : 1,
                                  .cpu_ns = cpu / (operations * (double)samples)};
    perf_stats_from(&result->us, times, samples);
}

static bool lands_here(const struct fab_net *net, const struct fab_row *row)
{
    switch (row->lands) {
    case FAB_LANDS_LAST: return fab_is_last(net);
    case FAB_LANDS_FIRST: return net->boot.me == 0;
    case FAB_LANDS_PAIR: return net->boot.me == 0 || fab_is_last(net);
    default: return true;
    }
}

static long wrong_writes(const struct fab_net *net, const struct fab_row *row)
{
    long wrong = 0;

    for (int from = 0; from < (row->lands == FAB_LANDS_LAST ? 1 : net->boot.n); from++)
        if (from != net->boot.me)
            wrong += fab_wrong(fab_dest(net, from), net->len, 0, net->len, from);
    return wrong;
}

/* Writes with immediate data of process 0 that the last one was never told of, or was told of too often. */
static long wrong_immediates(struct fab_net *net)
{
    long sent = fab_boot_agree(&net->boot, net->sent_immediates);
    double until = now(CLOCK_MONOTONIC) + IMMEDIATE_NS;

    while (fab_is_last(net) && net->immediates < sent && now(CLOCK_MONOTONIC) < until)
        fab_serve(net);
    return fab_is_last(net) ? labs(net->immediates - sent) : 0;
}

/* The timed code once more, with a pattern: the number of bytes and immediates that are not right, everywhere. */
static long check(struct fab_net *net, const struct fab_row *row)
{
    double time;
    long wrong = 0;

    fab_fill(fab_source(net), net->len, net->boot.me);
    memset(fab_dest(net, 0), 0, (size_t)net->boot.n * net->max_len);
    net->right_bytes = net->wrong_bytes = 0;
    net->checking = true;
    fab_boot_barrier(&net->boot);
    run(net, row, 1, &time, 1);
    net->checking = false;
    if (row->kind == FAB_WRITE_IMM)
        wrong += wrong_immediates(net);
    if (lands_here(net, row) && row->kind == FAB_SEND)
        wrong += net->wrong_bytes + (net->right_bytes == 0);
    else if (lands_here(net, row))
        wrong += wrong_writes(net, row);
    return fab_boot_sum(&net->boot, wrong);
}

/* So many messages of a window as the receives of the other side hold. */
static long window_of(const struct fab_net *net, const struct fab_row *row)
{
    int per_rail = fab_pieces(net, row->kind);
    long fit;

    if (row->kind != FAB_SEND)
        return net->opts->common.window;
    if (net->opts->policy == FAB_SPLIT)
        per_rail = (per_rail + net->n_rails - 1) / net->n_rails;
    fit = net->n_slots / per_rail;
    fit = fit < 1 ? 1 : fit;
    return fit < net->opts->common.window ? fit : net->opts->common.window;
}

static long rows(struct fab_net *net, const struct fab_program *program, struct fab_report *report)
{
    const struct perf_options *o = &net->opts->common;
    double *times = calloc((size_t)o->samples + FIRST_CALLS + CALIBRATION_RUNS, sizeof(*times));
    long all_wrong = 0;

    for (const struct fab_row *row = program->rows; times && row->name; row++)
        for (int i = 0; i < o->nsizes && perf_options_want(o, row->name); i++) {
            struct fab_result result;
            net->len = o->sizes[i];
            net->window = window_of(net, row);
            measure(net, row, times, &result);
            long wrong = check(net, row);
            result.right = wrong == 0;
            all_wrong += wrong;
            if (net->boot.me == 0)
                fab_report_row(report, &result);
            if (wrong && net->boot.me == 0)
                fab_complain("%s, %zu bytes: %ld bytes or immediates are wrong", row->name, net->len, wrong);
        }
    if (!times)
        fab_fail("no memory for %ld samples; take fewer (-n)", o->samples);
    free(times);
    return all_wrong;
}

static int measure_all(struct fab_net *net, const struct fab_program *program)
{
    struct fab_report report;
    size_t most = 8;
    int status;

    for (int i = 0; i < net->opts->common.nsizes; i++)
        most = net->opts->common.sizes[i] > most ? net->opts->common.sizes[i] : most;
    if (!fab_net_open(net, most))
        return STATUS_SKIP;
    status = net->boot.me ? 0 : fab_report_open(&report, program, net);
    if (fab_boot_agree(&net->boot, status))
        return STATUS_USAGE;
    status = rows(net, program, &report) ? STATUS_FAILED : STATUS_OK;
    if (net->boot.me == 0 && fab_report_close(&report))
        status = STATUS_FAILED;
    fab_net_close(net);
    return status;
}

static void help(const struct fab_program *program)
{
    printf("%s: %s\nUsage: oshrun -n 2 %s [options]\nOptions:\n", program->name, program->what,
           program->name);
    fab_options_help(&program->defaults);
    printf("Rows:\n");
    for (const struct fab_row *row = program->rows; row->name; row++)
        printf("  %-14s %s\n", row->name, row->what);
    fflush(stdout);
}

static void check_names(const struct fab_program *program, const char *only, char *error)
{
    for (const char *p = only; p && *p;) {
        size_t len = strcspn(p, ",");
        const struct fab_row *row = program->rows;

        while (row->name && (strlen(row->name) != len || strncmp(row->name, p, len)))
            row++;
        if (!row->name)
            snprintf(error, PERF_ERROR_TEXT, "option -m: no row '%.*s' (see --help)",
                     len < 40 ? (int)len : 40, p);
        p += len + (p[len] == ',');
    }
}

int fab_main(int argc, char **argv, const struct fab_program *program)
{
    static struct fab_net net;
    static struct fab_options opts;
    char error[PERF_ERROR_TEXT] = "";
    int status = STATUS_USAGE;

    net.opts = &opts;
    if (!fab_options_parse(&opts, &program->defaults, argc, argv, error))
        check_names(program, opts.common.only, error);
    if (opts.common.help && !error[0]) {
        help(program);
        return STATUS_OK;
    }
    if (fab_boot_open(&net.boot))
        return STATUS_USAGE;
    if (net.boot.me == 0 && error[0])
        fab_complain("%s", error);
    else if (net.boot.me == 0 && net.boot.n < 2)
        fab_complain("needs at least 2 processes: oshrun -n 2 %s", program->name);
    if (!error[0] && net.boot.n > 1)
        status = measure_all(&net, program);
    fab_boot_close(&net.boot);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches run by one, two or all PEs, and values that PEs agree upon, in portable OpenSHMEM. */
#include "perftest/common/job.h"

#include <stdlib.h>
#include <string.h>

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

/* A PE that is not measured makes the program's calls until PE 0 ends the round. */
static void peers_serve(struct perf_run *run)
{
    struct perf_control *c = run->control;
    c->rounds++;
    /* PE 0 may be rounds ahead by now: equality could be missed. */
    while (!shmem_uint64_test(&c->stop, SHMEM_CMP_GE, c->rounds))
        run->program->serve(run);
}

/* The row that runs, as the argument of perf_timing's functions. */
struct row_run {
    struct perf_run *run;
    const struct perf_op *op;
};

static void run_batches(void *arg, long count, double *times, long n)
{
    const struct row_run *row = arg;
    const struct perf_op *op = row->op;
    struct perf_run *run = row->run;
    struct perf_control *c = run->control;

    if (takes_part(run, op)) {
        double before = perf_now();
        for (long i = 0; i < n; i++) {
            op->batch(run, count);
            double after = perf_now();
            times[i] = after - before;
            before = after;
        }
    }
    if (served(run, op) && run->me == 0)
        shmem_uint64_p(&c->stop, ++c->rounds, run->npes - 1);
    else if (served(run, op) && run->me == run->npes - 1)
        peers_serve(run);
}

static void run_barrier(void *arg)
{
    (void)arg;
    shmem_barrier_all();
}

static long run_agree(void *arg, long value)
{
    return perf_agree(((const struct row_run *)arg)->run, value);
}

/* Leaves in the samples of PE 0, per batch, the time of the PE that took longest. */
static void run_slowest(void *arg, double *times, long samples)
{
    const struct perf_run *run = ((const struct row_run *)arg)->run;
    struct perf_control *c = run->control;

    for (int pe = 1; run->me == 0 && pe < run->npes; pe++) {
        shmem_double_get(c->others, times, (size_t)samples, pe);
        for (long i = 0; i < samples; i++)
            times[i] = c->others[i] > times[i] ? c->others[i] : times[i];
    }
    shmem_barrier_all();
}

void perf_once(struct perf_run *run, const struct perf_op *op, long count)
{
    run_batches(&(struct row_run){run, op}, count, run->control->samples, 1);
    shmem_barrier_all();
}

void perf_job_measure(struct perf_run *run, const struct perf_op *op, struct perf_row *row)
{
    const struct perf_timing timing = {.arg = &(struct row_run){run, op},
                                       .run = run_batches,
                                       .barrier = run_barrier,
                                       .agree = run_agree,
                                       .slowest = op->who == PERF_SLOWEST ? run_slowest : NULL,
                                       .each = op->each ? op->each : (double)run->window};

    perf_measure(&timing, run->opts, run->control->samples, row);
    row->op = op->name;
    row->len = run->len;
    perf_row_add(row, "cpu_ns", "CPU ns", row->cpu_ns, 1, PERF_FRONT);
    if (run->program->unit == PERF_BANDWIDTH)
        perf_row_add(row, "gb_per_s", "GB/s", (double)row->len / row->us.p50 / 1e3, 3, PERF_END);
    else if (run->program->unit == PERF_RATE)
        perf_row_add(row, "mop_per_s", "Mop/s", 1 / row->us.p50, 3, PERF_END);
}

/* The transport of data between PE 0 and the others, found from shmem_ptr. */
static const char *transport_of(const void *symmetric, int npes)
{
    int mapped = 0;

    for (int pe = 1; pe < npes; pe++)
        mapped += shmem_ptr(symmetric, pe) != NULL;
    return npes == 1            ? NULL
           : mapped == npes - 1 ? "shared memory"
           : mapped             ? "shared memory and network"
                                : "network";
}

int perf_job_report(struct perf_report *report, const struct perf_program *program,
                    const struct perf_options *opts, const void *symmetric)
{
    static char name[SHMEM_MAX_NAME_LEN + 1], version[16];
    struct perf_about about = {.program = program->name,
                               .what = program->what,
                               .library = name,
                               .version = version,
                               .npes = shmem_n_pes()};
    int major, minor;

    shmem_info_get_name(name);
    shmem_info_get_version(&major, &minor);
    snprintf(version, sizeof(version), "%d.%d", major, minor);
    about.transport = transport_of(symmetric, about.npes);
    return perf_report_open(report, &about, opts);
}

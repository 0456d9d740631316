/* SPDX-License-Identifier: BSD-3-Clause */
/* The common main(): options, buffers, the loop over rows, and the exit status. */
#include <stdlib.h>
#include <string.h>

#include "perftest/common/job.h"
#include "perftest/common/network.h"
#include "perftest/common/progress.h"

enum { MAX_ROWS = 32 };

static bool wanted(const struct perf_options *o, const struct perf_op *op)
{
    return perf_list_fits(o->rows, op->name, NULL);
}

static int check_names(const struct perf_program *program, const struct perf_options *o, char *error)
{
    const char *names[MAX_ROWS + 1] = {NULL};

    for (int i = 0; i < MAX_ROWS && program->ops[i].name; i++)
        names[i] = program->ops[i].name;
    return perf_options_check_rows(o, names, error);
}

/* The first wanted operation that this library lacks, where it lacks all that are wanted; else NULL. */
static const struct perf_op *first_unsupported(const struct perf_program *program,
                                               const struct perf_options *o)
{
    const struct perf_op *lacking = NULL;
    for (const struct perf_op *op = program->ops; op->name; op++) {
        if (wanted(o, op) && op->batch)
            return NULL;
        if (wanted(o, op) && !lacking)
            lacking = op;
    }
    return lacking;
}

static void help(const struct perf_program *program, const struct perf_options *o)
{
    printf("%s: %s\nUsage: oshrun -n %d %s [options]\n", program->name, program->what, program->min_pes,
           program->name);
    perf_options_help(o, &program->defaults);
    printf("Rows:");
    for (const struct perf_op *op = program->ops; op->name; op++)
        printf(" %s", op->name);
    printf("\nExit status: 0 right, 1 wrong data, 2 bad options, 77 lacks the routine.\n");
    fflush(stdout);
}

static size_t largest(const struct perf_program *program, const struct perf_options *o)
{
    size_t most = sizeof(uint64_t);
    for (int i = 0; i < o->nsizes; i++)
        most = o->sizes[i] > most ? o->sizes[i] : most;
    for (const struct perf_op *op = program->ops; op->name; op++)
        most = op->len > most ? op->len : most;
    return most;
}

static size_t buffer_size(const struct perf_run *run, size_t len)
{
    return run->program->buffer_size ? run->program->buffer_size(run, len) : len;
}

static int buffers_open(struct perf_run *run)
{
    size_t size = buffer_size(run, largest(run->program, run->opts));
    run->size = size;
    run->control = perf_control_open(run->opts, run->npes);
    if (!run->control)
        return PERF_FAILED;
    run->source = shmem_align(4096, size);
    run->dest = shmem_align(4096, size);
    run->flag = shmem_align(64, 64);
    if (!run->source || !run->dest || !run->flag) {
        if (run->me == 0)
            perf_complain("no room for two symmetric buffers of %zu bytes; take smaller messages "
                          "(-e) or set SHMEM_SYMMETRIC_SIZE",
                          size);
        return PERF_FAILED;
    }
    memset(run->source, 1, size);
    memset(run->dest, 0, size);
    memset(run->flag, 0, 64);
    shmem_barrier_all();
    return run->program->setup ? run->program->setup(run) : PERF_OK;
}

static void buffers_close(struct perf_run *run)
{
    if (run->program->teardown)
        run->program->teardown(run);
    shmem_barrier_all();
    shmem_free(run->flag);
    shmem_free(run->dest);
    shmem_free(run->source);
    perf_control_close(run->control);
}

/* Measures, checks and reports one row. Returns the number of wrong bytes or values, on every PE. */
static long row_run(struct perf_run *run, const struct perf_op *op, size_t len, struct perf_report *report)
{
    struct perf_row result = {0};
    run->len = len;
    run->span = buffer_size(run, len);
    perf_job_measure(run, op, &result);
    shmem_barrier_all();
    perf_network_add(run, op, &result);
    long wrong = perf_sum(run, op->check(run, op));
    shmem_barrier_all();
    if (run->me == 0) {
        result.right = wrong == 0;
        perf_report_row(report, &result);
        if (run->program->row)
            run->program->row(run, &result);
        if (wrong)
            perf_complain("%s, %zu bytes: %ld bytes or values are wrong", op->name, len, wrong);
    }
    return wrong;
}

/* Rows of an operation that the options want. */
static int sizes_of(const struct perf_run *run, const struct perf_op *op)
{
    return !op->batch || !wanted(run->opts, op) ? 0 : op->len ? 1 : run->opts->nsizes;
}

static long rows(struct perf_run *run, struct perf_report *report)
{
    long wrong = 0;
    int at = 0, all = 0;

    for (const struct perf_op *op = run->program->ops; op->name; op++)
        all += sizes_of(run, op);
    for (const struct perf_op *op = run->program->ops; op->name; op++) {
        if (!wanted(run->opts, op))
            continue;
        if (!op->batch && run->me == 0 && report->table)
            fprintf(report->table, "# %s: this library lacks %s\n", op->name, op->needs);
        for (int i = 0; i < sizes_of(run, op); i++) {
            size_t len = op->len ? op->len : run->opts->sizes[i];
            if (run->me == 0)
                perf_progress(++at, all, "%s, %zu bytes", op->name, len);
            wrong += row_run(run, op, len, report);
        }
    }
    if (run->me == 0)
        perf_progress(0, 0, "the end");
    return wrong;
}

static int measure_all(struct perf_run *run)
{
    struct perf_report report = {.print = NULL};
    int status = buffers_open(run);
    if (status)
        return status;
    int opened = run->me ? 0 : perf_job_report(&report, run->program, run->opts, run->dest);
    if (perf_agree(run, opened))
        return PERF_USAGE;
    status = rows(run, &report) ? PERF_FAILED : PERF_OK;
    if (run->me == 0 && perf_report_close(&report))
        status = PERF_FAILED;
    buffers_close(run);
    return status;
}

static int run_start(struct perf_run *run, const char *error)
{
    const struct perf_program *program = run->program;
    const struct perf_op *lacking = first_unsupported(program, run->opts);
    bool speaks = run->me == 0;
    if (error[0] || run->opts->help) {
        if (speaks && error[0])
            perf_complain("%s", error);
        else if (speaks)
            help(program, run->opts);
        return error[0] ? PERF_USAGE : PERF_OK;
    }
    if (lacking) {
        if (speaks)
            perf_complain("skipped: this library lacks %s", lacking->needs);
        return PERF_SKIP;
    }
    if (run->npes < program->min_pes) {
        if (speaks)
            perf_complain("needs at least %d PEs: oshrun -n %d %s", program->min_pes, program->min_pes,
                          program->name);
        return PERF_USAGE;
    }
    return measure_all(run);
}

/* Reports, from PE 0, that the library lacks the thread level; every PE was given the same one. */
static int threads_skip(const struct perf_program *program)
{
    if (shmem_my_pe() == 0)
        perf_complain("skipped: %s needs SHMEM_THREAD_MULTIPLE, which this library does not give",
                      program->name);
    return PERF_SKIP;
}

int main(int argc, char **argv)
{
    const struct perf_program *program = &perf_program;
    struct perf_options opts;
    char error[PERF_ERROR_TEXT] = "";
    perf_name_set(program->name);
    if (!perf_options_parse(&opts, &program->defaults, argc, argv, error))
        check_names(program, &opts, error);
    int asked = program->threads ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE, level;
    shmem_init_thread(asked, &level);
    struct perf_run run = {
        .opts = &opts, .program = program, .me = shmem_my_pe(), .npes = shmem_n_pes(), .window = opts.window};
    run.peer = run.me == 0 ? run.npes - 1 : 0;
    int status = level < asked ? threads_skip(program) : run_start(&run, error);
    shmem_finalize();
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Time of shmem_init, of the first barrier and of shmem_finalize; one sample per run. */
#include <stdio.h>

#include "perftest/common/job.h"

/* Unlike the other programs this one measures what their main() does around the rows. */
struct init_times {
    double init;
    double barrier;
};

static double slowest(const struct init_times *all, int npes, int which)
{
    double most = 0;
    for (int pe = 0; pe < npes; pe++) {
        double us = which ? all[pe].barrier : all[pe].init;
        most = us > most ? us : most;
    }
    return most;
}

static void report_one(struct perf_report *report, const char *op, double us)
{
    struct perf_row row = {
        .op = op, .samples = 1, .batch = 1, .right = true, .us = {us, us, us, us, us, us, us}};
    perf_row_add(&row, "cpu_ns", "CPU ns", 0, 1, PERF_FRONT);
    perf_report_row(report, &row);
}

static const struct perf_program program = {
    .name = "init",
    .what = "shmem_init and the first barrier, the slowest PE counts; one sample a run",
    .ops = (const struct perf_op[]){{.name = NULL}},
    .min_pes = 1,
};

static int report_all(const struct perf_options *opts, const struct init_times *all, int npes)
{
    struct perf_report report = {.print = NULL};
    if (perf_job_report(&report, &program, opts, all))
        return PERF_USAGE;
    report_one(&report, "init", slowest(all, npes, 0));
    report_one(&report, "first_barrier", slowest(all, npes, 1));
    return perf_report_close(&report) ? PERF_FAILED : PERF_OK;
}

static int gather(const struct perf_options *opts, const struct init_times *mine)
{
    int me = shmem_my_pe(), npes = shmem_n_pes(), status = PERF_OK;
    struct init_times *all = shmem_malloc((size_t)npes * sizeof(*all));
    if (!all)
        return PERF_FAILED;
    shmem_putmem(&all[me], mine, sizeof(*mine), 0);
    shmem_barrier_all();
    if (me == 0)
        status = report_all(opts, all, npes);
    shmem_barrier_all();
    shmem_free(all);
    return status;
}

int main(int argc, char **argv)
{
    char error[PERF_ERROR_TEXT] = "";
    struct perf_options opts;
    perf_name_set(program.name);
    perf_options_parse(&opts, &program.defaults, argc, argv, error);
    double start = perf_now();
    shmem_init();
    double ready = perf_now();
    shmem_barrier_all();
    struct init_times mine = {(ready - start) / 1e3, (perf_now() - ready) / 1e3};
    int me = shmem_my_pe(), status = PERF_USAGE;
    if (error[0] && me == 0)
        perf_complain("%s", error);
    else if (opts.help && me == 0)
        perf_options_help(&opts, &program.defaults);
    if (!error[0])
        status = opts.help ? PERF_OK : gather(&opts, &mine);
    start = perf_now();
    shmem_finalize();
    if (me == 0 && status == PERF_OK && !opts.help && !opts.json && !opts.csv)
        printf("# finalize on PE 0: %.1f us\n", (perf_now() - start) / 1e3);
    return status;
}

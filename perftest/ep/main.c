/* SPDX-License-Identifier: BSD-3-Clause */
/* The program: options, shmem_init, every case and its rows, output, exit status. */
#include "perftest/ep/moe.h"

#include "perftest/common/progress.h"

#include <math.h>

enum { ROW_SECONDS = 120, START_SECONDS = 60 };
#define BEST 1.02 /* as fast as any, by times */

static int list(const struct moe_options *o)
{
    static struct moe_case cases[MOE_CASES];
    int n = moe_cases(cases, o, o->pes ? (int)o->pes : 8);
    char id[96];

    for (int c = 0; c < n; c++)
        for (int w = 0; w < MOE_WHATS; w++)
            if (cases[c].whats >> w & 1)
                printf("%s\n", moe_id(id, &cases[c], (enum moe_what)w));
    if (o->published)
        moe_published_print(stdout);
    return PERF_OK;
}

/* Where the PEs are, in words; all PEs ask. Of one machine they may claim to be on several hosts. */
static const char *hosts_of(struct moe_run *run)
{
    double machine = perf_machine(), most = moe_max(run, machine), least = -moe_max(run, -machine);

    run->machine = machine != 0 && most == least ? run->npes : run->near;
    run->sms = run->backend->blocks(run->machine);
    if (run->near == run->npes)
        return "one host";
    return run->machine == run->npes ? "emulated hosts: shows protocol, not PCIe or NIC behaviour"
                                     : "several hosts";
}

/* PEs of each host, or 1 where hosts have different numbers, or their PEs do not lie side by side. */
static int near_of(struct moe_run *run)
{
    int near = shmem_team_n_pes(SHMEM_TEAM_SHARED), most = (int)moe_max(run, near);
    int first = shmem_team_translate_pe(SHMEM_TEAM_SHARED, 0, SHMEM_TEAM_WORLD);
    bool odd = near != most || run->npes % most || first != run->me / most * most ||
               shmem_team_translate_pe(SHMEM_TEAM_SHARED, near - 1, SHMEM_TEAM_WORLD) != first + near - 1;

    return moe_max(run, odd) > 0 ? 1 : most;
}

/* The rows of a case. False: wrong data. */
static bool rows_run(struct moe_run *run, struct perf_report *report, bool checked, int *at, int rows)
{
    bool right = checked;

    for (int w = 0; w < MOE_WHATS; w++) {
        struct moe_row row;
        char id[96];

        if (!(run->now->whats >> w & 1))
            continue;
        perf_watch(ROW_SECONDS, moe_id(id, run->now, (enum moe_what)w));
        if (run->me == 0)
            perf_progress(++*at, rows, "%s", id);
        moe_measure(run, (enum moe_what)w, &row);
        bool good = moe_sum(run, (double)moe_check(run, false)) == 0;
        if (run->me == 0)
            moe_report_row(report, &row, run->options->perf.samples, checked && good);
        right = right && good;
    }
    return right;
}

/* --count: of dispatch, combine and both. */
static void rows_count(struct moe_run *run)
{
    for (int w = 0; w < MOE_OVERLAP; w++) {
        struct moe_row row;

        if (!(run->now->whats >> w & 1))
            continue;
        moe_count(run, (enum moe_what)w, &row);
        if (run->me == 0)
            moe_count_print(stdout, &row);
    }
}

/* Whether a dispatch and a combine are right on all PEs; with --check every row of them. */
static bool case_check(struct moe_run *run, bool rows, const char *when)
{
    bool right = moe_sum(run, (double)moe_check(run, rows)) == 0;
    char id[96];

    if (!right && run->me == 0)
        perf_complain("%s: rows or counts differ from the reference, %s", moe_id(id, run->now, MOE_BOTH),
                      when);
    return right;
}

/* --best: the fewest SMs of a dispatch and a combine that are about as fast as any. */
static void best_find(struct moe_run *run)
{
    static const int numbers[] = {4, 8, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 112, 132, 148};
    int n = sizeof numbers / sizeof numbers[0];
    double us[sizeof numbers / sizeof numbers[0]], least = INFINITY;

    for (int i = 0; i < n; i++) {
        us[i] = INFINITY;
        run->blocks = numbers[i];
        if (run->blocks > run->sms)
            continue;
        if (!moe_open(run) && case_check(run, false, "with other SMs"))
            us[i] = moe_glance(run);
        least = us[i] < least ? us[i] : least;
        moe_close(run);
    }
    run->blocks = 0;
    for (int i = 0; i < n && !run->blocks && isfinite(least); i++)
        run->blocks = us[i] <= least * BEST ? numbers[i] : 0;
}

static bool case_run(struct moe_run *run, struct perf_report *report, int *at, int rows)
{
    bool check = run->options->check, right;
    char id[96];

    perf_watch(ROW_SECONDS, moe_id(id, run->now, MOE_BOTH));
    if (run->options->best)
        best_find(run);
    if (moe_open(run))
        shmem_global_exit(PERF_FAILED);
    right = case_check(run, check, "before the rows");
    if (run->options->in_place) /* the second of each of the library's buffers */
        right = case_check(run, check, "in the other buffers") && right;
    if (run->options->count)
        rows_count(run);
    else
        right = rows_run(run, report, right, at, rows);
    if (check)
        right = case_check(run, true, "after the rows") && right;
    moe_close(run);
    return right;
}

static bool cases_run(struct moe_run *run, struct perf_report *report, const struct moe_case *cases, int n)
{
    int rows = 0, at = 0;
    bool right = true;

    for (int c = 0; c < n; c++)
        for (int w = 0; w < MOE_WHATS; w++)
            rows += cases[c].whats >> w & 1;
    for (int c = 0; c < n; c++) {
        run->now = &cases[c];
        right = case_run(run, report, &at, rows) && right;
    }
    if (run->me == 0)
        perf_progress(0, 0, "the end");
    return right;
}

/* After shmem_init. The program's exit status. */
static int run_all(struct moe_run *run)
{
    static struct moe_case cases[MOE_CASES];
    struct perf_report report = {0};
    int n = moe_cases(cases, run->options, run->npes), status;

    if (n == 0) {
        if (run->me == 0)
            perf_complain(
                "no row fits -m '%s' and experts that %d PEs divide: rows are of %ld and other numbers "
                "of experts that --experts gives; --list prints them",
                run->options->perf.rows ? run->options->perf.rows : "*", run->npes,
                run->options->experts.value[0]);
        return PERF_USAGE;
    }
    if (run->backend->open() || moe_begin(run))
        shmem_global_exit(PERF_FAILED);
    run->near = near_of(run);
    const char *hosts = hosts_of(run);
    if (run->me == 0 && run->options->count)
        moe_count_head(stdout);
    else if (run->me == 0 && moe_report_open(&report, run, hosts))
        shmem_global_exit(PERF_USAGE);
    status = cases_run(run, &report, cases, n) ? PERF_OK : PERF_FAILED;
    if (run->me == 0 && run->options->published && report.table)
        moe_published_print(report.table);
    if (run->me == 0 && !run->options->count && perf_report_close(&report))
        status = PERF_FAILED;
    moe_end(run);
    run->backend->close();
    return status;
}

int moe_main(const struct moe_backend *backend, int argc, char **argv)
{
    struct moe_options o;
    int status = moe_options_parse(&o, backend, argc, argv);

    if (status >= 0)
        return status;
    if (o.list || o.memory)
        return o.list ? list(&o) : moe_memory(&o, backend->device);
    status = backend->probe();
    if (status)
        return status;
    perf_watch(START_SECONDS, "the start");
    shmem_init();
    struct moe_run run = {.options = &o, .backend = backend, .me = shmem_my_pe(), .npes = shmem_n_pes()};
    status = run_all(&run);
    perf_watch(START_SECONDS, "the end");
    shmem_finalize();
    return status;
}

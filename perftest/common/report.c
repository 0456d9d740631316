/* SPDX-License-Identifier: BSD-3-Clause */
/* The three output formats, and the figure derived from a row's median. */
#include "perftest/common/report.h"

#include <errno.h>
#include <string.h>

static FILE *open_output(const char *path)
{
    if (!path)
        return NULL;
    FILE *file = strcmp(path, "-") ? fopen(path, "w") : stdout;
    if (!file)
        perf_complain("cannot write %s: %s", path, strerror(errno));
    return file;
}

static bool is_stdout(const char *path)
{
    return path && !strcmp(path, "-");
}

static const char *derived_name(enum perf_unit unit)
{
    return unit == PERF_BANDWIDTH ? "GB/s" : unit == PERF_RATE ? "Mop/s" : NULL;
}

static double derived(enum perf_unit unit, const struct perf_row *row)
{
    return unit == PERF_BANDWIDTH ? (double)row->len / row->us.p50 / 1e3 : 1 / row->us.p50;
}

/* Library names come from elsewhere: nothing in them may end a JSON string or a CSV field. */
static void library_name(char *name)
{
    shmem_info_get_name(name);
    for (char *p = name; *p; p++)
        if (*p == '"' || *p == '\\' || *p == ',' || (unsigned char)*p < ' ')
            *p = ' ';
}

static void print_heads(const struct perf_report *r)
{
    char name[SHMEM_MAX_NAME_LEN + 1] = "";
    int major, minor;
    library_name(name);
    shmem_info_get_version(&major, &minor);
    if (r->table) {
        fprintf(r->table, "# %s: %s\n", r->program->name, r->program->what);
        fprintf(r->table, "# %s, OpenSHMEM %d.%d, %d PEs, us per operation\n", name, major, minor, r->npes);
        fprintf(r->table, "# %-16s %10s %10s %10s %10s %10s %10s %8s %9s", "operation", "bytes", "min",
                "median", "p90", "p99", "max", "batch", "CPU ns");
        if (derived_name(r->program->unit))
            fprintf(r->table, " %10s", derived_name(r->program->unit));
        fprintf(r->table, "\n");
    }
    if (r->json)
        fprintf(r->json,
                "{\"program\": \"%s\", \"library\": \"%s\", \"version\": \"%d.%d\", "
                "\"npes\": %d, \"unit\": \"us\",\n \"rows\": [",
                r->program->name, name, major, minor, r->npes);
    if (r->csv)
        fprintf(r->csv, "program,npes,op,bytes,min_us,p25_us,p50_us,p75_us,p90_us,p99_us,"
                        "max_us,batch,samples,cpu_ns,right\n");
}

int perf_report_open(struct perf_report *report, const struct perf_program *program,
                     const struct perf_options *opts, int npes)
{
    *report = (struct perf_report){.program = program, .npes = npes};
    if (is_stdout(opts->json) && is_stdout(opts->csv)) {
        perf_complain("--json - and --csv - both ask for stdout; give one of them a file");
        return -1;
    }
    report->json = open_output(opts->json);
    report->csv = open_output(opts->csv);
    if ((opts->json && !report->json) || (opts->csv && !report->csv))
        return -1;
    if (!is_stdout(opts->json) && !is_stdout(opts->csv))
        report->table = stdout;
    print_heads(report);
    return 0;
}

static int decimals(double us)
{
    return us < 10 ? 4 : us < 1000 ? 2 : 1;
}

static void table_row(const struct perf_report *r, const struct perf_row *row)
{
    const double us[] = {row->us.min, row->us.p50, row->us.p90, row->us.p99, row->us.max};
    fprintf(r->table, "%-18s %10zu", row->op, row->len);
    for (size_t i = 0; i < sizeof(us) / sizeof(us[0]); i++)
        fprintf(r->table, " %10.*f", decimals(us[i]), us[i]);
    fprintf(r->table, " %8ld %9.*f", row->batch, row->cpu_ns < 100 ? 1 : 0, row->cpu_ns);
    if (derived_name(r->program->unit))
        fprintf(r->table, " %10.3f", derived(r->program->unit, row));
    fprintf(r->table, "%s\n", row->right ? "" : "  WRONG DATA");
    fflush(r->table);
}

void perf_report_row(struct perf_report *r, const struct perf_row *row)
{
    const struct perf_stats *us = &row->us;
    if (r->table)
        table_row(r, row);
    if (r->json)
        fprintf(r->json,
                "%s\n  {\"op\": \"%s\", \"bytes\": %zu, \"min\": %.6f, \"p25\": %.6f, "
                "\"p50\": %.6f, \"p75\": %.6f, \"p90\": %.6f, \"p99\": %.6f, \"max\": %.6f, "
                "\"batch\": %ld, \"samples\": %ld, \"cpu_ns\": %.1f, \"right\": %s}",
                r->rows ? "," : "", row->op, row->len, us->min, us->p25, us->p50, us->p75, us->p90, us->p99,
                us->max, row->batch, row->samples, row->cpu_ns, row->right ? "true" : "false");
    if (r->csv)
        fprintf(r->csv, "%s,%d,%s,%zu,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%ld,%ld,%.1f,%s\n", r->program->name,
                r->npes, row->op, row->len, us->min, us->p25, us->p50, us->p75, us->p90, us->p99, us->max,
                row->batch, row->samples, row->cpu_ns, row->right ? "yes" : "no");
    r->rows++;
}

void perf_report_lacks(struct perf_report *r, const struct perf_op *op)
{
    if (r->table)
        fprintf(r->table, "# %s: this library lacks %s\n", op->name, op->needs);
}

static int close_output(FILE *file)
{
    if (!file)
        return 0;
    int failed = ferror(file) | (file == stdout ? fflush(file) : fclose(file));
    if (failed)
        perf_complain("writing the results failed: %s", strerror(errno));
    return failed ? -1 : 0;
}

int perf_report_close(struct perf_report *r)
{
    if (r->json)
        fprintf(r->json, "\n ]}\n");
    int failed = close_output(r->json);
    failed |= close_output(r->csv);
    failed |= close_output(r->table);
    return failed ? -1 : 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The four output formats, and a row's figure from its time. */
#include "perftest/device/report.h"

#include <errno.h>
#include <string.h>

static const char *const unit_names[] = {"us", "GB/s", "Mmsg/s"};
static const char *const figure_names[] = {"latency (us)", "BW (GB/s)", "rate (Mmsg/s)"};

/* `us` an iteration in the row's unit. */
static double figure(const struct dev_row *row, double us)
{
    const struct dev_kind *kind = &dev_table.kinds[row->kind];

    if (kind->unit == DEV_GBS)
        return (double)row->size * (kind->flags & DEV_SLOWEST ? 2 : 1) / us / 1e3;
    return kind->unit == DEV_MRATE ? (double)dev_row_lanes(row) / us : us;
}

/* What a PE's links carry, in GB/s; 0 where that is no figure. */
static double bus(const struct dev_report *r, const struct dev_row *row, const struct dev_result *result)
{
    return dev_table.bus ? (double)row->size * dev_table.bus(row, r->npes) / result->us.p50 / 1e3 : 0;
}

static FILE *open_output(const char *path)
{
    if (!path)
        return NULL;
    FILE *file = strcmp(path, "-") ? fopen(path, "w") : stdout;
    if (!file)
        fprintf(stderr, "%s: cannot write %s: %s\n", dev_table.name, path, strerror(errno));
    return file;
}

static void heads(const struct dev_report *r, const char *library)
{
    if (r->lines)
        fprintf(r->lines, "# %s: %s, %d PEs%s%s; row scope size blocks threads median p25 p75 unit\n",
                dev_table.name, library, r->npes, r->hosts ? " " : "", r->hosts ? r->hosts : "");
    if (r->json) {
        fprintf(r->json, "{\"program\": \"%s\", \"library\": \"%s\", \"npes\": %d, ", dev_table.name, library,
                r->npes);
        if (r->hosts)
            fprintf(r->json, "\"hosts\": \"%s\", ", r->hosts);
        fprintf(r->json, "\"unit\": \"us\",\n \"rows\": [");
    }
    if (r->csv)
        fprintf(r->csv,
                "program,npes,op,bytes,min_us,p25_us,p50_us,p75_us,p90_us,p99_us,max_us,batch,samples,"
                "right,scope,blocks,threads%s\n",
                r->hosts ? ",hosts" : "");
}

int dev_report_open(struct dev_report *r, const struct dev_options *o, const char *library, int npes)
{
    *r = (struct dev_report){.json = open_output(o->json),
                             .csv = open_output(o->csv),
                             .boxed = o->table,
                             .npes = npes,
                             .hosts = r->hosts};
    if ((o->json && !r->json) || (o->csv && !r->csv))
        return -1;
    if (r->json == stdout && r->csv == stdout) {
        fprintf(stderr, "%s: --json - and --csv - both ask for stdout; give one of them a file\n",
                dev_table.name);
        return -1;
    }
    if (r->json != stdout && r->csv != stdout)
        r->lines = stdout;
    heads(r, library);
    return 0;
}

static void line(const struct dev_report *r, const struct dev_row *row, const struct dev_result *result)
{
    const struct dev_kind *kind = &dev_table.kinds[row->kind];
    bool time = kind->unit == DEV_US;

    fprintf(r->lines, "%s %s %zu %d %d %.4g %.4g %.4g %s%s\n", kind->name, dev_scope_names[row->scope],
            row->size, row->blocks, row->threads, figure(row, result->us.p50),
            figure(row, time ? result->us.p25 : result->us.p75),
            figure(row, time ? result->us.p75 : result->us.p25), unit_names[kind->unit],
            result->right ? "" : " WRONG DATA");
}

static const char rule[] =
    "+--------------+----------------+----------------+----------------+----------------+";

static void boxed(struct dev_report *r, const struct dev_row *row, const struct dev_result *result)
{
    const struct dev_kind *kind = &dev_table.kinds[row->kind];
    bool same = r->rows && r->last.kind == row->kind && r->last.scope == row->scope &&
                r->last.blocks == row->blocks && r->last.threads == row->threads;
    char carried[32] = "-";

    if (!same) {
        fprintf(r->lines, "%s%s\n| %s, scope %s, %d x %d threads\n%s\n", r->rows ? rule : "",
                r->rows ? "\n" : "", kind->name, dev_scope_names[row->scope], row->blocks, row->threads,
                rule);
        fprintf(r->lines, "| %-12s | %-14s | %-14s | %-14s | %-14s |\n%s\n", "size (bytes)",
                figure_names[kind->unit], "best", "worst", "bus BW (GB/s)", rule);
    }
    if (bus(r, row, result) > 0)
        snprintf(carried, sizeof carried, "%.4f", bus(r, row, result));
    fprintf(r->lines, "| %12zu | %14.4f | %14.4f | %14.4f | %14s |%s\n", row->size,
            figure(row, result->us.p50), figure(row, result->us.min), figure(row, result->us.max), carried,
            result->right ? "" : " WRONG DATA");
    r->last = *row;
}

static void csv(const struct dev_report *r, const struct dev_row *row, const struct dev_result *result)
{
    const struct perf_stats *us = &result->us;

    fprintf(r->csv, "%s,%d,%s,%zu,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%ld,%ld,%s,%s,%d,%d", dev_table.name,
            r->npes, dev_table.kinds[row->kind].name, row->size, us->min, us->p25, us->p50, us->p75, us->p90,
            us->p99, us->max, result->iterations, result->samples, result->right ? "yes" : "no",
            dev_scope_names[row->scope], row->blocks, row->threads);
    if (r->hosts)
        fprintf(r->csv, ",\"%s\"", r->hosts);
    fprintf(r->csv, "\n");
    fflush(r->csv);
}

static void json(const struct dev_report *r, const struct dev_row *row, const struct dev_result *result)
{
    const struct perf_stats *us = &result->us;

    fprintf(r->json,
            "%s\n  {\"op\": \"%s\", \"bytes\": %zu, \"scope\": \"%s\", \"blocks\": %d, \"threads\": %d, "
            "\"min\": %.6f, \"p25\": %.6f, \"p50\": %.6f, \"p75\": %.6f, \"p90\": %.6f, \"p99\": %.6f, "
            "\"max\": %.6f, \"batch\": %ld, \"samples\": %ld, \"bus_gbs\": %.4f, \"right\": %s}",
            r->rows ? "," : "", dev_table.kinds[row->kind].name, row->size, dev_scope_names[row->scope],
            row->blocks, row->threads, us->min, us->p25, us->p50, us->p75, us->p90, us->p99, us->max,
            result->iterations, result->samples, bus(r, row, result), result->right ? "true" : "false");
}

void dev_report_row(struct dev_report *r, const struct dev_row *row, const struct dev_result *result)
{
    if (r->lines && r->boxed)
        boxed(r, row, result);
    else if (r->lines)
        line(r, row, result);
    if (r->json)
        json(r, row, result);
    if (r->csv)
        csv(r, row, result);
    if (r->lines)
        fflush(r->lines);
    r->rows++;
}

void dev_report_lacks(struct dev_report *r, const struct dev_row *row)
{
    if (!r->lines)
        return;
    fprintf(r->lines, "%s%s %s %zu %d %d - - - lacks\n", r->boxed ? "# " : "",
            dev_table.kinds[row->kind].name, dev_scope_names[row->scope], row->size, row->blocks,
            row->threads);
    fflush(r->lines);
}

static int close_output(FILE *file)
{
    int failed = file && (ferror(file) | (file == stdout ? fflush(file) : fclose(file)));

    if (failed)
        fprintf(stderr, "%s: writing the results failed: %s\n", dev_table.name, strerror(errno));
    return failed ? -1 : 0;
}

int dev_report_close(struct dev_report *r)
{
    if (r->lines && r->boxed && r->rows)
        fprintf(r->lines, "%s\n", rule);
    if (r->json)
        fprintf(r->json, "\n ]}\n");
    int failed = close_output(r->json) | close_output(r->csv);
    return r->lines ? failed | close_output(r->lines) : failed;
}

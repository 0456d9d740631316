/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines and boxed tables of device programs, and a row's figure from its time. */
#include "perftest/device/rows.h"

static const char *const unit_names[] = {"us", "GB/s", "Mmsg/s"};
static const char *const figure_names[] = {"latency (us)", "BW (GB/s)", "rate (Mmsg/s)"};

/* What a PE's links carry, in GB/s; 0 where that is no figure. */
static double bus(const struct perf_report *r, const struct dev_row *row, double us)
{
    return dev_table.bus ? (double)row->size * dev_table.bus(row, r->about.npes) / us / 1e3 : 0;
}

/* The boxed table: whether there is one, and under whose head it stands. */
static bool is_boxed;
static double peak; /* GB/s that bandwidths are shares of; 0: none */
static struct dev_row last;

/* `us` an iteration in the row's unit, or of a bandwidth its share of the peak. */
static double figure(const struct dev_row *row, double us)
{
    const struct dev_kind *kind = &dev_table.kinds[row->kind];

    if (kind->unit == DEV_GBS) {
        double gbs = (double)row->size * (kind->flags & DEV_SLOWEST ? 2 : 1) / us / 1e3;

        return peak > 0 ? 100 * gbs / peak : gbs;
    }
    return kind->unit == DEV_MRATE ? (double)dev_row_lanes(row) / us : us;
}

static bool is_share(const struct dev_row *row)
{
    return peak > 0 && dev_table.kinds[row->kind].unit == DEV_GBS;
}

static void print_line(struct perf_report *r, const struct perf_row *result)
{
    const struct dev_row *row = result->own;
    const struct dev_kind *kind = &dev_table.kinds[row->kind];
    bool time = kind->unit == DEV_US;

    fprintf(r->table, "%s %s %zu %d %d %.4g %.4g %.4g %s%s\n", kind->name, dev_scope_names[row->scope],
            row->size, row->blocks, row->threads, figure(row, result->us.p50),
            figure(row, time ? result->us.p25 : result->us.p75),
            figure(row, time ? result->us.p75 : result->us.p25), is_share(row) ? "%" : unit_names[kind->unit],
            result->right ? "" : " WRONG DATA");
}

static const char rule[] =
    "+--------------+----------------+----------------+----------------+----------------+";

static void print_boxed(struct perf_report *r, const struct perf_row *result)
{
    const struct dev_row *row = result->own;
    const struct dev_kind *kind = &dev_table.kinds[row->kind];
    bool same = r->rows && last.kind == row->kind && last.scope == row->scope && last.blocks == row->blocks &&
                last.threads == row->threads;
    char carried[32] = "-";

    if (!same) {
        fprintf(r->table, "%s%s\n| %s, scope %s, %d x %d threads\n%s\n", r->rows ? rule : "",
                r->rows ? "\n" : "", kind->name, dev_scope_names[row->scope], row->blocks, row->threads,
                rule);
        fprintf(r->table, "| %-12s | %-14s | %-14s | %-14s | %-14s |\n%s\n", "size (bytes)",
                is_share(row) ? "BW (% of peak)" : figure_names[kind->unit], "best", "worst", "bus BW (GB/s)",
                rule);
    }
    if (bus(r, row, result->us.p50) > 0)
        snprintf(carried, sizeof carried, "%.4f", bus(r, row, result->us.p50));
    fprintf(r->table, "| %12zu | %14.4f | %14.4f | %14.4f | %14s |%s\n", row->size,
            figure(row, result->us.p50), figure(row, result->us.min), figure(row, result->us.max), carried,
            result->right ? "" : " WRONG DATA");
    last = *row;
}

int dev_report_open(struct perf_report *r, const struct dev_options *o, const char *library,
                    const char *transport, const char *hosts, int npes)
{
    struct perf_about about = {.program = dev_table.name,
                               .library = library,
                               .transport = transport,
                               .npes = npes,
                               .fields = {{.name = "hosts", .text = hosts, .place = PERF_END}},
                               .n_fields = hosts != NULL};

    if (o->perf.note)
        perf_complain("note: %s", o->perf.note);
    is_boxed = o->table;
    peak = o->peak;
    r->print = is_boxed ? print_boxed : print_line;
    if (perf_report_open(r, &about, &o->perf))
        return -1;
    if (r->table)
        fprintf(r->table, "# %s: %s, %d PEs%s%s; row scope size blocks threads median p25 p75 unit\n",
                dev_table.name, library, npes, hosts ? " " : "", hosts ? hosts : "");
    return 0;
}

void dev_report_row(struct perf_report *r, const struct dev_row *row, const struct dev_result *result)
{
    struct perf_row line = {
        .op = dev_table.kinds[row->kind].name,
        .len = row->size,
        .samples = result->samples,
        .batch = result->iterations,
        .us = result->us,
        .right = result->right,
        .fields = {{.name = "scope", .text = dev_scope_names[row->scope], .place = PERF_END}},
        .n_fields = 1,
        .own = row};

    perf_row_add(&line, "blocks", NULL, row->blocks, 0, PERF_END);
    perf_row_add(&line, "threads", NULL, row->threads, 0, PERF_END);
    perf_row_add(&line, "bus_gbs", NULL, bus(r, row, result->us.p50), 4, PERF_JSON);
    perf_report_row(r, &line);
}

void dev_report_lacks(struct perf_report *r, const struct dev_row *row)
{
    if (!r->table)
        return;
    fprintf(r->table, "%s%s %s %zu %d %d - - - lacks\n", is_boxed ? "# " : "",
            dev_table.kinds[row->kind].name, dev_scope_names[row->scope], row->size, row->blocks,
            row->threads);
    fflush(r->table);
}

int dev_report_close(struct perf_report *r)
{
    if (r->table && is_boxed && r->rows)
        fprintf(r->table, "%s\n", rule);
    return perf_report_close(r);
}

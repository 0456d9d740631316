/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the three formats, and what a time says of the bus: GB/s, and the share of the links' rate. */
#include "perftest/fabric/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static FILE *open_output(const char *path)
{
    FILE *file = !path ? NULL : strcmp(path, "-") ? fopen(path, "w") : stdout;

    if (path && !file)
        fab_complain("cannot write %s: %s", path, strerror(errno));
    return file;
}

/* The emulated device's links are slower than they say by its scale: EFA_EMULATOR_TIME, 1 or 1/40 or such. */
static double emulated_scale(void)
{
    const char *text = getenv("EFA_EMULATOR_TIME");
    char *end;
    double over;

    if (!getenv("EFA_EMULATOR_DIR") || !text)
        return 1;
    over = strtod(text, &end);
    if (*end == '/')
        return over / strtod(end + 1, NULL);
    return over == 1 ? 1.0 / 40 : over;
}

/* Bits a second of all NICs that a row uses; 0: not known. */
static double bus_bits(const struct fab_net *net)
{
    int used = net->opts->policy == FAB_SINGLE ? 1 : net->n_rails;
    double bits = 0;

    for (int r = 0; r < used; r++) {
        if (net->rails[r].bits == 0)
            return 0;
        bits += net->rails[r].bits;
    }
    return bits * emulated_scale();
}

static double gigabytes(const struct fab_result *r)
{
    return (double)r->len * r->copies / r->us.p50 / 1e3;
}

static void print_heads(const struct fab_report *r)
{
    const struct fab_net *net = r->net;
    const struct fi_info *info = net->rails[0].info;
    const char *provider = info->fabric_attr->prov_name, *policy = fab_policy_name(net->opts->policy);

    if (r->table) {
        fprintf(r->table, "# %s: %s\n", r->program->name, r->program->what);
        fprintf(r->table, "# libfabric %u.%u, %s (%s), %d NIC%s, %s, %d processes; us per operation\n",
                FI_MAJOR(fi_version()), FI_MINOR(fi_version()), provider, info->fabric_attr->name,
                net->n_rails, net->n_rails == 1 ? "" : "s", policy, net->boot.n);
        if (getenv("EFA_EMULATOR_DIR"))
            fprintf(r->table, "# emulated device: these figures say nothing of a real one\n");
        fprintf(r->table, "# %-15s %9s %9s %9s %9s %9s %9s %6s %9s %7s %9s\n", "operation", "bytes", "min",
                "median", "p90", "p99", "max", "batch", "GB/s", "bus %", "CPU ns");
    }
    if (r->json)
        fprintf(r->json,
                "{\"program\": \"%s\", \"library\": \"libfabric %u.%u\", \"provider\": \"%s\", "
                "\"fabric\": \"%s\", \"nics\": %d, \"policy\": \"%s\", \"npes\": %d, \"unit\": \"us\",\n "
                "\"rows\": [",
                r->program->name, FI_MAJOR(fi_version()), FI_MINOR(fi_version()), provider,
                info->fabric_attr->name, net->n_rails, policy, net->boot.n);
    if (r->csv)
        fprintf(r->csv,
                "program,npes,provider,nics,policy,op,bytes,min_us,p25_us,p50_us,p75_us,p90_us,p99_us,"
                "max_us,batch,samples,gb_per_s,bus_percent,cpu_ns,right\n");
}

int fab_report_open(struct fab_report *r, const struct fab_program *program, const struct fab_net *net)
{
    const struct perf_options *o = &net->opts->common;
    bool json = o->json && !strcmp(o->json, "-"), csv = o->csv && !strcmp(o->csv, "-");

    *r = (struct fab_report){.program = program, .net = net};
    if (json && csv) {
        fab_complain("--json - and --csv - both ask for stdout; give one of them a file");
        return -1;
    }
    r->json = open_output(o->json);
    r->csv = open_output(o->csv);
    if ((o->json && !r->json) || (o->csv && !r->csv))
        return -1;
    r->table = json || csv ? NULL : stdout;
    print_heads(r);
    return 0;
}

static void table_row(const struct fab_report *r, const struct fab_result *row, double percent)
{
    const double us[] = {row->us.min, row->us.p50, row->us.p90, row->us.p99, row->us.max};

    fprintf(r->table, "%-17s %9zu", row->op, row->len);
    for (size_t i = 0; i < sizeof(us) / sizeof(us[0]); i++)
        fprintf(r->table, " %9.*f", us[i] < 10 ? 4 : us[i] < 1000 ? 2 : 1, us[i]);
    fprintf(r->table, " %6ld %9.3f", row->batch, gigabytes(row));
    if (percent < 0)
        fprintf(r->table, " %7s", "-");
    else
        fprintf(r->table, " %7.2f", percent);
    fprintf(r->table, " %9.0f%s\n", row->cpu_ns, row->right ? "" : "  WRONG DATA");
    fflush(r->table);
}

void fab_report_row(struct fab_report *r, const struct fab_result *row)
{
    const struct perf_stats *us = &row->us;
    double bits = bus_bits(r->net), percent = bits > 0 ? gigabytes(row) * 8e9 / bits * 100 : -1;
    char bus[32] = "null";

    if (percent >= 0)
        snprintf(bus, sizeof(bus), "%.3f", percent);
    if (r->table)
        table_row(r, row, percent);
    if (r->json)
        fprintf(
            r->json,
            "%s\n  {\"op\": \"%s\", \"bytes\": %zu, \"min\": %.6f, \"p25\": %.6f, \"p50\": %.6f, "
            "\"p75\": %.6f, \"p90\": %.6f, \"p99\": %.6f, \"max\": %.6f, \"batch\": %ld, \"samples\": %ld, "
            "\"gb_per_s\": %.6f, \"bus_percent\": %s, \"cpu_ns\": %.1f, \"right\": %s}",
            r->rows ? "," : "", row->op, row->len, us->min, us->p25, us->p50, us->p75, us->p90, us->p99,
            us->max, row->batch, row->samples, gigabytes(row), bus, row->cpu_ns,
            row->right ? "true" : "false");
    if (r->csv)
        fprintf(r->csv, "%s,%d,%s,%d,%s,%s,%zu,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%ld,%ld,%.6f,%s,%.1f,%s\n",
                r->program->name, r->net->boot.n, r->net->rails[0].info->fabric_attr->prov_name,
                r->net->n_rails, fab_policy_name(r->net->opts->policy), row->op, row->len, us->min, us->p25,
                us->p50, us->p75, us->p90, us->p99, us->max, row->batch, row->samples, gigabytes(row),
                percent >= 0 ? bus : "", row->cpu_ns, row->right ? "yes" : "no");
    r->rows++;
}

static int close_output(FILE *file)
{
    int failed = file ? ferror(file) | (file == stdout ? fflush(file) : fclose(file)) : 0;

    if (failed)
        fab_complain("writing the results failed: %s", strerror(errno));
    return failed ? -1 : 0;
}

int fab_report_close(struct fab_report *r)
{
    int failed;

    if (r->json)
        fprintf(r->json, "\n ]}\n");
    failed = close_output(r->json);
    failed |= close_output(r->csv);
    failed |= close_output(r->table);
    return failed ? -1 : 0;
}

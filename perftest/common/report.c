/* SPDX-License-Identifier: BSD-3-Clause */
/* The common table, JSON and CSV of all programs, and the facts that identify a run. */
#define _GNU_SOURCE
#include "perftest/common/report.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool is_stdout(const char *path)
{
    return path && !strcmp(path, "-");
}

static FILE *output_open(const char *path)
{
    FILE *file = !path ? NULL : is_stdout(path) ? stdout : fopen(path, "w");

    if (path && !file)
        perf_complain("cannot write %s: %s", path, strerror(errno));
    return file;
}

/* Words come from elsewhere: nothing in them may end a JSON string. */
static void json_text(FILE *file, const char *text)
{
    fputc('"', file);
    for (const char *p = text; *p; p++)
        if (*p == '"' || *p == '\\')
            fprintf(file, "\\%c", *p);
        else if ((unsigned char)*p < ' ')
            fprintf(file, "\\u%04x", *p);
        else
            fputc(*p, file);
    fputc('"', file);
}

static void json_pair(FILE *file, const char *name, const char *text, const char *behind)
{
    fprintf(file, "\"%s\": ", name);
    json_text(file, text);
    fputs(behind, file);
}

static void json_field(FILE *file, const struct perf_field *field)
{
    fprintf(file, "\"%s\": ", field->name);
    if (field->text)
        json_text(file, field->text);
    else if (isnan(field->number))
        fputs("null", file);
    else
        fprintf(file, "%.*f", field->decimals, field->number);
    fputs(", ", file);
}

static void csv_field(FILE *file, const struct perf_field *field)
{
    if (field->text && strpbrk(field->text, ",\""))
        json_text(file, field->text);
    else if (field->text)
        fputs(field->text, file);
    else if (!isnan(field->number))
        fprintf(file, "%.*f", field->decimals, field->number);
}

/* Fields of one place, a comma before each; `names`: those instead of the values. */
static void csv_fields(FILE *file, const struct perf_field *fields, int n, enum perf_column place, bool names)
{
    for (int i = 0; i < n; i++) {
        if (fields[i].place != place)
            continue;
        fputc(',', file);
        if (names)
            fputs(fields[i].name, file);
        else
            csv_field(file, &fields[i]);
    }
}

/* Variables of the environment that the libraries read. */
static bool is_setting(const char *variable)
{
    static const char *const prefixes[] = {"SHMEM_", "SMA_",      "NVSHMEM_",      "NCCL_",         "FI_",
                                           "UCX_",   "OMPI_MCA_", "EFA_EMULATOR_", "CUDA_VISIBLE_", "PERF_"};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (!strncmp(variable, prefixes[i], strlen(prefixes[i])))
            return true;
    return false;
}

static void json_settings(FILE *file)
{
    const char *between = "";
    char name[128];

    fputs(" \"settings\": {", file);
    for (char **variable = environ; *variable; variable++) {
        const char *value = strchr(*variable, '=');
        if (!value || !is_setting(*variable) || !strncmp(*variable, "SHMEM_OSHRUN_", 13))
            continue;
        snprintf(name, sizeof(name), "%.*s", (int)(value - *variable), *variable);
        fputs(between, file);
        json_pair(file, name, value + 1, "");
        between = ", ";
    }
    fputs("},\n", file);
}

static void json_command(FILE *file, const struct perf_options *opts)
{
    char line[1024] = "";

    for (int i = 0; i < opts->argc; i++)
        snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s%s", i ? " " : "", opts->argv[i]);
    json_pair(file, "command", line, ",\n");
}

/* Of the one that the library has loaded, if any. */
static void json_libfabric(FILE *file)
{
    void *lib = dlopen("libfabric.so.1", RTLD_LAZY | RTLD_NOLOAD);
    uint32_t (*version)(void) = lib ? (uint32_t(*)(void))dlsym(lib, "fi_version") : NULL;

    if (version)
        fprintf(file, "\"libfabric\": \"%u.%u\", ", version() >> 16, version() & 0xffff);
    if (lib)
        dlclose(lib);
}

static void json_head(const struct perf_report *r, const struct perf_options *opts, const char *host,
                      const char *date)
{
    const struct perf_about *about = &r->about;

    fputc('{', r->json);
    json_pair(r->json, "program", about->program, ", ");
    json_pair(r->json, "library", about->library, ", ");
#ifdef PACKAGE_VERSION
    json_pair(r->json, "warpshmem_version", PACKAGE_VERSION, ", ");
#endif
    if (about->version)
        json_pair(r->json, "version", about->version, ", ");
    if (about->transport)
        json_pair(r->json, "transport", about->transport, ", ");
    json_libfabric(r->json);
    for (int i = 0; i < about->n_fields; i++)
        json_field(r->json, &about->fields[i]);
    fprintf(r->json, "\"npes\": %d,\n ", about->npes);
    json_pair(r->json, "host", host, ", ");
    json_pair(r->json, "date", date, ", ");
    json_command(r->json, opts);
    json_settings(r->json);
    fputs(" \"unit\": \"us\", \"rows\": [", r->json);
}

static void heads(const struct perf_report *r, const struct perf_options *opts)
{
    const struct perf_about *about = &r->about;
    char host[128] = "", date[32];
    time_t seconds = time(NULL);
    struct tm tm;

    gethostname(host, sizeof(host) - 1);
    strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&seconds, &tm));
    if (r->json)
        json_head(r, opts, host, date);
    if (r->table && about->what)
        fprintf(r->table, "# %s: %s\n# %s%s%s, %d PEs, us per operation\n", about->program, about->what,
                about->library, about->version ? ", OpenSHMEM " : "", about->version ? about->version : "",
                about->npes);
    if (r->table)
        fprintf(r->table, "# on %s, %s%s%s\n", host, date, about->transport ? ", " : "",
                about->transport ? about->transport : "");
}

int perf_report_open(struct perf_report *r, const struct perf_about *about, const struct perf_options *opts)
{
    *r = (struct perf_report){.about = *about, .print = r->print};
    if (is_stdout(opts->json) && is_stdout(opts->csv)) {
        perf_complain("--json - and --csv - both ask for stdout; give one of them a file");
        return -1;
    }
    r->json = output_open(opts->json);
    r->csv = output_open(opts->csv);
    if ((opts->json && !r->json) || (opts->csv && !r->csv))
        return -1;
    if (!is_stdout(opts->json) && !is_stdout(opts->csv))
        r->table = stdout;
    heads(r, opts);
    if (r->table)
        fflush(r->table);
    return 0;
}

void perf_row_add(struct perf_row *row, const char *name, const char *title, double number, int decimals,
                  enum perf_column place)
{
    row->fields[row->n_fields++] = (struct perf_field){name, title, NULL, number, decimals, place};
}

static void table_head(const struct perf_report *r, const struct perf_row *row)
{
    static const char *const titles[] = {"bytes", "min", "median", "p90", "p99", "max"};

    fprintf(r->table, "# %-16s", "operation");
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
        fprintf(r->table, " %10s", titles[i]);
    fprintf(r->table, " %8s", "batch");
    for (int i = 0; i < row->n_fields; i++)
        if (row->fields[i].title)
            fprintf(r->table, " %10s", row->fields[i].title);
    fputc('\n', r->table);
}

static void table_row(struct perf_report *r, const struct perf_row *row)
{
    const double us[] = {row->us.min, row->us.p50, row->us.p90, row->us.p99, row->us.max};

    if (!r->rows)
        table_head(r, row);
    fprintf(r->table, "%-18s %10zu", row->op, row->len);
    for (size_t i = 0; i < sizeof(us) / sizeof(us[0]); i++)
        fprintf(r->table, " %10.*f", us[i] < 10 ? 4 : us[i] < 1000 ? 2 : 1, us[i]);
    fprintf(r->table, " %8ld", row->batch);
    for (int i = 0; i < row->n_fields; i++)
        if (row->fields[i].title && isnan(row->fields[i].number))
            fprintf(r->table, " %10s", "-");
        else if (row->fields[i].title)
            fprintf(r->table, " %10.*f", row->fields[i].decimals < 3 ? row->fields[i].decimals : 3,
                    row->fields[i].number);
    fprintf(r->table, "%s\n", row->right ? "" : "  WRONG DATA");
}

static void json_row(const struct perf_report *r, const struct perf_row *row)
{
    const struct perf_stats *us = &row->us;

    fprintf(r->json, "%s\n  {", r->rows ? "," : "");
    json_pair(r->json, "op", row->op, "");
    fprintf(r->json,
            ", \"bytes\": %zu, \"min\": %.6f, \"p25\": %.6f, \"p50\": %.6f, \"p75\": %.6f, \"p90\": %.6f, "
            "\"p99\": %.6f, \"max\": %.6f, \"batch\": %ld, \"samples\": %ld, ",
            row->len, us->min, us->p25, us->p50, us->p75, us->p90, us->p99, us->max, row->batch,
            row->samples);
    for (int i = 0; i < row->n_fields; i++)
        json_field(r->json, &row->fields[i]);
    fprintf(r->json, "\"right\": %s}", row->right ? "true" : "false");
}

static void csv_head(const struct perf_report *r, const struct perf_row *row)
{
    fputs("program,npes", r->csv);
    csv_fields(r->csv, r->about.fields, r->about.n_fields, PERF_FRONT, true);
    fputs(",op,bytes,min_us,p25_us,p50_us,p75_us,p90_us,p99_us,max_us,batch,samples", r->csv);
    csv_fields(r->csv, row->fields, row->n_fields, PERF_FRONT, true);
    fputs(",right", r->csv);
    csv_fields(r->csv, row->fields, row->n_fields, PERF_END, true);
    csv_fields(r->csv, r->about.fields, r->about.n_fields, PERF_END, true);
    fputc('\n', r->csv);
}

static void csv_row(const struct perf_report *r, const struct perf_row *row)
{
    const struct perf_stats *us = &row->us;

    if (!r->rows)
        csv_head(r, row);
    fprintf(r->csv, "%s,%d", r->about.program, r->about.npes);
    csv_fields(r->csv, r->about.fields, r->about.n_fields, PERF_FRONT, false);
    fprintf(r->csv, ",%s,%zu,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%ld,%ld", row->op, row->len, us->min, us->p25,
            us->p50, us->p75, us->p90, us->p99, us->max, row->batch, row->samples);
    csv_fields(r->csv, row->fields, row->n_fields, PERF_FRONT, false);
    fprintf(r->csv, ",%s", row->right ? "yes" : "no");
    csv_fields(r->csv, row->fields, row->n_fields, PERF_END, false);
    csv_fields(r->csv, r->about.fields, r->about.n_fields, PERF_END, false);
    fputc('\n', r->csv);
}

void perf_report_row(struct perf_report *r, const struct perf_row *row)
{
    if (r->table && r->print)
        r->print(r, row);
    else if (r->table)
        table_row(r, row);
    if (r->json)
        json_row(r, row);
    if (r->csv)
        csv_row(r, row);
    if (r->csv)
        fflush(r->csv);
    if (r->table)
        fflush(r->table);
    r->rows++;
}

static int output_close(FILE *file)
{
    int failed = file ? ferror(file) | (file == stdout ? fflush(file) : fclose(file)) : 0;

    if (failed)
        perf_complain("writing the results failed: %s", strerror(errno));
    return failed ? -1 : 0;
}

int perf_report_close(struct perf_report *r)
{
    if (r->json)
        fputs("\n ]}\n", r->json);
    int failed = output_close(r->json) | output_close(r->csv);
    return failed | output_close(r->table) ? -1 : 0;
}

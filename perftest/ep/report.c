/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines, JSON and CSV of expert parallelism; and apart from them, what others have published. */
#include "perftest/ep/moe.h"

#include <math.h>

static const char *const routing_names[] = {"uniform", "zipf", "hot", "alone"};
static const char *const weight_names[] = {"known", "late"};

static const char *const half_names[MOE_HALVES] = {"dispatch_send_us", "dispatch_receive_us",
                                                   "combine_send_us", "combine_receive_us"};

static const char *route_name(const struct moe_run *run)
{
    return run->near == run->npes ? "none" : run->route == REF_ONE_COPY ? "one_copy" : "direct";
}

/* A figure, or `-` where there is none. */
static void figure(FILE *to, int width, double value)
{
    if (isnan(value))
        fprintf(to, " %*s", width, "-");
    else
        fprintf(to, " %*.*f", width, fabs(value) < 100 ? 2 : fabs(value) < 10000 ? 1 : 0, value);
}

static void line(struct perf_report *report, const struct perf_row *perf)
{
    const struct moe_row *row = perf->own;
    double figures[] = {row->us.p50,
                        row->us.p99,
                        row->us.max,
                        row->run->config.blocks ? row->run->config.blocks : NAN,
                        row->limit_us,
                        row->us.p50 / row->limit_us,
                        row->link_rows,
                        row->link_bytes / 1024,
                        row->scale_up,
                        row->scale_out,
                        row->rows,
                        row->near,
                        row->network,
                        row->least,
                        row->puts,
                        row->network_bytes / 1024,
                        (double)row->run->bytes.symmetric / 1048576.0,
                        row->loss};

    fprintf(report->table, "%-32s", perf->op);
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        figure(report->table, 9, figures[i]);
    fprintf(report->table, "%s\n", perf->right ? "" : "  WRONG DATA");
    if (row->what == MOE_OVERLAP)
        fprintf(report->table,
                "# %-30s dispatch %.2f + %.2f, combine %.2f + %.2f us, sending + receiving half\n",
                "  halves", row->half_us[MOE_DISPATCH_SEND], row->half_us[MOE_DISPATCH_RECEIVE],
                row->half_us[MOE_COMBINE_SEND], row->half_us[MOE_COMBINE_RECEIVE]);
}

static const char columns[] =
    "# median to max: us of the slowest PE of each iteration; SMs: of a call, - where the library chooses\n"
    "# limit: us of a copy, by all SMs of all PEs at once, of what the routing sends over the links of the "
    "host; times: median / limit\n"
    "# link rows, link KiB: what a PE gets over them, a row for each distinct (token, PE), in decode's "
    "combine "
    "(token, expert)\n"
    "# GB/s: scale-up as DeepEP's tests count it, rows received (combine: that come back) x bytes with "
    "scales\n"
    "# out GB/s: scale-out as they do, distinct (token, host) pairs x bytes, the own host included\n"
    "# rows: received; near, network: sent within this host, and to others; least: the fewest of the routing "
    "and "
    "route\n"
    "# puts: over the network, a call and far peer; net KiB: all that was given to it. Figures are means of "
    "PEs\n"
    "# MiB: symmetric memory of the instance; loss: what a compute kernel between halves lasts longer\n";

static void head(FILE *to, const struct moe_run *run, const char *hosts)
{
    static const char *const titles[] = {"median",    "p99",      "max",  "SMs",      "limit", "times",
                                         "link rows", "link KiB", "GB/s", "out GB/s", "rows",  "near",
                                         "network",   "least",    "puts", "net KiB",  "MiB",   "loss %"};
    const struct moe_options *o = run->options;
    char by[32] = "by one thread";

    if (o->best)
        snprintf(by, sizeof by, "by the best number of SMs");
    else if (o->blocks)
        snprintf(by, sizeof by, "by %ld SMs", o->blocks);
    else if (run->backend->device)
        snprintf(by, sizeof by, "by the library's number of SMs");
    fprintf(to,
            "# %s; hidden %ld, top-%ld, routing %s, weights %s, route between hosts %s, %s, %ld call%s%s an "
            "iteration%s%s",
            hosts, o->hidden, o->topk, routing_names[o->routing], weight_names[o->weights], route_name(run),
            by, o->perf.batch, o->perf.batch == 1 ? "" : "s", o->graph ? ", by a graph," : "",
            o->in_place ? ", in the library's buffers" : "", o->coded ? ", FP8 given as e4m3" : "");
    if (o->expanded)
        fprintf(to, ", rows of prefill by expert, aligned to %ld", o->expanded);
    if (o->late)
        fprintf(to, ", the last PE %ld us late: us from then on", o->late);
    fputc('\n', to);
    fprintf(to, "%s# %-30s", columns, "row");
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        fprintf(to, " %9s", titles[i]);
    fputc('\n', to);
    fflush(to);
}

void moe_count_head(FILE *to)
{
    fprintf(
        to,
        "# of a PE, mean: puts to other hosts and the least, one a call and far peer, one more with late "
        "weights; messages and\n# doorbells that its CPU and its kernels give to the network for them, and "
        "the least: one a put or, where a PE has more NICs\n# (--nics) than far peers, a piece of 128 KiB "
        "or more for each NIC, as many of each put; rows, and KiB with their heads, and\n# the least of the "
        "routing: of rows alone\n");
    fprintf(to, "# %-30s %8s %8s %8s %9s %8s %9s %9s %10s %10s\n", "row", "puts", "least", "messages",
            "doorbells", "least", "rows", "least", "KiB", "least");
}

void moe_count_print(FILE *to, const struct moe_row *row)
{
    const struct moe_run *run = row->run;
    int calls = (row->what != MOE_COMBINE) + (row->what != MOE_DISPATCH);
    int peers = moe_far_peers(run);
    char id[96];

    fprintf(to, "%-32s %8.1f %8d %8.1f %9.1f %8ld %9.1f %9.1f %10.1f %10.1f\n",
            moe_id(id, run->now, row->what), row->puts * peers,
            peers * (calls + moe_puts_weights(run, row->what)), row->messages, row->doorbells,
            row->least_messages, row->network, row->least, row->network_bytes / 1024, row->bytes / 1024);
    fflush(to);
}

int moe_report_open(struct perf_report *report, const struct moe_run *run, const char *hosts)
{
    static char name[SHMEM_MAX_NAME_LEN + 1], version[16];
    struct perf_about about = {.program = run->backend->name,
                               .what = run->backend->what,
                               .library = name,
                               .version = version,
                               .transport =
                                   run->near == run->npes ? run->backend->transport : "with the network",
                               .npes = run->npes,
                               .fields = {{"hosts", NULL, hosts, 0, 0, PERF_END}},
                               .n_fields = 1};
    int major, minor;

    shmem_info_get_name(name);
    shmem_info_get_version(&major, &minor);
    snprintf(version, sizeof version, "%d.%d", major, minor);
    report->print = line;
    if (perf_report_open(report, &about, &run->options->perf))
        return -1;
    if (report->table)
        head(report->table, run, hosts);
    return 0;
}

static void add(struct perf_row *perf, const char *name, double value, int decimals, enum perf_column column)
{
    perf_row_add(perf, name, NULL, value, decimals, column);
}

static void add_text(struct perf_row *perf, const char *name, const char *text)
{
    perf->fields[perf->n_fields++] = (struct perf_field){name, NULL, text, 0, 0, PERF_FRONT};
}

/* The case; then the figures of the row. */
static void add_fields(struct perf_row *perf, const struct moe_row *row)
{
    const struct moe_run *run = row->run;

    add_text(perf, "mode", moe_phase_names[run->now->phase]);
    add_text(perf, "what", moe_what_names[row->what]);
    add_text(perf, "dtype", moe_dtype_name(run->now->dtype));
    add_text(perf, "route", route_name(run));
    add_text(perf, "routing", routing_names[run->options->routing]);
    add_text(perf, "weights", weight_names[run->options->weights]);
    add_text(perf, "form", run->options->graph && row->what != MOE_OVERLAP ? "graph" : "calls");
    add(perf, "tokens", run->now->tokens, 0, PERF_FRONT);
    add(perf, "hidden", run->job.hidden, 0, PERF_FRONT);
    add(perf, "experts", run->now->experts, 0, PERF_FRONT);
    add(perf, "topk", run->job.topk, 0, PERF_FRONT);
    add(perf, "sms", run->config.blocks, 0, PERF_FRONT);
    add(perf, "late_us", (double)run->options->late, 0, PERF_FRONT);
    add(perf, "limit_us", row->limit_us, 3, PERF_END);
    add(perf, "limit_part", row->limit_us / row->us.p50, 4, PERF_END);
    add(perf, "link_rows", row->link_rows, 1, PERF_END);
    add(perf, "link_bytes", row->link_bytes, 0, PERF_END);
    add(perf, "scale_up_gbs", row->scale_up, 3, PERF_END);
    add(perf, "scale_out_gbs", row->scale_out, 3, PERF_END);
    add(perf, "rows", row->rows, 1, PERF_END);
    add(perf, "near_rows", row->near, 1, PERF_END);
    add(perf, "network_rows", row->network, 1, PERF_END);
    add(perf, "network_rows_least", row->least, 1, PERF_END);
    add(perf, "puts_a_peer", row->puts, 2, PERF_END);
    add(perf, "network_operations", row->operations, 1, PERF_END);
    add(perf, "network_bytes", row->network_bytes, 0, PERF_END);
    add(perf, "symmetric_bytes", (double)run->bytes.symmetric, 0, PERF_END);
    add(perf, "local_bytes", (double)run->bytes.local, 0, PERF_END);
    add(perf, "compute_us", row->compute_us, 3, PERF_END);
    add(perf, "loss_percent", row->loss, 2, PERF_END);
    for (int half = 0; half < MOE_HALVES; half++)
        add(perf, half_names[half], row->half_us[half], 3, PERF_END);
}

void moe_report_row(struct perf_report *report, const struct moe_row *row, long samples, bool right)
{
    char id[96];
    struct perf_row perf = {.op = moe_id(id, row->run->now, row->what),
                            .len = (size_t)row->bytes,
                            .samples = samples,
                            .batch = row->run->options->perf.batch,
                            .us = row->us,
                            .right = right,
                            .own = row};

    add_fields(&perf, row);
    perf_report_row(report, &perf);
}

struct published {
    const char *shape, *system, *machine, *pes, *dtype, *dispatch, *combine, *both, *note, *source, *date;
};

static const struct published published[] = {
#define PUBLISHED(shape, system, machine, pes, dtype, dispatch, combine, both, note, source, date) \
    {shape, system, machine, pes, dtype, dispatch, combine, both, note, source, date},
#include "perftest/ep/published_defs.h"
#undef PUBLISHED
};

void moe_published_print(FILE *to)
{
    fprintf(to,
            "#\n# Published by others, on other machines and by their own clocks, hidden 7168, top-8: not "
            "measured here. "
            "us\n# %-8s %-30s %-22s %-16s %-10s %-18s %-18s %-16s %s\n",
            "shape", "system", "machine", "PEs", "dtype", "dispatch", "combine", "both",
            "note; source (date)");
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
        const struct published *p = &published[i];
        fprintf(to, "# %-8s %-30s %-22s %-16s %-10s %-18s %-18s %-16s %s%s%s (%s)\n", p->shape, p->system,
                p->machine, p->pes, p->dtype, p->dispatch, p->combine, p->both, p->note, *p->note ? "; " : "",
                p->source, p->date);
    }
    fflush(to);
}

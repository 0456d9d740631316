/* SPDX-License-Identifier: BSD-3-Clause */
/* The course of every fabric test: how its rows are run by one, two or all processes, and their data checked. */
#include "perftest/common/measure.h"
#include "perftest/common/progress.h"
#include "perftest/fabric/row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define IMMEDIATE_NS 5e9 /* an immediate that has not come by then is lost */
#define POLICIES "single,split,roundrobin"
enum { SAMPLES_MAX = 1000, ROWS_MAX = 16 };

/* The row that runs, as the argument of perf_timing's functions. */
struct row_run {
    struct fab_net *net;
    const struct fab_row *row;
};

static bool takes_part(const struct fab_net *net, const struct fab_row *row)
{
    return net->boot.me == 0 || row->who == FAB_ALL || (row->who == FAB_PAIR && fab_is_last(net));
}

static void row_run(void *arg, long count, double *times, long n)
{
    const struct row_run *r = arg;
    double before = perf_now();

    for (long i = 0; i < n && takes_part(r->net, r->row); i++) {
        r->row->batch(r->net, count);
        double after = perf_now();
        times[i] = after - before;
        before = after;
    }
}

static void row_barrier(void *arg)
{
    fab_boot_barrier(&((struct row_run *)arg)->net->boot);
}

static long row_agree(void *arg, long value)
{
    return fab_boot_agree(&((struct row_run *)arg)->net->boot, value);
}

static void row_slowest(void *arg, double *times, long samples)
{
    struct fab_boot *boot = &((struct row_run *)arg)->net->boot;
    double *all = calloc((size_t)boot->n * (size_t)samples, sizeof(*all));

    if (!all)
        fab_fail("no memory for the samples of %d processes; take fewer (-n)", boot->n);
    fab_boot_share(boot, times, (size_t)samples * sizeof(*times), all);
    for (long i = 0; i < boot->n * samples; i++)
        times[i % samples] = all[i] > times[i % samples] ? all[i] : times[i % samples];
    free(all);
}

static bool lands_here(const struct fab_net *net, const struct fab_row *row)
{
    switch (row->lands) {
    case FAB_LANDS_LAST: return fab_is_last(net);
    case FAB_LANDS_FIRST: return net->boot.me == 0;
    case FAB_LANDS_PAIR: return net->boot.me == 0 || fab_is_last(net);
    default: return true;
    }
}

static long wrong_from(const struct fab_net *net, int from)
{
    return fab_wrong(fab_dest(net, from), net->len, 0, net->len, from);
}

static long wrong_writes(const struct fab_net *net, const struct fab_row *row)
{
    long wrong = 0;

    if (row->lands != FAB_LANDS_ALL)
        return wrong_from(net, fab_peer(net));
    for (int from = 0; from < net->boot.n; from++)
        wrong += from != net->boot.me ? wrong_from(net, from) : 0;
    return wrong;
}

/* Flags carry numbers: a wrong one would have hung, unless nothing came. */
static long wrong_flag(const struct fab_net *net)
{
    return memcmp(fab_dest(net, fab_peer(net)), &net->flags, sizeof(net->flags)) != 0;
}

/* Writes with immediate data of process 0 whose events the last one never got, or got too often. */
static long wrong_immediates(struct fab_net *net)
{
    long sent = fab_boot_agree(&net->boot, net->sent_immediates);
    double until = perf_now() + IMMEDIATE_NS;

    while (fab_is_last(net) && net->immediates < sent && perf_now() < until)
        fab_serve(net);
    return fab_is_last(net) ? labs(net->immediates - sent) : 0;
}

/* The timed code once more, with a pattern: the number of bytes and immediates that are not right, everywhere. */
static long check(struct fab_net *net, const struct fab_row *row)
{
    double time;
    long wrong = 0;

    fab_fill(fab_source(net), net->len, net->boot.me);
    memset(fab_dest(net, 0), 0, (size_t)net->boot.n * net->max_len);
    net->right_bytes = net->wrong_bytes = 0;
    net->checking = true;
    fab_boot_barrier(&net->boot);
    row_run(&(struct row_run){net, row}, 1, &time, 1);
    fab_boot_barrier(&net->boot);
    net->checking = false;
    if (row->kind == FAB_WRITE_IMM)
        wrong += wrong_immediates(net);
    if (lands_here(net, row) && row->kind == FAB_FLAG)
        wrong += wrong_flag(net);
    else if (lands_here(net, row) && (row->kind == FAB_SEND || row->kind == FAB_MESSAGE))
        wrong += net->wrong_bytes + (net->right_bytes == 0);
    else if (lands_here(net, row))
        wrong += wrong_writes(net, row);
    return fab_boot_sum(&net->boot, wrong);
}

/* So many messages of a window as the receives of the other side hold. */
static long window_of(const struct fab_net *net, const struct fab_row *row)
{
    int per_rail = fab_pieces(net, row->kind);
    long fit;

    if (row->kind != FAB_SEND)
        return net->opts->common.window;
    if (net->opts->policy == FAB_SPLIT)
        per_rail = (per_rail + net->n_rails - 1) / net->n_rails;
    fit = net->n_slots / per_rail;
    fit = fit < 1 ? 1 : fit;
    return fit < net->opts->common.window ? fit : net->opts->common.window;
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

/* Bits a second of all NICs that a row uses; NAN: not known. */
static double bus_bits(const struct fab_net *net)
{
    int used = net->opts->policy == FAB_SINGLE ? 1 : net->n_rails;
    double bits = 0;

    for (int r = 0; r < used; r++)
        bits += net->rails[r].bits > 0 ? net->rails[r].bits : (double)NAN;
    return bits * emulated_scale();
}

/* GB/s and bus are those of the messages that leave this process: to all its peers, or to one. */
static void row_figures(const struct fab_net *net, const struct fab_row *row, struct perf_row *result)
{
    int copies = row->who == FAB_ALL ? net->boot.n - 1 : 1;
    double gigabytes = (double)net->len * copies / result->us.p50 / 1e3;

    perf_row_add(result, "gb_per_s", "GB/s", gigabytes, 6, PERF_FRONT);
    perf_row_add(result, "bus_percent", "bus %", gigabytes * 8e9 / bus_bits(net) * 100, 3, PERF_FRONT);
    perf_row_add(result, "cpu_ns", "CPU ns", result->cpu_ns, 1, PERF_FRONT);
}

static long row_measure(struct fab_net *net, const struct fab_row *row, double *times,
                        struct perf_report *report)
{
    struct perf_row result = {.op = row->name, .len = net->len};
    struct perf_timing timing = {.arg = &(struct row_run){net, row},
                                 .run = row_run,
                                 .barrier = row_barrier,
                                 .agree = row_agree,
                                 .slowest = row->who == FAB_ALL ? row_slowest : NULL};
    long wrong;

    net->kind = row->kind;
    net->window = window_of(net, row);
    timing.each = row->each ? row->each : (double)net->window;
    perf_measure(&timing, &net->opts->common, times, &result);
    wrong = check(net, row);
    result.right = wrong == 0;
    row_figures(net, row, &result);
    if (net->boot.me == 0)
        perf_report_row(report, &result);
    if (wrong && net->boot.me == 0)
        perf_complain("%s, %zu bytes: %ld bytes or immediates are wrong", row->name, net->len, wrong);
    return wrong;
}

static bool wanted(const struct fab_net *net, const struct fab_row *row)
{
    return perf_list_fits(net->opts->common.rows, row->name, NULL);
}

static int n_sizes(const struct fab_row *row, const struct perf_options *o)
{
    return row->len ? 1 : o->nsizes;
}

static long rows(struct fab_net *net, const struct fab_program *program, struct perf_report *report)
{
    const struct perf_options *o = &net->opts->common;
    double *times = calloc((size_t)o->samples, sizeof(*times));
    long all_wrong = 0;
    int at = 0, all = 0;

    if (!times)
        fab_fail("no memory for %ld samples; take fewer (-n)", o->samples);
    for (const struct fab_row *row = program->rows; row->name; row++)
        all += wanted(net, row) ? n_sizes(row, o) : 0;
    for (const struct fab_row *row = program->rows; row->name; row++)
        for (int i = 0; i < n_sizes(row, o) && wanted(net, row); i++) {
            net->len = row->len ? row->len : o->sizes[i];
            if (net->boot.me == 0)
                perf_progress(++at, all, "%s, %zu bytes", row->name, net->len);
            all_wrong += row_measure(net, row, times, report);
        }
    perf_progress(0, 0, "the end");
    free(times);
    return all_wrong;
}

static int report_open(const struct fab_net *net, const struct fab_program *program,
                       struct perf_report *report)
{
    static char library[32], transport[200], policy[16];
    const struct fi_fabric_attr *fabric = net->rails[0].info->fabric_attr;
    const char *policies = POLICIES;
    struct perf_about about = {.program = program->name,
                               .what = program->what,
                               .library = library,
                               .transport = transport,
                               .npes = net->boot.n,
                               .n_fields = 4};

    for (long i = 0; i <= net->opts->policy; i++)
        perf_list_next(&policies, policy, sizeof(policy));
    snprintf(library, sizeof(library), "libfabric %u.%u", FI_MAJOR(fi_version()), FI_MINOR(fi_version()));
    snprintf(transport, sizeof(transport), "%s (%s), %d NIC%s, %s", fabric->prov_name, fabric->name,
             net->n_rails, net->n_rails == 1 ? "" : "s", policy);
    about.fields[0] = (struct perf_field){.name = "provider", .text = fabric->prov_name};
    about.fields[1] = (struct perf_field){.name = "nics", .number = net->n_rails};
    about.fields[2] = (struct perf_field){.name = "policy", .text = policy};
    about.fields[3] = (struct perf_field){.name = "fabric", .text = fabric->name, .place = PERF_JSON};
    if (perf_report_open(report, &about, &net->opts->common))
        return -1;
    if (report->table && getenv("EFA_EMULATOR_DIR"))
        fprintf(report->table, "# emulated device: these figures say nothing of a real one\n");
    return 0;
}

static int measure_all(struct fab_net *net, const struct fab_program *program)
{
    struct perf_report report = {.print = NULL};
    size_t most = 8;
    int status;

    for (int i = 0; i < net->opts->common.nsizes; i++)
        most = net->opts->common.sizes[i] > most ? net->opts->common.sizes[i] : most;
    if (!fab_net_open(net, most))
        return PERF_SKIP;
    status = net->boot.me ? 0 : report_open(net, program, &report);
    if (fab_boot_agree(&net->boot, status))
        return PERF_USAGE;
    status = rows(net, program, &report) ? PERF_FAILED : PERF_OK;
    if (net->boot.me == 0 && perf_report_close(&report))
        status = PERF_FAILED;
    fab_net_close(net);
    return status;
}

static void help(const struct fab_program *program, const struct perf_options *o,
                 const struct perf_defaults *d)
{
    printf("%s: %s\nUsage: oshrun -n 2 libfabric %s [options]\n", program->name, program->what,
           program->name);
    perf_options_help(o, d);
    printf("Rows:\n");
    for (const struct fab_row *row = program->rows; row->name; row++)
        printf("  %-18s %s\n", row->name, row->what);
    printf("Exit status: 0 right, 1 wrong data, 2 bad options, 77 no such provider.\n");
    fflush(stdout);
}

static int options_read(struct fab_options *opts, const struct fab_program *program, int argc, char **argv,
                        char *error)
{
    static const struct perf_option own[] = {
        {0, "nics", "N|all", PERF_COUNT, offsetof(struct fab_options, nics), .least = 1,
         .most = FAB_RAILS_MAX, .words = "all", .help = "NICs that each process opens"},
        {0, "policy", "P", PERF_WORD, offsetof(struct fab_options, policy), .words = POLICIES,
         .help = "single: all on the first NIC; split: stripes over all; roundrobin (single)"},
        {.name = NULL}};
    struct perf_defaults d = program->defaults;
    const char *names[ROWS_MAX + 1] = {NULL};

    d.own = own;
    d.most_samples = SAMPLES_MAX;
    for (int i = 0; i < ROWS_MAX && program->rows[i].name; i++)
        names[i] = program->rows[i].name;
    *opts = (struct fab_options){.nics = 1};
    if (perf_options_parse(&opts->common, &d, argc, argv, error) ||
        perf_options_check_rows(&opts->common, names, error))
        return -1;
    if (opts->common.help)
        help(program, &opts->common, &d);
    return 0;
}

/* The program that the first word names, or NULL. */
static const struct fab_program *program_of(const char *word)
{
    const struct fab_program *program = fab_programs;

    while (program->name && (!word || strcmp(word, program->name)))
        program++;
    return program->name ? program : NULL;
}

static int usage(const char *word)
{
    bool help = word && (!strcmp(word, "--help") || !strcmp(word, "-h"));

    fprintf(help ? stdout : stderr, "libfabric: usage: oshrun -n 2 libfabric sendrecv|write|limit|all2all "
                                    "[options] (libfabric write --help)\n");
    return help ? PERF_OK : PERF_USAGE;
}

int main(int argc, char **argv)
{
    const struct fab_program *program = program_of(argv[1]);
    static struct fab_net net;
    static struct fab_options opts;
    char error[PERF_ERROR_TEXT] = "";
    int status = PERF_USAGE;

    if (!program)
        return usage(argv[1]);
    perf_name_set(program->name);
    net.opts = &opts;
    if (!options_read(&opts, program, argc - 1, argv + 1, error) && opts.common.help)
        return PERF_OK;
    if (fab_boot_open(&net.boot))
        return PERF_USAGE;
    net.boot.alone = program->alone;
    if (net.boot.me == 0 && error[0])
        perf_complain("%s", error);
    else if (net.boot.me == 0 && net.boot.n < 2)
        perf_complain("needs at least 2 processes: oshrun -n 2 libfabric %s", program->name);
    if (!error[0] && net.boot.n > 1)
        status = measure_all(&net, program);
    fab_boot_close(&net.boot);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of the tests of expert parallelism, the cases and rows that it asks for, and the table of memory. */
#include "perftest/ep/moe.h"

#include <stdio.h>
#include <string.h>

const char *const moe_phase_names[MOE_PHASES] = {"decode", "prefill"};
const char *const moe_what_names[MOE_WHATS] = {"dispatch", "combine", "both", "overlap"};

static const char *const row_help[MOE_WHATS] = {
    "each token's row to the PEs that have its experts", "the experts' rows back, added up",
    "a dispatch and a combine, timed as one",
    "sending half, a compute kernel, receiving half, of dispatch and combine; us: of the halves alone"};

static const char *const dtype_names[] = {"bf16", "fp8", "ue8m0"};
static const int dtypes[] = {SHMEMX_EP_FP8, SHMEMX_EP_BF16}; /* of a run without options */

#define AT(field) offsetof(struct moe_options, field)
static const struct perf_option own[] = {
    {0, "tokens", "LIST", PERF_NUMBERS, AT(tokens), .least = 1, .most = 65536,
     .help = "tokens of a PE (decode: 128, prefill: 4096)"},
    {0, "hidden", "N", PERF_COUNT, AT(hidden), .least = 128, .most = 65536, .multiple = 128,
     .help = "columns of a row"},
    {0, "experts", "LIST", PERF_NUMBERS, AT(experts), .least = 1, .most = 65536,
     .help = "experts of all PEs, which divide them"},
    {0, "topk", "N", PERF_COUNT, AT(topk), .least = 1, .most = REF_TOPK_MAX, .help = "experts a token"},
    {0, "route", "R", PERF_WORD, AT(route), .words = "auto,direct,one_copy",
     .help = "between hosts: auto, direct or one_copy"},
    {0, "routing", "R", PERF_WORD, AT(routing), .words = "uniform,zipf,hot,alone",
     .help = "which experts tokens choose: uniform, zipf (few often), hot (one always); alone: uniform, and "
             "PE 0 alone has tokens"},
    {0, "weights", "W", PERF_WORD, AT(weights), .words = "known,late",
     .help = "of decode: known to dispatch, or late, with combine"},
    {'c', "blocks", "N", PERF_COUNT, AT(blocks), .least = 0, .most = 1024,
     .help = "SMs of a call (0: the library's choice)"},
    {0, "best", NULL, PERF_FLAG, AT(best),
     .help = "search for the best number of SMs first, which each row then says"},
    {0, "late", "US", PERF_COUNT, AT(late), .least = 0, .most = 1e6,
     .help = "the last PE begins each iteration so much later; us are from then on"},
    {0, "part", "N", PERF_COUNT, AT(part), .least = 0, .most = 65536,
     .help = "tokens of a part between hosts, prefill (0: the library's choice)"},
    {0, "capacity", "N", PERF_COUNT, AT(capacity), .least = 0, .most = 1e9,
     .help = "rows that a PE, in decode an expert, can receive, at most all that may come there (0: all that "
             "may come)"},
    {0, "expanded", "N", PERF_COUNT, AT(expanded), .least = 0, .most = 4096,
     .help = "of prefill on one host: a row for each choice, expert by expert, each expert's from a multiple "
             "of N on, and their sums combined (0: rows by source)"},
    {0, "exact", NULL, PERF_FLAG, AT(exact),
     .help = "decode: sums in the order of the top-k, not rounded by PE (config.exact)"},
    {0, "masks", NULL, PERF_FLAG, AT(masks),
     .help = "decode: with masks of PEs that fail (config.masks), of which none does"},
    {0, "in-place", NULL, PERF_FLAG, AT(in_place),
     .help = "rows lie in the library's buffers: BF16 that is sent, and what is combined"},
    {0, "coded", NULL, PERF_FLAG, AT(coded),
     .help = "FP8 rows are given as e4m3 with scales, so that dispatch moves them only"},
    {0, "graph", NULL, PERF_FLAG, AT(graph),
     .help = "on GPUs: an iteration's calls are a graph (not overlap's)"},
    {0, "compute", "US", PERF_COUNT, AT(compute), .least = 1, .most = 1e6,
     .help = "time of the kernel between halves"},
    {0, "count", NULL, PERF_FLAG, AT(count),
     .help = "in place of times: what a call gives to the network, beside the least"},
    {0, "nics", "N", PERF_COUNT, AT(nics), .least = 1, .most = 8,
     .help = "of a PE: the least of --count is then of puts that NICs share (1)"},
    {0, "check", NULL, PERF_FLAG, AT(check), .help = "compare every row with the reference first"},
    {0, "published", NULL, PERF_FLAG, AT(published),
     .help = "after the rows, or their list: figures that others published of other machines"},
    {0, "list", NULL, PERF_FLAG, AT(list), .help = "print the rows without running them"},
    {0, "memory", NULL, PERF_FLAG, AT(memory),
     .help = "print the memory that the rows' shapes take, and end"},
    {0, "pes", "N", PERF_COUNT, AT(pes), .least = 1, .most = 65536,
     .help = "of --list (8) and --memory (8, 16, 64, 128, 256)"},
    {.name = NULL}};
#undef AT

static const struct perf_defaults defaults = {.samples = 30,
                                              .most_samples = MOE_SAMPLES_MAX,
                                              .warmup = 5,
                                              .batch = 1,
                                              .batch_help = "calls of an iteration, one after another",
                                              .seconds = -1,
                                              .own = own};

static void help(const struct moe_options *o, const struct moe_backend *backend)
{
    printf("%s: %s.\nUsage: oshrun -n 8 %s [options]\n"
           "A sample (-n) is an iteration: the time of its slowest PE. -m takes ids as --list prints them, "
           "or one of "
           "their words.\n",
           backend->name, backend->what, backend->name);
    perf_options_help(&o->perf, &defaults);
    printf("Exit status: 0 right, 1 wrong data or no end, 2 bad options, 77 no GPU.\nRows:\n");
    for (int w = 0; w < MOE_WHATS; w++)
        printf("  %-10s %s\n", moe_what_names[w], row_help[w]);
}

int moe_options_parse(struct moe_options *o, const struct moe_backend *backend, int argc, char **argv)
{
    char error[PERF_ERROR_TEXT];

    perf_name_set(backend->name);
    *o = (struct moe_options){
        .hidden = 7168, .topk = 8, .compute = 1000, .nics = 1, .experts = {2, {256, 288}}};
    if (perf_options_parse(&o->perf, &defaults, argc, argv, error)) {
        perf_complain("%s", error);
        return PERF_USAGE;
    }
    if (o->graph && (!backend->capture || o->in_place)) {
        perf_complain("option --graph: needs a GPU's program, and goes without --in-place");
        return PERF_USAGE;
    }
    if (o->best && (!backend->device || o->blocks)) {
        perf_complain("option --best: needs a GPU's program, and goes without --blocks");
        return PERF_USAGE;
    }
    if (o->expanded && (o->check || o->in_place)) {
        perf_complain("option --expanded: goes without --check, --in-place (test/ep/expanded compares rows)");
        return PERF_USAGE;
    }
    if (o->perf.help)
        help(o, backend);
    return o->perf.help ? PERF_OK : -1;
}

const char *moe_dtype_name(int dtype)
{
    return dtype_names[dtype];
}

const char *moe_id(char id[96], const struct moe_case *now, enum moe_what what)
{
    snprintf(id, 96, "%s.%s.%d.%d.%s", moe_phase_names[now->phase], dtype_names[now->dtype], now->experts,
             now->tokens, moe_what_names[what]);
    return id;
}

/* A pattern of the list is the row's id or one of its words. Overlap of prefill and ue8m0 come where they are named. */
static bool wanted(const struct moe_options *o, const struct moe_case *now, enum moe_what what)
{
    const char *rows = o->perf.rows;
    char id[96];

    if (!rows)
        return what != MOE_OVERLAP || now->phase == MOE_DECODE;
    return perf_list_fits(rows, moe_id(id, now, what), moe_phase_names[now->phase]) ||
           perf_list_fits(rows, moe_what_names[what], dtype_names[now->dtype]);
}

static int dtype_count(const struct moe_options *o)
{
    return o->perf.rows && strstr(o->perf.rows, "ue8m0") ? 3 : 2;
}

static int phase_tokens(const struct moe_options *o, enum moe_phase phase, int i)
{
    return o->tokens.n ? (int)o->tokens.value[i] : phase == MOE_DECODE ? 128 : 4096;
}

int moe_cases(struct moe_case *cases, const struct moe_options *o, int pes)
{
    int n = 0, dtypes_n = dtype_count(o), tokens_n = o->tokens.n ? o->tokens.n : 1;

    for (int at = 0; at < MOE_PHASES * dtypes_n * o->experts.n * tokens_n && n < MOE_CASES; at++) {
        int of_phase = at % (dtypes_n * o->experts.n * tokens_n), d = of_phase / (o->experts.n * tokens_n);
        struct moe_case *now = &cases[n];

        *now = (struct moe_case){.phase = (enum moe_phase)(at / (dtypes_n * o->experts.n * tokens_n)),
                                 .dtype = d < 2 ? dtypes[d] : SHMEMX_EP_FP8_UE8M0,
                                 .experts = (int)o->experts.value[of_phase / tokens_n % o->experts.n]};
        now->tokens = phase_tokens(o, now->phase, of_phase % tokens_n);
        for (int w = 0; w < MOE_WHATS; w++)
            now->whats |= (unsigned)wanted(o, now, (enum moe_what)w) << w;
        n += now->whats && (!pes || now->experts % pes == 0);
    }
    return n;
}

long moe_capacity(const struct moe_options *o, const struct moe_case *now, int pes)
{
    long all = (long)pes * now->tokens;

    return now->phase == MOE_DECODE && o->capacity > all ? all : o->capacity;
}

shmemx_ep_config_t moe_config(const struct moe_options *o, const struct moe_case *now, int pes, bool device,
                              int blocks)
{
    shmemx_ep_config_t config = SHMEMX_EP_CONFIG_INITIALIZER;

    config.mode = now->phase == MOE_DECODE ? SHMEMX_EP_LOW_LATENCY : SHMEMX_EP_HIGH_THROUGHPUT;
    config.dtype = now->dtype;
    config.route = (int)o->route;
    config.device = device;
    config.hidden = (int)o->hidden;
    config.experts = now->experts;
    config.topk = (int)o->topk;
    config.exact = o->exact;
    config.masks = now->phase == MOE_DECODE && o->masks;
    config.tokens = now->tokens;
    *(now->phase == MOE_DECODE ? &config.expert_capacity : &config.pe_capacity) =
        (int)moe_capacity(o, now, pes);
    config.window = now->phase == MOE_PREFILL ? (int)o->part : 0;
    config.blocks = blocks;
    return config;
}

/* Of one case and number of PEs, 8 of them on each host. */
static int memory_row(const struct moe_options *o, const struct moe_case *now, int pes, bool device)
{
    shmemx_ep_config_t config = moe_config(o, now, pes, device, 0);
    int near = pes < 8 ? pes : 8;
    shmemx_ep_bytes_t bytes;

    if (now->experts % pes || pes % near)
        return 0;
    if (shmemx_ep_bytes(&config, pes, near, &bytes))
        return 1;
    printf("| %s | %d | %s | %d | %d | %.1f | %.1f | %d |\n", moe_phase_names[now->phase], pes,
           dtype_names[now->dtype], now->tokens, now->experts, (double)bytes.symmetric / 1048576.0,
           (double)bytes.local / 1024.0, bytes.counters);
    return 0;
}

int moe_memory(const struct moe_options *o, bool device)
{
    static const int numbers[] = {8, 16, 64, 128, 256};
    static struct moe_case cases[MOE_CASES];
    int n = moe_cases(cases, o, (int)o->pes), failed = 0;

    printf("| shape | PEs, 8 a host | dtype | tokens | experts | symmetric MiB | local KiB | counters |\n"
           "|---|---|---|---|---|---|---|---|\n");
    for (int c = 0; c < n; c++) {
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
            failed |= o->pes ? 0 : memory_row(o, &cases[c], numbers[i], device);
        failed |= o->pes ? memory_row(o, &cases[c], (int)o->pes, device) : 0;
    }
    return failed ? PERF_FAILED : PERF_OK;
}

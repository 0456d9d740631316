/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of jacobi, and which rows it asks for. */
#include "perftest/device/jacobi.h"

#include <stdio.h>
#include <string.h>

static const struct dev_kind kinds[JACOBI_KINDS] = {
    [JACOBI_P] = {.name = "p",
                  .what =
                      "a kernel an iteration, which sends its edge rows element by element (p); barrier_all"},
    [JACOBI_NBI] = {.name = "nbi",
                    .what =
                        "a kernel an iteration: blocks of the edges put_signal_nbi theirs first, the others "
                        "go on"},
    [JACOBI_STREAM] = {.name = "stream",
                       .what =
                           "edges first, put_signal and waits on a stream beside the interior; NCCL: send, "
                           "recv"},
    [JACOBI_PERSISTENT] = {.name = "persistent", .what = "nbi, all iterations in one cooperative kernel"},
};

static const struct {
    int kind;
    enum dev_scope scope;
} forms[] = {
    {JACOBI_P, DEV_STREAM},         {JACOBI_P, DEV_GRAPH},       {JACOBI_NBI, DEV_STREAM},
    {JACOBI_NBI, DEV_GRAPH},        {JACOBI_STREAM, DEV_STREAM}, {JACOBI_STREAM, DEV_GRAPH},
    {JACOBI_PERSISTENT, DEV_BLOCK},
};

static bool possible(const struct dev_row *row, int pes)
{
    return row->blocks >= pes;
}

const struct dev_table dev_table = {
    .name = "jacobi", .kinds = kinds, .n_kinds = JACOBI_KINDS, .possible = possible};

#define AT(field) offsetof(struct jacobi_options, field)
static const struct perf_option own[] = {
    {0, "nx", "N", PERF_COUNT, AT(nx), .least = 3, .most = JACOBI_SIDE_MAX,
     .help = "columns of the grid (4096 and 16384 square; ny alone: as ny)"},
    {0, "ny", "N", PERF_COUNT, AT(ny), .least = 1, .most = JACOBI_SIDE_MAX,
     .help = "rows of the grid (as nx)"},
    {0, "norm", "N", PERF_COUNT, AT(norm), .least = 1, .most = JACOBI_ITERATIONS_MAX,
     .help = "sum of squares every so many iterations"},
    {0, "no-check", NULL, PERF_FLAG, AT(unchecked),
     .help = "without the run on one GPU alone, from which no element may differ by 1e-5"},
    {0, "list", NULL, PERF_FLAG, AT(dev.list), .help = "print the rows without running them"},
    {0, "pes", "N", PERF_COUNT, AT(dev.pes), .least = 1, .most = 4096, .help = "of --list (2)"},
    {.name = NULL}};
#undef AT

static const struct perf_moved moved[] = {
    {'n', true, "-n is the number of samples, as in every program; iterations of a run are -k, --iterations"},
    {'r', false, "samples are -n, --samples"},
    {0}};

static const struct perf_defaults defaults = {.samples = 5,
                                              .most_samples = DEV_SAMPLES_MAX,
                                              .warmup = 1,
                                              .seconds = -1,
                                              .batch = 1000,
                                              .batch_help = "iterations of a run",
                                              .own = own,
                                              .moved = moved};

static void help(const struct jacobi_options *o)
{
    printf("Jacobi iterations of the five-point Laplace stencil in float on a grid of nx x ny, cut into rows "
           "of PEs:\n"
           "the first and last column are fixed, the first row follows the last. All variants run the same "
           "stencil\n"
           "kernel and sum the squares of all changes every --norm iterations. One line a row:\n"
           "  variant scope nx ny iterations median p25 p75 us, us an iteration of the slowest PE; scopes:\n"
           "  stream (kernels launched one by one), graph (all iterations in one CUDA graph), block (one "
           "kernel)\n"
           "A sample is a run; -m takes variants or VARIANT.SCOPE.NX.NYxITERATIONS; --csv is\n"
           "  name,nx,ny,iter,npes,time,serial in seconds.\n");
    perf_options_help(&o->dev.perf, &defaults);
    printf("Exit status: 0 right, 1 wrong result or no end, 2 bad options, 77 no GPU.\nVariants:\n");
    for (int k = 0; k < JACOBI_KINDS; k++)
        printf("  %-12s %s\n", kinds[k].name, kinds[k].what);
}

int jacobi_options_parse(struct jacobi_options *o, int argc, char **argv)
{
    struct perf_options *perf = &o->dev.perf;
    char error[PERF_ERROR_TEXT];
    int failed;

    perf_name_set(dev_table.name);
    *o = (struct jacobi_options){.dev = {.scope = DEV_SCOPES}, .norm = 1};
    failed = perf_options_parse(perf, &defaults, argc, argv, error);
    if (!failed && perf->batch > JACOBI_ITERATIONS_MAX)
        failed = snprintf(error, sizeof error, "option -k: %ld is more than %d iterations", perf->batch,
                          JACOBI_ITERATIONS_MAX);
    if (failed)
        perf_complain("%s", error);
    else if (perf->help)
        help(o);
    o->csv = perf->csv;
    perf->csv = NULL;
    return failed ? PERF_USAGE : perf->help ? PERF_OK : -1;
}

int jacobi_rows_expand(struct dev_row *rows, const struct jacobi_options *o)
{
    static const int default_nx[] = {4096, 16384};
    int sizes = o->nx || o->ny ? 1 : 2, n = 0;

    for (int s = 0; s < sizes; s++)
        for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
            struct dev_row row;
            memset(&row, 0, sizeof row);
            row.kind = forms[f].kind;
            row.scope = forms[f].scope;
            row.size = (size_t)(o->nx ? o->nx : o->ny ? o->ny : default_nx[s]);
            row.blocks = o->ny ? (int)o->ny : (int)row.size;
            row.threads = (int)o->dev.perf.batch;
            if (dev_row_wanted(&row, &o->dev) && possible(&row, (int)o->dev.pes))
                rows[n++] = row;
        }
    return n;
}

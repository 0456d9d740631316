/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of jacobi, and which rows it asks for. */
#include "perftest/device/jacobi.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_NX = 256, OPT_NY, OPT_NORM, OPT_ROWS, OPT_PES, OPT_LIST, OPT_NO_CHECK, OPT_JSON, OPT_CSV };

static const struct option long_options[] = {
    {"nx", required_argument, NULL, OPT_NX},
    {"ny", required_argument, NULL, OPT_NY},
    {"iterations", required_argument, NULL, 'n'},
    {"norm", required_argument, NULL, OPT_NORM},
    {"variants", required_argument, NULL, OPT_ROWS},
    {"rows", required_argument, NULL, OPT_ROWS},
    {"pes", required_argument, NULL, OPT_PES},
    {"list", no_argument, NULL, OPT_LIST},
    {"warmup", required_argument, NULL, 'w'},
    {"samples", required_argument, NULL, 'r'},
    {"no-check", no_argument, NULL, OPT_NO_CHECK},
    {"json", required_argument, NULL, OPT_JSON},
    {"csv", required_argument, NULL, OPT_CSV},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

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
    .name = "jacobi", .kinds = kinds, .n_kinds = JACOBI_KINDS, .scopes = DEV_SCOPES, .possible = possible};

/* 0, or -1 and a line. */
static int take_number(const char *name, const char *text, int least, int most, int *value, char *error)
{
    char *end;
    long n = strtol(text, &end, 10);

    *value = (int)n;
    if (end != text && !*end && n >= least && n <= most)
        return 0;
    snprintf(error, DEV_ERROR_TEXT, "option %s: '%s' is not a number from %d to %d", name, text, least, most);
    return -1;
}

static int take_long(const char *name, const char *text, int least, int most, long *value, char *error)
{
    int n = 0, status = take_number(name, text, least, most, &n, error);

    *value = n;
    return status;
}

static int take(struct jacobi_options *o, int option, const char *value, char *error)
{
    switch (option) {
    case OPT_NX: return take_number("--nx", value, 3, JACOBI_SIDE_MAX, &o->nx, error);
    case OPT_NY: return take_number("--ny", value, 1, JACOBI_SIDE_MAX, &o->ny, error);
    case 'n': return take_number("-n", value, 1, JACOBI_ITERATIONS_MAX, &o->iterations, error);
    case OPT_NORM: return take_number("--norm", value, 1, JACOBI_ITERATIONS_MAX, &o->norm, error);
    case OPT_PES: return take_number("--pes", value, 1, 4096, &o->dev.pes, error);
    case 'w': return take_long("-w", value, 0, 1000, &o->dev.warmup, error);
    case 'r': return take_long("-r", value, 1, DEV_SAMPLES_MAX, &o->dev.samples, error);
    case OPT_ROWS: o->dev.rows = value; return 0;
    case OPT_LIST: o->dev.list = true; return 0;
    case OPT_NO_CHECK: o->check = false; return 0;
    case OPT_JSON: o->dev.json = value; return 0;
    case OPT_CSV: o->csv = value; return 0;
    }
    o->dev.help = true;
    return 0;
}

int jacobi_options_parse(struct jacobi_options *o, int argc, char **argv, char *error)
{
    int option;

    *o = (struct jacobi_options){
        .dev = {.warmup = 1, .samples = 5, .scope = DEV_SCOPES}, .norm = 1, .check = true};
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":n:w:r:h", long_options, NULL)) != -1) {
        if (option == ':' || option == '?') {
            snprintf(error, DEV_ERROR_TEXT, "option %s %s (see --help)", argv[optind - 1],
                     option == ':' ? "needs a value" : "is unknown");
            return -1;
        }
        if (take(o, option, optarg, error))
            return -1;
    }
    if (optind == argc)
        return 0;
    snprintf(error, DEV_ERROR_TEXT, "unexpected argument '%s' (see --help)", argv[optind]);
    return -1;
}

void jacobi_help(void)
{
    printf(
        "Jacobi iterations of the five-point Laplace stencil in float on a grid of nx x ny, cut into rows of "
        "PEs:\n"
        "the first and last column are fixed, the first row follows the last. All variants run the same "
        "stencil\n"
        "kernel and sum the squares of all changes every --norm iterations. One line a row:\n"
        "  variant scope nx ny iterations median p25 p75 us, us an iteration of the slowest PE; scopes:\n"
        "  stream (kernels launched one by one), graph (all iterations in one CUDA graph), block (one "
        "kernel)\n"
        "Options:\n"
        "      --nx N, --ny N    grid (4096 and 16384 square; ny alone follows nx)\n"
        "  -n, --iterations N    (1000)\n"
        "      --norm N          sum of squares every N iterations (1)\n"
        "      --variants LIST   only these: names or VARIANT.SCOPE.NX.NYxITERATIONS, with * and ?; --rows "
        "too\n"
        "      --list            the rows, without running them; --pes N: of N PEs (2)\n"
        "  -w, --warmup N        runs before the timed ones (1)\n"
        "  -r, --samples N       timed runs (5)\n"
        "      --no-check        without the run on one GPU alone, from which no element may differ by 1e-5\n"
        "      --csv FILE        name,nx,ny,iter,npes,time,serial as well, in seconds; --json FILE; - for "
        "stdout\n"
        "  -h, --help            this text\n"
        "Exit status: 0 right, 1 wrong result or no end, 2 bad options, 77 no GPU.\nVariants:\n");
    for (int k = 0; k < JACOBI_KINDS; k++)
        printf("  %-12s %s\n", kinds[k].name, kinds[k].what);
}

int jacobi_rows_expand(struct dev_row *rows, const struct jacobi_options *o)
{
    static const int usual[] = {4096, 16384};
    int sizes = o->nx || o->ny ? 1 : 2, n = 0;

    for (int s = 0; s < sizes; s++)
        for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
            struct dev_row row;
            memset(&row, 0, sizeof row);
            row.kind = forms[f].kind;
            row.scope = forms[f].scope;
            row.size = (size_t)(o->nx ? o->nx : o->ny ? o->ny : usual[s]);
            row.blocks = o->ny ? o->ny : (int)row.size;
            row.threads = o->iterations ? o->iterations : 1000;
            if (dev_row_wanted(&row, &o->dev) && possible(&row, o->dev.pes))
                rows[n++] = row;
        }
    return n;
}

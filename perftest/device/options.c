/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of device programs: letters as in NVSHMEM's own performance tests. */
#include "perftest/device/rows.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_ROWS = 256, OPT_LIST, OPT_PES, OPT_TABLE, OPT_JSON, OPT_CSV };

static const struct option long_options[] = {
    {"begin", required_argument, NULL, 'b'},
    {"end", required_argument, NULL, 'e'},
    {"factor", required_argument, NULL, 'f'},
    {"iterations", required_argument, NULL, 'n'},
    {"warmup", required_argument, NULL, 'w'},
    {"blocks", required_argument, NULL, 'c'},
    {"threads", required_argument, NULL, 't'},
    {"scope", required_argument, NULL, 's'},
    {"samples", required_argument, NULL, 'r'},
    {"rows", required_argument, NULL, OPT_ROWS},
    {"list", no_argument, NULL, OPT_LIST},
    {"pes", required_argument, NULL, OPT_PES},
    {"table", no_argument, NULL, OPT_TABLE},
    {"json", required_argument, NULL, OPT_JSON},
    {"csv", required_argument, NULL, OPT_CSV},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int refuse(char *error, int option, const char *value, const char *expected)
{
    snprintf(error, DEV_ERROR_TEXT, "option -%c: '%s' is not %s", option, value, expected);
    return -1;
}

static bool take_count(const char *text, long least, long most, long *value)
{
    char *end;

    *value = strtol(text, &end, 10);
    return end != text && !*end && *value >= least && *value <= most;
}

static int take_number(struct dev_options *o, int option, const char *value, char *error)
{
    long n;

    if (option == 'n')
        return take_count(value, 1, 1 << 30, &o->iterations) ? 0 : refuse(error, option, value, "a number");
    if (option == 'w')
        return take_count(value, 0, 1000, &o->warmup) ? 0 : refuse(error, option, value, "0 to 1000");
    if (option == 'r')
        return take_count(value, 1, DEV_SAMPLES_MAX, &o->samples) ? 0
                                                                  : refuse(error, option, value, "1 to 100");
    if (!take_count(value, 1, option == 'c' ? 65536 : 1024, &n) || (option == 't' && n % 32))
        return refuse(error, option, value,
                      option == 'c' ? "a number of blocks" : "a multiple of 32 up to 1024");
    *(option == 'c' ? &o->blocks : &o->threads) = (int)n;
    return 0;
}

static int take_size(struct dev_options *o, int option, const char *value, char *error)
{
    size_t size = dev_size_parse(value);

    if (!size)
        return refuse(error, option, value, "a size such as 8, 64k or 4M");
    *(option == 'b' ? &o->begin : &o->end) = size;
    return 0;
}

static int take_scope(struct dev_options *o, const char *value, char *error)
{
    for (o->scope = 0; o->scope < dev_table.scopes; o->scope++)
        if (!strcmp(value, dev_scope_names[o->scope]))
            return 0;
    o->scope = DEV_SCOPES;
    return strcmp(value, "all") ? refuse(error, 's', value, dev_table.scope_names) : 0;
}

static int take_factor(struct dev_options *o, const char *value, char *error)
{
    char *end;

    o->factor = strtod(value, &end);
    return *end || !(o->factor > 1) ? refuse(error, 'f', value, "a factor above 1") : 0;
}

static int take_pes(struct dev_options *o, const char *value, char *error)
{
    long n;

    if (!take_count(value, 1, 4096, &n)) {
        snprintf(error, DEV_ERROR_TEXT, "option --pes: '%s' is no number of PEs", value);
        return -1;
    }
    o->pes = (int)n;
    return 0;
}

static int take(struct dev_options *o, int option, const char *value, char *error)
{
    switch (option) {
    case 'b':
    case 'e': return take_size(o, option, value, error);
    case 'f': return take_factor(o, value, error);
    case 's': return take_scope(o, value, error);
    case 'h': o->help = true; return 0;
    case OPT_ROWS: o->rows = value; return 0;
    case OPT_PES: return take_pes(o, value, error);
    case OPT_LIST: o->list = true; return 0;
    case OPT_TABLE: o->table = true; return 0;
    case OPT_JSON: o->json = value; return 0;
    case OPT_CSV: o->csv = value; return 0;
    default: return take_number(o, option, value, error);
    }
}

static int finish(struct dev_options *o, char *error)
{
    if (o->begin && !o->end)
        o->end = o->begin > 4 << 20 ? o->begin : 4 << 20;
    if (o->end && !o->begin)
        o->begin = 8;
    if (o->begin > o->end || o->end > (size_t)1 << 30) {
        snprintf(error, DEV_ERROR_TEXT, "sizes from -b %zu to -e %zu: give 1 <= begin <= end <= 1G", o->begin,
                 o->end);
        return -1;
    }
    return 0;
}

int dev_options_parse(struct dev_options *o, int argc, char **argv, char *error)
{
    int option;

    *o = (struct dev_options){.factor = 2, .warmup = 1, .samples = 11, .scope = DEV_SCOPES};
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":b:e:f:n:w:c:t:s:r:h", long_options, NULL)) != -1) {
        if (option == ':' || option == '?') {
            snprintf(error, DEV_ERROR_TEXT, "option %s %s (see --help)", argv[optind - 1],
                     option == ':' ? "needs a value" : "is unknown");
            return -1;
        }
        if (take(o, option, optarg, error))
            return -1;
    }
    if (optind < argc) {
        snprintf(error, DEV_ERROR_TEXT, "unexpected argument '%s' (see --help)", argv[optind]);
        return -1;
    }
    return finish(o, error);
}

void dev_options_help(void)
{
    printf("%s. One line a row:\n"
           "  row scope size blocks threads median p25 p75 unit\n"
           "Options:\n"
           "      --rows LIST       only these: names or NAME.SCOPE.SIZE.BLOCKSxTHREADS, with * and ?\n"
           "      --list            the rows, without running them; --pes N: of N PEs (2)\n"
           "  -s, --scope SCOPE     %s\n"
           "  -b, -e, -f            sizes from begin to end by a factor (2), where a row has no fixed size\n"
           "  -n, --iterations N    of a kernel (enough for some milliseconds)\n"
           "  -w, --warmup N        kernels before the timed ones (1)\n"
           "  -r, --samples N       timed kernels (11)\n"
           "%s"
           "  -t, --threads N       of a block\n"
           "      --table           boxed tables instead of lines\n"
           "      --json FILE, --csv FILE   as well; - for stdout instead of the lines\n"
           "  -h, --help            this text\n"
           "Exit status: 0 right, 1 wrong data or no end, 2 bad options, 77 no GPU.\nRows:\n",
           dev_table.what, dev_table.scope_names,
           dev_table.grids ? "  -c, --blocks N        of bandwidths and rates\n" : "");
    for (int k = 0; k < dev_table.n_kinds; k++)
        printf("  %-18s %s, %s\n", dev_table.kinds[k].name, dev_table.kinds[k].what,
               dev_table.kinds[k].unit == DEV_US    ? "us"
               : dev_table.kinds[k].unit == DEV_GBS ? "GB/s"
                                                    : "Mmsg/s");
}

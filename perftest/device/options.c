/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of device programs beyond those of every program: letters as in NVSHMEM's own tests where these agree. */
#include "perftest/device/rows.h"

#include <stdio.h>

#define AT(field) offsetof(struct dev_options, field)
static const struct perf_option own[] = {
    {0, "scope", "S", PERF_WORD, AT(scope), .words = "thread,warp,block,stream,graph,host,all",
     .help = "who calls: thread, warp, block, stream, graph, host or all"},
    {'c', "blocks", "LIST", PERF_NUMBERS, AT(blocks), .least = 1, .most = 65536,
     .help = "of bandwidths and rates"},
    {'t', "threads", "N", PERF_COUNT, AT(threads), .least = 32, .most = 1024, .multiple = 32,
     .help = "of a block"},
    {0, "list", NULL, PERF_FLAG, AT(list), .help = "print the rows without running them"},
    {0, "pes", "N", PERF_COUNT, AT(pes), .least = 1, .most = 4096, .help = "of --list (2)"},
    {0, "peak", "GB/s", PERF_REAL, AT(peak), .least = 0, .most = 1e6, .help = "bandwidths in % of so much"},
    {0, "table", NULL, PERF_FLAG, AT(table), .help = "boxed tables instead of lines"},
    {.name = NULL}};
#undef AT

static const struct perf_moved moved[] = {
    {'n', true,
     "-n is the number of samples, as in every program; iterations of a kernel are -k, --iterations"},
    {'r', false, "samples are -n, --samples"},
    {'s', false, "-s is a list of sizes, as in every program; who calls is --scope"},
    {0}};

static const struct perf_defaults defaults = {.row_sizes = true,
                                              .samples = 11,
                                              .most_samples = DEV_SAMPLES_MAX,
                                              .warmup = 1,
                                              .seconds = -1,
                                              .batch_help =
                                                  "iterations of a kernel (0: enough for some milliseconds)",
                                              .own = own,
                                              .moved = moved};

static void help(const struct dev_options *o)
{
    static const char *const units[] = {"us", "GB/s", "Mmsg/s"};

    printf("%s. One line a row:\n  row scope size blocks threads median p25 p75 unit\n"
           "A sample is a kernel; sizes are for rows that have no fixed one; -m takes names or "
           "NAME.SCOPE.SIZE.BLOCKSxTHREADS\n",
           dev_table.what);
    perf_options_help(&o->perf, &defaults);
    printf("Exit status: 0 right, 1 wrong data or no end, 2 bad options, 77 no GPU.\nRows:\n");
    for (int k = 0; k < dev_table.n_kinds; k++)
        printf("  %-18s %s, %s\n", dev_table.kinds[k].name, dev_table.kinds[k].what,
               units[dev_table.kinds[k].unit]);
}

int dev_options_parse(struct dev_options *o, int argc, char **argv)
{
    char error[PERF_ERROR_TEXT];

    perf_name_set(dev_table.name);
    *o = (struct dev_options){.scope = DEV_SCOPES};
    if (perf_options_parse(&o->perf, &defaults, argc, argv, error)) {
        perf_complain("%s", error);
        return PERF_USAGE;
    }
    if (o->perf.help)
        help(o);
    return o->perf.help ? PERF_OK : -1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The options that the queue benchmark has beyond those of every program, and what goes together. */
#include "perftest/proxy/options.h"

#include "device/proxy/ring.h"

#include <stdio.h>

static const char head[] =
    "queue: what the rings to the proxy and its threads cost, with no network behind: a transport that "
    "throws away\n"
    "what it is given, after it has compared the bytes of one put in 1000.\n"
    "Usage: queue [options]\n"
    "Rows:\n"
    "  drain        ns of a proxy thread for a record that waits in its ring (nobody pushes meanwhile)\n"
    "  drain_zero_copy  the same for zero-copy puts, which carry an address instead of the payload\n"
    "  drain_efa    the same through the efa transport, as row efa\n"
    "  push, push_zero_copy  ns of a producer for a record, into rings with room that nobody empties "
    "meanwhile\n"
    "  put          puts a second, pushed and taken at the same time\n"
    "  zero_copy    the same of zero-copy puts\n"
    "  efa          the same through the efa transport, whose provider completes what it is given and moves "
    "nothing\n"
    "  efa_blocking  the same with a quiet after each put: its time\n"
    "  flag         round trip of a word between producer and CPU, without a ring: the limit of ack\n"
    "  ack          round trip of a fetching addition through the proxy\n"
    "  quiet        what a quiet costs after so many puts\n";

#define AT(field) offsetof(struct queue_options, field)
static const struct perf_option own[] = {
    {0, "threads", "LIST", PERF_NUMBERS, AT(threads), .least = 1, .most = WSH_CONSUMERS_MAX,
     .help = "proxy threads"},
    {0, "producers", "LIST", PERF_NUMBERS, AT(producers), .least = 1, .most = 1 << 20,
     .help = "CPU threads or lanes that push"},
    {0, "outstanding", "LIST", PERF_NUMBERS, AT(outstanding), .least = 1, .most = 1 << 20,
     .help = "puts before a quiet"},
    {0, "block", "N", PERF_COUNT, AT(block), .least = 1, .most = 1024,
     .help = "producers that share a ring; of a kernel: its block"},
    {0, "rings", "N", PERF_COUNT, AT(rings), .least = 1, .most = WSH_RINGS_MAX,
     .help = "rings of each proxy thread, at most 16 of all together"},
    {0, "pes", "N", PERF_COUNT, AT(n_pes), .least = 1, .most = 1 << 16,
     .help = "PEs to which puts go in turn"},
    {0, "nics", "LIST", PERF_NUMBERS, AT(nics), .least = 1, .most = 4, .help = "NICs of rows efa"},
    {0, "queue", "MEMORY", PERF_WORD, AT(memory), .words = "pinned,managed,gdr,all",
     .help = "where the rings of a kernel lie: pinned, managed, gdr (the GPU's, by GDRCopy) or all, in turn"},
    {0, "trips", "N", PERF_COUNT, AT(trips), .least = 1, .most = 1 << 30,
     .help = "round trips or quiets of a sample"},
    {.name = NULL}};
#undef AT

static const struct perf_moved moved[] = {
    {'t', false, "proxy threads are --threads"},
    {'p', false, "producers are --producers"},
    {'o', false, "puts before a quiet are --outstanding"},
    {'r', false, "rings are --rings"},
    {'i', false, "round trips are --trips"},
    {'n', true, "-n is the number of samples, as in every program; puts of a sample are -k, --batch"},
    {'k', true, "-k is the number of puts of a sample, as in every program; samples are -n, --samples"},
    {'b', true, "-b is the smallest size, as in every program; producers that share a ring are --block"},
    {'e', true, "-e is the largest size, as in every program; PEs are --pes"},
    {0}};

static const struct perf_defaults defaults = {.list = "8,256,4096",
                                              .row_sizes = true,
                                              .multiple = 8,
                                              .samples = 5,
                                              .most_samples = 100,
                                              .warmup = -1,
                                              .seconds = -1,
                                              .batch = 200000,
                                              .batch_help = "puts of a sample",
                                              .own = own,
                                              .moved = moved};

static int options_check(const struct queue_options *o, char *error)
{
    static const char *const rows[] = {
        "drain", "drain_zero_copy", "drain_efa", "push", "push_zero_copy", "put", "zero_copy",
        "efa",   "efa_blocking",    "flag",      "ack",  "quiet",          NULL};

    for (int i = 0; i < o->common.nsizes; i++)
        if (o->common.sizes[i] > WSH_RING_PART &&
            (o->common.sizes[i] > QUEUE_LONGEST || o->common.sizes[i] & (o->common.sizes[i] - 1))) {
            snprintf(
                error, PERF_ERROR_TEXT,
                "size %zu: a put has at most %d bytes here, a zero-copy one also a power of two up to %d",
                o->common.sizes[i], WSH_RING_PART, QUEUE_LONGEST);
            return -1;
        }
    for (int i = 0; i < o->threads.n; i++)
        if (o->threads.value[i] * o->rings > WSH_RINGS_MAX) {
            snprintf(error, PERF_ERROR_TEXT, "%ld threads of %ld rings: there may be %d rings in all",
                     o->threads.value[i], o->rings, WSH_RINGS_MAX);
            return -1;
        }
    return perf_options_check_rows(&o->common, rows, error);
}

int queue_options_parse(struct queue_options *o, int argc, char **argv)
{
    char error[PERF_ERROR_TEXT];

    *o = (struct queue_options){.threads = {1, {1}},
                                .producers = {2, {1, 2}},
                                .outstanding = {3, {1, 64, 4096}},
                                .rings = 2,
                                .block = 1,
                                .n_pes = 64,
                                .nics = {1, {1}},
                                .trips = 1000};
    if (perf_options_parse(&o->common, &defaults, argc, argv, error) || options_check(o, error)) {
        perf_complain("%s", error);
        return -1;
    }
    if (!o->common.help)
        return 0;
    fputs(head, stdout);
    perf_options_help(&o->common, &defaults);
    return 1;
}

bool queue_options_want(const struct queue_options *o, const char *row)
{
    return perf_list_fits(o->common.rows, row, NULL);
}

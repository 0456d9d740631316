/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of the queue benchmark. */
#include "perftest/proxy/options.h"

#include "device/ring.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "queue: what the rings to the proxy and its threads cost, with no network behind: a transport that "
    "throws away\n"
    "what it is given, after it has compared the bytes of one put in 1000.\n"
    "Usage: queue [options]\n"
    "Rows:\n"
    "  drain  ns of a proxy thread for a record that waits in its ring (nobody pushes meanwhile)\n"
    "  put    puts a second, pushed and taken at the same time\n"
    "  flag   round trip of a word between producer and CPU, without a ring: the limit of ack\n"
    "  ack    round trip of a fetching addition through the proxy\n"
    "  quiet  what a quiet costs after so many puts\n"
    "Options:\n"
    "  --rows LIST        rows, separated by commas (all)\n"
    "  -t, --threads LIST proxy threads, 1 to 8 (1)\n"
    "  -p, --producers L  CPU threads or lanes that push (1,2)\n"
    "  -s, --sizes LIST   bytes of a put, multiples of 8 to 65536 (8,256,4096)\n"
    "  -o, --outstanding  puts before a quiet (1,64,4096)\n"
    "  -b, --block N      producers that share a ring (1; of a kernel: its block, at most 1024)\n"
    "  -r, --rings N      rings of each proxy thread, 1 to 16 for all together (2)\n"
    "  -e, --pes N        PEs to which puts go in turn (64)\n"
    "  -n, --records N    puts of a sample (200000)\n"
    "  -i, --trips N      round trips or quiets of a sample (1000)\n"
    "  -k, --samples N    samples of a row, of which the median is printed (5)\n"
    "  --csv FILE         rows as CSV too\n";

struct spec {
    const char *letter, *word;
    size_t at;
    bool list;
    uint32_t least, most, multiple;
};

#define AT(field) offsetof(struct queue_options, field)
static const struct spec specs[] = {{"-t", "--threads", AT(threads), true, 1, WSH_CONSUMERS_MAX, 1},
                                    {"-p", "--producers", AT(producers), true, 1, 1u << 20, 1},
                                    {"-s", "--sizes", AT(sizes), true, 8, WSH_RING_PART, 8},
                                    {"-o", "--outstanding", AT(outstanding), true, 1, 1u << 20, 1},
                                    {"-b", "--block", AT(block), false, 1, 1024, 1},
                                    {"-r", "--rings", AT(rings), false, 1, WSH_RINGS_MAX, 1},
                                    {"-e", "--pes", AT(n_pes), false, 1, 1u << 16, 1},
                                    {"-n", "--records", AT(records), false, 1, 1u << 30, 1},
                                    {"-i", "--trips", AT(trips), false, 1, 1u << 30, 1},
                                    {"-k", "--samples", AT(samples), false, 1, 100, 1}};
#undef AT

static bool take_list(const struct spec *spec, const char *text, struct queue_list *list)
{
    char *end = (char *)text;

    list->n = 0;
    do {
        unsigned long value = strtoul(text, &end, 10);

        if (end == text || (*end && *end != ',') || value < spec->least || value > spec->most ||
            value % spec->multiple || list->n == QUEUE_LIST)
            return false;
        list->value[list->n++] = (uint32_t)value;
        text = end + 1;
    } while (*end);
    return true;
}

static bool take(const struct spec *spec, const char *text, struct queue_options *o)
{
    void *at = (char *)o + spec->at;
    struct queue_list list;

    if (take_list(spec, text, &list) && (spec->list || list.n == 1)) {
        if (spec->list)
            memcpy(at, &list, sizeof list);
        else
            memcpy(at, list.value, sizeof(uint32_t));
        return true;
    }
    fprintf(stderr, "queue: option %s: '%s' is not %s from %u to %u, a multiple of %u\n", spec->word, text,
            spec->list ? "a list of numbers" : "a number", spec->least, spec->most, spec->multiple);
    return false;
}

static const struct spec *spec_of(const char *word)
{
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        if (!strcmp(word, specs[i].letter) || !strcmp(word, specs[i].word))
            return &specs[i];
    return NULL;
}

static bool rows_are_known(const char *rows)
{
    static const char known[] = ",drain,put,flag,ack,quiet,";

    for (const char *p = rows; p; p = strchr(p, ',')) {
        char word[16];

        p += *p == ',';
        snprintf(word, sizeof word, ",%.*s,", (int)strcspn(p, ","), p);
        if (!strstr(known, word)) {
            fprintf(stderr, "queue: option --rows: no row '%.*s' (see --help)\n", (int)strcspn(p, ","), p);
            return false;
        }
    }
    return true;
}

static bool take_word(struct queue_options *o, const char *word, const char *value)
{
    const struct spec *spec = spec_of(word);

    if (!spec && strcmp(word, "--rows") && strcmp(word, "--csv")) {
        fprintf(stderr, "queue: '%s' is no option (see --help)\n", word);
        return false;
    }
    if (!value) {
        fprintf(stderr, "queue: option %s: the value is missing\n", word);
        return false;
    }
    if (spec)
        return take(spec, value, o);
    *(strcmp(word, "--rows") ? &o->csv : &o->rows) = value;
    return strcmp(word, "--rows") || rows_are_known(value);
}

bool queue_options_parse(struct queue_options *o, int argc, char **argv)
{
    *o = (struct queue_options){.threads = {1, {1}},
                                .producers = {2, {1, 2}},
                                .sizes = {3, {8, 256, 4096}},
                                .outstanding = {3, {1, 64, 4096}},
                                .rings = 2,
                                .block = 1,
                                .n_pes = 64,
                                .records = 200000,
                                .trips = 1000,
                                .samples = 5};
    for (int i = 1; i < argc; i += 2) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            fputs(help, stdout);
            o->help = true;
            return true;
        }
        if (!take_word(o, argv[i], argv[i + 1]))
            return false;
    }
    for (unsigned i = 0; i < o->threads.n; i++)
        if (o->threads.value[i] * o->rings > WSH_RINGS_MAX) {
            fprintf(stderr, "queue: %u threads of %u rings: there may be %d rings in all\n",
                    o->threads.value[i], o->rings, WSH_RINGS_MAX);
            return false;
        }
    return true;
}

bool queue_options_want(const struct queue_options *o, const char *row)
{
    size_t len = strlen(row);

    for (const char *p = o->rows; p; p = strchr(p, ',')) {
        p += *p == ',';
        if (strcspn(p, ",") == len && !strncmp(p, row, len))
            return true;
    }
    return !o->rows;
}

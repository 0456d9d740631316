/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines of perftest programs: parsing, defaults, and help. */
#include "perftest/common/options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_JSON = 256, OPT_CSV, OPT_SECONDS };

static const struct option long_options[] = {
    {"begin", required_argument, NULL, 'b'},
    {"end", required_argument, NULL, 'e'},
    {"factor", required_argument, NULL, 'f'},
    {"sizes", required_argument, NULL, 's'},
    {"samples", required_argument, NULL, 'n'},
    {"warmup", required_argument, NULL, 'w'},
    {"batch", required_argument, NULL, 'k'},
    {"window", required_argument, NULL, 'W'},
    {"mode", required_argument, NULL, 'm'},
    {"provider", required_argument, NULL, 'p'},
    {"seconds", required_argument, NULL, OPT_SECONDS},
    {"json", required_argument, NULL, OPT_JSON},
    {"csv", required_argument, NULL, OPT_CSV},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static const char short_options[] = ":b:e:f:s:n:w:k:W:m:p:h";

/* What the loop over sizes is made from, before it is expanded. */
struct size_range {
    size_t begin;
    size_t end;
    double factor;
    const char *list;
};

static size_t size_suffix(const char *text)
{
    if (*text == '\0')
        return 1;
    const char *units = "kKmMgG";
    const char *found = strchr(units, *text);
    if (!found || (text[1] && strcmp(text + 1, "i") && strcmp(text + 1, "iB")))
        return 0;
    return (size_t)1 << (10 * ((found - units) / 2 + 1));
}

/* Accepts 64, 64k, 64Ki, 64KiB, 1M …; `end` is left behind what was read when it is not NULL. */
static int parse_size(const char *text, size_t *value)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    size_t unit = size_suffix(end);
    if (end == text || *text == '-' || errno || unit == 0 || n == 0 || n > (SIZE_MAX >> 2) / unit)
        return -1;
    *value = (size_t)n * unit;
    return 0;
}

static int parse_long(const char *text, long min, long max, long *value)
{
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (end == text || *end || errno || n < min || n > max)
        return -1;
    *value = n;
    return 0;
}

static int parse_double(const char *text, double above, double *value)
{
    char *end;
    double x = strtod(text, &end);
    if (end == text || *end || !(x > above) || x > 1e6)
        return -1;
    *value = x;
    return 0;
}

static int refuse(char *error, const char *option, const char *value, const char *expected)
{
    snprintf(error, PERF_ERROR_TEXT, "option %s: '%s' is not %s", option, value, expected);
    return -1;
}

static int sizes_add(struct perf_options *o, const struct perf_defaults *d, size_t size, char *error)
{
    if (o->nsizes == PERF_MAX_SIZES) {
        snprintf(error, PERF_ERROR_TEXT, "more than %d sizes; take a larger factor (-f)", PERF_MAX_SIZES);
        return -1;
    }
    if (d->multiple && size % d->multiple) {
        snprintf(error, PERF_ERROR_TEXT, "size %zu: with this library every size is a multiple of %zu bytes",
                 size, d->multiple);
        return -1;
    }
    o->sizes[o->nsizes++] = size;
    return 0;
}

static int sizes_from_list(struct perf_options *o, const struct perf_defaults *d, const char *list,
                           char *error)
{
    char item[32];
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, ",");
        snprintf(item, sizeof(item), "%.*s", (int)(n < sizeof(item) ? n : sizeof(item) - 1), p);
        size_t size;
        if (parse_size(item, &size))
            return refuse(error, "-s", list, "a list such as 8,1k,64k,1M");
        if (sizes_add(o, d, size, error))
            return -1;
        p += n + (p[n] == ',');
    }
    return o->nsizes ? 0 : refuse(error, "-s", list, "a list such as 8,1k,64k,1M");
}

static int sizes_from_range(struct perf_options *o, const struct perf_defaults *d,
                            const struct size_range *range, char *error)
{
    if (range->begin > range->end) {
        snprintf(error, PERF_ERROR_TEXT, "begin size -b %zu is larger than end size -e %zu", range->begin,
                 range->end);
        return -1;
    }
    size_t multiple = d->multiple ? d->multiple : 1;
    for (size_t size = range->begin; size <= range->end;) {
        if (sizes_add(o, d, size, error))
            return -1;
        size_t next = (size_t)((double)size * range->factor) / multiple * multiple;
        size = next > size ? next : size + multiple;
    }
    return 0;
}

static int sizes_expand(struct perf_options *o, const struct perf_defaults *d, const struct size_range *range,
                        char *error)
{
    if (range->list)
        return sizes_from_list(o, d, range->list, error);
    if (d->end)
        return sizes_from_range(o, d, range, error);
    o->nsizes = 1;
    o->sizes[0] = 0;
    return 0;
}

static bool takes(const struct perf_defaults *d, int option)
{
    if (strchr("befs", option))
        return d->end != 0;
    if (option == 'W')
        return d->window != 0;
    if (option == 'p')
        return d->provider != NULL;
    return true;
}

static int take_size(struct size_range *range, int option, const char *value, char *error)
{
    switch (option) {
    case 'b': return parse_size(value, &range->begin) ? refuse(error, "-b", value, "a size in bytes") : 0;
    case 'e': return parse_size(value, &range->end) ? refuse(error, "-e", value, "a size in bytes") : 0;
    case 'f':
        return parse_double(value, 1, &range->factor) ? refuse(error, "-f", value, "a factor above 1") : 0;
    default: range->list = value; return 0;
    }
}

static int take_count(struct perf_options *o, int option, const char *value, char *error)
{
    switch (option) {
    case 'n':
        return parse_long(value, 1, 1000000, &o->samples)
                   ? refuse(error, "-n", value, "a number of samples from 1 to 1000000")
                   : 0;
    case 'w':
        return parse_long(value, 0, 1000000, &o->warmup)
                   ? refuse(error, "-w", value, "a number of batches from 0 to 1000000")
                   : 0;
    case 'k':
        return parse_long(value, 0, LONG_MAX, &o->batch)
                   ? refuse(error, "-k", value, "a number of operations per batch")
                   : 0;
    case 'W':
        return parse_long(value, 1, 65536, &o->window)
                   ? refuse(error, "-W", value, "a window from 1 to 65536 operations")
                   : 0;
    default:
        return parse_double(value, 0, &o->seconds) ? refuse(error, "--seconds", value, "a time above 0") : 0;
    }
}

static int take(struct perf_options *o, struct size_range *range, int option, const char *value, char *error)
{
    if (option < 256 && strchr("befs", option))
        return take_size(range, option, value, error);
    switch (option) {
    case 'm': o->only = value; return 0;
    case 'p': o->provider = value; return 0;
    case 'h': o->help = true; return 0;
    case OPT_JSON: o->json = value; return 0;
    case OPT_CSV: o->csv = value; return 0;
    default: return take_count(o, option, value, error);
    }
}

static int read_options(struct perf_options *o, struct size_range *range, const struct perf_defaults *d,
                        int argc, char **argv, char *error)
{
    int option;
    opterr = 0;
    optind = 1;
    while ((option = getopt_long(argc, argv, short_options, long_options, NULL)) != -1) {
        const char *given = argv[optind - 1];
        if (option == ':')
            snprintf(error, PERF_ERROR_TEXT, "option %s needs a value (see --help)", given);
        else if (option == '?' || (option < 256 && !takes(d, option)))
            snprintf(error, PERF_ERROR_TEXT, "unknown option -%c in '%s' (see --help)",
                     option == '?' ? (optopt ? optopt : '-') : option, given);
        else if (take(o, range, option, optarg, error) == 0)
            continue;
        return -1;
    }
    if (optind < argc) {
        snprintf(error, PERF_ERROR_TEXT, "unexpected argument '%s' (see --help)", argv[optind]);
        return -1;
    }
    return 0;
}

int perf_options_parse(struct perf_options *o, const struct perf_defaults *defaults, int argc, char **argv,
                       char *error)
{
    *o = (struct perf_options){.samples = 400,
                               .warmup = 20,
                               .seconds = 1,
                               .window = defaults->window,
                               .provider = defaults->provider};
    struct size_range range = {defaults->begin, defaults->end, 2, NULL};
    if (read_options(o, &range, defaults, argc, argv, error))
        return -1;
    return sizes_expand(o, defaults, &range, error);
}

bool perf_options_want(const struct perf_options *o, const char *name)
{
    if (!o->only)
        return true;
    size_t len = strlen(name);
    for (const char *p = o->only; *p;) {
        size_t n = strcspn(p, ",");
        if (n == len && !strncmp(p, name, n))
            return true;
        p += n + (p[n] == ',');
    }
    return false;
}

void perf_options_help(const struct perf_defaults *d)
{
    printf("Options:\n");
    if (d->end) {
        printf("  -b, --begin SIZE    smallest message (%zu); 64, 64k, 1M …\n", d->begin);
        printf("  -e, --end SIZE      largest message (%zu)\n", d->end);
        printf("  -f, --factor F      from one size to the next (2)\n");
        printf("  -s, --sizes LIST    these sizes instead, such as 8,1k,64k,1M\n");
    }
    printf("  -n, --samples N     timed batches per row (400)\n");
    printf("  -w, --warmup N      batches before them (20)\n");
    printf("  -k, --batch N       operations per batch (0: enough to hide the clock's cost)\n");
    printf("      --seconds S     longest time of a row; fewer samples are taken then (1)\n");
    if (d->window)
        printf("  -W, --window N      operations before each quiet (%ld)\n", d->window);
    if (d->provider)
        printf("  -p, --provider P    libfabric provider (%s)\n", d->provider);
    printf("  -m, --mode LIST     only these rows, by name\n");
    printf("      --json FILE     write JSON; - for stdout instead of the table\n");
    printf("      --csv FILE      write CSV; - for stdout instead of the table\n");
    printf("  -h, --help          this text\n");
    printf("Exit status: 0 right, 1 wrong data, 2 bad options, 77 lacks the routine.\n");
}

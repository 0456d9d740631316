/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines of perftest programs: parsing, defaults, and help. */
#include "perftest/common/progress.h"
#include "perftest/common/values.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define AT(field) offsetof(struct perf_options, field)
static const struct perf_option common[] = {
    {'b', "begin", "SIZE", PERF_SIZE, AT(begin), .help = "smallest message; 64, 64k, 1M …"},
    {'e', "end", "SIZE", PERF_SIZE, AT(end), .help = "largest message"},
    {'f', "factor", "F", PERF_REAL, AT(factor), .help = "from one size to the next", .least = 1},
    {'s', "sizes", "LIST", PERF_TEXT, AT(list), .help = "these sizes instead, such as 8,1k,64k,1M"},
    {'n', "samples", "N", PERF_COUNT, AT(samples), .help = "timed batches per row", .least = 1, .most = 1e6},
    {'w', "warmup", "N", PERF_COUNT, AT(warmup), .help = "batches before them", .least = 0, .most = 1e6},
    {'k', "batch", "N", PERF_COUNT, AT(batch),
     .help = "operations per batch (0: enough to hide the clock's cost)", .least = 0, .most = 1e12},
    {0, "seconds", "S", PERF_REAL, AT(seconds),
     .help = "longest time of a row; fewer samples are taken then"},
    {'W', "window", "N", PERF_COUNT, AT(window), .help = "operations before each quiet", .least = 1,
     .most = 65536},
    {'p', "provider", "P", PERF_TEXT, AT(provider), .help = "libfabric provider"},
    {'m', "rows", "LIST", PERF_TEXT, AT(rows), .help = "only these rows, by name, with * and ?"},
    {0, "json", "FILE", PERF_TEXT, AT(json), .help = "write JSON; - for stdout instead of the table"},
    {0, "csv", "FILE", PERF_TEXT, AT(csv), .help = "write CSV; - for stdout instead of the table"},
    {0, "progress", NULL, PERF_FLAG, AT(progress),
     .help = "rows that take long on stderr also where that is no terminal"},
    {'h', "help", NULL, PERF_FLAG, AT(help), .help = "this text"},
    {.name = NULL},
};
#undef AT

/* Other names of options. */
static const struct option other_names[] = {{"mode", required_argument, NULL, 'm'},
                                            {"variants", required_argument, NULL, 'm'},
                                            {"iterations", required_argument, NULL, 'k'},
                                            {"records", required_argument, NULL, 'k'}};

/* The options that one program takes, for getopt_long. An option without a letter has a number above all letters. */
enum { NO_LETTER = 256, MAX_OPTIONS = 40 };
struct table {
    const struct perf_option *rows[MAX_OPTIONS];
    int n;
    struct option names[MAX_OPTIONS + 5];
    char letters[2 * MAX_OPTIONS + 2];
};

static bool option_taken(const struct perf_defaults *d, const struct perf_option *row)
{
    switch (row->letter) {
    case 'b':
    case 'e':
    case 'f':
    case 's': return d->end || d->row_sizes;
    case 'W': return d->window != 0;
    case 'p': return d->provider != NULL;
    case 'w': return d->warmup >= 0;
    default: return strcmp(row->name, "seconds") || d->seconds >= 0;
    }
}

static void table_add(struct table *t, const struct perf_option *row)
{
    bool value = row->kind != PERF_FLAG;

    t->names[t->n] = (struct option){row->name, value ? required_argument : no_argument, NULL,
                                     row->letter ? row->letter : NO_LETTER + t->n};
    t->rows[t->n++] = row;
    if (row->letter)
        snprintf(t->letters + strlen(t->letters), 3, "%c%s", row->letter, value ? ":" : "");
}

static void table_make(struct table *t, const struct perf_defaults *d)
{
    *t = (struct table){.letters = ":"};
    for (const struct perf_option *row = d->own; row && row->name; row++)
        table_add(t, row);
    for (const struct perf_option *row = common; row->name; row++)
        if (option_taken(d, row))
            table_add(t, row);
    memcpy(t->names + t->n, other_names, sizeof(other_names));
}

static const struct perf_option *table_find(const struct table *t, int option)
{
    if (option >= NO_LETTER)
        return t->rows[option - NO_LETTER];
    for (int i = 0; i < t->n; i++)
        if (t->rows[i]->letter == option)
            return t->rows[i];
    return NULL;
}

/* Limits that a program may have set for itself. */
static struct perf_option limits_of(const struct perf_option *row, const struct perf_defaults *d)
{
    struct perf_option own = *row;

    if (row->letter == 'n' && d->most_samples)
        own.most = (double)d->most_samples;
    if (row->letter == 'k' && d->batch)
        own.least = 1;
    return own;
}

static const struct perf_moved *moved_find(const struct perf_defaults *d, int letter)
{
    for (const struct perf_moved *moved = d->moved; moved && moved->letter; moved++)
        if (moved->letter == letter)
            return moved;
    return NULL;
}

/* Adds to an error what the letter means now. */
static void moved_append(const struct perf_moved *moved, char *error)
{
    size_t used = strlen(error);

    if (moved)
        snprintf(error + used, PERF_ERROR_TEXT - used, "; %s", moved->now);
}

static void unknown_say(const struct perf_defaults *d, int option, const char *given, char *error)
{
    const struct perf_moved *moved = moved_find(d, optopt);

    if (option == ':')
        snprintf(error, PERF_ERROR_TEXT, "option %s needs a value (see --help)", given);
    else if (moved && given[1] != '-')
        snprintf(error, PERF_ERROR_TEXT, "option -%c: %s (see --help)", optopt, moved->now);
    else
        snprintf(error, PERF_ERROR_TEXT, "unknown option '%.60s' (see --help)", given);
}

static int options_read(struct perf_options *o, const struct perf_defaults *d, char *error)
{
    struct table t;
    int option, index = -1;

    table_make(&t, d);
    opterr = 0;
    optind = 1;
    while ((option = getopt_long(o->argc, o->argv, t.letters, t.names, &index)) != -1) {
        const struct perf_option *row = table_find(&t, option);
        const struct perf_moved *moved = index < 0 ? moved_find(d, option) : NULL;
        if (!row) {
            unknown_say(d, option, o->argv[optind - 1], error);
            return -1;
        }
        struct perf_option limits = limits_of(row, d);
        if (perf_value_set(o, &limits, optarg, error)) {
            moved_append(moved, error);
            return -1;
        }
        if (moved && moved->note)
            o->note = moved->now;
        index = -1;
    }
    if (optind == o->argc)
        return 0;
    snprintf(error, PERF_ERROR_TEXT, "unexpected argument '%.60s' (see --help)", o->argv[optind]);
    return -1;
}

static int sizes_add(struct perf_options *o, const struct perf_defaults *d, size_t size, char *error)
{
    if (o->nsizes == PERF_MAX_SIZES) {
        snprintf(error, PERF_ERROR_TEXT, "more than %d sizes; take a larger factor (-f)", PERF_MAX_SIZES);
        return -1;
    }
    if (d->multiple && size % d->multiple) {
        snprintf(error, PERF_ERROR_TEXT, "size %zu: every size is a multiple of %zu bytes here", size,
                 d->multiple);
        return -1;
    }
    o->sizes[o->nsizes++] = size;
    return 0;
}

static int sizes_from_list(struct perf_options *o, const struct perf_defaults *d, char *error)
{
    char word[32];
    size_t size;

    for (const char *at = o->list; perf_list_next(&at, word, sizeof(word));) {
        if (perf_size_parse(word, &size)) {
            o->nsizes = 0;
            break;
        }
        if (sizes_add(o, d, size, error))
            return -1;
    }
    if (o->nsizes)
        return 0;
    snprintf(error, PERF_ERROR_TEXT, "option -s: '%.60s' is not a list of sizes such as 8,1k,64k,1M",
             o->list);
    moved_append(moved_find(d, 's'), error);
    return -1;
}

static int sizes_from_range(struct perf_options *o, const struct perf_defaults *d, char *error)
{
    if (o->begin > o->end) {
        snprintf(error, PERF_ERROR_TEXT, "begin size -b %zu is larger than end size -e %zu", o->begin,
                 o->end);
        return -1;
    }
    size_t multiple = d->multiple ? d->multiple : 1;
    for (size_t size = o->begin; size <= o->end;) {
        if (sizes_add(o, d, size, error))
            return -1;
        size_t next = (size_t)((double)size * o->factor) / multiple * multiple;
        size = next > size ? next : size + multiple;
    }
    return 0;
}

static int sizes_expand(struct perf_options *o, const struct perf_defaults *d, char *error)
{
    if (d->list && !o->list && !o->begin && !o->end)
        o->list = d->list;
    if (o->list)
        return sizes_from_list(o, d, error);
    if (d->row_sizes && o->begin && !o->end)
        o->end = o->begin > 4 << 20 ? o->begin : 4 << 20;
    if (d->row_sizes && o->end && !o->begin)
        o->begin = 8;
    if (o->end)
        return sizes_from_range(o, d, error);
    o->nsizes = !d->row_sizes;
    return 0;
}

static long value_or(long value, long otherwise)
{
    return value ? value : otherwise;
}

int perf_options_parse(struct perf_options *o, const struct perf_defaults *d, int argc, char **argv,
                       char *error)
{
    *o = (struct perf_options){.begin = d->begin,
                               .end = d->end,
                               .factor = 2,
                               .samples = value_or(d->samples, 400),
                               .warmup = value_or(d->warmup, 20),
                               .batch = d->batch,
                               .seconds = d->seconds > 0 ? d->seconds : 1,
                               .window = d->window,
                               .provider = d->provider,
                               .argc = argc,
                               .argv = argv};
    int status = options_read(o, d, error) || sizes_expand(o, d, error) ? -1 : 0;
    if (o->progress)
        perf_progress_always();
    return status;
}

int perf_options_check_rows(const struct perf_options *o, const char *const *names, char *error)
{
    char pattern[128];

    for (const char *at = o->rows; at && perf_list_next(&at, pattern, sizeof(pattern));) {
        const char *const *name = names;
        while (*name && !perf_list_fits(pattern, *name, NULL))
            name++;
        if (*name)
            continue;
        snprintf(error, PERF_ERROR_TEXT, "option -m: no row '%.40s' (see --help)", pattern);
        return -1;
    }
    return 0;
}

/* The default of an option in parentheses, where there is one. */
static void default_print(const struct perf_options *o, const struct perf_option *row)
{
    const void *at = (const char *)o + row->at;

    if (row->kind == PERF_COUNT && *(const long *)at)
        printf(" (%ld)", *(const long *)at);
    else if (row->kind == PERF_SIZE && *(const size_t *)at)
        printf(" (%zu)", *(const size_t *)at);
    else if (row->kind == PERF_REAL)
        printf(" (%g)", *(const double *)at);
    else if (row->letter == 'p' && *o->provider)
        printf(" (%s)", o->provider);
    for (int i = 0; row->kind == PERF_NUMBERS && i < ((const struct perf_numbers *)at)->n; i++)
        printf("%s%ld%s", i ? "," : " (", ((const struct perf_numbers *)at)->value[i],
               i + 1 < ((const struct perf_numbers *)at)->n ? "" : ")");
}

void perf_options_help(const struct perf_options *o, const struct perf_defaults *d)
{
    struct table t;

    table_make(&t, d);
    printf("Options:\n");
    for (int i = 0; i < t.n; i++) {
        const struct perf_option *row = t.rows[i];
        bool batch = row->letter == 'k' && d->batch_help;
        char letter[8] = "   ", name[40];
        if (row->letter)
            snprintf(letter, sizeof(letter), "-%c,", row->letter);
        snprintf(name, sizeof(name), "--%s %s", row->name, row->value ? row->value : "");
        printf("  %s %-17s %s", letter, name, batch ? d->batch_help : row->help);
        default_print(o, row);
        printf("\n");
    }
}

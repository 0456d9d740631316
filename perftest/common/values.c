/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of options: how each type is read, and what is said of one that is not of its type. */
#include "perftest/common/values.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int perf_size_parse(const char *text, size_t *size)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    size_t unit = size_suffix(end);
    if (end == text || *text == '-' || errno || unit == 0 || n == 0 || n > (SIZE_MAX >> 2) / unit)
        return -1;
    *size = (size_t)n * unit;
    return 0;
}

static bool long_parse(const struct perf_option *row, const char *text, long *value)
{
    char *end;
    errno = 0;
    *value = strtol(text, &end, 10);
    return end != text && !*end && !errno && (double)*value >= row->least && (double)*value <= row->most &&
           !(row->multiple && *value % row->multiple);
}

static bool numbers_parse(const struct perf_option *row, const char *text, struct perf_numbers *numbers)
{
    char word[32];

    numbers->n = 0;
    while (numbers->n < PERF_MAX_NUMBERS && perf_list_next(&text, word, sizeof(word)))
        if (!long_parse(row, word, &numbers->value[numbers->n++]))
            return false;
    return numbers->n && !*text;
}

static bool word_parse(const struct perf_option *row, const char *text, long *value)
{
    char word[32];

    *value = 0;
    for (const char *at = row->words; perf_list_next(&at, word, sizeof(word)); ++*value)
        if (!strcmp(text, word))
            return true;
    return false;
}

static bool real_parse(const struct perf_option *row, const char *text, double *value)
{
    char *end;

    *value = strtod(text, &end);
    return end != text && !*end && *value > row->least && *value < 1e9;
}

/* What the option accepts, for the message that follows "is not". */
static const char *expected(const struct perf_option *row, char *text, size_t len)
{
    const char *list = row->kind == PERF_NUMBERS ? "a list of numbers" : "a number";
    char multiple[40] = "";

    if (row->multiple)
        snprintf(multiple, sizeof(multiple), ", a multiple of %ld", row->multiple);
    switch (row->kind) {
    case PERF_SIZE: return "a size such as 8, 64k or 4M";
    case PERF_WORD: snprintf(text, len, "one of %s", row->words); break;
    case PERF_REAL: snprintf(text, len, "a number above %.0f", row->least); break;
    default:
        snprintf(text, len, "%s%s%s from %.0f to %.0f%s", row->words ? row->words : "",
                 row->words ? " or " : "", list, row->least, row->most, multiple);
    }
    return text;
}

int perf_value_set(void *options, const struct perf_option *limits, const char *value, char *error)
{
    void *at = (char *)options + limits->at;
    char text[120];
    bool good = true;

    switch (limits->kind) {
    case PERF_FLAG: *(bool *)at = true; break;
    case PERF_TEXT: *(const char **)at = value; break;
    case PERF_SIZE: good = !perf_size_parse(value, at); break;
    case PERF_WORD: good = word_parse(limits, value, at); break;
    case PERF_REAL: good = real_parse(limits, value, at); break;
    case PERF_NUMBERS: good = numbers_parse(limits, value, at); break;
    case PERF_COUNT:
        if (limits->words && !strcmp(value, limits->words))
            *(long *)at = 0;
        else
            good = long_parse(limits, value, at);
    }
    if (good)
        return 0;
    snprintf(error, PERF_ERROR_TEXT, "option %s%s: '%.60s' is not %s", limits->letter ? "-" : "--",
             limits->letter ? (char[]){limits->letter, 0} : limits->name, value,
             expected(limits, text, sizeof(text)));
    return -1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines on stderr, clocks, lists of words. */
#include "perftest/common/base.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *program_name = "perftest";

void perf_name_set(const char *program)
{
    program_name = program;
}

void perf_complain(const char *format, ...)
{
    char line[512];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    fprintf(stderr, "%s: %s\n", program_name, line);
}

static double clock_read(clockid_t clock)
{
    struct timespec ts;

    clock_gettime(clock, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

double perf_now(void)
{
    return clock_read(CLOCK_MONOTONIC);
}

double perf_cpu_now(void)
{
    return clock_read(CLOCK_PROCESS_CPUTIME_ID);
}

double perf_machine(void)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    uint64_t mixed = 0;

    for (int c; file && (c = fgetc(file)) != EOF;)
        mixed = (mixed ^ (uint64_t)c) * 0x100000001b3u;
    if (file)
        fclose(file);
    return (double)(mixed >> 12);
}

bool perf_list_next(const char **at, char *word, size_t len)
{
    size_t n = strcspn(*at, ",");

    if (!**at)
        return false;
    snprintf(word, len, "%.*s", (int)n, *at);
    *at += n + ((*at)[n] == ',');
    return true;
}

bool perf_list_fits(const char *list, const char *name, const char *id)
{
    char pattern[128];

    for (const char *at = list; at && perf_list_next(&at, pattern, sizeof(pattern));)
        if (!fnmatch(pattern, name, 0) || (id && !fnmatch(pattern, id, 0)))
            return true;
    return !list;
}

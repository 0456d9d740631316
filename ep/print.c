/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes each line as a whole to stderr. */
#define _GNU_SOURCE
#include "ep/print.h"

#include <shmemx.h>
#include <shmemx_ep.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int print_pe = -1;
static __thread char last_error[1024], read_error[1024];

void ep_print_pe(int pe)
{
    print_pe = pe;
}

static bool errors_are_held(void)
{
    int held = shmemx_error_hold(1);

    if (!held)
        shmemx_error_hold(0);
    return held;
}

static void print_line(const char *routine, const char *format, va_list args)
{
    char line[1024];
    int len = print_pe < 0 ? snprintf(line, sizeof line, "warpshmem-ep: ")
                           : snprintf(line, sizeof line, "warpshmem-ep: PE %d: ", print_pe);

    if (routine)
        len += snprintf(line + len, sizeof line - len, "%s: ", routine);
    len += vsnprintf(line + len, sizeof line - len, format, args);
    if (len > (int)sizeof line - 2)
        len = (int)sizeof line - 2;
    if (routine) {
        memcpy(last_error, line, (size_t)len + 1);
        if (errors_are_held())
            return;
    }
    line[len++] = '\n';
    if (write(STDERR_FILENO, line, (size_t)len) < 0)
        return;
}

int ep_refuse(const char *routine, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_line(routine, format, args);
    va_end(args);
    return 1;
}

const char *shmemx_ep_error_last(void)
{
    memcpy(read_error, last_error, sizeof read_error);
    last_error[0] = '\0';
    return read_error;
}

/* Its former name. */
const char *shmemx_ep_last_error(void)
{
    return shmemx_ep_error_last();
}

/* Any word of SHMEM_DEBUG but these says that information is wanted, as the library reads it. */
static bool informs(void)
{
    const char *spec = shmemx_setting("SHMEM_DEBUG");

    while (spec && *spec) {
        size_t len = strcspn(spec, ",");

        if (len && strncmp(spec, "error", len) && strncmp(spec, "warn", len) && strncmp(spec, "check", len))
            return true;
        spec += len + (spec[len] == ',');
    }
    return false;
}

void ep_warn(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_line(NULL, format, args);
    va_end(args);
}

void ep_info(const char *format, ...)
{
    va_list args;

    if (!informs())
        return;
    va_start(args, format);
    print_line(NULL, format, args);
    va_end(args);
}

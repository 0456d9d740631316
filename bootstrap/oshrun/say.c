/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how oshrun speaks to its user. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/say.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool verbose;
static int fd = STDERR_FILENO;

static void write_line(const char *fmt, va_list args)
{
    static const char prefix[] = "oshrun: ";
    char line[4096];
    size_t used = sizeof prefix - 1, room = sizeof line - used - 1;
    int len;

    memcpy(line, prefix, used);
    len = vsnprintf(line + used, room, fmt, args);
    if (len < 0)
        return;
    used += (size_t)len < room ? (size_t)len : room - 1;
    line[used++] = '\n';
    (void)!write(fd, line, used);
}

void wsh_say(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    write_line(fmt, args);
    va_end(args);
}

void wsh_say_more(const char *fmt, ...)
{
    va_list args;

    if (!verbose)
        return;
    va_start(args, fmt);
    write_line(fmt, args);
    va_end(args);
}

void wsh_say_verbose(void)
{
    verbose = true;
}

int wsh_say_fd(void)
{
    if (fd == STDERR_FILENO)
        fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (fd < 0)
        fd = STDERR_FILENO;
    return fd;
}

void wsh_say_alone(void)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (null >= 0 && wsh_say_fd() != STDERR_FILENO)
        dup2(null, STDERR_FILENO);
    if (null >= 0)
        close(null);
}

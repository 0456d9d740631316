/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes inputs apart, and stands between the library and its log: lines are made and counted, not written. */
#define _GNU_SOURCE
#include "test/fuzz/common/fuzz.h"

#include "base/err.h"
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned lines;
static char last_line[2048];

uint64_t fuzz_take(struct fuzz_input *in, unsigned bytes)
{
    uint64_t number = 0;

    fuzz_bytes(in, &number, bytes);
    return number;
}

unsigned fuzz_below(struct fuzz_input *in, unsigned n)
{
    return (unsigned)fuzz_take(in, n > 256 ? 2 : 1) % n;
}

void fuzz_bytes(struct fuzz_input *in, void *to, size_t len)
{
    size_t there = len < in->left ? len : in->left;

    memset(to, 0, len);
    if (there)
        memcpy(to, in->at, there);
    in->at += there;
    in->left -= there;
}

void *fuzz_copy(struct fuzz_input *in, size_t len, size_t *got)
{
    void *bytes;

    *got = len < in->left ? len : in->left;
    bytes = malloc(*got ? *got : 1);
    if (!bytes)
        abort();
    fuzz_bytes(in, bytes, *got);
    return bytes;
}

char *fuzz_text(struct fuzz_input *in)
{
    size_t len = in->left;
    char *text = malloc(len + 1);

    if (!text)
        abort();
    fuzz_bytes(in, text, len);
    text[len] = '\0';
    return text;
}

void fuzz_read(const void *bytes, size_t len)
{
    static volatile unsigned char sink __attribute__((unused));
    unsigned char sum = 0;

    for (size_t i = 0; i < len; i++)
        sum = (unsigned char)(sum + ((const unsigned char *)bytes)[i]);
    sink = sum;
}

unsigned fuzz_lines(void)
{
    unsigned n = lines;

    lines = 0;
    return n;
}

const char *fuzz_line(void)
{
    return last_line;
}

void fuzz_fail(const char *claim, const char *file, int line)
{
    char text[3072];
    int len = snprintf(text, sizeof text, "\nfuzz: %s:%d: does not hold: %s (last line: %s)\n", file, line,
                       claim, last_line);

    (void)!write(STDERR_FILENO, text, len < (int)sizeof text ? (size_t)len : sizeof text - 1);
    abort();
}

/* An invariant that does not hold is a finding. */
static void abort_loudly(int status)
{
    (void)status;
    abort();
}

static __attribute__((constructor)) void aborts_are_findings(void)
{
    wsh_abort_by(abort_loudly);
}

/* In place of wsh_log_write, by the linker (--wrap). */
void __wrap_wsh_log_write(enum wsh_log_level level, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

void __wrap_wsh_log_write(enum wsh_log_level level, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(last_line, sizeof last_line, fmt, args);
    va_end(args);
    lines += level <= WSH_LOG_WARN;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads libpmix's lines. A connection that says rubbish is an error to it, and printed, though any program of the
 * machine can make one; where it finds no descriptor for one it prints that too, and never listens again.
 */
#define _GNU_SOURCE
#include "bootstrap/oshrun/server/pmix_lines.h"

#include "base/env/env.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WHERE "PMIX_OUTPUT_STDERR_FD"
#define HELD 0.5 /* seconds: a PE's connection breaks before its end is known */

void wsh_pmix_words_begin(struct wsh_pmix_words *words)
{
    char text[16];

    *words = (struct wsh_pmix_words){.fds = {-1, -1}, .index = -1};
    if (wsh_env_foreign(WHERE) || pipe2(words->fds, O_CLOEXEC | O_NONBLOCK))
        return;
    snprintf(text, sizeof text, "%d", words->fds[1]);
    setenv(WHERE, text, 1);
}

void wsh_pmix_words_begun(const struct wsh_pmix_words *words)
{
    if (words->fds[0] >= 0)
        unsetenv(WHERE);
}

void wsh_pmix_words_poll(struct wsh_pmix_words *words, struct wsh_pollset *set)
{
    words->index = words->fds[0] < 0 ? -1 : wsh_pollset_add(set, words->fds[0], POLLIN);
}

/* Written so by 4.2, with underscores since 5. */
static bool is_last_word(const char *line)
{
    bool none = strstr(line, "OUT-OF-RESOURCE") || strstr(line, "OUT_OF_RESOURCE");

    return (none && strstr(line, "listener")) || strstr(line, "accept() failed");
}

/* What is no error was asked for by a setting of libpmix's, or explains the last word (7, in 20 lines). */
static bool line_take(struct wsh_pmix_words *words, const char *line)
{
    bool last = is_last_word(line);

    words->ended |= last;
    if (!words->ended && !strstr(line, "PMIX ERROR"))
        dprintf(wsh_say_fd(), "%s\n", line);
    else if (words->said || words->ended)
        wsh_say_more("libpmix: %s", line);
    else {
        snprintf(words->held, sizeof words->held, "%s", line);
        words->until = wsh_now() + HELD;
    }
    words->said = true;
    return last;
}

void wsh_pmix_words_say(struct wsh_pmix_words *words, bool failed, bool end)
{
    if (!words->held[0] || (!failed && !end && wsh_now() < words->until))
        return;
    if (failed)
        wsh_say_more("libpmix: %s", words->held);
    else
        wsh_say(
            "libpmix: %s; most likely a connection of another program, which it refused, or of a PE with an "
            "older libpmix, which goes on (oshrun -v prints all such lines)",
            words->held);
    words->held[0] = 0;
}

double wsh_pmix_words_wait(const struct wsh_pmix_words *words)
{
    double left = words->until - wsh_now();

    if (!words->held[0])
        return -1;
    return left > 0 ? left : 0;
}

static bool lines_take(struct wsh_pmix_words *words)
{
    bool last = false;
    char *newline;

    while ((newline = memchr(words->line, '\n', words->used))) {
        size_t len = (size_t)(newline + 1 - words->line);

        *newline = 0;
        last |= line_take(words, words->line);
        words->used -= len;
        memmove(words->line, words->line + len, words->used);
    }
    if (words->used == sizeof words->line)
        words->used = 0;
    return last;
}

bool wsh_pmix_words_work(struct wsh_pmix_words *words, const struct wsh_pollset *set)
{
    bool last = false;
    ssize_t got;

    if (!wsh_pollset_ready(set, words->index))
        return false;
    while ((got = read(words->fds[0], words->line + words->used, sizeof words->line - words->used)) > 0) {
        words->used += (size_t)got;
        last |= lines_take(words);
    }
    return last;
}

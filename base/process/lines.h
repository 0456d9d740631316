/* SPDX-License-Identifier: BSD-3-Clause */
/* Routines and lines of source for addresses in a program's file, by addr2line where the machine has it. */
#ifndef WSH_LINES_H
#define WSH_LINES_H

#include <stddef.h>
#include <stdint.h>

#define WSH_LINES 8

struct wsh_line {
    uint64_t address; /* as the file has it */
    char routine[96]; /* "" where nothing is known */
    char place[96];   /* "halo.c:42", or "" */
};

/*
 * Fills in what addr2line knows of `n` addresses of `file`, at most WSH_LINES; leaves the rest. Waits for it for
 * 10 s. Async-signal-safe: no memory is allocated.
 */
void wsh_lines_find(const char *file, struct wsh_line *line, int n);

/*
 * Runs a program with these words, its standard output and error in `out`, and waits for it for so many seconds; its
 * path is looked up in PATH. With `read`, a pipe of which `out` is the other end, what it writes is read into `text`.
 * Returns 0 or a negative errno. Async-signal-safe.
 */
int wsh_tool_run(char *const *words, int out, int read, char *text, size_t size, int seconds);

#endif

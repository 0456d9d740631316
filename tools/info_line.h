/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of warpshmem-info --check. */
#ifndef WSH_INFO_LINE_H
#define WSH_INFO_LINE_H

#include "base/env/env.h"

#include <stdbool.h>
#include <stdio.h>

enum wsh_info_kind {
    WSH_INFO_OK,
    WSH_INFO_NOTE, /* holds with a limitation, which the text states with its cure */
    WSH_INFO_FAIL  /* jobs fail for it; the text ends with the cure */
};

struct wsh_info {
    const char *root; /* files are read below it; "" but in tests */
    bool parsable;    /* check:NAME:KIND:TEXT */
    FILE *out;
    const struct wsh_env *env;
};

/* Prints one line. Returns 1 for WSH_INFO_FAIL, else 0. */
int wsh_info_line(const struct wsh_info *info, const char *name, enum wsh_info_kind kind, const char *fmt,
                  ...) __attribute__((format(printf, 4, 5)));

/* Whether there is such a file below the root. */
bool wsh_info_has(const struct wsh_info *info, const char *path);

/* The number at the start of a file below the root, -1 where it cannot be read. */
long wsh_info_number(const struct wsh_info *info, const char *path);

/* Names in a folder below the root that begin with `prefix`, separated by spaces, cut at `size`. Returns how many. */
int wsh_info_names(const struct wsh_info *info, const char *folder, const char *prefix, char *names,
                   size_t size);

#endif

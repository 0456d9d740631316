/* SPDX-License-Identifier: BSD-3-Clause */
/* One file of settings. */
#ifndef WSH_BASE_CONF_FILE_H
#define WSH_BASE_CONF_FILE_H

#include "base/env/conf.h"

struct wsh_conf_file {
    char *path, *text; /* owned; the lines lie in it */
    struct wsh_conf_line *line;
    size_t n;
};

/*
 * Reads a file that nobody but root, or for other places than /etc this user, can have written: it and its folder.
 * 0, also where there is no such file, and it is not one that must be there; else -EINVAL, and `fault` says in one line
 * what is wrong and what cures it. Everything of the file is examined but the settings' own values.
 */
int wsh_conf_file_read(struct wsh_conf_file *file, enum wsh_conf_place place, const char *path, char *fault,
                       size_t size);
void wsh_conf_file_free(struct wsh_conf_file *file);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints lines of the check, and reads small files below a root. */
#define _GNU_SOURCE
#include "tools/info_line.h"

#include "tools/info_row.h"

#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int wsh_info_line(const struct wsh_info *info, const char *name, enum wsh_info_kind kind, const char *fmt,
                  ...)
{
    static const char *const words[] = {"ok", "note", "FAIL"};
    static const char *const names[] = {"name", "status", "text"};
    char text[1024];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (info->parsable)
        wsh_info_row(info->out, "check", 3, names, (const char *const[]){name, words[kind], text});
    else
        fprintf(info->out, "%-12s %-4s %s\n", name, words[kind], text);
    return kind == WSH_INFO_FAIL;
}

bool wsh_info_has(const struct wsh_info *info, const char *path)
{
    char full[PATH_MAX];

    snprintf(full, sizeof full, "%s/%s", info->root, path);
    return !access(full, F_OK);
}

long wsh_info_number(const struct wsh_info *info, const char *path)
{
    char full[PATH_MAX];
    long number = -1;
    FILE *file;

    snprintf(full, sizeof full, "%s/%s", info->root, path);
    file = fopen(full, "re");
    if (file && fscanf(file, "%ld", &number) != 1)
        number = -1;
    if (file)
        fclose(file);
    return number;
}

int wsh_info_names(const struct wsh_info *info, const char *folder, const char *prefix, char *names,
                   size_t size)
{
    char full[PATH_MAX];
    struct dirent **entries;
    size_t used = 0;
    int n, found = 0;

    *names = '\0';
    snprintf(full, sizeof full, "%s/%s", info->root, folder);
    n = scandir(full, &entries, NULL, versionsort);
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;

        if (*name != '.' && !strncmp(name, prefix, strlen(prefix))) {
            if (used < size)
                used += (size_t)snprintf(names + used, size - used, "%s%s", found ? " " : "", name);
            found++;
        }
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return found;
}

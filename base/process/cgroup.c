/* SPDX-License-Identifier: BSD-3-Clause */
/* What this process's cgroup (version 1 or 2) allows, and how many processes the kernel killed in it. */
#define _GNU_SOURCE
#include "base/process/cgroup.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Names of one version's files, and of the lines in memory.stat that count the cached files of a whole subtree. */
struct version {
    const char *limit, *usage, *events, *inactive, *active;
};

static const struct version versions[] = {
    [1] = {"memory.limit_in_bytes", "memory.usage_in_bytes", "memory.oom_control", "total_inactive_file",
           "total_active_file"},
    [2] = {"memory.max", "memory.current", "memory.events", "inactive_file", "active_file"},
};

static FILE *file_open(const char *folder, const char *name)
{
    char path[PATH_MAX];
    int len = snprintf(path, sizeof path, "%s/%s", folder, name);

    return len > 0 && (size_t)len < sizeof path ? fopen(path, "re") : NULL;
}

/* The number behind `word` at the start of a line (the first number where it is ""); `missing` where there is none. */
static size_t number_read(const char *folder, const char *name, const char *word, size_t missing)
{
    FILE *file = file_open(folder, name);
    size_t len = strlen(word), number = missing;
    char line[256];

    while (file && fgets(line, sizeof line, file)) {
        unsigned long long value;

        if (strncmp(line, word, len) || (len && line[len] != ' ' && line[len] != ':'))
            continue;
        if (sscanf(line + len + (len && line[len] == ':'), "%llu", &value) == 1)
            number = value;
        break;
    }
    if (file)
        fclose(file);
    return number;
}

static bool has_word(const char *list, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (!strncmp(at, word, len) && (at[len] == ',' || !at[len]))
            return true;
    }
    return false;
}

/* Splits "9:cpu,memory:/path" and looks whether it is the controller's: 1; version 2 has "0::/path": 2; else 0. */
static int line_match(char *line, const char *controller, const char **path)
{
    char *controllers = strchr(line, ':'), *at = controllers ? strchr(controllers + 1, ':') : NULL;

    line[strcspn(line, "\n")] = 0;
    if (!at)
        return 0;
    *at = 0;
    *path = at + 1;
    if (has_word(controllers + 1, controller))
        return 1;
    return controllers[1] ? 0 : 2;
}

/*
 * The folder of this process's cgroup of a controller, and the length of its mount point in *top. Returns the version,
 * 0 where there is none.
 */
static int folder_find(const char *root, const char *controller, char folder[PATH_MAX], size_t *top)
{
    int found = 0;
    char line[PATH_MAX];
    FILE *file = file_open(root, "proc/self/cgroup");

    while (file && found != 1 && fgets(line, sizeof line, file)) {
        const char *path;
        int version = line_match(line, controller, &path), len;

        if (!version)
            continue;
        found = version;
        len = snprintf(folder, PATH_MAX, "%s/sys/fs/cgroup%s%s", root, version == 1 ? "/" : "",
                       version == 1 ? controller : "");
        *top = (size_t)len;
        if (strcmp(path, "/"))
            len += snprintf(folder + len, PATH_MAX - (size_t)len, "%s", path);
        /* In a container of version 1 the path is the host's, and the mount point is the cgroup itself. */
        if (len >= PATH_MAX || access(folder, X_OK))
            folder[*top] = 0;
    }
    if (file)
        fclose(file);
    return found;
}

/* Lowers *cgroup to what the cgroup at `folder` leaves. The kernel drops cached files before it kills. */
static void level_read(const struct version *version, const char *folder, size_t swap,
                       struct wsh_cgroup *cgroup)
{
    size_t limit = number_read(folder, version->limit, "", SIZE_MAX);
    size_t used = number_read(folder, version->usage, "", SIZE_MAX), cached, left;

    if (limit > (size_t)1 << 60 || used == SIZE_MAX) /* version 1 writes 2^63 less a page for none */
        return;
    cached = number_read(folder, "memory.stat", version->inactive, 0) +
             number_read(folder, "memory.stat", version->active, 0);
    used = used > cached ? used - cached : 0;
    left = (limit > used ? limit - used : 0) + swap;
    if (left < cgroup->left) {
        cgroup->left = left;
        cgroup->limit = limit;
    }
}

void wsh_cgroup_read(const char *root, struct wsh_cgroup *cgroup)
{
    char folder[PATH_MAX];
    size_t top, swap, kills;
    int found = folder_find(root, "memory", folder, &top);
    const struct version *version = &versions[found];

    *cgroup = (struct wsh_cgroup){SIZE_MAX, SIZE_MAX, -1};
    if (!found)
        return;
    kills = number_read(folder, version->events, "oom_kill", SIZE_MAX);
    cgroup->kills = kills == SIZE_MAX ? -1 : (long)kills;
    swap = number_read(root, "proc/meminfo", "SwapFree", 0) << 10;
    for (char *end = folder + strlen(folder);; *end = 0) {
        level_read(version, folder, swap, cgroup);
        end = strrchr(folder, '/');
        if (!end || end < folder + top)
            break;
    }
}

/* Version 1 has two files, the quota -1 for none; version 2 "QUOTA PERIOD" in one, the quota "max" for none. */
static double level_cpus(int version, const char *folder)
{
    FILE *file = version == 2 ? file_open(folder, "cpu.max") : NULL;
    double quota = -1, period = 0;

    if (version == 1) {
        size_t us = number_read(folder, "cpu.cfs_quota_us", "", SIZE_MAX);

        quota = us == SIZE_MAX || us > (size_t)1 << 60 ? -1 : (double)us;
        period = (double)number_read(folder, "cpu.cfs_period_us", "", 0);
    }
    if (file && fscanf(file, "%lf %lf", &quota, &period) != 2)
        quota = -1;
    if (file)
        fclose(file);
    return quota > 0 && period > 0 ? quota / period : 0;
}

double wsh_cgroup_cpus(const char *root)
{
    char folder[PATH_MAX];
    double least = 0;
    size_t top;
    int version = folder_find(root, "cpu", folder, &top);

    if (!version)
        return 0;
    for (char *end = folder + strlen(folder);; *end = 0) {
        double cpus = level_cpus(version, folder);

        if (cpus > 0 && (!least || cpus < least))
            least = cpus;
        end = strrchr(folder, '/');
        if (!end || end < folder + top)
            return least;
    }
}

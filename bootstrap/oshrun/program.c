/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how to find the program that oshrun is to run. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/program.h"

#include "bootstrap/oshrun/say.h"
#include "base/env.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0: can be run; else the errno that says why not. */
static int look_at(const char *path)
{
    struct stat st;

    if (stat(path, &st))
        return errno;
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    return access(path, X_OK) ? errno : 0;
}

/* Tries name below each folder of PATH; the most telling errno wins. */
static int search(const char *name, char **path)
{
    const char *folders = wsh_env_foreign("PATH");
    int err = ENOENT;

    for (const char *at = folders ? folders : "/usr/bin:/bin"; at; at = *at ? at + 1 : NULL) {
        size_t len = strcspn(at, ":");
        int why;

        if (asprintf(path, "%.*s%s%s", (int)len, at, len ? "/" : "", name) < 0)
            return ENOMEM;
        why = look_at(*path);
        if (!why)
            return 0;
        free(*path);
        *path = NULL;
        if (why == EACCES)
            err = why;
        at += len;
    }
    return err;
}

static int find(const char *name, char **path)
{
    int err;

    *path = NULL;
    if (!strchr(name, '/'))
        return search(name, path);
    err = look_at(name);
    if (!err)
        *path = strdup(name);
    return err;
}

int wsh_program_is_there(const char *name)
{
    char *path;
    int err = find(name, &path);

    free(path);
    return !err;
}

int wsh_program_find(const char *name, char **path)
{
    int err = find(name, path);
    const char *slash = strchr(name, '/');

    if (!err)
        return 0;
    if (err == ENOENT && !slash) {
        bool here = !look_at(name);

        wsh_say("program '%s' is not on PATH; %s%s", name,
                here ? "it is in this folder: write ./" : "give its path, as in ./", name);
        return OSHRUN_NOT_FOUND;
    }
    if (err == ENOENT || err == ENOTDIR) {
        wsh_say("program '%s' not found; give the path of an executable", name);
        return OSHRUN_NOT_FOUND;
    }
    wsh_say("cannot run '%s': %s; %s", name, wsh_strerror(err),
            err == EACCES ? "make it executable with chmod +x" : "name an executable file");
    return OSHRUN_CANNOT_RUN;
}

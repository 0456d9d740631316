/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the private folder that the PMIx server keeps its files in. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/tmpdir.h"

#include "bootstrap/oshrun/say.h"
#include "runtime/base/env.h"
#include "runtime/base/err.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int wsh_tmpdir_make(char **path)
{
    const char *below = wsh_env_foreign("TMPDIR");

    if (asprintf(path, "%s/oshrun.XXXXXX", below ? below : "/tmp") < 0)
        return -ENOMEM;
    if (!mkdtemp(*path)) {
        int err = errno;

        wsh_say("cannot make a folder in %s: %s; set TMPDIR to a writable one", below ? below : "/tmp",
                wsh_strerror(err));
        free(*path);
        *path = NULL;
        return -err;
    }
    return 0;
}

static void empty(int fd)
{
    DIR *dir = fdopendir(fd);
    struct dirent *entry;

    if (!dir) {
        close(fd);
        return;
    }
    while ((entry = readdir(dir))) {
        int sub;

        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        if (!unlinkat(fd, entry->d_name, 0))
            continue;
        sub = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (sub >= 0)
            empty(sub);
        unlinkat(fd, entry->d_name, AT_REMOVEDIR);
    }
    closedir(dir);
}

void wsh_tmpdir_remove(const char *path)
{
    int fd = path ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;

    if (fd < 0)
        return;
    empty(fd);
    rmdir(path);
}

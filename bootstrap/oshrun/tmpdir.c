/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the private folder that the files of a job are kept in: the PMIx server's, an emulated device's. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/tmpdir.h"

#include "bootstrap/oshrun/say.h"
#include "base/env.h"
#include "base/err.h"
#include "base/secret.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int wsh_tmpdir_name(char **path)
{
    const char *below = wsh_env_foreign("TMPDIR");
    uint64_t any;

    *path = NULL;
    if (!wsh_random_fill(&any, sizeof any) &&
        asprintf(path, "%s/oshrun.%016" PRIx64, below ? below : "/tmp", any) >= 0)
        return 0;
    wsh_say("out of memory");
    return -ENOMEM;
}

int wsh_tmpdir_make(char **path)
{
    int err;

    if (!mkdir(*path, 0700))
        return 0;
    err = errno;
    wsh_say("cannot make the folder %s: %s; set TMPDIR to a writable one", *path, wsh_strerror(err));
    free(*path);
    *path = NULL;
    return -err;
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

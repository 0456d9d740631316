/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows the one name that may outlive a PE: libfabric's shm provider keeps /dev/shm/<pid>:<uid>:<n>. The library
 * unlinks it once all PEs have met, so that only a PE killed before leaves it.
 */
#include "bootstrap/oshrun/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int by_number(const void *a, const void *b)
{
    const pid_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* The process that a file is named for, if it is one of this user's; else 0. */
static pid_t owner_of(const char *name)
{
    int pid, uid, number, end = 0;

    if (sscanf(name, "%d:%d:%d%n", &pid, &uid, &number, &end) != 3 || name[end] || (uid_t)uid != getuid())
        return 0;
    return pid;
}

void wsh_leftovers_remove(const pid_t *pids, int n)
{
    pid_t *sorted = malloc((size_t)n * sizeof *sorted);
    DIR *dir = opendir("/dev/shm");

    for (int i = 0; sorted && i < n; i++)
        sorted[i] = pids[i];
    if (sorted)
        qsort(sorted, (size_t)n, sizeof *sorted, by_number);
    for (struct dirent *entry; sorted && dir && (entry = readdir(dir));) {
        pid_t owner = owner_of(entry->d_name);

        if (owner > 0 && bsearch(&owner, sorted, (size_t)n, sizeof owner, by_number))
            unlinkat(dirfd(dir), entry->d_name, 0);
    }
    if (dir)
        closedir(dir);
    free(sorted);
}

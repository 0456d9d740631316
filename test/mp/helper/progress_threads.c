/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the progress threads of PE 0. */
#include "test/common/mp.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static int is_progress(const char *task)
{
    char path[300], name[32] = "";
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/task/%s/comm", task);
    file = fopen(path, "r");
    if (!file)
        return 0;
    if (!fgets(name, sizeof name, file))
        name[0] = '\0';
    fclose(file);
    return !strcmp(name, "shmem-progress\n");
}

int main(void)
{
    int n = 0;
    DIR *dir;

    mp_begin();
    dir = opendir("/proc/self/task");
    mp_check(dir != NULL, "no list of threads");
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        n += is_progress(entry->d_name);
    if (dir)
        closedir(dir);
    if (mp_me == 0)
        mp_note("progress threads: %d", n);
    return mp_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts descriptors before the PEs take them: libpmix stops listening for good when one is lacking. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/files.h"

#include "bootstrap/oshrun/io.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

/*
 * A PE keeps three: the pipes of its standard output and error, and its connection to libpmix's server (one in libpmix
 * 4.2; it listens on two sockets that are open already). While the last one starts, its own ends of the pipes and of
 * its input are open too, and libpmix opens files now and then.
 */
#define FILES_A_PE 3
#define FILES_BESIDE 8

void wsh_files_raise(struct rlimit *before)
{
    struct rlimit all;

    getrlimit(RLIMIT_NOFILE, before);
    all = *before;
    all.rlim_cur = all.rlim_max;
    setrlimit(RLIMIT_NOFILE, &all);
}

/* Those with numbers below the limit, which alone count; the folder's own is one too many. */
static rlim_t files_open(rlim_t limit)
{
    DIR *folder = opendir("/proc/self/fd");
    const struct dirent *entry;
    rlim_t n = 0;

    while (folder && (entry = readdir(folder)))
        if (entry->d_name[0] != '.' && strtoul(entry->d_name, NULL, 10) < limit)
            n++;
    if (folder)
        closedir(folder);
    return n;
}

int wsh_files_check(int n_pes)
{
    struct rlimit limit;
    rlim_t need;

    getrlimit(RLIMIT_NOFILE, &limit);
    need = files_open(limit.rlim_cur) + FILES_A_PE * (rlim_t)n_pes + FILES_BESIDE;
    if (need <= limit.rlim_cur)
        return 0;
    wsh_say(
        "%d PEs need %lu open files here, %d each, and `ulimit -n` allows %lu; raise it, or start fewer PEs",
        n_pes, (unsigned long)need, FILES_A_PE, (unsigned long)limit.rlim_cur);
    return -EMFILE;
}

void wsh_files_say_none(int n_pes)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    wsh_say("no open file is left for the connections of %d PEs: `ulimit -n` allows %lu; raise it, or start "
            "fewer "
            "PEs; ending job",
            n_pes, (unsigned long)limit.rlim_cur);
}

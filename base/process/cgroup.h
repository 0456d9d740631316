/* SPDX-License-Identifier: BSD-3-Clause */
/* What this process's cgroup (version 1 or 2) allows, and how many processes the kernel killed in it. */
#ifndef WSH_BASE_CGROUP_H
#define WSH_BASE_CGROUP_H

#include <stddef.h>

/* Where the limit is set, for messages. */
#define WSH_CGROUP_SETTINGS "srun --mem, docker --memory, systemd's MemoryMax="

struct wsh_cgroup {
    size_t
        limit; /* bytes, of the cgroup or one around it: the one with least left. SIZE_MAX = none that can be read */
    size_t left; /* bytes until the kernel kills, cached files and swap counted in; SIZE_MAX = no limit */
    long
        kills; /* processes of this cgroup that the kernel has killed for lack of memory; -1 = not to be read */
};

/* Reads below `root`, which is "" but in tests. */
void wsh_cgroup_read(const char *root, struct wsh_cgroup *cgroup);

/* Processors' time that the cgroup and those around it allow, as a number of processors; 0 = no limit. */
double wsh_cgroup_cpus(const char *root);

#endif

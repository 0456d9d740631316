/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows which processors each PE is bound to (--bind). */
#define _GNU_SOURCE
#include "bootstrap/oshrun/bind.h"

#include "bootstrap/oshrun/say.h"
#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NODES 1024

/* Reads a list as sysfs writes it: "0-3,8,10-11". */
static int read_list(const char *path, cpu_set_t *set)
{
    FILE *file = fopen(path, "re");
    int first, last, sep = ',';

    if (!file)
        return -errno;
    CPU_ZERO(set);
    while (sep == ',' && fscanf(file, "%d", &first) == 1) {
        last = first;
        sep = fgetc(file);
        if (sep == '-' && fscanf(file, "%d", &last) == 1)
            sep = fgetc(file);
        for (int cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
            CPU_SET(cpu, set);
    }
    fclose(file);
    return 0;
}

static int set_of_node(int cpu, cpu_set_t *set)
{
    char path[128];

    for (int node = 0; node < MAX_NODES; node++) {
        snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", node);
        if (!read_list(path, set) && CPU_ISSET(cpu, set))
            return 0;
    }
    return -ENOENT;
}

static int set_of_topology(int cpu, const char *name, const char *old_name, cpu_set_t *set)
{
    char path[128];

    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, name);
    if (!read_list(path, set))
        return 0;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, old_name);
    return read_list(path, set);
}

/* The processors that share a core, … with `cpu`. */
static int set_around(enum wsh_bind bind, int cpu, cpu_set_t *set)
{
    switch (bind) {
    case WSH_BIND_NUMA: return set_of_node(cpu, set);
    case WSH_BIND_SOCKET: return set_of_topology(cpu, "package_cpus_list", "core_siblings_list", set);
    case WSH_BIND_CORE: return set_of_topology(cpu, "core_cpus_list", "thread_siblings_list", set);
    default: break;
    }
    CPU_ZERO(set);
    CPU_SET(cpu, set);
    return 0;
}

/* Splits the processors we may use into such sets, in order of their first processor; returns how many, or -errno. */
static int split(enum wsh_bind bind, cpu_set_t *sets)
{
    cpu_set_t left;
    int n = 0;

    if (sched_getaffinity(0, sizeof left, &left))
        return -errno;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        int rc;

        if (!CPU_ISSET(cpu, &left))
            continue;
        rc = set_around(bind, cpu, &sets[n]);
        if (rc)
            return rc;
        CPU_AND(&sets[n], &sets[n], &left);
        CPU_XOR(&left, &left, &sets[n]);
        n++;
    }
    return n ? n : -ENOENT;
}

int wsh_bind_plan(enum wsh_bind bind, int n_pes, cpu_set_t **sets)
{
    cpu_set_t *all;
    int n;

    *sets = NULL;
    if (bind == WSH_BIND_NONE)
        return 0;
    all = calloc(CPU_SETSIZE, sizeof *all);
    *sets = calloc((size_t)n_pes, sizeof **sets);
    n = all && *sets ? split(bind, all) : -ENOMEM;
    for (int pe = 0; pe < n_pes && n > 0; pe++)
        (*sets)[pe] = all[n_pes <= n ? pe : (int)((long)pe * n / n_pes)];
    free(all);
    if (n > 0)
        return 0;
    wsh_say("--bind: cannot read this machine's topology: %s; use --bind none", wsh_strerror(n));
    free(*sets);
    *sets = NULL;
    return n;
}

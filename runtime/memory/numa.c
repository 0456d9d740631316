/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the NUMA node on which this process is bound, and asks for memory there. */
#define _GNU_SOURCE
#include "runtime/memory/numa.h"

#include "base/err.h"
#include "base/log.h"
#include "topo/topo.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NODES "/sys/devices/system/node/"

static bool line_read(const char *path, char *line, int size)
{
    FILE *file = fopen(path, "re");
    bool is_read = file && fgets(line, size, file);

    if (file)
        fclose(file);
    return is_read;
}

/* "0-15,32-47" */
static void cpus_parse(char *list, cpu_set_t *cpus)
{
    CPU_ZERO(cpus);
    for (char *end; *list >= '0' && *list <= '9'; list = *end == ',' ? end + 1 : end) {
        unsigned long first = strtoul(list, &end, 10),
                      last = *end == '-' ? strtoul(end + 1, &end, 10) : first;

        for (; first <= last && first < CPU_SETSIZE; first++)
            CPU_SET(first, cpus);
    }
}

static bool is_within(const cpu_set_t *some, const cpu_set_t *all)
{
    cpu_set_t both;

    CPU_AND(&both, some, all);
    return CPU_COUNT(some) && CPU_EQUAL(&both, some);
}

/* By the system's own files: hwloc would take longer than the rest of the start. -1: none, or there is only one. */
static int node_of_machine(const cpu_set_t *allowed)
{
    char text[1024], path[64];
    cpu_set_t cpus;

    if (!line_read(NODES "online", text, sizeof text) || !text[strcspn(text, ",-")])
        return -1;
    for (int node = 0; node < WSH_TOPO_NODES; node++) {
        snprintf(path, sizeof path, NODES "node%d/cpulist", node);
        if (!line_read(path, text, sizeof text))
            continue;
        cpus_parse(text, &cpus);
        if (is_within(allowed, &cpus))
            return node;
    }
    return -1;
}

/* As the other, or a logged error. */
static int node_of_file(const cpu_set_t *allowed, const char *xml, int *node)
{
    struct wsh_topo *topo = malloc(sizeof *topo);
    int rc = topo ? wsh_topo_load(topo, xml) : -ENOMEM;

    *node = -1;
    if (!rc && topo->numa_nodes > 1)
        for (int i = 0; i < topo->numa_nodes && i < WSH_TOPO_NODES && *node < 0; i++)
            if (is_within(allowed, &topo->cpus[i]))
                *node = topo->node[i].numa;
    free(topo);
    return rc;
}

int wsh_numa_prefer(void *base, size_t len, const struct wsh_env *env)
{
    unsigned long nodes;
    cpu_set_t allowed;
    int node, rc = 0;

    if (sched_getaffinity(0, sizeof allowed, &allowed))
        return 0;
    if (env->topology)
        rc = node_of_file(&allowed, env->topology, &node);
    else
        node = node_of_machine(&allowed);
    if (rc || node < 0 || node >= WSH_TOPO_NODES)
        return rc;
    nodes = 1UL << node;
    if (syscall(SYS_mbind, base, len, MPOL_PREFERRED, &nodes, WSH_TOPO_NODES + 1, 0))
        wsh_info(WSH_SUB_MEM, "the symmetric heap is not kept on NUMA node %d: %s", node,
                 wsh_strerror(-errno));
    else
        wsh_info(WSH_SUB_MEM, "the symmetric heap is kept on NUMA node %d", node);
    return 0;
}

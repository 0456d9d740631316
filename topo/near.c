/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the processors near a PE's NICs, and where a thread that serves them may run. Pure. */
#define _GNU_SOURCE
#include "topo/topo.h"

#include <stdio.h>

/* Devices without a NUMA node hang at a package, and are near to all of its nodes. */
static bool is_at(const struct wsh_topo_location *node, const struct wsh_topo_location *dev)
{
    return dev->numa >= 0 ? node->numa == dev->numa : dev->package >= 0 && node->package == dev->package;
}

void wsh_topo_near(const struct wsh_topo *topo, const struct wsh_topo_rails *rails,
                   const struct wsh_topo_dev *nic, cpu_set_t *near)
{
    CPU_ZERO(near);
    for (int i = 0; i < rails->n; i++)
        for (int k = 0; k < topo->numa_nodes && k < WSH_TOPO_NODES; k++)
            if (is_at(&topo->node[k], &nic[rails->rail[i].nic].location))
                CPU_OR(near, near, &topo->cpus[k]);
}

bool wsh_topo_pin(const cpu_set_t *allowed, const cpu_set_t *near, bool narrow, cpu_set_t *pin)
{
    CPU_AND(pin, allowed, near);
    if (!CPU_COUNT(pin) || CPU_EQUAL(pin, allowed))
        return false;
    return narrow || CPU_EQUAL(pin, near);
}

void wsh_topo_cpus_text(const cpu_set_t *cpus, char *text, size_t size)
{
    size_t used = 0;

    *text = '\0';
    for (int first = 0; first < CPU_SETSIZE && used < size; first++) {
        int last = first;

        if (!CPU_ISSET(first, cpus))
            continue;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, cpus))
            last++;
        used += (size_t)snprintf(text + used, size - used, last > first ? "%s%d-%d" : "%s%d", used ? "," : "",
                                 first, last);
        first = last;
    }
}

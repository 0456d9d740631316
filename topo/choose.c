/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the NICs of one PE from the settings, the topology and the PEs of the host. */
#include "topo/topo.h"

#include "base/err.h"
#include "base/log.h"
#include "topo/niclist.h"
#include "topo/nicmap.h"
#include "topo/binding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const distance_words[WSH_DISTANCES][2] = {
    [WSH_DISTANCE_SWITCH] = {"switch", "below the same PCIe switch"},
    [WSH_DISTANCE_SWITCHES] = {"switches", "several PCIe switches between"},
    [WSH_DISTANCE_BRIDGE] = {"bridge", "below the same host bridge, through the processor's PCIe ports"},
    [WSH_DISTANCE_NODE] = {"node", "at the same NUMA node"},
    [WSH_DISTANCE_PACKAGE] = {"package", "at another NUMA node of the same package"},
    [WSH_DISTANCE_MACHINE] = {"machine", "at another package, through the link between processors"},
    [WSH_DISTANCE_UNKNOWN] = {"unknown", "neither the topology nor the PE's binding says"},
};

const char *wsh_topo_distance_word(enum wsh_distance distance)
{
    return distance_words[distance][0];
}

const char *wsh_topo_distance_help(enum wsh_distance distance)
{
    return distance_words[distance][1];
}

struct group {
    struct wsh_topo_rails *rails;
    struct wsh_topo_location *location;
    const struct wsh_topo_location **at;
};

static int group_init(struct group *group, size_t n)
{
    group->rails = calloc(n, sizeof group->rails[0]);
    group->location = calloc(n, sizeof group->location[0]);
    group->at = calloc(n, sizeof group->at[0]);
    return group->rails && group->location && group->at ? 0 : -ENOMEM;
}

static void group_fini(struct group *group)
{
    free(group->rails);
    free(group->location);
    free(group->at);
}

static int make_map(struct group *group, const struct wsh_binding *w,
                    const struct wsh_nicmap_request *request)
{
    for (int i = 0; i < request->n_pes; i++) {
        group->rails[i].gpu = wsh_binding_of(w, i, &group->location[i]);
        group->at[i] = &group->location[i];
    }
    return wsh_nicmap_make(request, group->rails);
}

int wsh_topo_choose(const struct wsh_topo *topo, const struct wsh_env *env,
                    const struct wsh_topo_local *local, const struct wsh_topo_dev *nic, int n_nics,
                    struct wsh_topo_rails *rails)
{
    struct wsh_nicmap_request request = {
        .nic = nic, .n_nics = n_nics, .n_pes = local->n, .per_pe = (int)env->nics_per_pe};
    struct wsh_binding w;
    struct group group;
    int rc;

    if ((rc = wsh_binding_find(&w, topo, env->pe_gpu, local)) ||
        (rc = wsh_niclist_filter(nic, n_nics, env->nics, env->nics_exclude, &request.usable)))
        return rc;
    rc = group_init(&group, (size_t)local->n);
    request.pe = group.at;
    if (!rc)
        rc = make_map(&group, &w, &request);
    if (!rc)
        *rails = group.rails[local->rank];
    else
        wsh_error("no memory for the map of %d NICs and %d PEs", n_nics, local->n);
    group_fini(&group);
    return rc;
}

int wsh_topo_pe_fill(const struct wsh_topo *topo, const struct wsh_env *env,
                     const struct wsh_topo_local *local, struct wsh_topo_pe *pe)
{
    struct wsh_binding w;
    int rc = wsh_binding_find(&w, topo, env->pe_gpu, local);

    memset(pe, 0, sizeof *pe); /* it is sent as it is */
    pe->numa = topo->here.numa;
    pe->package = topo->here.package;
    if (!rc && w.own >= 0)
        snprintf(pe->gpu, sizeof pe->gpu, "%s", topo->gpu[w.own].pci);
    return rc;
}

void wsh_topo_rails_text(const struct wsh_topo *topo, const struct wsh_topo_rails *rails,
                         const struct wsh_topo_dev *nic, int n_nics, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%d of %d NIC%s", rails->n, n_nics, n_nics == 1 ? "" : "s");

    if (rails->gpu >= 0 && used < size)
        used += (size_t)snprintf(text + used, size - used, " for the GPU at %s", topo->gpu[rails->gpu].pci);
    for (int i = 0; i < rails->n && used < size; i++)
        used +=
            (size_t)snprintf(text + used, size - used, "%s %s (%s)", i ? "," : ":",
                             nic[rails->rail[i].nic].name, wsh_topo_distance_word(rails->rail[i].distance));
}

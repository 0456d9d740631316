/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects which of the NICs that libfabric offers a PE uses, and in which order. */
#include "transports/efa/nic/nics.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What libfabric offers, and the machine's topology. */
struct nics {
    struct wsh_topo topo;
    struct wsh_topo_dev nic[WSH_TOPO_NICS];
    struct fi_info *info[WSH_TOPO_NICS];
    int n;
};

static bool is_nic(const struct fi_info *info)
{
    return info->nic && info->nic->bus_attr && info->nic->bus_attr->bus_type == FI_BUS_PCI &&
           info->nic->device_attr && info->nic->device_attr->name;
}

static void add_nic(struct nics *nics, struct fi_info *info)
{
    const struct fi_pci_attr *at = &info->nic->bus_attr->attr.pci;
    struct wsh_topo_dev *nic = &nics->nic[nics->n];

    snprintf(nic->name, sizeof nic->name, "%s", info->nic->device_attr->name);
    snprintf(nic->pci, sizeof nic->pci, "%04x:%02x:%02x.%x", at->domain_id, at->bus_id, at->device_id,
             at->function_id);
    nics->info[nics->n++] = info;
}

static bool offers_nic(const struct nics *nics, const struct wsh_topo_dev *nic)
{
    for (int i = 0; i < nics->n; i++)
        if (!strcmp(nics->nic[i].pci, nic->pci) || !strcmp(nics->nic[i].name, nic->name))
            return true;
    return false;
}

/* One PE of the host tells it for all. */
static void warn_missing(const struct nics *nics, const char *provider)
{
    char names[512] = "";
    size_t used = 0;

    for (int i = 0; i < nics->topo.n_nics && used < sizeof names; i++)
        if (!offers_nic(nics, &nics->topo.nic[i]))
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                                     nics->topo.nic[i].name);
    if (used)
        wsh_warn("this machine has NICs that libfabric's provider %s does not offer: %s; see fi_info -p %s",
                 provider, names, provider);
}

/* One PE of the host warns for all, where it matters. */
static void say_unknown(const struct nics *nics, bool first)
{
    const char *why = wsh_topo_lacks();

    if (why && nics->n > 1 && first)
        wsh_warn(
            "the %d NICs of this host are taken in turn, since which of them are near a PE is unknown: %s",
            nics->n, why);
    else if (why)
        wsh_info(WSH_SUB_TOPO, "neither near NICs nor near processors are known: %s", why);
}

/* What the PEs of this host tell of where they work, or NULL: not to be known. Free it. */
static struct wsh_topo_pe *exchange_pes(const struct nics *nics, const struct wsh_tp_params *params,
                                        const struct wsh_topo_local *local)
{
    struct wsh_topo_pe mine, *all;

    if (local->n < 2 || !params->exchange_host || wsh_topo_pe_fill(&nics->topo, params->env, local, &mine))
        return NULL;
    all = calloc((size_t)local->n, sizeof *all);
    if (all && params->exchange_host(params, &mine, sizeof mine, all)) {
        wsh_info(WSH_SUB_TOPO, "where the other %d PEs of this host work is guessed", local->n - 1);
        free(all);
        return NULL;
    }
    return all;
}

static int map_nics(struct nics *nics, const struct wsh_tp_params *params, int most,
                    struct fi_info *chosen[WSH_TOPO_RAILS], cpu_set_t *near)
{
    struct wsh_topo_local local = {.rank = params->local_rank,
                                   .n = params->local_size > 0 ? params->local_size : 1};
    struct wsh_topo_rails rails;
    struct wsh_topo_pe *pes;
    char text[1024];
    int rc = wsh_topo_load(&nics->topo, params->env->topology);

    if (rc)
        return rc;
    say_unknown(nics, !local.rank);
    for (int i = 0; i < nics->n; i++)
        wsh_topo_locate(&nics->topo, &nics->nic[i]);
    local.pe = pes = exchange_pes(nics, params, &local);
    rc = wsh_topo_choose(&nics->topo, params->env, &local, nics->nic, nics->n, &rails);
    free(pes);
    if (rc)
        return rc;
    if (rails.n > most)
        rails.n = most;
    for (int i = 0; i < rails.n; i++)
        chosen[i] = nics->info[rails.rail[i].nic];
    wsh_topo_near(&nics->topo, &rails, nics->nic, near);
    wsh_topo_rails_text(&nics->topo, &rails, nics->nic, nics->n, text, sizeof text);
    wsh_info(WSH_SUB_TOPO, "%s", text);
    if (!local.rank)
        warn_missing(nics, chosen[0]->fabric_attr->prov_name);
    return rails.n;
}

/* Sockets have interfaces. */
static void warn_unused(const struct wsh_tp_params *params, const struct fi_info *list)
{
    const struct wsh_env *env = params->env;

    if (!params->local_rank && (env->nics || env->nics_exclude))
        wsh_warn(
            "%s='%s' chooses nothing: the network is %s, over no NIC that libfabric names; SHMEM_INTERFACE "
            "chooses interfaces of sockets",
            env->nics ? "SHMEM_NICS" : "SHMEM_NICS_EXCLUDE", env->nics ? env->nics : env->nics_exclude,
            list->fabric_attr->prov_name);
}

int wsh_efa_nics_choose(const struct wsh_tp_params *params, struct fi_info *list, int most,
                        struct fi_info *chosen[WSH_TOPO_RAILS], cpu_set_t *near)
{
    struct nics *nics;
    int rc;

    chosen[0] = list;
    if (!is_nic(list)) {
        warn_unused(params, list);
        return 1;
    }
    nics = calloc(1, sizeof *nics);
    if (!nics)
        return -ENOMEM;
    for (; list && nics->n < WSH_TOPO_NICS; list = list->next)
        if (is_nic(list))
            add_nic(nics, list);
    rc = map_nics(nics, params, most, chosen, near);
    free(nics);
    return rc;
}

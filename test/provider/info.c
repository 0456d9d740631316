/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptions of endpoints, and how the transport comes to a provider inside the program. */
#define _GNU_SOURCE
#include "test/provider/provider.h"

#include "topo/topo.h"
#include "transports/efa/nic/libfabric_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fi_info *info_link(struct provider_info *at)
{
    at->info.tx_attr = &at->tx;
    at->info.rx_attr = &at->rx;
    at->info.ep_attr = &at->ep;
    at->info.domain_attr = &at->domain;
    at->info.fabric_attr = &at->fabric;
    at->nic.device_attr = &at->device;
    at->nic.bus_attr = &at->bus;
    at->device.name = at->device_name;
    at->info.src_addr = at->info.addr_format == FI_SOCKADDR_IN ? &at->address : NULL;
    at->fabric.name = at->fabric_name;
    return &at->info;
}

static struct fi_info *info_dup(const struct fi_info *from)
{
    struct provider_info *copy = calloc(1, sizeof *copy);

    if (!copy)
        abort();
    if (!from)
        return info_link(copy);
    *copy = *(const struct provider_info *)from;
    info_link(copy)->next = NULL;
    copy->info.nic = from->nic ? &copy->nic : NULL;
    copy->domain.name = strdup(from->domain_attr->name);
    copy->fabric.prov_name = strdup(from->fabric_attr->prov_name);
    return &copy->info;
}

static void info_free(struct fi_info *info)
{
    while (info) {
        struct fi_info *next = info->next;

        free(info->domain_attr->name);
        free(info->fabric_attr->prov_name);
        free(info);
        info = next;
    }
}

struct provider_info *provider_info_new(const char *name, unsigned nic)
{
    struct provider_info *at = (struct provider_info *)info_dup(NULL);

    at->number = nic;
    if (asprintf(&at->domain.name, "nic%u", nic) < 0 || !(at->fabric.prov_name = strdup(name)))
        abort();
    snprintf(at->device_name, sizeof at->device_name, "nic%u", nic);
    snprintf(at->fabric_name, sizeof at->fabric_name, "inside");
    at->bus.bus_type = FI_BUS_PCI;
    at->bus.attr.pci.bus_id = (uint8_t)nic;
    at->info.nic = &at->nic;
    return at;
}

static uint32_t version_get(void)
{
    return FI_VERSION(1, 18);
}

/* In place of dlopen. */
int __wrap_wsh_efa_lib_open(struct wsh_efa_lib *lib, char *why, size_t size);

int __wrap_wsh_efa_lib_open(struct wsh_efa_lib *lib, char *why, size_t size)
{
    (void)why, (void)size;
    *lib = (struct wsh_efa_lib){.version = version_get(),
                                .api = version_get(),
                                .api_hmem = version_get(),
                                .get_version = version_get,
                                .getinfo = provider.getinfo,
                                .freeinfo = info_free,
                                .dupinfo = info_dup,
                                .fabric = provider_fabric_open,
                                .strerror = provider.error};
    return 0;
}

/* The machine has the provider's NICs alone, all alike near. */
int __wrap_wsh_topo_load(struct wsh_topo *topo, const char *xml);

int __wrap_wsh_topo_load(struct wsh_topo *topo, const char *xml)
{
    (void)xml;
    memset(topo, 0, sizeof *topo);
    topo->n_nics = (int)provider.nics();
    topo->here = (struct wsh_topo_location){.numa = 0, .package = 0, .root = -1};
    for (int i = 0; i < topo->n_nics; i++) {
        snprintf(topo->nic[i].name, sizeof topo->nic[i].name, "nic%d", i);
        snprintf(topo->nic[i].pci, sizeof topo->nic[i].pci, "0000:%02x:00.0", (unsigned)i);
        topo->nic[i].location = topo->here;
    }
    return 0;
}

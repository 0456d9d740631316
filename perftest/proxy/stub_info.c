/* SPDX-License-Identifier: BSD-3-Clause */
/* What the provider that only completes says of itself, and how the transport comes to it instead of to libfabric. */
#define _GNU_SOURCE
#include "perftest/proxy/stub_fabric.h"

#include "topo/topo.h"
#include "transports/efa/fabric.h"

#include <rdma/fi_endpoint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned stub_nics = 1;

/* An endpoint, in one piece. */
struct stub_info {
    struct fi_info info;
    struct fi_tx_attr tx;
    struct fi_rx_attr rx;
    struct fi_ep_attr ep;
    struct fi_domain_attr domain;
    struct fi_fabric_attr fabric;
    struct fid_nic nic;
    struct fi_device_attr device;
    struct fi_bus_attr bus;
    char name[8];
};

static struct fi_info *info_new(void)
{
    struct stub_info *at = calloc(1, sizeof *at);

    if (!at)
        abort();
    at->info.tx_attr = &at->tx;
    at->info.rx_attr = &at->rx;
    at->info.ep_attr = &at->ep;
    at->info.domain_attr = &at->domain;
    at->info.fabric_attr = &at->fabric;
    return &at->info;
}

/* As libfabric's efa provider with RDMA describes the endpoints of an EFA device. */
static struct fi_info *info_full(uint8_t nic)
{
    static char fabric[] = "efa";
    struct fi_info *info = info_new();
    struct stub_info *at = (struct stub_info *)info;

    at->name[0] = (char)('a' + nic);
    info->addr_format = FI_ADDR_EFA;
    info->tx_attr->size = info->rx_attr->size = STUB_QUEUE;
    info->tx_attr->inject_size = 32;
    info->ep_attr->type = FI_EP_RDM;
    info->ep_attr->max_msg_size = SIZE_MAX;
    info->domain_attr->data_progress = FI_PROGRESS_AUTO;
    info->domain_attr->mr_mode = FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR | FI_MR_LOCAL;
    info->domain_attr->mr_key_size = 8;
    info->domain_attr->cq_data_size = 4;
    info->domain_attr->name = at->device.name = at->name;
    info->fabric_attr->prov_name = info->fabric_attr->name = fabric;
    at->bus.bus_type = FI_BUS_PCI;
    at->bus.attr.pci.bus_id = nic;
    at->nic.bus_attr = &at->bus;
    at->nic.device_attr = &at->device;
    info->nic = &at->nic;
    return info;
}

/* What hints bring, the transport's own texts, is freed with them. */
static void info_free(struct fi_info *info)
{
    while (info) {
        struct fi_info *next = info->next;

        if (!info->nic) {
            free(info->fabric_attr->prov_name);
            free(info->domain_attr->name);
        }
        free(info);
        info = next;
    }
}

static struct fi_info *info_dup(const struct fi_info *from)
{
    return from ? info_full(from->nic->bus_attr->attr.pci.bus_id) : info_new();
}

/* It keeps no order. */
static int info_get(uint32_t version, const char *node, const char *service, uint64_t flags,
                    const struct fi_info *hints, struct fi_info **list)
{
    (void)version, (void)node, (void)service, (void)flags;
    if (hints->tx_attr->msg_order)
        return -FI_ENODATA;
    *list = NULL;
    for (unsigned nic = stub_nics; nic--;) {
        struct fi_info *info = info_full((uint8_t)nic);

        info->next = *list;
        *list = info;
    }
    return 0;
}

static uint32_t version_get(void)
{
    return FI_VERSION(1, 18);
}

static const char *error_text(int err)
{
    return strerror(err);
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
                                .getinfo = info_get,
                                .freeinfo = info_free,
                                .dupinfo = info_dup,
                                .fabric = stub_fabric_open,
                                .strerror = error_text};
    return 0;
}

/* The machine has these NICs alone, all alike near. */
int __wrap_wsh_topo_load(struct wsh_topo *topo, const char *xml);

int __wrap_wsh_topo_load(struct wsh_topo *topo, const char *xml)
{
    (void)xml;
    memset(topo, 0, sizeof *topo);
    topo->n_nics = (int)stub_nics;
    topo->here = (struct wsh_topo_place){.numa = 0, .package = 0, .root = -1};
    for (int i = 0; i < topo->n_nics; i++) {
        topo->nic[i].name[0] = (char)('a' + i);
        snprintf(topo->nic[i].pci, sizeof topo->nic[i].pci, "0000:%02x:00.0", (unsigned)i);
        topo->nic[i].place = topo->here;
    }
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the fake provider says of itself, and how the transport comes to it instead of to libfabric. */
#define _GNU_SOURCE
#include "test/fuzz/common/fake_objects.h"

#include "topo/topo.h"
#include "transports/efa/fabric.h"

#include <arpa/inet.h>
#include <rdma/fi_errno.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void fake_fabric_reset(const struct fake_provider *provider)
{
    memset(&fake, 0, sizeof fake);
    fake.provider = *provider;
    fake.clock_ns = 1000000000;
}

/* An endpoint, in one piece but for the two names that hints bring. */
struct fake_info {
    struct fi_info info;
    struct fi_tx_attr tx;
    struct fi_rx_attr rx;
    struct fi_ep_attr ep;
    struct fi_domain_attr domain;
    struct fi_fabric_attr fabric;
    struct fid_nic nic;
    struct fi_device_attr device;
    struct fi_bus_attr bus;
    struct sockaddr_in address;
    char device_name[16], fabric_name[8];
};

static struct fi_info *info_link(struct fake_info *fake_info)
{
    fake_info->info.tx_attr = &fake_info->tx;
    fake_info->info.rx_attr = &fake_info->rx;
    fake_info->info.ep_attr = &fake_info->ep;
    fake_info->info.domain_attr = &fake_info->domain;
    fake_info->info.fabric_attr = &fake_info->fabric;
    fake_info->nic.device_attr = &fake_info->device;
    fake_info->nic.bus_attr = &fake_info->bus;
    fake_info->device.name = fake_info->device_name;
    fake_info->info.src_addr = fake_info->info.addr_format == FI_SOCKADDR_IN ? &fake_info->address : NULL;
    fake_info->fabric.name = fake_info->fabric_name;
    return &fake_info->info;
}

static struct fi_info *info_dup(const struct fi_info *from)
{
    struct fake_info *copy = calloc(1, sizeof *copy);

    if (!copy)
        abort();
    if (!from)
        return info_link(copy);
    *copy = *(const struct fake_info *)from;
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

static void info_fill_order(struct fake_info *info, const struct fake_provider *provider)
{
    uint64_t order = provider->ordered ? FI_ORDER_WAW | FI_ORDER_SAW | FI_ORDER_SAS : 0;

    info->tx.msg_order = info->rx.msg_order = order;
    info->ep.max_order_waw_size = provider->ordered ? SIZE_MAX : 0;
}

static struct fi_info *info_make(const struct fake_provider *provider, unsigned nic)
{
    struct fake_info *info = (struct fake_info *)info_dup(NULL);

    info->info.addr_format = provider->alone ? FI_ADDR_EFA : FI_SOCKADDR_IN;
    info->info.mode = provider->imm_receives ? FI_RX_CQ_DATA : 0;
    info->address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x0a000001)};
    info->tx.size = FAKE_QUEUE;
    info->tx.inject_size = provider->inject;
    info->rx.size = FAKE_RECEIVES;
    info->ep.type = FI_EP_RDM;
    info->ep.max_msg_size = 640;
    info->domain.data_progress = provider->alone ? FI_PROGRESS_AUTO : FI_PROGRESS_MANUAL;
    info->domain.mr_mode = (provider->alone ? FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR : 0) |
                           (provider->local ? FI_MR_LOCAL : 0);
    info->domain.mr_key_size = provider->key_size ? provider->key_size : 8;
    info->domain.cq_data_size = provider->alone ? 4 : 0;
    info_fill_order(info, provider);
    if (asprintf(&info->domain.name, "nic%u", nic) < 0)
        abort();
    info->fabric.prov_name = strdup(provider->name);
    snprintf(info->fabric_name, sizeof info->fabric_name, "fake");
    snprintf(info->device_name, sizeof info->device_name, "nic%u", nic);
    info->bus.bus_type = FI_BUS_PCI;
    info->bus.attr.pci.bus_id = (uint8_t)nic;
    info_link(info)->nic = provider->alone ? &info->nic : NULL;
    return &info->info;
}

/* As a provider does: what is asked for in vain is no endpoint. */
static int info_get(uint32_t version, const char *node, const char *service, uint64_t flags,
                    const struct fi_info *hints, struct fi_info **list)
{
    const struct fake_provider *provider = &fake.provider;

    (void)version, (void)node, (void)service, (void)flags;
    if (hints->fabric_attr->prov_name && strcasecmp(hints->fabric_attr->prov_name, provider->name))
        return -FI_ENODATA;
    if (hints->tx_attr->msg_order && !provider->ordered)
        return -FI_ENODATA;
    *list = info_make(provider, 0);
    for (unsigned nic = 1; nic < provider->nics; nic++)
        (*list)->next = info_make(provider, nic);
    return 0;
}

static uint32_t version_get(void)
{
    return FI_VERSION(1, 18);
}

static const char *error_name(int err)
{
    return err < 0 ? "a negative error" : strerror(err % 4096);
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
                                .fabric = fake_fabric_open,
                                .strerror = error_name};
    return 0;
}

/* The machine has the fake NICs, all alike near. */
int __wrap_wsh_topo_load(struct wsh_topo *topo, const char *xml);

int __wrap_wsh_topo_load(struct wsh_topo *topo, const char *xml)
{
    (void)xml;
    memset(topo, 0, sizeof *topo);
    topo->n_nics = (int)fake.provider.nics;
    topo->here = (struct wsh_topo_place){.numa = 0, .package = 0, .root = -1};
    for (int i = 0; i < topo->n_nics; i++) {
        snprintf(topo->nic[i].name, sizeof topo->nic[i].name, "nic%d", i);
        snprintf(topo->nic[i].pci, sizeof topo->nic[i].pci, "0000:%02x:00.0", i);
        topo->nic[i].place = topo->here;
    }
    return 0;
}

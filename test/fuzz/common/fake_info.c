/* SPDX-License-Identifier: BSD-3-Clause */
/* What the fake provider says of itself. */
#include "test/fuzz/common/fake_objects.h"

#include <string.h>
#include <strings.h>

void fake_fabric_reset(const struct fake_provider *of)
{
    memset(&fake, 0, sizeof fake);
    fake.provider = *of;
    fake.clock_ns = 1000000000;
    provider_objects = 0;
}

static void info_fill_order(struct provider_info *info, const struct fake_provider *of)
{
    uint64_t order = of->ordered ? FI_ORDER_WAW | FI_ORDER_SAW | FI_ORDER_SAS : 0;

    info->tx.msg_order = info->rx.msg_order = order;
    info->ep.max_order_waw_size = of->ordered ? SIZE_MAX : 0;
}

static struct fi_info *info_make(const struct fake_provider *of, unsigned nic)
{
    struct provider_info *info = provider_info_new(of->name, nic);

    info->info.addr_format = of->alone ? FI_ADDR_EFA : FI_SOCKADDR_IN;
    info->info.mode = of->imm_receives ? FI_RX_CQ_DATA : 0;
    info->address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x0a000001)};
    info->tx.size = FAKE_QUEUE;
    info->tx.inject_size = of->inject;
    info->rx.size = FAKE_RECEIVES;
    info->ep.type = FI_EP_RDM;
    info->ep.max_msg_size = 640;
    info->domain.data_progress = of->alone ? FI_PROGRESS_AUTO : FI_PROGRESS_MANUAL;
    info->domain.mr_mode =
        (of->alone ? FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR : 0) | (of->local ? FI_MR_LOCAL : 0);
    info->domain.mr_key_size = of->key_size ? of->key_size : 8;
    info->domain.cq_data_size = of->alone ? 4 : 0;
    info_fill_order(info, of);
    if (!of->alone) {
        info->info.nic = NULL;
        info->info.src_addr = &info->address;
    }
    return &info->info;
}

/* As a provider does: what is asked for in vain is no endpoint. */
int fake_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
                 const struct fi_info *hints, struct fi_info **list)
{
    const struct fake_provider *of = &fake.provider;

    (void)version, (void)node, (void)service, (void)flags;
    if (hints->fabric_attr->prov_name && strcasecmp(hints->fabric_attr->prov_name, of->name))
        return -FI_ENODATA;
    if (hints->tx_attr->msg_order && !of->ordered)
        return -FI_ENODATA;
    *list = info_make(of, 0);
    for (unsigned nic = 1; nic < of->nics; nic++)
        (*list)->next = info_make(of, nic);
    return 0;
}

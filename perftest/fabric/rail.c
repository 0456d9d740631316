/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects a test's NICs by what they can do, and opens the libfabric objects of each. */
#include "perftest/fabric/net.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CQ_SIZE 8192
/* Since libfabric 1.22 FI_OPT_MAX_MSG_SIZE: bytes of one send where a write may be longer. Older ones refuse it. */
#define OPT_MAX_MSG_SIZE 12
/* Asked for less than this, provider efa uses no RDMA of the device. */
#define API FI_VERSION(1, 18)

void fab_must(const struct fab_rail *rail, long code, const char *call)
{
    if (code < 0)
        fab_fail("%s over %s (%s) failed: %s; fi_info lists providers, --provider chooses one", call,
                 rail->info->fabric_attr->prov_name, rail->info->domain_attr->name, fi_strerror((int)-code));
}

static struct fi_info *make_hints(const char *provider)
{
    struct fi_info *hints = fi_allocinfo();

    if (!hints)
        fab_fail("no memory for libfabric's hints");
    hints->caps =
        FI_MSG | FI_RMA | (provider ? 0 : FI_REMOTE_COMM); /* unasked, only what reaches other hosts */
    hints->mode = FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->fabric_attr->prov_name = provider ? strdup(provider) : NULL;
    return hints;
}

static struct fi_info *info_query(const char *provider)
{
    struct fi_info *hints = make_hints(provider), *list = NULL;
    uint32_t version = fi_version();

    if (fi_getinfo(FI_VERSION_LT(version, API) ? version : API, NULL, NULL, 0, hints, &list))
        list = NULL;
    fi_freeinfo(hints);
    return list;
}

static double link_bits(const struct fi_info *info)
{
    return info->nic && info->nic->link_attr ? (double)info->nic->link_attr->speed : 0;
}

/* Loopback and link-local addresses reach no other host, or not without a scope. */
static bool routable(const struct fi_info *info)
{
    const struct sockaddr_in6 *in6 = info->src_addr;

    if (!in6 || (info->addr_format != FI_SOCKADDR_IN && info->addr_format != FI_SOCKADDR_IN6))
        return true;
    if (info->addr_format == FI_SOCKADDR_IN)
        return ntohl(((const struct sockaddr_in *)info->src_addr)->sin_addr.s_addr) >> 24 != IN_LOOPBACKNET;
    return !IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr) && !IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr);
}

/*
 * Larger is better: is a NIC that says its speed, needs no help of the target's CPU (a NIC only: software that says so
 * has a thread of its own), has a routable address.
 */
static int score(const struct fi_info *info)
{
    bool nic = link_bits(info) > 0;
    bool alone = nic && info->domain_attr->data_progress == FI_PROGRESS_AUTO;

    return 4 * nic + 2 * alone + routable(info);
}

/* `fabric`: a name as in --provider that may be a fabric's instead, where one provider has two. */
static bool wanted(const struct fi_info *info, const char *fabric)
{
    return info->domain_attr->mr_key_size <= sizeof(uint64_t) && info->domain_attr->cq_data_size >= 4 &&
           (!fabric || !strcmp(info->fabric_attr->name, fabric));
}

static const struct fi_info *best_of(const struct fi_info *list, const char *fabric)
{
    const struct fi_info *best = NULL;

    for (const struct fi_info *info = list; info; info = info->next)
        if (wanted(info, fabric) && (!best || score(info) > score(best)))
            best = info;
    return best;
}

/* The same sort of endpoint on another NIC. */
static bool alike(const struct fi_info *a, const struct fi_info *b)
{
    return !strcmp(a->fabric_attr->prov_name, b->fabric_attr->prov_name) &&
           a->addr_format == b->addr_format &&
           a->domain_attr->data_progress == b->domain_attr->data_progress && a->mode == b->mode &&
           score(a) == score(b);
}

static bool has_domain(const struct fab_net *net, const struct fi_info *info)
{
    for (int i = 0; i < net->n_rails; i++)
        if (!strcmp(net->rails[i].info->domain_attr->name, info->domain_attr->name))
            return true;
    return false;
}

bool fab_rails_choose(struct fab_net *net)
{
    const char *name = net->opts->common.provider;
    struct fi_info *list = info_query(*name ? name : NULL);
    const struct fi_info *best = best_of(list, *name ? name : NULL);
    long limit = net->opts->nics ? net->opts->nics : FAB_RAILS_MAX;

    if (!best)
        best = best_of(list, NULL);
    if (!best && *name) {
        list = info_query(NULL);
        best = best_of(list, name);
    }
    for (const struct fi_info *info = best ? list : NULL; info && net->n_rails < limit; info = info->next)
        if (wanted(info, NULL) && alike(info, best) && !has_domain(net, info))
            net->rails[net->n_rails++].info = fi_dupinfo(info);
    fi_freeinfo(list);
    return net->n_rails > 0;
}

static void find_limits(struct fab_rail *rail)
{
    size_t size = 0, len = sizeof(size);

    rail->message_max = rail->info->ep_attr->max_msg_size;
    if (!fi_getopt(&rail->ep->fid, FI_OPT_ENDPOINT, OPT_MAX_MSG_SIZE, &size, &len) && size &&
        size < rail->message_max)
        rail->message_max = size;
    rail->bits = link_bits(rail->info);
}

/* A queue that somebody could sleep on costs some providers more, also while nobody does. */
static enum fi_wait_obj wait_object(void)
{
    const char *text = getenv("PERF_BARE_WAIT");

    return text && !strcmp(text, "1") ? FI_WAIT_FD : FI_WAIT_NONE;
}

void fab_rail_open(struct fab_net *net, struct fab_rail *rail)
{
    struct fi_info *info = rail->info;
    struct fi_av_attr av = {.type = FI_AV_TABLE};
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_DATA, .size = CQ_SIZE, .wait_obj = wait_object()};
    uint64_t n = (uint64_t)net->boot.n;

    fab_must(rail, fi_fabric(info->fabric_attr, &rail->fabric, NULL), "fi_fabric");
    fab_must(rail, fi_domain(rail->fabric, info, &rail->domain, NULL), "fi_domain");
    fab_must(rail, fi_av_open(rail->domain, &av, &rail->av, NULL), "fi_av_open");
    fab_must(rail, fi_cq_open(rail->domain, &cq, &rail->cq, NULL), "fi_cq_open");
    fab_must(rail, fi_endpoint(rail->domain, info, &rail->ep, NULL), "fi_endpoint");
    fab_must(rail, fi_ep_bind(rail->ep, &rail->av->fid, 0), "fi_ep_bind");
    fab_must(rail, fi_ep_bind(rail->ep, &rail->cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    fab_must(rail, fi_enable(rail->ep), "fi_enable");
    find_limits(rail);
    rail->addr = calloc(n, sizeof(*rail->addr));
    rail->base = calloc(n, sizeof(*rail->base));
    rail->key = calloc(n, sizeof(*rail->key));
    if (!rail->addr || !rail->base || !rail->key)
        fab_fail("no memory for the addresses of %d processes", net->boot.n);
}

void fab_rail_close(struct fab_rail *rail)
{
    struct fid *const fids[] = {&rail->ep->fid, &rail->mr->fid,     &rail->cq->fid,
                                &rail->av->fid, &rail->domain->fid, &rail->fabric->fid};

    for (size_t i = 0; i < sizeof(fids) / sizeof(fids[0]); i++)
        fab_must(rail, fi_close(fids[i]), "fi_close");
    fi_freeinfo(rail->info);
    free(rail->addr);
    free(rail->base);
    free(rail->key);
    free(rail->receives);
}

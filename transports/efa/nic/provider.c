/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the libfabric provider, and decides what to ask of it. */
#include "transports/efa/nic/provider.h"

#include "base/env/env.h"
#include "base/log.h"
#include "transports/efa/gda/provider_ops.h"
#include "transports/efa/ops/slots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WSH_EFA_ORDER (FI_ORDER_WAW | FI_ORDER_SAW)
#define WSH_EFA_ORDER_MORE (WSH_EFA_ORDER | FI_ORDER_SAS | FI_ORDER_RAW)

/*
 * rank: the lower the better; a provider that is not listed drives real network hardware. Where libfabric has put a
 * layer of its own on a provider (`tcp;ofi_rxm`), one with such endpoints of its own is faster: with libfabric 1.17 a
 * message takes 5 us by net and 7 us by tcp;ofi_rxm. From 1.18 on net's endpoints are tcp's own.
 * on_request: only when the settings name it or its domain: it reaches no other host, or not reliably at load.
 * one_write: shm takes one delivery-complete write a peer, refuses all else to that peer until the target has seen
 * it, and hands out no completion before an older one of another peer.
 */
static const struct {
    const char *name;
    int rank;
    bool on_request, one_write;
} efa_known[] = {{"efa", 0, false, false},      {"tcp", 20, false, false}, {"net", 21, false, false},
                 {"sockets", 30, false, false}, {"shm", 40, true, true},   {"udp", 41, true, false}};
#define WSH_EFA_RANK_HARDWARE 10
#define WSH_EFA_RANK_LAYERED 5 /* more */

static int known_index(const char *name)
{
    size_t len = strcspn(name, ";");

    for (int i = 0; i < (int)(sizeof efa_known / sizeof efa_known[0]); i++)
        if (strlen(efa_known[i].name) == len && !strncasecmp(efa_known[i].name, name, len))
            return i;
    return -1;
}

/* In net two PEs that first talk to each other after a third has failed lose messages. */
#define WSH_EFA_RANK_FRAGILE 5

static int rank_of(const struct fi_info *info, bool survives)
{
    const char *name = info->fabric_attr->prov_name;
    int i = known_index(name), rank = i < 0 ? WSH_EFA_RANK_HARDWARE : efa_known[i].rank;

    if (survives && !strcmp(name, "net"))
        rank += WSH_EFA_RANK_FRAGILE;
    return strchr(name, ';') ? rank + WSH_EFA_RANK_LAYERED : rank;
}

/*
 * Without an order of writes, messages save the wait for them at a fence, where the target's CPU is needed anyway.
 * The choices for tcp (writes) and shm were measured: a write and its completion take 8.3 us over tcp and 0.5 us
 * over shm, a message and its acknowledgement 10 us and 1.0 us.
 */
enum wsh_efa_put wsh_efa_info_small_puts(const struct fi_info *info)
{
    int i = known_index(info->fabric_attr->prov_name);

    if (i >= 0 && efa_known[i].one_write)
        return WSH_EFA_PUT_ONE_WRITE;
    return !wsh_efa_info_orders_waw(info) && info->domain_attr->data_progress == FI_PROGRESS_MANUAL
               ? WSH_EFA_PUT_MESSAGES
               : WSH_EFA_PUT_WRITES;
}

/* What libfabric is asked for. */
struct question {
    const char *prov, *domain; /* NULL: any */
    uint64_t order;
    bool hmem;
    bool unsolicited; /* writes with immediate data that take no receive; else both kinds */
};

/* Never FI_ATOMIC: atomics run on the target's CPU, and tcp;ofi_rxm loses its write order with it. */
static struct fi_info *make_hints(const struct wsh_efa_lib *lib, const struct question *question)
{
    struct fi_info *hints = lib->dupinfo(NULL);

    if (!hints)
        return NULL;
    hints->caps = FI_MSG | FI_RMA | FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
    hints->mode = FI_CONTEXT | FI_CONTEXT2 | (question->unsolicited ? 0 : FI_RX_CQ_DATA);
    hints->ep_attr->type = FI_EP_RDM;
    hints->tx_attr->msg_order = question->order;
    hints->rx_attr->msg_order = question->order;
    hints->domain_attr->mr_mode =
        FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    hints->domain_attr->threading = FI_THREAD_DOMAIN; /* efa_tp.lock covers the whole domain */
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    if (question->hmem) {
        hints->caps |= FI_HMEM;
        hints->domain_attr->mr_mode |= FI_MR_HMEM;
    }
    hints->fabric_attr->prov_name = question->prov ? strdup(question->prov) : NULL;
    hints->domain_attr->name = question->domain ? strdup(question->domain) : NULL;
    return hints;
}

/* Only who knows of this version may open counters that the NIC keeps, which count to 2^31. */
#define WSH_EFA_API_COUNTS FI_VERSION(2, 5)

static uint32_t api_for(const struct wsh_efa_lib *lib, const char *prov, bool hmem)
{
    if (prov && !strcmp(prov, "efa") && FI_VERSION_GE(lib->version, WSH_EFA_GDA_OPS_SINCE))
        return WSH_EFA_API_COUNTS;
    return hmem ? lib->api_hmem : lib->api;
}

static int query_provider(const struct wsh_efa_lib *lib, const struct question *question,
                          struct fi_info **list)
{
    struct fi_info *hints = make_hints(lib, question);
    int rc;

    if (!hints)
        return -ENOMEM;
    *list = NULL;
    rc = lib->getinfo(api_for(lib, question->prov, question->hmem), NULL, NULL, 0, hints, list);
    lib->freeinfo(hints);
    return rc;
}

bool wsh_efa_info_moves_alone(const struct fi_info *info)
{
    return info->domain_attr->data_progress == FI_PROGRESS_AUTO;
}

/*
 * The first of the best: libfabric lists faster NICs first. `any`: those on request are welcome too. Some
 * providers take no notice of the domain in the hints.
 */
static const struct fi_info *best_of(const struct fi_info *list, const struct wsh_efa_where *where,
                                     const char *domain, bool any)
{
    const struct fi_info *best = NULL;
    int best_score = 0;

    for (const struct fi_info *info = list; info; info = info->next) {
        int known = known_index(info->fabric_attr->prov_name);
        int away = wsh_efa_where_rank(where, info);
        int score = 4 * rank_of(info, where->survives) + 2 * away + !wsh_efa_info_moves_alone(info);

        if (away < 0 || info->domain_attr->mr_key_size > sizeof(uint64_t) ||
            (known >= 0 && efa_known[known].on_request && !any) ||
            (domain && strcasecmp(domain, info->domain_attr->name)))
            continue;
        if (!best || score < best_score) {
            best = info;
            best_score = score;
        }
    }
    return best;
}

static void list_providers(const struct wsh_efa_lib *lib, char *text, size_t size)
{
    struct fi_info *list;
    size_t used = 0;

    snprintf(text, size, "none");
    if (query_provider(lib, &(struct question){0}, &list))
        return;
    for (const struct fi_info *info = list; info && used < size; info = info->next) {
        char word[128];

        snprintf(word, sizeof word, "%s (%s)", info->fabric_attr->prov_name, info->domain_attr->name);
        if (!strstr(text, word))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", word);
    }
    lib->freeinfo(list);
}

/* Asks the named provider for its order first; one that cannot give it refuses, and is asked without any. */
static int query_ordered(const struct wsh_efa_lib *lib, struct question question, struct fi_info **list)
{
    const uint64_t orders[] = {WSH_EFA_ORDER_MORE, WSH_EFA_ORDER, 0};
    int rc = -FI_ENODATA;

    for (size_t i = 0; i < sizeof orders / sizeof orders[0] && rc == -FI_ENODATA; i++) {
        question.order = orders[i];
        rc = query_provider(lib, &question, list);
    }
    return rc;
}

/* Device memory too, where that is wanted and the provider has it; whatever else is the matter is asked without. */
static int query_named(const struct wsh_efa_lib *lib, struct question question, struct fi_info **list)
{
    int rc = question.hmem ? query_ordered(lib, question, list) : -FI_ENODATA;

    if (!rc)
        return 0;
    if (question.hmem)
        wsh_info(WSH_SUB_TRANSPORT,
                 "libfabric %u.%u's provider %s does not take device memory (FI_HMEM: %s): that of other "
                 "hosts is reached through host memory",
                 FI_MAJOR(lib->version), FI_MINOR(lib->version), question.prov, lib->strerror(-rc));
    question.hmem = false;
    return query_ordered(lib, question, list);
}

/* A variable of libfabric's own, which other software sets for itself and leaves behind. */
#define FILTER "FI_PROVIDER"

static int refuse_setting(const struct wsh_efa_lib *lib, const char *prov, const char *domain, int rc)
{
    const char *filter = wsh_env_foreign(FILTER);
    char available[512];

    list_providers(lib, available, sizeof available);
    wsh_error("%s='%s'%s%s: libfabric has none here that can be used (%s); there are, as provider (domain): "
              "%s%s%s%s",
              domain ? "SHMEM_LIBFABRIC_DOMAIN" : "SHMEM_LIBFABRIC_PROVIDER", domain ? domain : prov,
              domain && prov ? " of provider " : "", domain && prov ? prov : "", lib->strerror(-rc),
              available, filter ? "; " FILTER "='" : "", filter ? filter : "",
              filter ? "' hides others: unset it" : "");
    return -ENOENT;
}

/* Nobody asked for a provider, and none that reaches other hosts is left. */
static int report_none(const char *filter, const char *why, char *text, size_t size)
{
    if (!filter) {
        snprintf(text, size, "libfabric finds no provider%s", why);
        return -ENODEV;
    }
    wsh_error(FILTER
              "='%s' is set, and leaves libfabric no provider that reaches other hosts; unset it, or set it "
              "to tcp,ofi_rxm, or to efa where there is an EFA device",
              filter);
    return -ENOENT;
}

static int choose_name(const struct wsh_efa_lib *lib, const struct wsh_efa_where *where, const char *domain,
                       char *name, size_t size, char *why, size_t why_size)
{
    const struct fi_info *best;
    struct fi_info *list;
    int rc = query_provider(lib, &(struct question){.domain = domain}, &list);

    if (rc && domain)
        return refuse_setting(lib, NULL, domain, rc);
    if (rc)
        return report_none(wsh_env_foreign(FILTER), "", why, why_size);
    best = best_of(list, where, domain, domain != NULL);
    if (best)
        snprintf(name, size, "%s", best->fabric_attr->prov_name);
    lib->freeinfo(list);
    if (!best && domain)
        return refuse_setting(lib, NULL, domain, -FI_ENODATA);
    return best ? 0 : report_none(wsh_env_foreign(FILTER), " that reaches other hosts", why, why_size);
}

/* The same sort of endpoint, so that what holds for one NIC holds for the other. */
static bool is_alike(const struct wsh_efa_where *where, const struct fi_info *a, const struct fi_info *b)
{
    return !strcmp(a->fabric_attr->prov_name, b->fabric_attr->prov_name) &&
           !strcmp(a->fabric_attr->name, b->fabric_attr->name) && a->addr_format == b->addr_format &&
           a->ep_attr->protocol == b->ep_attr->protocol && a->mode == b->mode &&
           wsh_efa_info_moves_alone(a) == wsh_efa_info_moves_alone(b) &&
           wsh_efa_where_rank(where, a) == wsh_efa_where_rank(where, b);
}

static bool has_domain(const struct fi_info *list, const char *name)
{
    for (; list; list = list->next)
        if (!strcmp(list->domain_attr->name, name))
            return true;
    return false;
}

/* Copies the best one and, where domains are not named by the user, those of its sort on other NICs. */
static struct fi_info *copy_alike(const struct wsh_efa_lib *lib, const struct wsh_efa_where *where,
                                  const struct fi_info *list, const struct fi_info *best, bool only)
{
    struct fi_info *first = lib->dupinfo(best), *last = first;

    for (; first && !only && list; list = list->next) {
        if (!is_alike(where, list, best) || has_domain(first, list->domain_attr->name))
            continue;
        last->next = lib->dupinfo(list);
        if (!last->next) {
            lib->freeinfo(first);
            return NULL;
        }
        last = last->next;
    }
    return first;
}

/* Sockets where no other machine reaches them were wished for, and the provider has none. */
static void note_address(const struct wsh_efa_where *where, const struct fi_info *info)
{
    if (where->loopback && wsh_efa_where_rank(where, info))
        wsh_warn("all PEs are on this machine, but libfabric's provider %s offers no loopback address: other "
                 "machines reach the ports of %s; see that lo is up",
                 info->fabric_attr->prov_name, info->domain_attr->name);
}

/*
 * Asked for both kinds, efa-direct has each write with immediate data take a receive, also where the device could do
 * without. Asked for the other kind alone, it is there for such devices only.
 */
static void ask_unsolicited(const struct wsh_efa_lib *lib, const struct wsh_efa_where *where,
                            struct question question, struct fi_info **list, const struct fi_info **best)
{
    const struct fi_info *other;
    struct fi_info *others;

    question.hmem = (*best)->caps & FI_HMEM;
    question.unsolicited = true;
    if (query_named(lib, question, &others))
        return;
    other = best_of(others, where, question.domain, true);
    if (!other || strcmp(other->fabric_attr->name, (*best)->fabric_attr->name)) {
        lib->freeinfo(others);
        return;
    }
    lib->freeinfo(*list);
    *list = others;
    *best = other;
}

int wsh_efa_provider_choose(const struct wsh_efa_lib *lib, const struct wsh_env *env,
                            const struct wsh_efa_where *where, bool hmem, struct fi_info **info, char *why,
                            size_t size)
{
    char name[128];
    struct question question;
    const struct fi_info *best;
    struct fi_info *list;
    int rc;

    if (env->provider)
        snprintf(name, sizeof name, "%s", env->provider);
    else if ((rc = choose_name(lib, where, env->domain, name, sizeof name, why, size)))
        return rc;
    question = (struct question){.prov = name, .domain = env->domain, .hmem = hmem};
    rc = query_named(lib, question, &list);
    if (rc)
        return refuse_setting(lib, name, env->domain, rc);
    best = best_of(list, where, env->domain, true);
    if (best && best->mode & FI_RX_CQ_DATA)
        ask_unsolicited(lib, where, question, &list, &best);
    *info = best ? copy_alike(lib, where, list, best, env->domain) : NULL;
    if (best)
        note_address(where, best);
    lib->freeinfo(list);
    if (!best)
        return refuse_setting(lib, name, env->domain, -FI_ENODATA);
    return *info ? 0 : -ENOMEM;
}

int wsh_efa_provider_open(struct wsh_efa_lib *lib, const struct wsh_env *env, struct fi_info **info,
                          char *why, size_t size)
{
    struct wsh_efa_where where;
    int rc = wsh_efa_lib_open(lib, why, size);

    if (rc)
        return rc;
    rc = wsh_efa_where_open(&where, env, false);
    if (!rc)
        rc = wsh_efa_provider_choose(lib, env, &where, false, info, why, size);
    if (rc)
        wsh_efa_lib_close(lib);
    return rc;
}

/* A provider may claim an order and limit it to operations of so many bytes: shm claims all, for 0 bytes. */
static bool has_order(const struct fi_info *info, uint64_t bits, size_t max_size)
{
    return (info->tx_attr->msg_order & bits) && max_size >= info->ep_attr->max_msg_size;
}

bool wsh_efa_info_orders_waw(const struct fi_info *info)
{
    return has_order(info, FI_ORDER_WAW | FI_ORDER_RMA_WAW, info->ep_attr->max_order_waw_size);
}

bool wsh_efa_info_orders_saw(const struct fi_info *info)
{
    return has_order(info, FI_ORDER_SAW, info->ep_attr->max_order_waw_size);
}

bool wsh_efa_info_orders_raw(const struct fi_info *info)
{
    return has_order(info, FI_ORDER_RAW | FI_ORDER_RMA_RAW, info->ep_attr->max_order_raw_size);
}

bool wsh_efa_info_pins(const struct fi_info *info)
{
    return info->domain_attr->mr_mode & FI_MR_ALLOCATED;
}

bool wsh_efa_info_takes_hmem(const struct fi_info *info)
{
    return info->caps & FI_HMEM;
}

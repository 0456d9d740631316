/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens, stops and closes an endpoint set. */
#include "transports/efa/set/set.h"

#include "base/err.h"
#include "base/log.h"
#include "transports/efa/gda/counters.h"
#include "transports/efa/ops/fetch.h"
#include "transports/efa/nic/signal_handlers.h"
#include "transports/efa/set/errors.h"
#include "transports/efa/set/memory.h"
#include "transports/efa/nic/mr.h"
#include "transports/efa/wire/msg.h"
#include "transports/efa/nic/nics.h"
#include "transports/efa/ops/op.h"
#include "transports/efa/progress.h"
#include "transports/efa/nic/provider.h"
#include "transports/efa/ops/serve.h"
#include "transports/efa/wire/sizes.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#define WSH_EFA_STOP_S 0.5 /* for what is under way when the transport closes */

static bool has_rdma_nic(void)
{
    DIR *dir = opendir("/sys/class/infiniband");
    bool found = false;

    for (struct dirent *entry; dir && !found && (entry = readdir(dir));)
        found = entry->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return found;
}

static int open_pools(struct wsh_efa_set *set)
{
    int rc = wsh_efa_pool_init(&set->plain, set->limits.n_tx, 0);

    if (!rc)
        rc = wsh_efa_pool_init(&set->small, set->limits.n_small,
                               sizeof(struct wsh_efa_put_msg) + set->limits.copy_max);
    if (!rc)
        rc = wsh_efa_pool_init(&set->rx, set->limits.n_rx * set->n_rails, set->limits.msg_max);
    if (!rc)
        rc = wsh_efa_pool_init(&set->large, set->limits.n_large, set->mr_local ? WSH_EFA_LARGE : 0);
    if (!rc)
        rc = wsh_efa_pool_init(&set->answer, WSH_EFA_ANSWERS, set->limits.msg_max);
    if (!rc)
        rc = wsh_efa_op_init(set);
    if (!rc)
        rc = wsh_efa_fetch_init(set);
    return rc ? rc : wsh_efa_mem_pools(set);
}

/*
 * Each rail has enough for all, since messages may come by any. A provider may give the device none before it is asked
 * for completions; a message that finds none there is sent again, which is late, and with a full queue fails.
 */
static int post_receives(struct wsh_efa_set *set)
{
    struct wsh_efa_req *req;
    int rc = 0;

    for (uint32_t i = 0; !rc && (req = wsh_efa_req_get(&set->rx, WSH_EFA_REQ_RECV, -1)); i++) {
        req->wr.rail = (uint8_t)(i / set->limits.n_rx);
        rc = wsh_efa_msg_post(set, req);
    }
    for (uint32_t i = 0; i < set->n_rails; i++)
        (void)fi_cq_read(set->rail[i].cq, NULL, 0);
    return rc;
}

/* Not asked for by name: its absence is no error, but the reason may be wanted. */
static int report_absence(const struct wsh_env *env, const char *why)
{
    if (!env->provider && !env->domain) {
        wsh_info(WSH_SUB_TRANSPORT, "no network transport: %s", why);
        return -ENODEV;
    }
    wsh_error("SHMEM_LIBFABRIC_PROVIDER or SHMEM_LIBFABRIC_DOMAIN is set: %s", why);
    return -ENOENT;
}

static void peer_free(const struct wsh_efa_set *set, struct wsh_efa_peer *peer)
{
    wsh_efa_peer_fini(set, peer);
    wsh_efa_counters_forget(peer);
}

static void free_parts(struct wsh_efa_set *set)
{
    wsh_efa_flows_free(set);
    wsh_efa_pool_fini(&set->plain);
    wsh_efa_pool_fini(&set->small);
    wsh_efa_pool_fini(&set->answer);
    wsh_efa_pool_fini(&set->large);
    wsh_efa_pool_fini(&set->rx);
    free(set->ops.slab);
    free(set->fetches.all);
    for (int i = 0; i < set->n_known; i++)
        peer_free(set, &set->peers[set->known[i]]);
    free(set->known);
    free(set->peers);
    wsh_ranges_close(set->device);
    pthread_mutex_destroy(&set->lock);
    free(set);
}

static bool is_busy(const struct wsh_efa_set *set)
{
    uint32_t taken = 0;

    for (uint32_t i = 0; i < set->n_rails; i++)
        taken += set->rail[i].taken;
    return taken && set->joined && !set->failed && wsh_efa_now() < set->stop_by;
}

/* What has been taken by then ends soon, unless it goes to a PE that has left. */
int wsh_efa_set_stop(struct wsh_efa_set *set, bool at_once)
{
    bool busy;

    wsh_efa_set_lock(set);
    if (!set->stop_by)
        set->stop_by = wsh_efa_now() + WSH_EFA_STOP_S;
    busy = !at_once && is_busy(set);
    set->joined &= busy; /* no more progress */
    if (!busy)
        wsh_efa_counters_stop(set);
    for (uint32_t i = 0; i < set->n_rails && !busy; i++)
        wsh_efa_rail_stop(&set->rail[i]);
    wsh_efa_set_unlock(set);
    return busy ? -EAGAIN : 0;
}

/* Also of one that was opened halfway, and not stopped. */
void wsh_efa_set_close(struct wsh_efa_set *set)
{
    for (struct wsh_efa_answer *answer = set->msgs.answers, *next; answer; answer = next) {
        next = answer->next;
        free(answer);
    }
    if (set->hello.shm_name[0])
        shm_unlink(set->hello.shm_name);
    for (uint32_t i = 0; i < set->n_rails; i++)
        wsh_efa_rail_stop(&set->rail[i]);
    wsh_efa_counters_close(set);
    for (size_t i = 0; i < sizeof set->slab_mr / sizeof set->slab_mr[0]; i++)
        wsh_efa_mr_close(set, &set->slab_mr[i]);
    if (set->n_rails > 1 && set->wait_fd >= 0)
        close(set->wait_fd);
    for (uint32_t i = 0; i < set->n_rails; i++)
        wsh_efa_rail_close(&set->rail[i], &set->lib);
    wsh_efa_lib_close(&set->lib);
    free_parts(set);
}

/* Of a part of the transport the core asks no more. */
static int set_progress(struct wsh_tp *tp)
{
    return wsh_efa_set_progress((struct wsh_efa_set *)tp);
}

static int set_wait_fd(struct wsh_tp *tp)
{
    return wsh_efa_set_wait_fd((struct wsh_efa_set *)tp);
}

static const struct wsh_tp_ops set_ops = {
    .name = "efa endpoint set", .progress = set_progress, .wait_fd = set_wait_fd};

static struct wsh_efa_set *set_new(struct wsh_efa *efa, uint32_t number, const struct wsh_tp_params *params)
{
    struct wsh_efa_set *set = calloc(1, sizeof *set);

    if (!set)
        return NULL;
    pthread_mutex_init(&set->lock, NULL);
    set->base.ops = &set_ops;
    set->efa = efa;
    set->number = number;
    set->env = params->env;
    set->my_pe = params->my_pe;
    set->n_pes = params->n_pes;
    set->locking = params->threads;
    set->imm_counts.count = params->count;
    set->has_left = params->has_left;
    set->news_seconds = params->news_seconds;
    set->core = params->core;
    set->msgs.answers_end = &set->msgs.answers;
    set->sink = (struct wsh_srd_sink){wsh_efa_serve_apply, set};
    set->rail_loss.again_end = &set->rail_loss.again;
    set->wait_fd = -1;
    set->peers = calloc((size_t)set->n_pes, sizeof *set->peers);
    set->device = wsh_ranges_open(WSH_SEGS_LOCAL);
    if (!set->peers || !set->device || wsh_efa_ctx_open(set, &set->own)) {
        free_parts(set);
        return NULL;
    }
    return set;
}

/* Sockets although there is a NIC that can do better, and nobody asked for them. */
static int check_speed(const struct wsh_efa_set *set, const struct fi_info *info)
{
    if (set->env->provider || wsh_efa_info_pins(info) || !has_rdma_nic())
        return 0;
    return wsh_log_slower(
        set->env->strict, WSH_LOG_WARN,
        "this machine has RDMA NICs, but libfabric offers none of them and sockets are used; see "
        "`fi_info -p efa` and `fi_info -p verbs`, or set SHMEM_LIBFABRIC_PROVIDER=tcp");
}

/* One descriptor for all rails, if each has one. */
static int open_wait_fd(struct wsh_efa_set *set)
{
    int rc = 0;

    set->wait_fd = set->rail[0].wait_fd;
    if (set->n_rails == 1 || set->wait_fd < 0)
        return 0;
    set->wait_fd = epoll_create1(EPOLL_CLOEXEC);
    for (uint32_t i = 0; i < set->n_rails && set->wait_fd >= 0 && !rc; i++) {
        struct epoll_event event = {.events = EPOLLIN};

        rc = epoll_ctl(set->wait_fd, EPOLL_CTL_ADD, set->rail[i].wait_fd, &event);
    }
    if (set->wait_fd >= 0 && !rc)
        return 0;
    rc = -errno;
    wsh_error("no descriptor to wait for %u NICs: %s; check ulimit -n", set->n_rails, wsh_strerror(-rc));
    return rc;
}

static int open_chosen(struct wsh_efa_set *set, struct fi_info *const *chosen, uint32_t n)
{
    size_t cq_size;
    int rc = 0;

    set->n_rails = n;
    wsh_efa_sizes_set(set, chosen[0]);
    cq_size = set->limits.n_tx + set->limits.n_small + WSH_EFA_ANSWERS + set->limits.n_large +
              set->limits.n_rx + set->limits.imms * (uint32_t)set->n_pes;
    for (uint32_t i = 0; i < n && !rc; i++) {
        struct fi_info *info = set->lib.dupinfo(chosen[i]);

        if (info)
            wsh_efa_sizes_limit(set, info);
        rc = info ? wsh_efa_rail_open(&set->rail[i], &set->lib, info, cq_size) : -ENOMEM;
        if (!rc)
            set->limits.inject_max = wsh_efa_inject_size(set->rail[i].ep, set->limits.inject_max);
        set->hmem = !rc && set->rail[i].hmem && (!i || set->hmem);
    }
    return rc ? rc : open_wait_fd(set);
}

/* A provider that keeps an order keeps it on one rail only, and that order is worth more than another NIC. */
static int choose_rails(struct wsh_efa_set *set, const struct wsh_tp_params *params, struct fi_info *list)
{
    const struct fi_info *each;
    struct fi_info *chosen[WSH_TOPO_RAILS];
    bool ordered = wsh_efa_info_orders_waw(list) && wsh_efa_info_orders_saw(list);
    int n = wsh_efa_nics_choose(params, list, ordered ? 1 : WSH_EFA_RAILS, chosen, &set->near);
    int rc = n < 0 ? n : check_speed(set, chosen[0]);

    for (each = list; each; each = each->next)
        set->n_nics++;
    set->n_local = params->local_size > 0 ? (uint32_t)params->local_size : 1;
    return rc ? rc : open_chosen(set, chosen, (uint32_t)n);
}

/* The first endpoint set has chosen for all: the PEs of a host share their NICs out once. */
static int open_like(struct wsh_efa_set *set, const struct wsh_efa_set *first)
{
    struct fi_info *chosen[WSH_EFA_RAILS];

    for (uint32_t i = 0; i < first->n_rails; i++)
        chosen[i] = first->rail[i].info;
    set->n_local = first->n_local;
    set->near = first->near;
    return open_chosen(set, chosen, first->n_rails);
}

static int open_network(struct wsh_efa_set *set, const struct wsh_tp_params *params, char *why, size_t size)
{
    struct wsh_efa_where where;
    struct fi_info *list;
    int rc;

    if ((rc = wsh_efa_where_open(&where, set->env, params->loopback)) ||
        (rc = wsh_efa_provider_choose(&set->lib, set->env, &where, params->hmem, &list, why, size)))
        return rc;
    rc = choose_rails(set, params, list);
    if (!rc)
        rc = wsh_efa_counters_open(set, params, list);
    set->lib.freeinfo(list);
    if (rc == -ENODEV)
        return -ENETDOWN; /* logged; not the same as no network */
    if (rc)
        return rc;
    wsh_info(
        WSH_SUB_TRANSPORT,
        "network: %s, fabric %s, libfabric %u.%u, %u NIC%s, order %s, counted writes %d, inject %zu, wait "
        "descriptor %d, %u messages a peer%s",
        set->rail[0].name, set->rail[0].info->fabric_attr->name, FI_MAJOR(set->lib.version),
        FI_MINOR(set->lib.version), set->n_rails, set->n_rails == 1 ? "" : "s",
        set->native ? "the provider's" : "ours", set->imm, set->limits.inject_max, set->wait_fd >= 0,
        set->limits.window, set->hmem ? ", device memory" : "");
    return 0;
}

int wsh_efa_set_open(struct wsh_efa *efa, uint32_t number, const struct wsh_tp_params *params,
                     struct wsh_tp_limits *limits)
{
    struct wsh_efa_set *set = efa->set[number] = set_new(efa, number, params);
    struct wsh_efa_handlers handlers;
    char why[512];
    int rc;

    if (!set)
        return -ENOMEM;
    wsh_efa_handlers_save(&handlers, !has_rdma_nic());
    rc = wsh_efa_lib_open(&set->lib, why, sizeof why);
    if (!rc)
        rc = number ? open_like(set, efa->set[0]) : open_network(set, params, why, sizeof why);
    if (!rc && strstr(set->rail[0].info->fabric_attr->prov_name, "ofi_rxm"))
        snprintf(set->connecting.rxm_buffers, sizeof set->connecting.rxm_buffers, "%s",
                 wsh_efa_rxm_buffers());
    wsh_efa_handlers_restore(&handlers);
    if (rc == -ENODEV)
        rc = report_absence(params->env, why);
    if (rc || (rc = open_pools(set)) || (rc = post_receives(set)))
        return rc;
    *limits = (struct wsh_tp_limits){.copy_max = set->limits.copy_max,
                                     .hmem = set->hmem,
                                     .nics = set->native ? 1 : efa->set[0]->n_nics,
                                     .by_sockets = set->by_sockets,
                                     .near = set->near};
    return 0;
}

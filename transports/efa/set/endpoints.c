/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens, stops and closes an endpoint set. */
#include "transports/efa/set/endpoints.h"

#include "base/err.h"
#include "base/log.h"
#include "transports/efa/set/alive.h"
#include "transports/efa/gda/counters.h"
#include "transports/efa/ops/fetch.h"
#include "transports/efa/nic/signal_handlers.h"
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

#define EFA_STOP_S 0.5 /* for what is under way when the transport closes */

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

static int open_pools(struct wsh_efa_eps *eps)
{
    int rc = wsh_efa_pool_init(&eps->plain, eps->n_tx, 0);

    if (!rc)
        rc = wsh_efa_pool_init(&eps->small, eps->n_small, sizeof(struct wsh_efa_put_msg) + eps->copy_max);
    if (!rc)
        rc = wsh_efa_pool_init(&eps->rx, eps->n_rx * eps->n_rails, eps->msg_max);
    if (!rc)
        rc = wsh_efa_pool_init(&eps->large, eps->n_large, eps->mr_local ? EFA_LARGE : 0);
    if (!rc)
        rc = wsh_efa_pool_init(&eps->answer, EFA_ANSWERS, eps->msg_max);
    if (!rc)
        rc = wsh_efa_op_init(eps);
    if (!rc)
        rc = wsh_efa_fetch_init(eps);
    return rc ? rc : wsh_efa_mem_pools(eps);
}

/*
 * Each rail has enough for all, since messages may come by any. A provider may give the device none before it is asked
 * for completions; a message that finds none there is sent again, which is late, and with a full queue fails.
 */
static int post_receives(struct wsh_efa_eps *eps)
{
    struct wsh_efa_req *req;
    int rc = 0;

    for (uint32_t i = 0; !rc && (req = wsh_efa_req_get(&eps->rx, EFA_REQ_RECV, -1)); i++) {
        req->wr.rail = (uint8_t)(i / eps->n_rx);
        rc = wsh_efa_msg_post(eps, req);
    }
    for (uint32_t i = 0; i < eps->n_rails; i++)
        (void)fi_cq_read(eps->rail[i].cq, NULL, 0);
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

static void free_parts(struct wsh_efa_eps *eps)
{
    wsh_efa_flows_free(eps);
    wsh_efa_pool_fini(&eps->plain);
    wsh_efa_pool_fini(&eps->small);
    wsh_efa_pool_fini(&eps->answer);
    wsh_efa_pool_fini(&eps->large);
    wsh_efa_pool_fini(&eps->rx);
    free(eps->op_slab);
    free(eps->fetch);
    for (int i = 0; i < eps->n_known; i++)
        wsh_efa_peer_fini(eps, &eps->peers[eps->known[i]]);
    free(eps->known);
    free(eps->peers);
    wsh_ranges_close(eps->device);
    pthread_mutex_destroy(&eps->lock);
    free(eps);
}

static bool is_busy(const struct wsh_efa_eps *eps)
{
    uint32_t taken = 0;

    for (uint32_t i = 0; i < eps->n_rails; i++)
        taken += eps->rail[i].taken;
    return taken && eps->joined && !eps->failed && wsh_efa_now() < eps->stop_by;
}

/* What has been taken by then ends soon, unless it goes to a PE that has left. */
int wsh_efa_eps_stop(struct wsh_efa_eps *eps, bool at_once)
{
    bool busy;

    wsh_efa_lock(eps);
    if (!eps->stop_by)
        eps->stop_by = wsh_efa_now() + EFA_STOP_S;
    busy = !at_once && is_busy(eps);
    eps->joined &= busy; /* no more progress */
    if (!busy)
        wsh_efa_counters_stop(eps);
    for (uint32_t i = 0; i < eps->n_rails && !busy; i++)
        wsh_efa_rail_stop(&eps->rail[i]);
    wsh_efa_unlock(eps);
    return busy ? -EAGAIN : 0;
}

/* Also of one that was opened halfway, and not stopped. */
void wsh_efa_eps_close(struct wsh_efa_eps *eps)
{
    for (struct wsh_efa_answer *answer = eps->answers, *next; answer; answer = next) {
        next = answer->next;
        free(answer);
    }
    if (eps->shm_name[0])
        shm_unlink(eps->shm_name);
    for (uint32_t i = 0; i < eps->n_rails; i++)
        wsh_efa_rail_stop(&eps->rail[i]);
    wsh_efa_counters_close(eps);
    for (size_t i = 0; i < sizeof eps->slab_mr / sizeof eps->slab_mr[0]; i++)
        wsh_efa_mr_close(eps, &eps->slab_mr[i]);
    if (eps->n_rails > 1 && eps->wait_fd >= 0)
        close(eps->wait_fd);
    for (uint32_t i = 0; i < eps->n_rails; i++)
        wsh_efa_rail_close(&eps->rail[i], &eps->lib);
    wsh_efa_lib_close(&eps->lib);
    free_parts(eps);
}

/* Of a part of the transport the core asks no more. */
static int eps_progress(struct wsh_tp *tp)
{
    return wsh_efa_progress((struct wsh_efa_eps *)tp);
}

static int eps_wait_fd(struct wsh_tp *tp)
{
    return wsh_efa_wait_fd((struct wsh_efa_eps *)tp);
}

static const struct wsh_tp_ops eps_ops = {
    .name = "efa endpoint set", .progress = eps_progress, .wait_fd = eps_wait_fd};

static struct wsh_efa_eps *eps_new(struct wsh_efa *efa, uint32_t number, const struct wsh_tp_params *params)
{
    struct wsh_efa_eps *eps = calloc(1, sizeof *eps);

    if (!eps)
        return NULL;
    pthread_mutex_init(&eps->lock, NULL);
    eps->base.ops = &eps_ops;
    eps->efa = efa;
    eps->number = number;
    eps->env = params->env;
    eps->my_pe = params->my_pe;
    eps->n_pes = params->n_pes;
    eps->locking = params->threads;
    eps->count = params->tally;
    eps->has_left = params->has_left;
    eps->core = params->core;
    eps->answers_end = &eps->answers;
    eps->sink = (struct wsh_srd_sink){wsh_efa_serve_apply, eps};
    eps->again_end = &eps->again;
    eps->wait_fd = -1;
    eps->peers = calloc((size_t)eps->n_pes, sizeof *eps->peers);
    eps->device = wsh_ranges_open(WSH_SEGS_LOCAL);
    if (!eps->peers || !eps->device || wsh_efa_ctx_open(eps, &eps->own)) {
        free_parts(eps);
        return NULL;
    }
    return eps;
}

/* Sockets although there is a NIC that can do better, and nobody asked for them. */
static int check_speed(const struct wsh_efa_eps *eps, const struct fi_info *info)
{
    if (eps->env->provider || wsh_efa_pins(info) || !has_rdma_nic())
        return 0;
    return wsh_log_slower(
        eps->env->strict, WSH_LOG_WARN,
        "this machine has RDMA NICs, but libfabric offers none of them and sockets are used; see "
        "`fi_info -p efa` and `fi_info -p verbs`, or set SHMEM_LIBFABRIC_PROVIDER=tcp");
}

/* One descriptor for all rails, if each has one. */
static int open_wait_fd(struct wsh_efa_eps *eps)
{
    int rc = 0;

    eps->wait_fd = eps->rail[0].wait_fd;
    if (eps->n_rails == 1 || eps->wait_fd < 0)
        return 0;
    eps->wait_fd = epoll_create1(EPOLL_CLOEXEC);
    for (uint32_t i = 0; i < eps->n_rails && eps->wait_fd >= 0 && !rc; i++) {
        struct epoll_event event = {.events = EPOLLIN};

        rc = epoll_ctl(eps->wait_fd, EPOLL_CTL_ADD, eps->rail[i].wait_fd, &event);
    }
    if (eps->wait_fd >= 0 && !rc)
        return 0;
    rc = -errno;
    wsh_error("no descriptor to wait for %u NICs: %s; check ulimit -n", eps->n_rails, wsh_strerror(-rc));
    return rc;
}

static int open_chosen(struct wsh_efa_eps *eps, struct fi_info *const *chosen, uint32_t n)
{
    size_t cq_size;
    int rc = 0;

    eps->n_rails = n;
    wsh_efa_sizes_set(eps, chosen[0]);
    cq_size =
        eps->n_tx + eps->n_small + EFA_ANSWERS + eps->n_large + eps->n_rx + eps->imms * (uint32_t)eps->n_pes;
    for (uint32_t i = 0; i < n && !rc; i++) {
        struct fi_info *info = eps->lib.dupinfo(chosen[i]);

        if (info)
            wsh_efa_sizes_ask(eps, info);
        rc = info ? wsh_efa_rail_open(&eps->rail[i], &eps->lib, info, cq_size) : -ENOMEM;
        if (!rc)
            eps->inject_max = wsh_efa_rail_inject(&eps->rail[i], eps->inject_max);
        eps->hmem = !rc && eps->rail[i].hmem && (!i || eps->hmem);
    }
    return rc ? rc : open_wait_fd(eps);
}

/* A provider that keeps an order keeps it on one rail only, and that order is worth more than another NIC. */
static int choose_rails(struct wsh_efa_eps *eps, const struct wsh_tp_params *params, struct fi_info *list)
{
    const struct fi_info *each;
    struct fi_info *chosen[WSH_TOPO_RAILS];
    bool ordered = wsh_efa_orders_waw(list) && wsh_efa_orders_saw(list);
    int n = wsh_efa_nics_choose(params, list, ordered ? 1 : WSH_EFA_RAILS, chosen, &eps->near);
    int rc = n < 0 ? n : check_speed(eps, chosen[0]);

    for (each = list; each; each = each->next)
        eps->n_nics++;
    eps->n_local = params->local_size > 0 ? (uint32_t)params->local_size : 1;
    return rc ? rc : open_chosen(eps, chosen, (uint32_t)n);
}

/* The first endpoint set has chosen for all: the PEs of a host share their NICs out once. */
static int open_like(struct wsh_efa_eps *eps, const struct wsh_efa_eps *first)
{
    struct fi_info *chosen[WSH_EFA_RAILS];

    for (uint32_t i = 0; i < first->n_rails; i++)
        chosen[i] = first->rail[i].info;
    eps->near = first->near;
    return open_chosen(eps, chosen, first->n_rails);
}

static int open_network(struct wsh_efa_eps *eps, const struct wsh_tp_params *params, char *why, size_t size)
{
    struct wsh_efa_where where;
    struct fi_info *list;
    int rc;

    if ((rc = wsh_efa_where_open(&where, eps->env, params->loopback)) ||
        (rc = wsh_efa_provider_choose(&eps->lib, eps->env, &where, params->hmem, &list, why, size)))
        return rc;
    rc = choose_rails(eps, params, list);
    if (!rc)
        rc = wsh_efa_counters_open(eps, params, list);
    eps->lib.freeinfo(list);
    if (rc == -ENODEV)
        return -ENETDOWN; /* logged; not the same as no network */
    if (rc)
        return rc;
    wsh_info(
        WSH_SUB_TRANSPORT,
        "network: %s, fabric %s, libfabric %u.%u, %u NIC%s, order %s, counted writes %d, inject %zu, wait "
        "descriptor %d, %u messages a peer%s",
        eps->rail[0].name, eps->rail[0].info->fabric_attr->name, FI_MAJOR(eps->lib.version),
        FI_MINOR(eps->lib.version), eps->n_rails, eps->n_rails == 1 ? "" : "s",
        eps->native ? "the provider's" : "ours", eps->imm, eps->inject_max, eps->wait_fd >= 0, eps->window,
        eps->hmem ? ", device memory" : "");
    return 0;
}

int wsh_efa_eps_open(struct wsh_efa *efa, uint32_t number, const struct wsh_tp_params *params,
                     struct wsh_tp_limits *limits)
{
    struct wsh_efa_eps *eps = efa->eps[number] = eps_new(efa, number, params);
    struct wsh_efa_handlers handlers;
    char why[512];
    int rc;

    if (!eps)
        return -ENOMEM;
    wsh_efa_handlers_save(&handlers, !has_rdma_nic());
    rc = wsh_efa_lib_open(&eps->lib, why, sizeof why);
    if (!rc)
        rc = number ? open_like(eps, efa->eps[0]) : open_network(eps, params, why, sizeof why);
    if (!rc && strstr(eps->rail[0].info->fabric_attr->prov_name, "ofi_rxm"))
        snprintf(eps->rxm_buffers, sizeof eps->rxm_buffers, "%s", wsh_efa_rxm_buffers());
    wsh_efa_handlers_restore(&handlers);
    if (rc == -ENODEV)
        rc = report_absence(params->env, why);
    if (rc || (rc = open_pools(eps)) || (rc = post_receives(eps)))
        return rc;
    *limits = (struct wsh_tp_limits){.copy_max = eps->copy_max,
                                     .hmem = eps->hmem,
                                     .nics = eps->native ? 1 : efa->eps[0]->n_nics,
                                     .by_sockets = eps->by_sockets,
                                     .near = eps->near};
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how a lane of the efa transport is opened and closed. */
#include "transports/efa/efa.h"

#include "base/err.h"
#include "base/log.h"
#include "transports/efa/handlers.h"
#include "transports/efa/mem.h"
#include "transports/efa/nics.h"
#include "transports/efa/provider.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#define EFA_TX_MAX 1024          /* writes, reads and sends under way */
#define EFA_SMALL_MAX 512        /* of these with a buffer for a message or a copied put */
#define EFA_MSG_MAX 8320         /* bytes of a message: 8 KiB of data with every head; EFA's MTU is larger */
#define EFA_MSG_MAX_MANY 640     /* … among many PEs, where the receives of all peers add up … */
#define EFA_RX_BYTES (24u << 20) /* … to this, for all lanes */
#define EFA_MANY 64
#define EFA_ANSWERS 64  /* … for replies and tellings */
#define EFA_LARGE 65536 /* bytes of a buffer for unregistered user memory */
#define EFA_LARGE_MAX 32
#define EFA_PART_MAX (1u << 30) /* bytes of one write or read */
#define EFA_STOP_S 0.5          /* for what is under way when the transport closes */
#define EFA_COPY_ALWAYS 64      /* a put of so many bytes always leaves its source reusable */

static uint32_t at_most(size_t provider_limit, uint32_t most)
{
    return provider_limit && provider_limit < most ? (uint32_t)provider_limit : most;
}

/* Of an endpoint's receives; what the peers hold of them, and this PE's credits with them, is in address blobs. */
static void set_credits(struct wsh_efa_tp *tp, const struct fi_info *info)
{
    uint32_t n_pes = (uint32_t)tp->n_pes, shares;

    /* Immediate data carries no tag: counted only where the NIC itself refuses writes without a valid key. */
    tp->imm = !tp->native && wsh_efa_pins(info) && info->domain_attr->cq_data_size >= sizeof(uint32_t) &&
              wsh_srd_imm_fits(0, n_pes, false);
    tp->imm_receives = tp->imm && (info->mode | info->rx_attr->mode) & FI_RX_CQ_DATA;
    /* A peer's messages, replies to this PE's fetches, tellings of its messages and of its counted writes. */
    shares = 3 + tp->imm + tp->imm_receives;
    tp->n_rx = at_most(info->rx_attr->size, shares * WSH_SRD_WINDOW_MAX * n_pes);
    tp->n_rx = at_most(EFA_RX_BYTES / tp->lanes->n / tp->msg_max, tp->n_rx);
    for (tp->window = 1; tp->window < WSH_SRD_WINDOW_MAX && 2 * shares * tp->window * n_pes <= tp->n_rx;)
        tp->window *= 2;
    tp->n_rx = at_most(tp->n_rx, shares * tp->window * n_pes);
    tp->imms = tp->imm ? tp->window : 0;
}

/* What is copied must fit into a message too, for the case that writes have to wait. 0: nothing is injected. */
static size_t inject_limit(const struct wsh_efa_tp *tp, const struct fi_info *info)
{
    size_t limit = tp->msg_max - sizeof(struct wsh_efa_put_msg);

    if (tp->n_rails > 1) /* kept for the case that they must go again */
        limit = EFA_INJECTED_MAX;
    return info->tx_attr->inject_size < limit ? info->tx_attr->inject_size : limit;
}

static void set_limits(struct wsh_efa_tp *tp, const struct fi_info *info)
{
    tp->native = wsh_efa_orders_waw(info) && wsh_efa_orders_saw(info);
    tp->native_reads = wsh_efa_orders_raw(info);
    tp->part_max = tp->whole_max = at_most(info->ep_attr->max_msg_size, EFA_PART_MAX);
    tp->choice =
        (struct wsh_efa_choice){.n = tp->n_rails, .policy = (enum wsh_efa_policy)tp->env->nics_policy};
    if (tp->n_rails > 1 && tp->choice.policy != WSH_EFA_ROUND_ROBIN)
        tp->whole_max = at_most(tp->part_max, 2 * WSH_EFA_STRIPE - 1);
    tp->put = wsh_efa_small_puts(info);
    /* Older ones carry out reads by packets of their own, which are lost where the device's queue is full. */
    tp->asks = tp->put == EFA_PUT_MESSAGES && FI_VERSION_LT(tp->lib.version, FI_VERSION(1, 18));
    tp->doorbells = wsh_efa_moves_alone(info);
    tp->aside = tp->n_rails > 1;
    tp->mr_local = info->domain_attr->mr_mode & FI_MR_LOCAL;
    tp->by_sockets = info->addr_format == FI_SOCKADDR_IN || info->addr_format == FI_SOCKADDR_IN6 ||
                     info->addr_format == FI_SOCKADDR;
    tp->virt_addr = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    tp->msg_max = at_most(tp->part_max, tp->n_pes > EFA_MANY ? EFA_MSG_MAX_MANY : EFA_MSG_MAX);
    tp->inject_max = inject_limit(tp, info);
    tp->copy_always = tp->inject_max > EFA_COPY_ALWAYS ? tp->inject_max : EFA_COPY_ALWAYS;
    tp->n_tx = at_most(info->tx_attr->size, EFA_TX_MAX);
    tp->n_small = at_most(info->tx_attr->size, EFA_SMALL_MAX);
    tp->n_large = tp->mr_local ? at_most(info->tx_attr->size, EFA_LARGE_MAX) : 1;
    set_credits(tp, info);
}

static int open_pools(struct wsh_efa_tp *tp)
{
    int rc = wsh_efa_pool_init(&tp->plain, tp->n_tx, 0);

    if (!rc)
        rc = wsh_efa_pool_init(&tp->small, tp->n_small, tp->msg_max);
    if (!rc)
        rc = wsh_efa_pool_init(&tp->rx, tp->n_rx * tp->n_rails, tp->msg_max);
    if (!rc)
        rc = wsh_efa_pool_init(&tp->large, tp->n_large, tp->mr_local ? EFA_LARGE : 0);
    if (!rc)
        rc = wsh_efa_pool_init(&tp->answer, EFA_ANSWERS, tp->msg_max);
    if (!rc)
        rc = wsh_efa_op_init(tp);
    if (!rc)
        rc = wsh_efa_fetch_init(tp);
    return rc ? rc : wsh_efa_mem_pools(tp);
}

/*
 * Each rail has enough for all, since messages may come by any. A provider may give the device none before it is asked
 * for completions; a message that finds none there is sent again, which is late, and with a full queue fails.
 */
static int post_receives(struct wsh_efa_tp *tp)
{
    struct wsh_efa_req *req;
    int rc = 0;

    for (uint32_t i = 0; !rc && (req = wsh_efa_req_get(&tp->rx, EFA_REQ_RECV, -1)); i++) {
        req->way.rail = (uint8_t)(i / tp->n_rx);
        rc = wsh_efa_msg_post(tp, req);
    }
    for (uint32_t i = 0; i < tp->n_rails; i++)
        (void)fi_cq_read(tp->rail[i].cq, NULL, 0);
    return rc;
}

/* Not asked for by name: its absence is no error, but the reason may be wanted. */
static int absent(const struct wsh_env *env, const char *why)
{
    if (!env->provider && !env->domain) {
        wsh_info(WSH_SUB_TRANSPORT, "no network transport: %s", why);
        return -ENODEV;
    }
    wsh_error("SHMEM_LIBFABRIC_PROVIDER or SHMEM_LIBFABRIC_DOMAIN is set: %s", why);
    return -ENOENT;
}

static void free_parts(struct wsh_efa_tp *tp)
{
    wsh_efa_flows_free(tp);
    wsh_efa_pool_fini(&tp->plain);
    wsh_efa_pool_fini(&tp->small);
    wsh_efa_pool_fini(&tp->answer);
    wsh_efa_pool_fini(&tp->large);
    wsh_efa_pool_fini(&tp->rx);
    free(tp->op_slab);
    free(tp->fetch);
    for (int pe = 0; tp->peers && pe < tp->n_pes; pe++)
        free(tp->peers[pe].path);
    free(tp->peers);
    pthread_mutex_destroy(&tp->lock);
    free(tp);
}

static bool is_busy(const struct wsh_efa_tp *tp)
{
    uint32_t taken = 0;

    for (uint32_t i = 0; i < tp->n_rails; i++)
        taken += tp->rail[i].taken;
    return taken && tp->joined && !tp->failed && wsh_efa_now() < tp->stop_by;
}

/* What has been taken by then ends soon, unless it goes to a PE that has left. */
int wsh_efa_lane_stop(struct wsh_efa_tp *tp, bool at_once)
{
    bool busy;

    wsh_efa_lock(tp);
    if (!tp->stop_by)
        tp->stop_by = wsh_efa_now() + EFA_STOP_S;
    busy = !at_once && is_busy(tp);
    tp->joined &= busy; /* no more progress */
    for (uint32_t i = 0; i < tp->n_rails && !busy; i++)
        wsh_efa_rail_stop(&tp->rail[i]);
    wsh_efa_unlock(tp);
    return busy ? -EAGAIN : 0;
}

/* Also of one that was opened halfway, and not stopped. */
void wsh_efa_lane_close(struct wsh_efa_tp *tp)
{
    for (struct wsh_efa_answer *answer = tp->answers, *next; answer; answer = next) {
        next = answer->next;
        free(answer);
    }
    if (tp->shm_name[0])
        shm_unlink(tp->shm_name);
    for (uint32_t i = 0; i < tp->n_rails; i++)
        wsh_efa_rail_stop(&tp->rail[i]);
    for (size_t i = 0; i < sizeof tp->slab_mr / sizeof tp->slab_mr[0]; i++)
        wsh_efa_mem_close(tp, &tp->slab_mr[i]);
    if (tp->n_rails > 1 && tp->wait_fd >= 0)
        close(tp->wait_fd);
    for (uint32_t i = 0; i < tp->n_rails; i++)
        wsh_efa_rail_close(&tp->rail[i], &tp->lib);
    wsh_efa_lib_close(&tp->lib);
    free_parts(tp);
}

/* Of a part of the transport the core asks no more. */
static int lane_progress(struct wsh_tp *tp)
{
    return wsh_efa_progress((struct wsh_efa_tp *)tp);
}

static int lane_wait_fd(struct wsh_tp *tp)
{
    return wsh_efa_wait_fd((struct wsh_efa_tp *)tp);
}

static const struct wsh_tp_ops lane_ops = {
    .name = "efa lane", .progress = lane_progress, .wait_fd = lane_wait_fd};

static struct wsh_efa_tp *lane_new(struct wsh_efa_lanes *lanes, uint32_t number,
                                   const struct wsh_tp_params *params)
{
    struct wsh_efa_tp *tp = calloc(1, sizeof *tp);

    if (!tp)
        return NULL;
    pthread_mutex_init(&tp->lock, NULL);
    tp->base.ops = &lane_ops;
    tp->lanes = lanes;
    tp->number = number;
    tp->env = params->env;
    tp->my_pe = params->my_pe;
    tp->n_pes = params->n_pes;
    tp->locking = params->threads;
    tp->answers_end = &tp->answers;
    tp->sink = (struct wsh_srd_sink){wsh_efa_serve_apply, tp};
    tp->again_end = &tp->again;
    tp->wait_fd = -1;
    tp->peers = calloc((size_t)tp->n_pes, sizeof *tp->peers);
    if (!tp->peers || wsh_efa_ctx_open(tp, &tp->own)) {
        free_parts(tp);
        return NULL;
    }
    return tp;
}

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

/* Sockets although there is a NIC that can do better, and nobody asked for them. */
static int check_speed(const struct wsh_efa_tp *tp, const struct fi_info *info)
{
    if (tp->env->provider || wsh_efa_pins(info) || !has_rdma_nic())
        return 0;
    return wsh_log_slower(
        tp->env->strict, WSH_LOG_WARN,
        "this machine has RDMA NICs, but libfabric offers none of them and sockets are used; see "
        "`fi_info -p efa` and `fi_info -p verbs`, or set SHMEM_LIBFABRIC_PROVIDER=tcp");
}

/* One descriptor for all rails, if each has one. */
static int open_wait_fd(struct wsh_efa_tp *tp)
{
    int rc = 0;

    tp->wait_fd = tp->rail[0].wait_fd;
    if (tp->n_rails == 1 || tp->wait_fd < 0)
        return 0;
    tp->wait_fd = epoll_create1(EPOLL_CLOEXEC);
    for (uint32_t i = 0; i < tp->n_rails && tp->wait_fd >= 0 && !rc; i++) {
        struct epoll_event event = {.events = EPOLLIN};

        rc = epoll_ctl(tp->wait_fd, EPOLL_CTL_ADD, tp->rail[i].wait_fd, &event);
    }
    if (tp->wait_fd >= 0 && !rc)
        return 0;
    rc = -errno;
    wsh_error("no descriptor to wait for %u NICs: %s; check ulimit -n", tp->n_rails, wsh_strerror(-rc));
    return rc;
}

static int open_chosen(struct wsh_efa_tp *tp, struct fi_info *const *chosen, uint32_t n)
{
    struct wsh_efa_handlers handlers;
    size_t cq_size;
    int rc = 0;

    tp->n_rails = n;
    set_limits(tp, chosen[0]);
    cq_size = tp->n_tx + tp->n_small + EFA_ANSWERS + tp->n_large + tp->n_rx + tp->imms * (uint32_t)tp->n_pes;
    wsh_efa_handlers_save(&handlers);
    for (uint32_t i = 0; i < n && !rc; i++) {
        struct fi_info *info = tp->lib.dupinfo(chosen[i]);

        rc = info ? wsh_efa_rail_open(&tp->rail[i], &tp->lib, info, cq_size) : -ENOMEM;
        if (!rc)
            tp->inject_max = wsh_efa_rail_inject(&tp->rail[i], tp->inject_max);
        tp->hmem = !rc && tp->rail[i].hmem && (!i || tp->hmem);
    }
    wsh_efa_handlers_restore(&handlers);
    return rc ? rc : open_wait_fd(tp);
}

/* A provider that keeps an order keeps it on one rail only, and that order is worth more than another NIC. */
static int choose_rails(struct wsh_efa_tp *tp, const struct wsh_tp_params *params, struct fi_info *list)
{
    struct fi_info *chosen[WSH_TOPO_RAILS];
    bool ordered = wsh_efa_orders_waw(list) && wsh_efa_orders_saw(list);
    int n = wsh_efa_nics_choose(params, list, ordered ? 1 : WSH_EFA_RAILS, chosen, &tp->near);
    int rc = n < 0 ? n : check_speed(tp, chosen[0]);

    return rc ? rc : open_chosen(tp, chosen, (uint32_t)n);
}

/* The first lane has chosen for all: the PEs of a host share their NICs out once. */
static int open_like(struct wsh_efa_tp *tp, const struct wsh_efa_tp *first)
{
    struct fi_info *chosen[WSH_EFA_RAILS];

    for (uint32_t i = 0; i < first->n_rails; i++)
        chosen[i] = first->rail[i].info;
    tp->near = first->near;
    return open_chosen(tp, chosen, first->n_rails);
}

static int open_first(struct wsh_efa_tp *tp, const struct wsh_tp_params *params, char *why, size_t size)
{
    struct wsh_efa_where where;
    struct fi_info *list;
    int rc;

    if ((rc = wsh_efa_where_open(&where, tp->env, params->loopback)) ||
        (rc = wsh_efa_provider_choose(&tp->lib, tp->env, &where, params->hmem, &list, why, size)))
        return rc;
    rc = choose_rails(tp, params, list);
    tp->lib.freeinfo(list);
    if (rc == -ENODEV)
        return -ENETDOWN; /* logged; not the same as no network */
    if (rc)
        return rc;
    wsh_info(
        WSH_SUB_TRANSPORT,
        "network: %s, fabric %s, libfabric %u.%u, %u NIC%s, order %s, counted writes %d, inject %zu, wait "
        "descriptor %d, %u messages a peer%s",
        tp->rail[0].name, tp->rail[0].info->fabric_attr->name, FI_MAJOR(tp->lib.version),
        FI_MINOR(tp->lib.version), tp->n_rails, tp->n_rails == 1 ? "" : "s",
        tp->native ? "the provider's" : "ours", tp->imm, tp->inject_max, tp->wait_fd >= 0, tp->window,
        tp->hmem ? ", device memory" : "");
    return 0;
}

int wsh_efa_lane_open(struct wsh_efa_lanes *lanes, uint32_t number, const struct wsh_tp_params *params,
                      struct wsh_tp_limits *limits)
{
    struct wsh_efa_tp *tp = lanes->lane[number] = lane_new(lanes, number, params);
    char why[512];
    int rc;

    if (!tp)
        return -ENOMEM;
    rc = wsh_efa_lib_open(&tp->lib, why, sizeof why);
    if (!rc)
        rc = number ? open_like(tp, lanes->lane[0]) : open_first(tp, params, why, sizeof why);
    if (rc == -ENODEV)
        rc = absent(params->env, why);
    if (rc || (rc = open_pools(tp)) || (rc = post_receives(tp)))
        return rc;
    *limits = (struct wsh_tp_limits){.copy_max = tp->msg_max, .hmem = tp->hmem, .near = tp->near};
    return 0;
}

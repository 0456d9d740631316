/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the efa transport as the core sees it: the table of operations, and how one is opened and closed. */
#include "transports/efa/efa.h"

#include "runtime/base/log.h"
#include "transports/efa/provider.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define EFA_TX_MAX 1024      /* writes, reads and sends under way */
#define EFA_SMALL_MAX 512    /* of these with a buffer for a message or a copied put */
#define EFA_MSG_MAX 8320     /* bytes of a message: 8 KiB of data with every head; EFA's MTU is larger */
#define EFA_MSG_MAX_MANY 640 /* … among many PEs, where the receives of all peers add up … */
#define EFA_RX_BYTES (24u << 20) /* … to this */
#define EFA_MANY 64
#define EFA_ANSWERS 64  /* … for replies and tellings */
#define EFA_LARGE 65536 /* bytes of a buffer for unregistered user memory */
#define EFA_LARGE_MAX 32
#define EFA_PART_MAX (1u << 30) /* bytes of one write or read */
#define EFA_COPY_ALWAYS 64      /* a put of so many bytes always leaves its source reusable */

static uint32_t at_most(size_t provider_limit, uint32_t most)
{
    return provider_limit && provider_limit < most ? (uint32_t)provider_limit : most;
}

/* Of an endpoint's receives; what the peers hold of them, and this PE's credits with them, is in address blobs. */
static void set_credits(struct wsh_efa_tp *tp, const struct fi_info *info)
{
    uint32_t n_pes = (uint32_t)tp->n_pes, shares;

    tp->imm = !tp->native && info->domain_attr->cq_data_size >= sizeof(uint32_t) &&
              wsh_srd_imm_fits(0, n_pes, false);
    tp->imm_receives = tp->imm && (info->mode | info->rx_attr->mode) & FI_RX_CQ_DATA;
    /* A peer's messages, replies to this PE's fetches, tellings of its messages and of its counted writes. */
    shares = 3 + tp->imm + tp->imm_receives;
    tp->n_rx = at_most(info->rx_attr->size, shares * WSH_SRD_WINDOW_MAX * n_pes);
    tp->n_rx = at_most(EFA_RX_BYTES / tp->msg_max, tp->n_rx);
    for (tp->window = 1; tp->window < WSH_SRD_WINDOW_MAX && 2 * shares * tp->window * n_pes <= tp->n_rx;)
        tp->window *= 2;
    tp->n_rx = at_most(tp->n_rx, shares * tp->window * n_pes);
    tp->imms = tp->imm ? tp->window : 0;
}

static void set_limits(struct wsh_efa_tp *tp, const struct fi_info *info)
{
    tp->native = wsh_efa_orders_waw(info) && wsh_efa_orders_saw(info);
    tp->native_reads = wsh_efa_orders_raw(info);
    tp->part_max = at_most(info->ep_attr->max_msg_size, EFA_PART_MAX);
    tp->put = wsh_efa_small_puts(info);
    tp->mr_local = info->domain_attr->mr_mode & FI_MR_LOCAL;
    tp->by_sockets = info->addr_format == FI_SOCKADDR_IN || info->addr_format == FI_SOCKADDR_IN6 ||
                     info->addr_format == FI_SOCKADDR;
    tp->virt_addr = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    tp->msg_max = at_most(tp->part_max, tp->n_pes > EFA_MANY ? EFA_MSG_MAX_MANY : EFA_MSG_MAX);
    /* What is copied must fit into a message too, for the case that writes have to wait. */
    tp->inject_max =
        at_most(info->tx_attr->inject_size, (uint32_t)(tp->msg_max - sizeof(struct wsh_efa_put_msg)));
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
        rc = wsh_efa_pool_init(&tp->rx, tp->n_rx, tp->msg_max);
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

static int post_receives(struct wsh_efa_tp *tp)
{
    int rc = 0;

    for (struct wsh_efa_req *req; !rc && (req = wsh_efa_req_get(&tp->rx, EFA_REQ_RECV, -1));)
        rc = wsh_efa_msg_post(tp, req);
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
    free(tp->peers);
    pthread_mutex_destroy(&tp->lock);
    free(tp);
}

/* Also of one that was opened halfway. */
static void efa_close(struct wsh_tp *base)
{
    struct wsh_efa_tp *tp = wsh_efa_tp_of(base);

    for (struct wsh_efa_answer *answer = tp->answers, *next; answer; answer = next) {
        next = answer->next;
        free(answer);
    }
    if (tp->shm_name[0])
        shm_unlink(tp->shm_name);
    for (size_t i = 0; i < sizeof tp->slab_mr / sizeof tp->slab_mr[0]; i++)
        if (tp->slab_mr[i])
            fi_close(&tp->slab_mr[i]->fid);
    wsh_efa_rail_close(&tp->rail, &tp->lib);
    wsh_efa_lib_close(&tp->lib);
    free_parts(tp);
}

static struct wsh_efa_tp *tp_new(const struct wsh_tp_params *params)
{
    struct wsh_efa_tp *tp = calloc(1, sizeof *tp);
    struct wsh_tctx *own;

    if (!tp)
        return NULL;
    pthread_mutex_init(&tp->lock, NULL);
    tp->base.ops = &wsh_efa_ops;
    tp->env = params->env;
    tp->my_pe = params->my_pe;
    tp->n_pes = params->n_pes;
    tp->locking = params->threads;
    tp->answers_end = &tp->answers;
    tp->sink = (struct wsh_srd_sink){wsh_efa_serve_apply, tp};
    tp->rail.wait_fd = -1;
    tp->peers = calloc((size_t)tp->n_pes, sizeof *tp->peers);
    if (!tp->peers || wsh_efa_ctx_open(&tp->base, &own)) {
        free_parts(tp);
        return NULL;
    }
    tp->own = (struct wsh_efa_ctx *)own;
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

static int open_rail(struct wsh_efa_tp *tp, char *why, size_t size)
{
    struct fi_info *info;
    int rc = wsh_efa_lib_open(&tp->lib, why, size);

    if (rc || (rc = wsh_efa_provider_choose(&tp->lib, tp->env, &info, why, size)))
        return rc;
    set_limits(tp, info);
    rc = check_speed(tp, info);
    if (rc) {
        tp->lib.freeinfo(info);
        return rc;
    }
    rc = wsh_efa_rail_open(&tp->rail, &tp->lib, info,
                           tp->n_tx + tp->n_small + EFA_ANSWERS + tp->n_large + tp->n_rx +
                               tp->imms * (uint32_t)tp->n_pes);
    if (rc)
        return rc;
    tp->inject_max = wsh_efa_rail_inject(&tp->rail, tp->inject_max);
    wsh_info(WSH_SUB_TRANSPORT,
             "network: %s, fabric %s, libfabric %u.%u, order %s, counted writes %d, inject %zu, wait "
             "descriptor %d, %u messages a peer",
             tp->rail.name, tp->rail.info->fabric_attr->name, FI_MAJOR(tp->lib.version),
             FI_MINOR(tp->lib.version), tp->native ? "the provider's" : "ours", tp->imm, tp->inject_max,
             tp->rail.wait_fd >= 0, tp->window);
    return 0;
}

static int efa_open(const struct wsh_tp_params *params, struct wsh_tp **out, struct wsh_tp_limits *limits)
{
    struct wsh_efa_tp *tp = tp_new(params);
    char why[512];
    int rc;

    if (!tp)
        return -ENOMEM;
    rc = open_rail(tp, why, sizeof why);
    if (rc == -ENODEV)
        rc = absent(params->env, why);
    if (rc || (rc = open_pools(tp)) || (rc = post_receives(tp))) {
        efa_close(&tp->base);
        return rc;
    }
    *limits =
        (struct wsh_tp_limits){.inject_max = tp->copy_always, .op_max = tp->part_max, .ordered = tp->native};
    *out = &tp->base;
    return 0;
}

/* O(1): what the fence asks is found out per peer, when the next operation to it comes. */
static int efa_fence(struct wsh_tctx *tctx)
{
    wsh_srd_fence(&((struct wsh_efa_ctx *)tctx)->srd);
    return 0;
}

static size_t efa_pending(struct wsh_tctx *tctx, int pe)
{
    const struct wsh_efa_ctx *ctx = (const struct wsh_efa_ctx *)tctx;
    const struct wsh_efa_flow *flow;

    if (pe < 0)
        return (size_t)wsh_efa_count_read(&ctx->direct) + wsh_srd_ctx_pending(&ctx->srd);
    flow = ctx->flow[pe];
    if (!flow)
        return 0;
    return (size_t)wsh_efa_count_read(&flow->direct[EFA_REQ_WRITE]) +
           wsh_efa_count_read(&flow->direct[EFA_REQ_READ]) + wsh_srd_flow_pending(&flow->srd);
}

const struct wsh_tp_ops wsh_efa_ops = {
    .name = "efa",
    .remote = true,
    .open = efa_open,
    .close = efa_close,
    .address = wsh_efa_address,
    .connect = wsh_efa_connect,
    .reach = wsh_efa_reach,
    .mem_register = wsh_efa_mem_register,
    .mem_release = wsh_efa_mem_release,
    .mem_attach = wsh_efa_mem_attach,
    .ctx_open = wsh_efa_ctx_open,
    .ctx_close = wsh_efa_ctx_close,
    .put = wsh_efa_put,
    .get = wsh_efa_get,
    .amo = wsh_efa_amo,
    .put_signal = wsh_efa_put_signal,
    .fence = efa_fence,
    .pending = efa_pending,
    .progress = wsh_efa_progress,
    .wait_fd = wsh_efa_wait_fd,
    .describe = wsh_efa_describe,
};

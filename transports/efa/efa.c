/* SPDX-License-Identifier: BSD-3-Clause */
/* The efa transport as the core sees it: its table of operations, and the endpoint sets behind it. */
#define _GNU_SOURCE
#include "transports/efa/efa.h"

#include "base/log.h"
#include "transports/efa/wire/batch.h"
#include "transports/efa/gda/counters.h"
#include "transports/efa/set/parts.h"
#include "transports/efa/set/set.h"
#include "transports/efa/gda/gda.h"
#include "transports/efa/set/peers.h"
#include "transports/efa/progress.h"
#include "transports/efa/ops/slots.h"
#include "transports/efa/set/foreign_packets.h"
#include "transports/efa/ops/imm_count.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static struct wsh_efa *efa_of(struct wsh_tp *tp)
{
    return (struct wsh_efa *)tp;
}

/* Of the processors of this machine, those that this PE may count as its own. */
static long own_processors(const struct wsh_tp_params *params)
{
    long cores = params->local_size ? sysconf(_SC_NPROCESSORS_ONLN) / params->local_size : 1;
    cpu_set_t allowed;

    if (!sched_getaffinity(0, sizeof allowed, &allowed) && CPU_COUNT(&allowed) < cores)
        cores = CPU_COUNT(&allowed);
    return cores;
}

/* One for each thread that is to put at full speed: of the program's own, and of those that put for kernels. */
static uint32_t choose_number(const struct wsh_tp_params *params)
{
    const struct wsh_env *env = params->env;
    long n = params->multiple ? own_processors(params) : 1;

    if (env->endpoint_sets)
        return (uint32_t)env->endpoint_sets;
    if (n < env->proxy_threads)
        n = env->proxy_threads;
    return n < 1 ? 1 : n > WSH_EFA_SETS_MAX ? WSH_EFA_SETS_MAX : (uint32_t)n;
}

static int efa_stop(struct wsh_tp *base, bool at_once)
{
    struct wsh_efa *efa = efa_of(base);
    int rc = 0;

    for (uint32_t i = 0; i < efa->n; i++)
        rc |= wsh_efa_set_stop(efa->set[i], at_once);
    return rc;
}

static void efa_close(struct wsh_tp *base)
{
    struct wsh_efa *efa = efa_of(base);

    wsh_efa_foreign_sum(efa);
    wsh_efa_gda_close(base);
    if (efa->set[0] && efa->set[0]->connecting.look_up)
        wsh_info(WSH_SUB_TRANSPORT, "%d of %d PEs were connected", efa->set[0]->n_known, efa->set[0]->n_pes);
    if (efa->wait_fd >= 0)
        close(efa->wait_fd);
    for (uint32_t i = 0; i < WSH_EFA_SETS_MAX; i++)
        if (efa->set[i])
            wsh_efa_set_close(efa->set[i]);
    free(efa);
}

static int open_sets(struct wsh_efa *efa, const struct wsh_tp_params *params, struct wsh_tp_limits *limits)
{
    int rc = 0;

    for (uint32_t i = 0; i < efa->n && !rc; i++)
        rc = wsh_efa_set_open(efa, i, params, limits);
    if (!rc && efa->n > 1)
        wsh_info(WSH_SUB_TRANSPORT, "network: %u endpoint sets, to which contexts are dealt", efa->n);
    return rc;
}

/* The provider, without the NIC, of which there may be several. */
static void label_set(struct wsh_efa *efa)
{
    const char *rail = efa->set[0]->rail[0].name;

    snprintf(efa->label, sizeof efa->label, "libfabric's %.*s", (int)strcspn(rail, " "), rail);
    efa->base.label = efa->label;
    for (uint32_t i = 0; i < efa->n; i++)
        efa->set[i]->base.label = efa->label;
}

static int efa_open(const struct wsh_tp_params *params, struct wsh_tp **set, struct wsh_tp_limits *limits)
{
    struct wsh_efa *efa = calloc(1, sizeof *efa);
    int rc;

    if (!efa)
        return -ENOMEM;
    efa->base.ops = &wsh_efa_ops;
    efa->wait_fd = -1;
    efa->n = efa->in_use = choose_number(params);
    rc = open_sets(efa, params, limits);
    if (rc) {
        efa_close(&efa->base);
        return rc;
    }
    label_set(efa);
    *set = &efa->base;
    return 0;
}

static int efa_address(struct wsh_tp *base, void *blob, size_t *len)
{
    struct wsh_efa *efa = efa_of(base);
    struct wsh_efa_parts parts = {.n = efa->n};
    size_t used = sizeof parts;

    for (uint32_t i = 0; i < efa->n; i++) {
        size_t room = *len > used ? *len - used : 0;
        int rc = wsh_efa_peers_address(efa->set[i], (char *)blob + used, &room);

        if (rc)
            return rc;
        parts.len[i] = (uint32_t)room;
        used += room;
    }
    memcpy(blob, &parts, sizeof parts);
    *len = used;
    return 0;
}

/* Programs may ask for different thread levels, and machines have different numbers of processors. */
static int agree_on_sets(struct wsh_efa *efa, const struct wsh_tp_peers *peers)
{
    for (int pe = 0; pe < peers->n_pes; pe++) {
        uint32_t n = peers->len[pe] ? wsh_efa_parts_check(pe, peers->address[pe], peers->len[pe]) : efa->n;

        if (!n)
            return -EPROTO;
        if (n < efa->in_use)
            efa->in_use = n;
    }
    return 0;
}

/* One descriptor for all efa, if each has one. */
static int open_wait_fd(struct wsh_efa *efa)
{
    int rc = 0;

    if (efa->in_use == 1 || efa->wait_fd >= 0 || efa->set[0]->wait_fd < 0)
        return 0;
    efa->wait_fd = epoll_create1(EPOLL_CLOEXEC);
    for (uint32_t i = 0; i < efa->in_use && efa->wait_fd >= 0 && !rc; i++) {
        struct epoll_event event = {.events = EPOLLIN};

        rc = epoll_ctl(efa->wait_fd, EPOLL_CTL_ADD, efa->set[i]->wait_fd, &event);
    }
    if (efa->wait_fd >= 0 && !rc)
        return 0;
    rc = -errno;
    wsh_error("no descriptor to wait for %u endpoint sets: %s; check ulimit -n", efa->in_use,
              wsh_strerror(-rc));
    return rc;
}

static int efa_connect(struct wsh_tp *base, const struct wsh_tp_peers *peers)
{
    struct wsh_efa *efa = efa_of(base);
    int rc = agree_on_sets(efa, peers), again = 0;

    if (!rc)
        rc = open_wait_fd(efa);
    for (uint32_t i = 0; i < efa->in_use && !rc; i++) {
        rc = wsh_efa_peers_connect(efa->set[i], peers);
        if (!rc)
            rc = wsh_efa_hello_all(efa->set[i]);
        if (rc == -EAGAIN)
            again = rc, rc = 0;
    }
    return rc ? rc : again;
}

static unsigned efa_counter_words(struct wsh_tp *base)
{
    const struct wsh_efa_set *set = efa_of(base)->set[0];

    return set->counters ? set->n_rails : 0;
}

static int efa_counter_open(struct wsh_tp *base, uint32_t counter, uint64_t *words, enum wsh_mem_kind kind,
                            void *blob, size_t *len)
{
    return wsh_efa_counter_open(efa_of(base)->set[0], counter, words, kind, blob, len);
}

static int efa_counter_attach(struct wsh_tp *base, int pe, uint32_t counter, const void *blob, size_t len)
{
    struct wsh_efa *efa = efa_of(base);
    int rc = 0;

    for (uint32_t i = 0; i < efa->in_use && !rc; i++)
        rc = wsh_efa_counter_attach(efa->set[i], pe, counter, blob, len);
    return rc;
}

static int efa_gda_counter(struct wsh_tp *base, unsigned rail, int pe, uint32_t counter,
                           struct wsh_tp_target *target)
{
    int rc = wsh_efa_counter_query(efa_of(base)->set[0], pe, counter, rail, &target->ah, &target->qpn,
                                   &target->qkey);

    return rc ? -ENOTSUP : 0;
}

/* To the endpoint set that has the fewest; two that come at once may choose the same. */
static int efa_ctx_open(struct wsh_tp *base, struct wsh_tctx **tctx)
{
    struct wsh_efa *efa = efa_of(base);
    struct wsh_efa_ctx *ctx;
    uint32_t best = 0;
    int rc;

    for (uint32_t i = 1; i < efa->in_use; i++)
        if (__atomic_load_n(&efa->users[i], __ATOMIC_RELAXED) <
            __atomic_load_n(&efa->users[best], __ATOMIC_RELAXED))
            best = i;
    rc = wsh_efa_ctx_open(efa->set[best], &ctx);
    if (rc)
        return rc;
    __atomic_fetch_add(&efa->users[best], 1, __ATOMIC_RELAXED);
    ctx->base.lazy = false; /* a number is used again */
    *tctx = &ctx->base;
    return 0;
}

static void efa_ctx_close(struct wsh_tctx *tctx)
{
    struct wsh_efa_ctx *ctx = (struct wsh_efa_ctx *)tctx;

    __atomic_fetch_sub(&ctx->set->efa->users[ctx->set->number], 1, __ATOMIC_RELAXED);
    wsh_efa_ctx_close(ctx);
}

/* O(1): what the fence asks is found out per peer, when the next operation to it comes. */
static int efa_fence(struct wsh_tctx *tctx)
{
    wsh_srd_fence(&((struct wsh_efa_ctx *)tctx)->srd);
    return 0;
}

/* Of operations; messages until they are known as applied. */
static size_t parts_pending(const struct wsh_efa_ctx *ctx, const struct wsh_efa_flow *flow)
{
    if (!flow)
        return (size_t)wsh_efa_count_read(&ctx->direct) + wsh_srd_ctx_pending(&ctx->srd);
    return (size_t)wsh_efa_count_read(&flow->direct[WSH_EFA_REQ_WRITE]) +
           wsh_efa_count_read(&flow->direct[WSH_EFA_REQ_READ]) + wsh_srd_flow_pending(&flow->srd);
}

/* Messages have copied what they carry. */
static size_t efa_unread(struct wsh_tctx *tctx)
{
    const struct wsh_efa_ctx *ctx = (const struct wsh_efa_ctx *)tctx;

    return (size_t)wsh_efa_count_read(&ctx->direct) + wsh_srd_ctx_unread(&ctx->srd);
}

/* Counts after parts: a write that ends meanwhile is among them. */
static size_t efa_pending(struct wsh_tctx *tctx, int pe)
{
    const struct wsh_efa_ctx *ctx = (const struct wsh_efa_ctx *)tctx;
    const struct wsh_efa_flow *flow = pe < 0 ? NULL : ctx->flow[pe];
    size_t parts;

    if (pe >= 0 && !flow)
        return 0;
    parts = parts_pending(ctx, flow);
    return parts + wsh_efa_ctx_uncounted(ctx, flow);
}

static int efa_progress(struct wsh_tp *base)
{
    struct wsh_efa *efa = efa_of(base);
    int moved = wsh_efa_set_progress(efa->set[0]);

    for (uint32_t i = 1; i < efa->in_use && moved >= 0; i++) {
        int rc = wsh_efa_set_progress(efa->set[i]);

        moved = rc < 0 ? rc : moved | rc;
    }
    return moved;
}

static void efa_forget(struct wsh_tp *base, int pe)
{
    struct wsh_efa *efa = efa_of(base);

    for (uint32_t i = 0; i < efa->in_use; i++)
        wsh_efa_gone_forget(efa->set[i], pe);
}

static int efa_wait_fd(struct wsh_tp *base)
{
    struct wsh_efa *efa = efa_of(base);
    int fd = wsh_efa_set_wait_fd(efa->set[0]);

    for (uint32_t i = 1; i < efa->in_use && fd >= 0; i++)
        fd = wsh_efa_set_wait_fd(efa->set[i]);
    return fd >= 0 && efa->wait_fd >= 0 ? efa->wait_fd : fd;
}

static void peer_traffic(const struct wsh_efa_peer *peer, struct wsh_tp_traffic *traffic)
{
    traffic->operations += peer->operations;
    traffic->bytes += peer->bytes;
    traffic->retries += peer->retries;
    traffic->stalls += peer->link.stalls;
}

/* For all PEs: only the pages of peers that are known are touched. */
static void efa_traffic(struct wsh_tp *base, int pe, struct wsh_tp_traffic *traffic)
{
    struct wsh_efa *efa = efa_of(base);

    for (uint32_t i = 0; i < efa->in_use; i++) {
        struct wsh_efa_set *set = efa->set[i];
        uint64_t before = traffic->operations;

        wsh_efa_set_lock(set);
        for (int k = 0; pe < 0 && k < set->n_known; k++)
            peer_traffic(&set->peers[set->known[k]], traffic);
        if (pe < 0)
            traffic->doorbells += traffic->operations - before - set->shared;
        if (pe >= 0 && set->peers)
            peer_traffic(&set->peers[pe], traffic);
        wsh_efa_set_unlock(set);
    }
}

static struct wsh_tp *efa_part(struct wsh_tp *base, unsigned i)
{
    struct wsh_efa *efa = efa_of(base);

    return efa->in_use > 1 && i < efa->in_use ? &efa->set[i]->base : NULL;
}

const struct wsh_tp_ops wsh_efa_ops = {
    .name = "efa",
    .remote = true,
    .open = efa_open,
    .stop = efa_stop,
    .close = efa_close,
    .address = efa_address,
    .connect = efa_connect,
    .reach = wsh_efa_all_reach,
    .mem_register = wsh_efa_all_mem_register,
    .mem_release = wsh_efa_all_mem_release,
    .mem_attach = wsh_efa_all_mem_attach,
    .mem_detach = wsh_efa_all_mem_detach,
    .counter_words = efa_counter_words,
    .counter_open = efa_counter_open,
    .counter_attach = efa_counter_attach,
    .ctx_open = efa_ctx_open,
    .ctx_close = efa_ctx_close,
    .put = wsh_efa_put,
    .get = wsh_efa_get,
    .amo = wsh_efa_amo,
    .put_signal = wsh_efa_put_signal,
    .put_strided = wsh_efa_put_strided,
    .fence = efa_fence,
    .pending = efa_pending,
    .unread = efa_unread,
    .await = wsh_efa_ctx_await,
    .batch_begin = wsh_efa_ctx_batch_begin,
    .batch_end = wsh_efa_ctx_batch_end,
    .forget = efa_forget,
    .progress = efa_progress,
    .wait_fd = efa_wait_fd,
    .part = efa_part,
    .traffic = efa_traffic,
    .gda_open = wsh_efa_gda_open,
    .gda_open_values = wsh_efa_gda_open_values,
    .gda_close = wsh_efa_gda_close,
    .gda_target = wsh_efa_gda_target,
    .gda_counter = efa_gda_counter,
    .gda_remote = wsh_efa_gda_remote,
    .gda_local = wsh_efa_gda_local,
    .gda_poll = wsh_efa_gda_poll,
    .describe = wsh_efa_describe,
};

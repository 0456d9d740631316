/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the efa transport as the core sees it: its table of operations, and the lanes behind it. */
#define _GNU_SOURCE
#include "transports/efa/lanes.h"

#include "base/log.h"
#include "transports/efa/efa.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static struct wsh_efa_lanes *lanes_of(struct wsh_tp *tp)
{
    return (struct wsh_efa_lanes *)tp;
}

const void *wsh_efa_parts_get(const void *blob, unsigned i, size_t *len)
{
    struct wsh_efa_parts parts;
    const char *at = (const char *)blob + sizeof parts;

    memcpy(&parts, blob, sizeof parts);
    for (unsigned before = 0; before < i; before++)
        at += parts.len[before];
    *len = parts.len[i];
    return at;
}

uint32_t wsh_efa_parts_check(int pe, const void *blob, size_t len)
{
    struct wsh_efa_parts parts = {0};
    size_t sum = sizeof parts;

    memcpy(&parts, blob, len < sizeof parts ? len : sizeof parts);
    for (uint32_t i = 0; i < parts.n && i < WSH_EFA_LANES; i++)
        sum += parts.len[i];
    if (parts.n && parts.n <= WSH_EFA_LANES && sum == len)
        return parts.n;
    wsh_error("PE %d describes its endpoints in another form (%zu bytes); run the same library on every PE",
              pe, len);
    return 0;
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

    if (env->lanes)
        return (uint32_t)env->lanes;
    if (n < env->proxy_threads)
        n = env->proxy_threads;
    return n < 1 ? 1 : n > WSH_EFA_LANES ? WSH_EFA_LANES : (uint32_t)n;
}

static int lanes_stop(struct wsh_tp *base, bool at_once)
{
    struct wsh_efa_lanes *lanes = lanes_of(base);
    int rc = 0;

    for (uint32_t i = 0; i < lanes->n; i++)
        rc |= wsh_efa_lane_stop(lanes->lane[i], at_once);
    return rc;
}

static void lanes_close(struct wsh_tp *base)
{
    struct wsh_efa_lanes *lanes = lanes_of(base);

    wsh_efa_stranger_sum(lanes);
    if (lanes->wait_fd >= 0)
        close(lanes->wait_fd);
    for (uint32_t i = 0; i < WSH_EFA_LANES; i++)
        if (lanes->lane[i])
            wsh_efa_lane_close(lanes->lane[i]);
    free(lanes);
}

static int open_all(struct wsh_efa_lanes *lanes, const struct wsh_tp_params *params,
                    struct wsh_tp_limits *limits)
{
    int rc = 0;

    for (uint32_t i = 0; i < lanes->n && !rc; i++)
        rc = wsh_efa_lane_open(lanes, i, params, limits);
    if (!rc && lanes->n > 1)
        wsh_info(WSH_SUB_TRANSPORT, "network: %u lanes, to which contexts are dealt", lanes->n);
    return rc;
}

static int lanes_open(const struct wsh_tp_params *params, struct wsh_tp **tp, struct wsh_tp_limits *limits)
{
    struct wsh_efa_lanes *lanes = calloc(1, sizeof *lanes);
    int rc;

    if (!lanes)
        return -ENOMEM;
    lanes->base.ops = &wsh_efa_ops;
    lanes->wait_fd = -1;
    lanes->n = lanes->in_use = choose_number(params);
    rc = open_all(lanes, params, limits);
    if (rc) {
        lanes_close(&lanes->base);
        return rc;
    }
    *tp = &lanes->base;
    return 0;
}

static int lanes_address(struct wsh_tp *base, void *blob, size_t *len)
{
    struct wsh_efa_lanes *lanes = lanes_of(base);
    struct wsh_efa_parts parts = {.n = lanes->n};
    size_t used = sizeof parts;

    for (uint32_t i = 0; i < lanes->n; i++) {
        size_t room = *len > used ? *len - used : 0;
        int rc = wsh_efa_address(lanes->lane[i], (char *)blob + used, &room);

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
static int agree(struct wsh_efa_lanes *lanes, const struct wsh_tp_peers *peers)
{
    for (int pe = 0; pe < peers->n_pes; pe++) {
        uint32_t n = peers->len[pe] ? wsh_efa_parts_check(pe, peers->address[pe], peers->len[pe]) : lanes->n;

        if (!n)
            return -EPROTO;
        if (n < lanes->in_use)
            lanes->in_use = n;
    }
    return 0;
}

/* One descriptor for all lanes, if each has one. */
static int open_wait_fd(struct wsh_efa_lanes *lanes)
{
    int rc = 0;

    if (lanes->in_use == 1 || lanes->wait_fd >= 0 || lanes->lane[0]->wait_fd < 0)
        return 0;
    lanes->wait_fd = epoll_create1(EPOLL_CLOEXEC);
    for (uint32_t i = 0; i < lanes->in_use && lanes->wait_fd >= 0 && !rc; i++) {
        struct epoll_event event = {.events = EPOLLIN};

        rc = epoll_ctl(lanes->wait_fd, EPOLL_CTL_ADD, lanes->lane[i]->wait_fd, &event);
    }
    if (lanes->wait_fd >= 0 && !rc)
        return 0;
    rc = -errno;
    wsh_error("no descriptor to wait for %u lanes: %s; check ulimit -n", lanes->in_use, wsh_strerror(-rc));
    return rc;
}

static int lanes_connect(struct wsh_tp *base, const struct wsh_tp_peers *peers)
{
    struct wsh_efa_lanes *lanes = lanes_of(base);
    int rc = agree(lanes, peers), again = 0;

    if (!rc)
        rc = open_wait_fd(lanes);
    for (uint32_t i = 0; i < lanes->in_use && !rc; i++) {
        rc = wsh_efa_connect(lanes->lane[i], peers);
        if (rc == -EAGAIN)
            again = rc, rc = 0;
    }
    return rc ? rc : again;
}

static unsigned lanes_reach(struct wsh_tp *base, int pe, enum wsh_mem_kind kind)
{
    return wsh_efa_reach(lanes_of(base)->lane[0], pe, kind);
}

/* To the lane that has the fewest; two that come at once may choose the same. */
static int lanes_ctx_open(struct wsh_tp *base, struct wsh_tctx **tctx)
{
    struct wsh_efa_lanes *lanes = lanes_of(base);
    struct wsh_efa_ctx *ctx;
    uint32_t best = 0;
    int rc;

    for (uint32_t i = 1; i < lanes->in_use; i++)
        if (__atomic_load_n(&lanes->users[i], __ATOMIC_RELAXED) <
            __atomic_load_n(&lanes->users[best], __ATOMIC_RELAXED))
            best = i;
    rc = wsh_efa_ctx_open(lanes->lane[best], &ctx);
    if (rc)
        return rc;
    __atomic_fetch_add(&lanes->users[best], 1, __ATOMIC_RELAXED);
    *tctx = &ctx->base;
    return 0;
}

static void lanes_ctx_close(struct wsh_tctx *tctx)
{
    struct wsh_efa_ctx *ctx = (struct wsh_efa_ctx *)tctx;

    __atomic_fetch_sub(&ctx->lane->lanes->users[ctx->lane->number], 1, __ATOMIC_RELAXED);
    wsh_efa_ctx_close(ctx);
}

/* O(1): what the fence asks is found out per peer, when the next operation to it comes. */
static int lanes_fence(struct wsh_tctx *tctx)
{
    wsh_srd_fence(&((struct wsh_efa_ctx *)tctx)->srd);
    return 0;
}

static size_t lanes_pending(struct wsh_tctx *tctx, int pe)
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

static int lanes_progress(struct wsh_tp *base)
{
    struct wsh_efa_lanes *lanes = lanes_of(base);
    int moved = wsh_efa_progress(lanes->lane[0]);

    for (uint32_t i = 1; i < lanes->in_use && moved >= 0; i++) {
        int rc = wsh_efa_progress(lanes->lane[i]);

        moved = rc < 0 ? rc : moved | rc;
    }
    return moved;
}

static int lanes_wait_fd(struct wsh_tp *base)
{
    struct wsh_efa_lanes *lanes = lanes_of(base);
    int fd = wsh_efa_wait_fd(lanes->lane[0]);

    for (uint32_t i = 1; i < lanes->in_use && fd >= 0; i++)
        fd = wsh_efa_wait_fd(lanes->lane[i]);
    return fd >= 0 && lanes->wait_fd >= 0 ? lanes->wait_fd : fd;
}

static struct wsh_tp *lanes_part(struct wsh_tp *base, unsigned i)
{
    struct wsh_efa_lanes *lanes = lanes_of(base);

    return lanes->in_use > 1 && i < lanes->in_use ? &lanes->lane[i]->base : NULL;
}

const struct wsh_tp_ops wsh_efa_ops = {
    .name = "efa",
    .remote = true,
    .open = lanes_open,
    .stop = lanes_stop,
    .close = lanes_close,
    .address = lanes_address,
    .connect = lanes_connect,
    .reach = lanes_reach,
    .mem_register = wsh_efa_lanes_mem_register,
    .mem_release = wsh_efa_lanes_mem_release,
    .mem_attach = wsh_efa_lanes_mem_attach,
    .mem_detach = wsh_efa_lanes_mem_detach,
    .ctx_open = lanes_ctx_open,
    .ctx_close = lanes_ctx_close,
    .put = wsh_efa_put,
    .get = wsh_efa_get,
    .amo = wsh_efa_amo,
    .put_signal = wsh_efa_put_signal,
    .put_strided = wsh_efa_put_strided,
    .fence = lanes_fence,
    .pending = lanes_pending,
    .progress = lanes_progress,
    .wait_fd = lanes_wait_fd,
    .part = lanes_part,
    .describe = wsh_efa_describe,
};

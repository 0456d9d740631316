/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts by number, and the state of each with every peer: flows from this PE, receive flows to it. */
#include "transports/efa/set/flow.h"

#include "base/log.h"
#include "transports/efa/set/set.h"
#include "transports/efa/set/peers.h"
#include "transports/efa/ops/imm_count.h"

#include <stdio.h>
#include <stdlib.h>

/* Once: what does not go on many contexts. An error where the settings make it one. */
static int note_uncounted(struct wsh_efa_set *set)
{
    char text[WSH_EFA_TEXT_MAX];

    if (set->efa->noted_ctxs)
        return 0;
    set->efa->noted_ctxs = 1;
    snprintf(
        text, sizeof text,
        "the immediate data of writes name at most %u contexts of a PE and endpoint set: on further ones the "
        "signal of a large put leaves when the put has completed; use fewer contexts at a time, or raise "
        "SHMEM_ENDPOINT_SETS, of which there are %u",
        WSH_SRD_CONTEXTS, set->efa->in_use);
    return wsh_log_slower(set->env->strict, WSH_LOG_WARN, text);
}

/* Whether there may be a context of that number. -ENOSPC, of which a line is said once. */
static int ctx_check(struct wsh_efa_set *set, size_t number)
{
    if (number < WSH_EFA_CONTEXTS)
        return set->imm && number >= WSH_SRD_CONTEXTS ? note_uncounted(set) : 0;
    if (set->efa->noted_ctxs < 2)
        wsh_warn(
            "no further context: messages name at most %u contexts of a PE and endpoint set; destroy some, "
            "or raise SHMEM_ENDPOINT_SETS, of which there are %u",
            WSH_EFA_CONTEXTS, set->efa->in_use);
    set->efa->noted_ctxs = 2;
    return -ENOSPC;
}

static struct wsh_efa_ctx *ctx_new(struct wsh_efa_set *set)
{
    size_t n = set->n_ctxs;
    struct wsh_efa_ctx **all = realloc(set->ctxs, (n + 1) * sizeof *all), *ctx;

    if (!all)
        return NULL;
    set->ctxs = all;
    ctx = calloc(1, sizeof *ctx + (size_t)set->n_pes * sizeof ctx->flow[0]);
    if (!ctx)
        return NULL;
    ctx->set = set;
    ctx->number = (uint16_t)n;
    all[set->n_ctxs++] = ctx;
    return ctx;
}

/* The next context of a number goes on with its flows, as the peers' receive flows do. */
int wsh_efa_ctx_open(struct wsh_efa_set *set, struct wsh_efa_ctx **out)
{
    struct wsh_efa_ctx *ctx;
    int rc = 0;

    wsh_efa_set_lock(set);
    ctx = set->free_ctxs;
    if (ctx)
        set->free_ctxs = ctx->next;
    else if (!(rc = ctx_check(set, set->n_ctxs)))
        ctx = ctx_new(set);
    wsh_efa_set_unlock(set);
    *out = ctx;
    return ctx ? 0 : rc ? rc : -ENOMEM;
}

void wsh_efa_ctx_close(struct wsh_efa_ctx *ctx)
{
    struct wsh_efa_set *set = ctx->set;

    wsh_efa_set_lock(set);
    ctx->next = set->free_ctxs;
    set->free_ctxs = ctx;
    wsh_efa_set_unlock(set);
}

static void ctx_free(struct wsh_efa_ctx *ctx, int n_pes)
{
    for (int pe = 0; pe < n_pes; pe++)
        free(ctx->flow[pe]);
    free(ctx);
}

/* Copies of messages whose receives have gone back. */
static void drop_held(void *arg, void *msg)
{
    (void)arg;
    if (!((struct wsh_efa_req *)msg)->pool)
        free(msg);
}

static void rx_flow_free(struct wsh_efa_rx_flow *rx_flow)
{
    if (rx_flow)
        wsh_srd_rx_flow_fail(&rx_flow->srd, drop_held, NULL);
    free(rx_flow);
}

void wsh_efa_flows_free(struct wsh_efa_set *set)
{
    for (uint32_t i = 0; i < set->n_ctxs; i++)
        ctx_free(set->ctxs[i], set->n_pes);
    free(set->ctxs);
    for (int k = 0; k < set->n_known; k++) {
        struct wsh_efa_peer *peer = &set->peers[set->known[k]];

        for (uint32_t i = 0; i < peer->n_rx_flows; i++)
            rx_flow_free(peer->rx_flow[i]);
        free(peer->rx_flow);
    }
}

static int no_memory(int pe)
{
    wsh_error("no memory for what goes between this PE and PE %d", pe);
    return -ENOMEM;
}

/* Natively nothing is counted but by messages. */
static const uint8_t signal_forms[2][2][2] = {
    {{WSH_EFA_SIGNAL_WRITES, WSH_EFA_SIGNAL_MESSAGE},
     {WSH_EFA_SIGNAL_COUNTED_WRITE, WSH_EFA_SIGNAL_COUNTED_SHORT}},
    {{WSH_EFA_SIGNAL_WRITES, WSH_EFA_SIGNAL_MESSAGE},
     {WSH_EFA_SIGNAL_WRITES, WSH_EFA_SIGNAL_COUNTED_MESSAGE}},
};

int wsh_efa_flow_new(struct wsh_efa_ctx *ctx, int pe)
{
    struct wsh_efa_set *set = ctx->set;
    struct wsh_efa_peer *peer = &set->peers[pe];
    bool imm = set->imm && wsh_srd_imm_fits(ctx->number, (uint32_t)set->n_pes, false);
    struct wsh_efa_flow *flow;
    int rc = wsh_efa_peer_join(set, pe);

    if (rc)
        return rc;
    flow = calloc(1, sizeof *flow + peer->window * (sizeof flow->named[0] + 1));

    if (!flow)
        return no_memory(pe);
    flow->ctx = ctx;
    flow->pe = pe;
    flow->signal_forms = signal_forms[set->native];
    flow->type = (uint8_t *)&flow->named[peer->window];
    wsh_srd_flow_init(&flow->srd, &peer->link, peer->window, WSH_SRD_SLOTS, imm, flow->named);
    __atomic_store_n(&ctx->flow[pe], flow, __ATOMIC_RELEASE); /* partner: the acquire in wsh_efa_describe */
    return 0;
}

struct wsh_efa_rx_flow *wsh_efa_rx_flow_find(const struct wsh_efa_set *set, int pe, uint16_t ctx)
{
    const struct wsh_efa_peer *peer = &set->peers[pe];

    return ctx < peer->n_rx_flows ? peer->rx_flow[ctx] : NULL;
}

static int rx_flows_grow(struct wsh_efa_peer *peer, uint32_t n)
{
    struct wsh_efa_rx_flow **rx_flow;

    if (n <= peer->n_rx_flows)
        return 0;
    rx_flow = realloc(peer->rx_flow, n * sizeof *rx_flow);
    if (!rx_flow)
        return -ENOMEM;
    for (uint32_t i = peer->n_rx_flows; i < n; i++)
        rx_flow[i] = NULL;
    peer->rx_flow = rx_flow;
    peer->n_rx_flows = n;
    return 0;
}

struct wsh_efa_rx_flow *wsh_efa_rx_flow_need(struct wsh_efa_set *set, int pe, uint16_t ctx)
{
    struct wsh_efa_rx_flow *rx_flow = wsh_efa_rx_flow_find(set, pe, ctx);

    if (wsh_likely(rx_flow))
        return rx_flow;
    rx_flow = calloc(1, sizeof *rx_flow + set->limits.window * sizeof rx_flow->held[0]);
    if (!rx_flow || rx_flows_grow(&set->peers[pe], ctx + 1u)) {
        free(rx_flow);
        no_memory(pe);
        return NULL;
    }
    rx_flow->pe = pe;
    rx_flow->ctx = ctx;
    wsh_srd_rx_flow_init(&rx_flow->srd, set->limits.window, rx_flow->held,
                         (uint16_t)((set->limits.window + 1) / 2));
    set->peers[pe].rx_flow[ctx] = rx_flow;
    return rx_flow;
}

static void messages_over(struct wsh_efa_set *set, struct wsh_efa_flow *flow, uint32_t from)
{
    for (uint32_t n = from; n != flow->srd.acked; n++) {
        uint8_t type = flow->type[n & (flow->srd.window - 1)], what = type & (uint8_t)~WSH_EFA_LAZY;

        if (what < WSH_EFA_WHATS)
            wsh_efa_count_sub(&flow->what[what]);
        if (type & WSH_EFA_LAZY)
            wsh_efa_lazy_applied(set, flow);
    }
}

int wsh_efa_flow_acked(struct wsh_efa_set *set, int pe, const struct wsh_efa_head *head)
{
    struct wsh_efa_flow *flow = head->ctx < set->n_ctxs ? set->ctxs[head->ctx]->flow[pe] : NULL;
    uint32_t from;
    int rc;

    if (!flow)
        return head->stamp.applied || head->stamp.counted ? -EPROTO : 0;
    from = flow->srd.acked;
    rc = wsh_srd_flow_acked(&flow->ctx->srd, &flow->srd, head->stamp.applied, head->stamp.counted);
    if (rc <= 0)
        return rc;
    messages_over(set, flow, from);
    set->peers[pe].acks++;
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the contexts by their numbers, and what each has with every peer: flows from here, inlets to here. */
#include "transports/efa/flow.h"

#include "base/log.h"
#include "transports/efa/efa.h"

#include <stdlib.h>

static struct wsh_efa_ctx *ctx_new(struct wsh_efa_tp *tp)
{
    size_t n = tp->n_ctxs;
    struct wsh_efa_ctx **all, *ctx;

    if (n >= EFA_CONTEXTS)
        return NULL;
    all = realloc(tp->ctxs, (n + 1) * sizeof *all);
    if (!all)
        return NULL;
    tp->ctxs = all;
    ctx = calloc(1, sizeof *ctx + (size_t)tp->n_pes * sizeof ctx->flow[0]);
    if (!ctx)
        return NULL;
    ctx->lane = tp;
    ctx->number = (uint16_t)n;
    all[tp->n_ctxs++] = ctx;
    return ctx;
}

/* The next context of a number goes on with its flows, as the peers' inlets do. */
int wsh_efa_ctx_open(struct wsh_efa_tp *tp, struct wsh_efa_ctx **out)
{
    struct wsh_efa_ctx *ctx;

    wsh_efa_lock(tp);
    ctx = tp->free_ctxs;
    if (ctx)
        tp->free_ctxs = ctx->next;
    else
        ctx = ctx_new(tp);
    wsh_efa_unlock(tp);
    *out = ctx;
    return ctx ? 0 : -ENOMEM;
}

void wsh_efa_ctx_close(struct wsh_efa_ctx *ctx)
{
    struct wsh_efa_tp *tp = ctx->lane;

    wsh_efa_lock(tp);
    ctx->next = tp->free_ctxs;
    tp->free_ctxs = ctx;
    wsh_efa_unlock(tp);
}

static void ctx_free(struct wsh_efa_ctx *ctx, int n_pes)
{
    for (int pe = 0; pe < n_pes; pe++)
        free(ctx->flow[pe]);
    free(ctx);
}

void wsh_efa_flows_free(struct wsh_efa_tp *tp)
{
    for (uint32_t i = 0; i < tp->n_ctxs; i++)
        ctx_free(tp->ctxs[i], tp->n_pes);
    free(tp->ctxs);
    for (int pe = 0; tp->peers && pe < tp->n_pes; pe++) {
        for (uint32_t i = 0; i < tp->peers[pe].n_inlets; i++)
            free(tp->peers[pe].inlet[i]);
        free(tp->peers[pe].inlet);
    }
}

static int no_memory(int pe)
{
    wsh_error("no memory for what goes between this PE and PE %d", pe);
    return -ENOMEM;
}

int wsh_efa_flow_new(struct wsh_efa_ctx *ctx, int pe)
{
    struct wsh_efa_tp *tp = ctx->lane;
    struct wsh_efa_peer *peer = &tp->peers[pe];
    bool imm = tp->imm && wsh_srd_imm_fits(ctx->number, (uint32_t)tp->n_pes, false);
    struct wsh_efa_flow *flow = calloc(1, sizeof *flow + peer->window * (sizeof flow->named[0] + 1));

    if (!flow)
        return no_memory(pe);
    flow->ctx = ctx;
    flow->pe = pe;
    flow->type = (uint8_t *)&flow->named[peer->window];
    wsh_srd_flow_init(&flow->srd, &peer->link, peer->window, WSH_SRD_SLOTS, imm, flow->named);
    __atomic_store_n(&ctx->flow[pe], flow, __ATOMIC_RELEASE); /* partner: the acquire in wsh_efa_describe */
    return 0;
}

struct wsh_efa_inlet *wsh_efa_inlet_find(const struct wsh_efa_tp *tp, int pe, uint16_t ctx)
{
    const struct wsh_efa_peer *peer = &tp->peers[pe];

    return ctx < peer->n_inlets ? peer->inlet[ctx] : NULL;
}

static int inlets_grow(struct wsh_efa_peer *peer, uint32_t n)
{
    struct wsh_efa_inlet **inlet;

    if (n <= peer->n_inlets)
        return 0;
    inlet = realloc(peer->inlet, n * sizeof *inlet);
    if (!inlet)
        return -ENOMEM;
    for (uint32_t i = peer->n_inlets; i < n; i++)
        inlet[i] = NULL;
    peer->inlet = inlet;
    peer->n_inlets = n;
    return 0;
}

struct wsh_efa_inlet *wsh_efa_inlet_need(struct wsh_efa_tp *tp, int pe, uint16_t ctx)
{
    struct wsh_efa_inlet *inlet = wsh_efa_inlet_find(tp, pe, ctx);

    if (wsh_likely(inlet))
        return inlet;
    inlet = calloc(1, sizeof *inlet + tp->window * sizeof inlet->held[0]);
    if (!inlet || inlets_grow(&tp->peers[pe], ctx + 1u)) {
        free(inlet);
        no_memory(pe);
        return NULL;
    }
    inlet->pe = pe;
    inlet->ctx = ctx;
    wsh_srd_inlet_init(&inlet->srd, tp->window, inlet->held, (uint16_t)((tp->window + 1) / 2));
    tp->peers[pe].inlet[ctx] = inlet;
    return inlet;
}

static void messages_over(struct wsh_efa_flow *flow, uint32_t from)
{
    for (uint32_t n = from; n != flow->srd.acked; n++) {
        uint8_t what = flow->type[n & (flow->srd.window - 1)];

        if (what < EFA_WHATS)
            wsh_efa_count_sub(&flow->what[what]);
    }
}

int wsh_efa_flow_told(struct wsh_efa_tp *tp, int pe, const struct wsh_efa_head *head)
{
    struct wsh_efa_flow *flow = head->ctx < tp->n_ctxs ? tp->ctxs[head->ctx]->flow[pe] : NULL;
    uint32_t from;
    int rc;

    if (!flow)
        return head->stamp.applied || head->stamp.counted ? -EPROTO : 0;
    from = flow->srd.acked;
    rc = wsh_srd_flow_told(&flow->ctx->srd, &flow->srd, head->stamp.applied, head->stamp.counted);
    if (rc <= 0)
        return rc;
    messages_over(flow, from);
    tp->peers[pe].told++;
    return 0;
}

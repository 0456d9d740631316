/* SPDX-License-Identifier: BSD-3-Clause */
/* A context, and its state with each peer: flows from this PE, receive flows to it. */
#ifndef WSH_EFA_FLOW_H
#define WSH_EFA_FLOW_H

#include "base/invariant.h"
#include "transports/efa/wire/req.h"
#include "transports/efa/srd/flow.h"
#include "transports/efa/srd/rx_flow.h"
#include "transports/efa/wire/wire.h"
#include "transports/transport.h"

struct wsh_efa_set;

enum wsh_efa_what { WSH_EFA_PUTS, WSH_EFA_GETS, WSH_EFA_AMOS, WSH_EFA_SIGNALS, WSH_EFA_WHATS };
#define WSH_EFA_LAZY 0x80 /* beside it in wsh_efa_flow.type: the message is lazy */

/* How a put with signal goes: wsh_efa_flow.signal_forms [its signal counts at a counter] [one message takes it]. */
enum wsh_efa_signal_form {
    WSH_EFA_SIGNAL_MESSAGE,
    WSH_EFA_SIGNAL_WRITES, /* and a message behind them */
    WSH_EFA_SIGNAL_COUNTED_MESSAGE,
    WSH_EFA_SIGNAL_COUNTED_WRITE, /* or more of them and a message */
    WSH_EFA_SIGNAL_COUNTED_SHORT  /* the faster of the two */
};

/*
 * What a context does with one peer. `direct` counts writes and reads ([enum wsh_efa_req_kind]) of which the engine
 * need not know when they end: nothing is ordered behind a read, and natively no write waits for another. The number
 * of a context, and so its flows, outlive it.
 */
struct wsh_efa_flow {
    struct wsh_srd_flow srd;
    struct wsh_efa_ctx *ctx;
    int pe;
    uint32_t direct[2];
    uint64_t read_epoch;              /* natively: ordered reads of this epoch may start */
    uint32_t what[WSH_EFA_WHATS];     /* other operations under way, for the hang reporter */
    const uint8_t (*signal_forms)[2]; /* enum wsh_efa_signal_form */
    uint32_t counter_writes;          /* the link's, when this flow last added to them */
    bool uncounted;                   /* some up to counter_writes are not known as counted */
    uint32_t lazy_end;                /* number behind the last lazy message */
    uint32_t prompt_end; /* number behind the last one that is not, or up to which an ack was requested */
    bool late;           /* is in ctx->late */
    struct wsh_efa_flow *next_late;
    bool waiting;              /* is in set->waiting */
    struct wsh_efa_flow *next; /* there */
    uint8_t *type; /* [window] enum wsh_efa_what, WSH_EFA_LAZY of the messages under way, by number */
    struct wsh_srd_names named[];
};

/* What a context of a peer does with this PE. */
struct wsh_efa_rx_flow {
    struct wsh_srd_rx_flow srd;
    int pe;
    uint16_t ctx;        /* its number there */
    uint32_t prompt_end; /* number up to which the source wants an ack */
    bool ack_pending;    /* is in set->msgs.ack_pending */
    struct wsh_efa_rx_flow *next;
    struct wsh_srd_held held[];
};

struct wsh_efa_ctx {
    struct wsh_tctx base;
    struct wsh_efa_set *set;
    struct wsh_srd_ctx srd;
    uint32_t direct;           /* the sum of the flows' */
    uint32_t n_uncounted;      /* flows with counter writes that are not known as counted */
    uint32_t n_lazy;           /* lazy messages that are not known as applied */
    struct wsh_efa_flow *late; /* flows with any of these, and some without */
    bool awaited;              /* somebody completes it. Relaxed: it is set again */
    uint16_t number;
    struct wsh_efa_ctx *next; /* in set->free_ctxs */
    struct wsh_efa_flow *flow[];
};

/* Counters that other threads read without the lock; partners: the acquire loads in wsh_efa_count_read. */
static inline void wsh_efa_count_add(uint32_t *count)
{
    __atomic_store_n(count, *count + 1, __ATOMIC_RELAXED);
}

static inline void wsh_efa_count_sub(uint32_t *count)
{
    WSH_INVARIANT(*count);
    __atomic_store_n(count, *count - 1, __ATOMIC_RELEASE);
}

/* Pairs with the release in wsh_efa_count_sub: who sees 0 sees what the completions brought. */
static inline uint32_t wsh_efa_count_read(const uint32_t *count)
{
    return __atomic_load_n(count, __ATOMIC_ACQUIRE);
}

static inline void wsh_efa_flow_begin(struct wsh_efa_flow *flow, unsigned kind)
{
    wsh_efa_count_add(&flow->direct[kind]);
    wsh_efa_count_add(&flow->ctx->direct);
}

static inline void wsh_efa_flow_end(struct wsh_efa_flow *flow, unsigned kind)
{
    wsh_efa_count_sub(&flow->direct[kind]);
    wsh_efa_count_sub(&flow->ctx->direct);
}

/* Writes of the context's epoch may start, and the engine need not check again. */
static inline bool wsh_efa_flow_is_open(const struct wsh_efa_flow *flow)
{
    /* Partner: the release in the engine. */
    return __atomic_load_n(&flow->srd.write_epoch, __ATOMIC_ACQUIRE) == flow->ctx->srd.epoch;
}

/* A context of that endpoint set. -ENOMEM, or -ENOSPC: a line has said once that there are too many. */
int wsh_efa_ctx_open(struct wsh_efa_set *set, struct wsh_efa_ctx **ctx);
void wsh_efa_ctx_close(struct wsh_efa_ctx *ctx);
/* Of flows, receive flows and contexts; after the provider is closed. */
void wsh_efa_flows_free(struct wsh_efa_set *set);
/* -ENOMEM (logged). */
int wsh_efa_flow_new(struct wsh_efa_ctx *ctx, int pe);
/* The rx_flow, made now if there is none yet; NULL: no memory (logged). */
struct wsh_efa_rx_flow *wsh_efa_rx_flow_need(struct wsh_efa_set *set, int pe, uint16_t ctx);
struct wsh_efa_rx_flow *wsh_efa_rx_flow_find(const struct wsh_efa_set *set, int pe, uint16_t ctx);
/* What the peer's head says of this PE's own flow. 0 or -EPROTO. */
int wsh_efa_flow_acked(struct wsh_efa_set *set, int pe, const struct wsh_efa_head *head);

/* The source wants an ack of all messages before this one. */
static inline void wsh_efa_rx_flow_prompt(struct wsh_efa_rx_flow *rx_flow, uint32_t end)
{
    if (wsh_srd_before(rx_flow->prompt_end, end))
        rx_flow->prompt_end = end;
}

static inline struct wsh_efa_flow *wsh_efa_flow_of(struct wsh_efa_ctx *ctx, int pe)
{
    if (wsh_unlikely(!ctx->flow[pe]) && wsh_efa_flow_new(ctx, pe))
        return NULL;
    return ctx->flow[pe];
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counted puts at both ends, and messages for whose end nobody at the source may be waiting, so that little comes back.
 *
 * A *tallied* write is a counted put whose immediate data name a counter of the program at the target. The target
 * counts those of each source, and acknowledges how many when half of the source's credits are used up, or when the
 * source has requested them. At the source the writes of all contexts to a peer share one number (wsh_srd_link.tallies); a
 * context is complete when the peer has acknowledged the number that its last tallied write had.
 *
 * Where a counted put is a message, that is *lazy*; so are, but for those behind much data, the messages of a context
 * that the core calls lazy, that of a team's collectives. A lazy one is acknowledged by whatever goes back in the same
 * context, when half of the window is due, or with the next message that is not lazy. Flows with less than half of
 * their windows under way do not take the last of a peer's credits for lazy ones, so that some always come back.
 *
 * Who waits in a quiet requests them, by a message of the endpoint set's own context, since only a context's own thread may send
 * in it: how many tallied writes it wants acknowledged, and a context's messages up to which number. So does a flow
 * with a parked write: behind a fence it starts only when the lazy messages before it are known as applied, and nobody
 * may be in a quiet.
 */
#ifndef WSH_EFA_TALLY_H
#define WSH_EFA_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wsh_tctx;
struct wsh_efa_ctx;
struct wsh_efa_set;
struct wsh_efa_flow;

/* With a peer, all modulo 2^32. */
struct wsh_efa_tally {
    uint32_t counted;         /* of its writes, here … */
    uint32_t acked;           /* … as was last acknowledged */
    uint32_t wanted;          /* it has requested the acknowledgement of so many */
    uint32_t requested;       /* of the peer, of so many of this PE's */
    uint32_t lazy;            /* messages to it that are, and are not known as applied */
    bool has_wanted, ack_due; /* wanted holds; an acknowledgement is to be sent */
};

/* With all peers of an endpoint set. */
struct wsh_efa_tallies {
    int n_acks;   /* peers that an acknowledgement of tallied writes is due to */
    bool awaited; /* some context is awaited */
    int (*count)(void *core, uint32_t counter, uint32_t generation, uint32_t mask); /* wsh_tp_params.tally */
};

/* Writes to the peer may name that counter. */
bool wsh_efa_tally_fits(const struct wsh_efa_set *set, int pe, uint32_t counter);
/* One of the flow has been given to the provider. */
void wsh_efa_tally_started(struct wsh_efa_set *set, struct wsh_efa_flow *flow);
/* A message of the flow has gone. */
void wsh_efa_tally_sent(struct wsh_efa_set *set, struct wsh_efa_flow *flow, bool lazy);
/* A lazy one is known as applied. */
void wsh_efa_tally_applied(struct wsh_efa_set *set, struct wsh_efa_flow *flow);
/* Whether the next one of the flow may be, behind `data` bytes by writes of its own; `counts`: it is a counted put. */
bool wsh_efa_tally_may_be_lazy(const struct wsh_efa_set *set, const struct wsh_efa_flow *flow, size_t data,
                               bool counts);
/* wsh_tp_ops.await. No lock. */
void wsh_efa_tally_await(struct wsh_tctx *tctx, bool unread);
/* Whether tallied writes of the context, or of its flow, are not known as counted. No lock. */
uint32_t wsh_efa_ctx_uncounted(const struct wsh_efa_ctx *ctx, const struct wsh_efa_flow *flow);

/* One has arrived from the PE. 0 or final. */
int wsh_efa_tally_count(struct wsh_efa_set *set, int pe, uint32_t counter, uint32_t generation);
/* The PE wants so many acknowledged. */
void wsh_efa_tally_requested(struct wsh_efa_set *set, int pe, uint32_t tallies);
/* The PE has counted so many. 0 or -EPROTO. */
int wsh_efa_tally_acked(struct wsh_efa_set *set, int pe, uint32_t tallied);

#endif

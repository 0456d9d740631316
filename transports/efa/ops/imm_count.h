/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counted puts at both ends, and messages for whose end nobody at the source may be waiting, so that little comes back.
 *
 * A *counter write* is a counted put whose immediate data name a counter of the program at the target. The target
 * counts those of each source, and acknowledges how many when half of the source's credits are used up, or when the
 * source has requested that. At the source the writes of all contexts to a peer share one number
 * (wsh_srd_link.counter_writes); a context is complete when the peer has acknowledged the number that its last counter
 * write had.
 *
 * A long counted put may go in *pieces*, for several NICs: counter writes that say how many there are. The target
 * counts them by source, counter and number of pieces, and each that makes a put whole counts at the program's counter.
 * That never counts a put before its last piece is there, though pieces do not say of which put they are: a source has
 * one put in pieces to a peer under way at a time, so all pieces of the one before are there when the first of the next
 * leaves. Further ones go whole in the meantime.
 *
 * Where a counted put is a message, that is *lazy*; so are, but for those behind much data, the messages of a context
 * that the core calls lazy, that of a team's collectives. A lazy one is acknowledged by whatever goes back in the same
 * context, when half of the window is due, or with the next message that is not lazy. Flows with less than half of
 * their windows under way do not take the last of a peer's credits for lazy ones, so that some always come back.
 *
 * Who waits in a quiet sends a request (ack_request.h), by the endpoint set's own context, since only a context's own
 * thread may send in it: how many counter writes it wants acknowledged, and a context's messages up to which number. So
 * does a flow with a deferred write: behind a fence it starts only when the lazy messages before it are known as
 * applied, and nobody may be in a quiet.
 */
#ifndef WSH_EFA_IMM_COUNT_H
#define WSH_EFA_IMM_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wsh_tctx;
struct wsh_srd_imm;
struct wsh_efa_ctx;
struct wsh_efa_set;
struct wsh_efa_flow;

/* Pieces of puts with that counter that are here, of the next put that will be whole. */
struct wsh_efa_imm_part {
    uint16_t counter;
    uint8_t generation, pieces, here;
};

/* With a peer, all modulo 2^32. */
struct wsh_efa_imm_count {
    uint32_t counted;         /* of its writes, here */
    uint32_t acked;           /* the same as last acknowledged */
    uint32_t wanted;          /* it has requested the acknowledgement of so many */
    uint32_t requested;       /* of the peer, of so many of this PE's */
    uint32_t lazy;            /* messages to it that are, and are not known as applied */
    bool has_wanted, ack_due; /* wanted holds; an acknowledgement is to be sent */
    bool in_pieces;           /* to it a put in pieces is under way */
    uint16_t n_parts, room;
    struct wsh_efa_imm_part *part; /* [room], from it: not more than it has credits */
};

/* With all peers of an endpoint set. */
struct wsh_efa_imm_counts {
    int n_acks;   /* peers that an acknowledgement of counter writes is due to */
    bool awaited; /* some context is awaited */
    int (*count)(void *core, uint32_t counter, uint32_t generation, uint32_t mask); /* wsh_tp_params.tally */
};

/* Writes to the peer may name that counter. */
bool wsh_efa_imm_count_fits(const struct wsh_efa_set *set, int pe, uint32_t counter);
/* The next put to the peer with that counter may be so many counter writes. */
bool wsh_efa_imm_count_takes(const struct wsh_efa_set *set, int pe, uint32_t counter, uint32_t pieces);
/* One of the flow has been given to the provider. */
void wsh_efa_imm_count_started(struct wsh_efa_set *set, struct wsh_efa_flow *flow);
/* A message of the flow has gone. */
void wsh_efa_lazy_sent(struct wsh_efa_set *set, struct wsh_efa_flow *flow, bool lazy);
/* A lazy message is known as applied. */
void wsh_efa_lazy_applied(struct wsh_efa_set *set, struct wsh_efa_flow *flow);
/*
 * Whether the next message of the flow may be lazy, behind `data` bytes by writes of its own; `counts`: it is a counted
 * put.
 */
bool wsh_efa_lazy_fits(const struct wsh_efa_set *set, const struct wsh_efa_flow *flow, size_t data,
                       bool counts);
/* wsh_tp_ops.await. No lock. */
void wsh_efa_ctx_await(struct wsh_tctx *tctx, bool unread);
/* Whether counter writes of the context, or of its flow, are not known as counted. No lock. */
uint32_t wsh_efa_ctx_uncounted(const struct wsh_efa_ctx *ctx, const struct wsh_efa_flow *flow);

/* One has arrived. 0; -EPROTO without a failure of the set: it cannot be the peer's; -ENOMEM; or final. */
int wsh_efa_imm_count_add(struct wsh_efa_set *set, const struct wsh_srd_imm *imm);
/* The PE wants so many acknowledged. */
void wsh_efa_imm_count_requested(struct wsh_efa_set *set, int pe, uint32_t wanted);
/* The PE has counted so many. 0 or -EPROTO. */
int wsh_efa_imm_count_acked(struct wsh_efa_set *set, int pe, uint32_t counted);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The target's end of a flow: which writes of a group have arrived, which messages must wait, and what is to be
 * acknowledged to the source. One receive flow per (source, context); calls are under the lock of the source's peer
 * (srd.h).
 *
 * A receive flow goes with its context's number, not with a context: the next context of that number goes on with it,
 * as the source's flow does. Nothing is ever reset while a job runs.
 *
 * ORDER: see srd.h, 4 to 6 for this end.
 *
 * Acks to the source. `applied` and `counted` only grow, and every ack replaces the ones before, so any number of
 * them may be merged into one. They ride on every message and reply to the source. When owed and nothing rides: tell if
 * wsh_srd_rx_flow_urgent, or when there is nothing better to do; never keep an idle source waiting.
 * - By a write into the source's memory (two words of 32 bits, read one by one) only one may be under way
 *   (wsh_srd_rx_flow_may_ack): an earlier write that lands after a later one would leave the older numbers there.
 * - By messages, reordering does no harm, but each takes a receive: a source has at most msgs_max + imms_max unread.
 */
#ifndef WSH_SRD_RX_FLOW_H
#define WSH_SRD_RX_FLOW_H

#include "base/invariant.h"
#include "transports/efa/srd/srd.h"

struct wsh_srd_held {
    void *msg;
    struct wsh_srd_stamp stamp;
};

struct wsh_srd_count {
    uint32_t count;     /* writes arrived of the group that has the slot now */
    uint16_t waiter;    /* 1 + slot in `held` of the message that waits for it, or 0 */
    uint8_t generation; /* of that group */
};

/* What the target does with a message whose turn has come: applies it; 0 or final. */
struct wsh_srd_sink {
    /*
     * `msg` as given to wsh_srd_rx_flow_message; its receive may be used again. The receive flow already counts it as
     * applied, so that a reply sent from here can carry the number; tell nobody before it is applied.
     */
    int (*apply)(void *arg, void *msg);
    void *arg;
};

struct wsh_srd_rx_flow {
    uint32_t window;
    uint32_t applied; /* all messages before this number are applied */
    uint32_t counted; /* immediates taken */
    uint32_t acked_applied, acked_counted;
    uint32_t n_shut;    /* messages whose condition is not met */
    uint16_t condition; /* the last one met */
    uint16_t ack_after;
    bool acking, failed;
    uint64_t shut[WSH_SRD_WINDOW_MAX / 64];    /* by number modulo window: held by their condition */
    uint64_t lacking[WSH_SRD_WINDOW_MAX / 64]; /* held by their own group, the condition being met */
    uint64_t over[WSH_SRD_WINDOW_MAX / 64];    /* applied before an earlier one */
    struct wsh_srd_count group[WSH_SRD_SLOTS];
    struct wsh_srd_held *held; /* [window] */
};

/* `window`: the flow's; held[window] is the caller's memory. Urgent from ack_after messages or immediates on. */
void wsh_srd_rx_flow_init(struct wsh_srd_rx_flow *rx_flow, uint32_t window, struct wsh_srd_held *held,
                          uint16_t ack_after);

/*
 * A message has arrived. It is applied now, or kept until its turn; others may be applied in its wake. `msg` must stay
 * valid until then. 0; -EPROTO: not a message of this protocol; -ESTALE: the source has failed, msg was not kept.
 */
int wsh_srd_rx_flow_message(struct wsh_srd_rx_flow *rx_flow, const struct wsh_srd_stamp *stamp, void *msg,
                            const struct wsh_srd_sink *sink);

/* The message has arrived before: it is applied or held. For networks where a source may send one twice. */
bool wsh_srd_rx_flow_has(const struct wsh_srd_rx_flow *rx_flow, const struct wsh_srd_stamp *stamp);

/* Where the receive flow keeps `msg`, given to it just now, which waits; NULL: it does not, or has been applied. */
void **wsh_srd_rx_flow_held(struct wsh_srd_rx_flow *rx_flow, const struct wsh_srd_stamp *stamp,
                            const void *msg);

/* The immediate data of a write to `group` has arrived (its bytes are there). Results as above. */
int wsh_srd_rx_flow_write(struct wsh_srd_rx_flow *rx_flow, uint8_t group, const struct wsh_srd_sink *sink);

static inline bool wsh_srd_rx_flow_has_ack(const struct wsh_srd_rx_flow *rx_flow)
{
    return rx_flow->applied != rx_flow->acked_applied || rx_flow->counted != rx_flow->acked_counted;
}

static inline bool wsh_srd_rx_flow_urgent(const struct wsh_srd_rx_flow *rx_flow)
{
    return rx_flow->applied - rx_flow->acked_applied >= rx_flow->ack_after ||
           rx_flow->counted - rx_flow->acked_counted >= rx_flow->ack_after;
}

static inline bool wsh_srd_rx_flow_may_ack(const struct wsh_srd_rx_flow *rx_flow)
{
    return !rx_flow->acking && !rx_flow->failed && wsh_srd_rx_flow_has_ack(rx_flow);
}

/* A message or reply with rx_flow->applied and rx_flow->counted, as they are now, was given to the provider. */
static inline void wsh_srd_rx_flow_acked(struct wsh_srd_rx_flow *rx_flow)
{
    WSH_INVARIANT(!wsh_srd_before(rx_flow->applied, rx_flow->acked_applied));
    WSH_INVARIANT(!wsh_srd_before(rx_flow->counted, rx_flow->acked_counted));
    rx_flow->acked_applied = rx_flow->applied;
    rx_flow->acked_counted = rx_flow->counted;
}

/* The same, of a write into the source's memory; `false`, when that write is complete. */
static inline void wsh_srd_rx_flow_ack_write(struct wsh_srd_rx_flow *rx_flow, bool in_progress)
{
    WSH_INVARIANT(!rx_flow->acking || !in_progress);
    rx_flow->acking = in_progress;
    if (in_progress)
        wsh_srd_rx_flow_acked(rx_flow);
}

/* Messages that wait for something. */
uint32_t wsh_srd_rx_flow_waiting(const struct wsh_srd_rx_flow *rx_flow);

/* The source has failed: gives every held message to `drop`; whatever still arrives is -ESTALE. */
void wsh_srd_rx_flow_fail(struct wsh_srd_rx_flow *rx_flow, void (*drop)(void *arg, void *msg), void *arg);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The source's end: what may start now, what is deferred, and what is pending, per context and peer.
 *
 * ORDER: see srd.h, 1 to 3 and 5 to 7 for this end. LOCKS: see srd.h.
 *
 * How a transport uses it, per operation (small = fits into one message):
 *   put     wsh_srd_put_fast, then post (wsh_srd_put_refused where the provider has no room). Else with the lock, as
 *           wsh_srd_put_kind says: WSH_SRD_PUT (segments = parts, counted = wsh_srd_wants_counts) or WSH_SRD_MSG.
 *   signal  small: WSH_SRD_MSG with data and signal. Large: WSH_SRD_SIGNAL, segments = parts of the data; `late` for
 *           data that takes long on the wire (its signal then takes neither window nor the target's memory meanwhile).
 *   atomic  WSH_SRD_MSG, or WSH_SRD_FETCH with result.    get  WSH_SRD_GET (unordered = nonblocking), or, small and
 *           behind a fence, WSH_SRD_FETCH.
 * Then, with the lock: wsh_srd_op_ended for every completed segment of an op, wsh_srd_put_ended for fast puts,
 * wsh_srd_flow_replied for every reply, wsh_srd_flow_acked for every number told; after any of them, and when the
 * provider has room again, wsh_srd_pump for the flow (for every flow of the link, if credits came back).
 */
#ifndef WSH_SRD_FLOW_H
#define WSH_SRD_FLOW_H

#include "transports/efa/srd/srd.h"

#include <stddef.h>

/*
 * A context. Several threads add to `ended` and `applied` alone; release there, partner: the acquire in
 * wsh_srd_ctx_pending.
 */
struct wsh_srd_ctx {
    uint64_t epoch; /* fences so far */
    uint32_t begun, ended;
    uint32_t messages, applied; /* of these parts those that are messages, whose bytes have been copied */
};

/*
 * Credits that the peer granted at set-up, shared by all contexts. For this source it keeps msgs_max receives (besides
 * those for the replies to its own fetches, and for acks if they are messages) and room for msgs_max + imms_max
 * entries in every completion queue where they may end. A large put with signal is counted only if imms_max covers all
 * its segments.
 */
struct wsh_srd_link {
    uint32_t msgs, msgs_max; /* messages not known as applied */
    uint32_t imms, imms_max; /* counted and counter writes not known as counted; 0 granted: there are none */
    uint32_t counter_writes,
        counter_counted;           /* counter writes started; of these known as counted. Modulo 2^32 */
    uint32_t fetches, fetches_max; /* of this source's own receives: replies to come */
    uint64_t stalls;               /* messages that found no credit, each time they were tried */
};

enum wsh_srd_kind {
    WSH_SRD_PUT,    /* `segments` writes */
    WSH_SRD_GET,    /* `segments` reads */
    WSH_SRD_SIGNAL, /* `segments` writes and a message behind them */
    WSH_SRD_MSG,    /* a message */
    WSH_SRD_FETCH   /* a message that is answered */
};

enum wsh_srd_class {
    WSH_SRD_PLAIN,   /* writes that the target does not count */
    WSH_SRD_COUNTED, /* writes that it counts, of the open group */
    WSH_SRD_OWN,     /* writes that it counts, of a put with signal */
    WSH_SRD_READS,
    WSH_SRD_CLASSES
};

/*
 * An operation of the slow path; begins or is part of the transport's own. It must live until wsh_srd_op_over, so only
 * one that is a single message may be on the stack, and only without `keep`.
 */
struct wsh_srd_op {
    /* Set by the caller. */
    uint32_t segments;
    uint8_t kind; /* enum wsh_srd_kind */
    bool counted; /* PUT: spend immediate data, if there is any to spend */
    bool
        by_counter; /* PUT: its immediate data name a counter of the program; it waits for credits for all segments */
    bool late;      /* SIGNAL: the message only when the writes are complete */
    bool unordered; /* GET: not behind any fence */
    bool keep;      /* defer it rather than refuse it */
    /* The engine's; to be read only. */
    bool decided, sent;
    uint8_t class; /* of its segments */
    uint8_t group; /* of its segments, if grouped */
    bool grouped;  /* its segments carry immediate data */
    uint32_t started, ended;
    uint64_t epoch;
    struct wsh_srd_op *next;
};

/* Nothing of the operation is left to be started or to complete (a message may still be unapplied, a reply to come). */
static inline bool wsh_srd_op_over(const struct wsh_srd_op *op)
{
    return op->ended == op->segments && (op->kind <= WSH_SRD_GET || op->sent);
}

/*
 * How the engine gives things to the provider: 0, -EAGAIN (no room; nothing was given), or final. Called under the
 * lock; must not call the engine back.
 */
struct wsh_srd_io {
    /* Segment op->started; with immediate data (op->group) if op->grouped. */
    int (*write)(void *arg, struct wsh_srd_op *op);
    int (*read)(void *arg, struct wsh_srd_op *op);
    /* The numbers that ride along (stamp->applied, stamp->counted) are the caller's to fill. */
    int (*send)(void *arg, struct wsh_srd_op *op, struct wsh_srd_stamp *stamp);
    void *arg;
};

struct wsh_srd_condition {
    uint32_t after;
    uint16_t number, count;
    uint8_t group;
};

#define WSH_SRD_NO_SLOT 0xff

/* Slots of the groups that a message was the first to name, or WSH_SRD_NO_SLOT. */
struct wsh_srd_names {
    uint8_t own, condition;
};

struct wsh_srd_queue {
    struct wsh_srd_op *head, *tail;
};

struct wsh_srd_flow {
    /* Writes of this epoch may start. Stored with release under the lock; partner: the acquire in put_fast. */
    uint64_t write_epoch;
    uint32_t puts_begun; /* fast puts; changed by the context's thread alone */
    uint32_t begun;      /* parts of other operations; by the context's thread, under the lock */
    uint8_t counting;    /* > 0: counted puts have been of use lately */
    bool imm, failed;
    uint32_t puts_ended;       /* release, partner: the acquire in wsh_srd_flow_pending */
    uint32_t ended;            /* release, with the same partner */
    uint32_t messages;         /* as begun */
    uint32_t sent, acked;      /* messages; of these known as applied */
    uint32_t fetches;          /* replies to come */
    uint32_t imms, imms_acked; /* counted writes; of these known as counted */
    uint32_t window;
    uint32_t late;                 /* signals that wait for their own writes, in no queue */
    uint32_t out[WSH_SRD_CLASSES]; /* segments under way (reads too) */
    uint64_t msg_epoch;            /* `condition` is that of this epoch */
    struct wsh_srd_condition condition;
    uint32_t open_count; /* writes of the open group; 0: there is none */
    uint8_t open_group;
    uint64_t free_slots;
    struct wsh_srd_queue writes, msgs; /* deferred; by epoch, the oldest first */
    struct wsh_srd_link *link;
    struct wsh_srd_names *named; /* [window], by message number */
    uint8_t generation[WSH_SRD_SLOTS];
};

/*
 * `window`: messages under way at a time, a power of two up to WSH_SRD_WINDOW_MAX; named[window] is the caller's.
 * `slots`: groups at a time, up to WSH_SRD_SLOTS. `imm`: the provider carries immediate data and wsh_srd_imm_fits.
 */
void wsh_srd_flow_init(struct wsh_srd_flow *flow, struct wsh_srd_link *link, uint32_t window, uint32_t slots,
                       bool imm, struct wsh_srd_names *named);

/* Orders what the context did before in front of what it does from now on, to every peer. */
static inline void wsh_srd_fence(struct wsh_srd_ctx *ctx)
{
    ctx->epoch++;
}

/* A put should be counted: messages behind fences have waited for ones that were not. */
static inline bool wsh_srd_wants_counts(const struct wsh_srd_flow *flow)
{
    return __atomic_load_n(&flow->counting, __ATOMIC_RELAXED);
}

/* True: an uncounted put of one segment may start now, and is counted as started. */
static inline bool wsh_srd_put_fast(struct wsh_srd_ctx *ctx, struct wsh_srd_flow *flow)
{
    if (__atomic_load_n(&flow->write_epoch, __ATOMIC_ACQUIRE) != ctx->epoch || wsh_srd_wants_counts(flow))
        return false;
    __atomic_store_n(&flow->puts_begun, flow->puts_begun + 1, __ATOMIC_RELAXED);
    ctx->begun++;
    return true;
}

/* The same for a counter put, with the link's lock. */
static inline bool wsh_srd_counter_fast(struct wsh_srd_ctx *ctx, struct wsh_srd_flow *flow)
{
    struct wsh_srd_link *link = flow->link;

    if (link->imms >= link->imms_max || flow->writes.head || !wsh_srd_put_fast(ctx, flow))
        return false;
    link->imms++;
    link->counter_writes++;
    return true;
}

/* The provider had no room for it. */
static inline void wsh_srd_put_refused(struct wsh_srd_ctx *ctx, struct wsh_srd_flow *flow)
{
    __atomic_store_n(&flow->puts_begun, flow->puts_begun - 1, __ATOMIC_RELAXED);
    ctx->begun--;
}

static inline void wsh_srd_counter_refused(struct wsh_srd_ctx *ctx, struct wsh_srd_flow *flow)
{
    flow->link->imms--;
    flow->link->counter_writes--;
    wsh_srd_put_refused(ctx, flow);
}

/* The way of a put that was not fast: PUT or MSG (if `small`). It may still have to be deferred. */
enum wsh_srd_kind wsh_srd_put_kind(const struct wsh_srd_ctx *ctx, struct wsh_srd_flow *flow, bool small);

/*
 * Starts what can be started of `op`, and keeps the rest. 0: taken (wsh_srd_op_over says whether it is still needed);
 * -EAGAIN: nothing of it was started, and it is not kept; -ECONNRESET: the peer has failed; else what io gave, final.
 */
int wsh_srd_submit(struct wsh_srd_ctx *ctx, struct wsh_srd_flow *flow, struct wsh_srd_op *op,
                   const struct wsh_srd_io *io);

/* Starts what can be started of what is deferred. 0 or final. */
int wsh_srd_pump(struct wsh_srd_flow *flow, const struct wsh_srd_io *io);

/* `n` fast puts are complete. */
void wsh_srd_put_ended(struct wsh_srd_ctx *ctx, struct wsh_srd_flow *flow, uint32_t n);

/* A segment is complete (a write: delivered; a read: here). */
void wsh_srd_op_ended(struct wsh_srd_ctx *ctx, struct wsh_srd_flow *flow, struct wsh_srd_op *op);

/* The reply to a fetch is here. -EPROTO: there is none to come. */
int wsh_srd_flow_replied(struct wsh_srd_ctx *ctx, struct wsh_srd_flow *flow);

/*
 * The receive flow's two numbers, from a message, a reply or memory that it wrote; older ones do nothing. 1: something
 * new; 0: nothing; -EPROTO: more than there is.
 */
int wsh_srd_flow_acked(struct wsh_srd_ctx *ctx, struct wsh_srd_flow *flow, uint32_t applied,
                       uint32_t counted);

/*
 * Parts of operations accepted and not complete: writes until delivered, reads until here, messages until known as
 * applied, fetches until answered too. 0: quiet. What has ended is read first, so the error is on the safe side.
 */
static inline uint32_t wsh_srd_flow_pending(const struct wsh_srd_flow *flow)
{
    uint32_t ended = __atomic_load_n(&flow->ended, __ATOMIC_ACQUIRE) +
                     __atomic_load_n(&flow->puts_ended, __ATOMIC_ACQUIRE);

    return flow->begun + flow->puts_begun - ended;
}

/* The same to all peers. */
static inline uint32_t wsh_srd_ctx_pending(const struct wsh_srd_ctx *ctx)
{
    return ctx->begun - __atomic_load_n(&ctx->ended, __ATOMIC_ACQUIRE);
}

/*
 * Of the context those that are no messages: their sources may still be read, or they are gets. Who sees an end sees
 * that of the message before it, so this error is on the safe side too.
 */
static inline uint32_t wsh_srd_ctx_unread(const struct wsh_srd_ctx *ctx)
{
    uint32_t pending = wsh_srd_ctx_pending(ctx);

    return pending - (ctx->messages - __atomic_load_n(&ctx->applied, __ATOMIC_RELAXED));
}

/* So many counter writes of all flows to the peer are counted there. Results as above; 1: credits came back. */
int wsh_srd_link_counted(struct wsh_srd_link *link, uint32_t counted);

/*
 * Something waits for the peer's acks here: deferred for credits or applied numbers. Where acks are written into
 * memory, that memory must be looked at while this holds, and while anything is pending and waited for.
 */
static inline bool wsh_srd_flow_deferred(const struct wsh_srd_flow *flow)
{
    return flow->writes.head || flow->msgs.head;
}

/*
 * The peer has failed: gives every deferred op to `drop`; nothing is pending any more, and nothing starts. Segments
 * under way still complete (with an error) at the provider; wsh_srd_op_ended then only marks the op.
 */
void wsh_srd_flow_fail(struct wsh_srd_ctx *ctx, struct wsh_srd_flow *flow,
                       void (*drop)(void *arg, struct wsh_srd_op *op), void *arg);

#endif

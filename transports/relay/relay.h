/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows the state of the relay transport: device memory of PEs that no GPU here reaches. Messages go to their host
 * memory by whatever transport reaches it, and their host has its GPU carry them out. One lock guards all of it.
 */
#ifndef WSH_RELAY_H
#define WSH_RELAY_H

#include "device/inbox.h"
#include "transports/relay/box.h"
#include "transports/transport.h"

#include <pthread.h>

struct relay_ctx;

/* What the core asks for, and how much of it has gone into messages. */
struct relay_ask {
    enum relay_kind kind;
    struct relay_ctx *ctx;
    struct wsh_done *done;
    enum wsh_seg seg;
    size_t off, len, at;
    char *local;   /* source of a put, target of a get or fetch */
    bool on_gpu;   /* it is device memory */
    uint8_t width; /* of an atomic */
    uint8_t op;    /* of an atomic or signal, enum wsh_amo_op */
    uint64_t value, compare;
    enum wsh_seg signal_seg;
    size_t signal_off;
};

/* A message to a PE, by its first place. */
struct relay_sent {
    struct wsh_done carried; /* 0: nobody reads it any more */
    struct wsh_done
        copied;            /* 0: it is whole, what it waits for is there; or its answer is where it belongs */
    struct wsh_done *done; /* of who waits for it, or NULL */
    struct relay_ctx *ctx;
    char *into; /* where the answer goes, or NULL */
    bool on_gpu;
    uint16_t places;
    uint32_t len; /* of what follows the head, in the message */
};

/* A message from a PE, by its first place. */
struct relay_taken {
    uint64_t
        number; /* of the stream's operation, or of the item in the inbox; what is neither has the last one's */
    bool by_kernel;
    struct wsh_done answered;
    uint32_t answer; /* bytes, 0: none */
    uint16_t places;
};

struct relay_peer {
    int pe;
    bool reached;
    struct wsh_tp_way way; /* to its host memory … */
    size_t there;          /* … where its box for this PE lies at this offset */
    char *box;             /* this PE's for it */

    /* Positions: messages are built up to head, sent, answered, and their places free again up to tail. */
    uint64_t head, sent, answered, tail;
    struct relay_sent *out;  /* [places]; NULL: none so far */
    struct relay_ask parked; /* did not fit; what is asked later comes behind it */
    bool is_parked;

    /* Positions: messages are taken up to `taken`, answered, freed; credit is given for those up to `credited`. */
    uint64_t taken, replied, freed, credited;
    struct relay_taken *in;
};

/* How a message that has come is carried out. */
enum relay_way { RELAY_BY_STREAM, RELAY_BY_KERNEL, RELAY_HELD };

/* The message behind an item in the inbox. */
struct relay_handed {
    struct relay_peer *peer;
    uint64_t pos;
};

/* Items are counted from 0: handed to kernels, pulled by them. */
struct relay_inbox {
    struct wsh_inbox *shared; /* NULL: there is none */
    uint64_t handed, pulled, taken_back;
    uint64_t looks; /* as last seen */
    bool awaited;   /* a kernel has looked since an item was last handed, or pulled */
    bool closed;    /* what was not pulled goes back to the stream, so far up to … */
    uint64_t back;  /* … this one */
    double since; /* when nothing was pulled, of what is there; 0: not asked yet. Seconds, as the next two */
    double held_since, alone_until;
    uint64_t long_issued;        /* the stream's operation for the last long message */
    uint64_t landed;             /* of the stream's operations, as last seen; and when, … */
    double landed_at, probed_at; /* … and when one was given to it to see whether it goes on, 0: not */
    struct relay_handed from[WSH_INBOX_ITEMS];
};

struct relay {
    struct wsh_tp tp;
    int my_pe, n_pes;
    const struct wsh_tp_under *under;
    const struct wsh_gpu *device;
    unsigned places;
    size_t lens[WSH_SEGS]; /* of this PE's memory */
    bool connected;
    pthread_mutex_t lock;
    struct relay_peer *peers; /* [n_pes] */

    struct wsh_tctx
        *gpu; /* the transport that copies from and to this PE's device memory, in order; or NULL … */
    struct wsh_rmem here;           /* … to which this is under->base */
    uint64_t issued, landed;        /* operations given to it, and complete */
    uint64_t in_issued, in_applied; /* the last one for a message that came; how many there were */
    struct relay_inbox inbox;
};

struct relay_ctx {
    struct wsh_tctx tctx;
    struct relay *relay;
    size_t n;           /* under way: messages, and what is parked */
    uint32_t pending[]; /* [n_pes] the same, by PE */
};

/* op.c: the contract's hot path. */
int relay_put(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src, size_t len,
              struct wsh_done *done);
int relay_get(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, void *dst, size_t len,
              struct wsh_done *done);
int relay_amo(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const struct wsh_amo *amo,
              void *result, struct wsh_done *done);
int relay_put_signal(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                     size_t len, const struct wsh_sig *sig, struct wsh_done *done);
int relay_signal_behind(struct wsh_tctx *tctx, const struct wsh_sig *sig, struct wsh_done *done,
                        struct wsh_done **gate);
void relay_signal_go(struct wsh_tctx *tctx, const struct wsh_sig *sig, struct wsh_done *gate, bool started);
size_t relay_pending(struct wsh_tctx *tctx, int pe);
void relay_describe(struct wsh_tctx *tctx, char *text, size_t size);

/* All that follows: under the lock. > 0: did something; 0: nothing to do; < 0: final. */

/* op.c: makes messages of what is parked, as far as there is room. */
int relay_unpark(struct relay *relay, struct relay_peer *peer);

/* out.c: messages to a PE. add: the next `len` bytes of what is asked; 0, -EAGAIN: no room, or a final error. */
int relay_out_add(struct relay *relay, struct relay_peer *peer, const struct relay_ask *ask, size_t len);
int relay_out_progress(struct relay *relay, struct relay_peer *peer);
/* The message just added, one without payload, stays until its `copied`, which this sets to 1, is 0; takes it back. */
struct wsh_done *relay_out_hold(struct relay *relay, struct relay_peer *peer, struct wsh_done *done);
void relay_out_drop(struct relay *relay, struct relay_peer *peer, struct wsh_done *held);

/* in.c: messages from a PE. apply: by the stream, the one at `pos`; 0, -EAGAIN, or a final error. */
int relay_in_progress(struct relay *relay, struct relay_peer *peer);
int relay_in_apply(struct relay *relay, struct relay_peer *peer, uint64_t pos);

/*
 * inbox.c: messages that kernels carry out. way: for the next message, after relay_gpu_look; a held one is asked for
 * again. hand: where a kernel is to carry it out: the one at peer->taken, whose memory is `to`, and `signal` where it
 * brings one.
 */
enum relay_way relay_inbox_way(struct relay *relay, const struct relay_head *head);
void relay_inbox_hand(struct relay *relay, struct relay_peer *peer, const struct relay_head *head,
                      const struct wsh_rmem *to, const struct wsh_rmem *signal, char *payload);

/* What was pulled, and what is to be taken back. */
int relay_inbox_progress(struct relay *relay);
void relay_inbox_say(const struct relay *relay);

/* relay.c: this PE's GPU. 0: `gpu` may be used, or a logged error. look: how far it is. probe: a copy of no use. */
int relay_gpu(struct relay *relay);
void relay_gpu_look(struct relay *relay);
int relay_gpu_probe(struct relay *relay);

static inline void relay_settle(struct relay_ctx *ctx, int pe)
{
    ctx->n--;
    ctx->pending[pe]--;
}

static inline void relay_done(struct wsh_done *done)
{
    if (done)
        __atomic_fetch_sub(&done->left, 1, __ATOMIC_RELEASE); /* partner: wsh_done_is */
}

static inline void relay_owe(struct wsh_done *done)
{
    if (done)
        __atomic_fetch_add(&done->left, 1, __ATOMIC_RELAXED);
}

/* Acquire: what was put with the signal is here. Partner: the signal of the PE that sent or answered. */
static inline uint64_t relay_load(const char *word)
{
    uint64_t value = __atomic_load_n((const uint64_t *)(const void *)word, __ATOMIC_ACQUIRE);

    wsh_order_returns();
    return value;
}

#endif

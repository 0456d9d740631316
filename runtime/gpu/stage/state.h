/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of staging, for its own files alone (stage.h is for the others). One lock guards all of it. */
#ifndef WSH_STAGE_STATE_H
#define WSH_STAGE_STATE_H

#include "device/proxy/inbox.h"
#include "runtime/gpu/stage/stage.h"
#include "runtime/gpu/stage/box.h"
#include "transports/transport.h"

#include <pthread.h>

struct wsh_stage_ctx;

/* What the core asks for, and how much of it has gone into messages. */
struct wsh_stage_request {
    enum wsh_stage_kind kind;
    struct wsh_stage_ctx *ctx;
    struct wsh_done *done;
    enum wsh_seg seg;
    size_t off, len, at;
    char *local;   /* source of a put, target of a get or fetch */
    bool on_gpu;   /* it is device memory */
    bool fenced;   /* behind a fence, as the first one to this PE */
    uint8_t width; /* of an atomic */
    uint8_t op;    /* of an atomic or signal, enum wsh_amo_op */
    uint64_t value, compare;
    enum wsh_seg signal_seg;
    size_t signal_off;
};

/* A message to a PE, by its first slot. */
struct wsh_stage_sent {
    struct wsh_done carried; /* 0: nobody reads it any more */
    struct wsh_done
        copied;            /* 0: it is whole, what it waits for is there; or its answer is where it belongs */
    struct wsh_done *done; /* of who waits for it, or NULL */
    struct wsh_stage_ctx *ctx;
    char *into; /* where the answer goes, or NULL */
    bool on_gpu;
    bool unread; /* it is among ctx->unread */
    uint16_t slots;
    uint32_t len; /* of what follows the head, in the message */
};

/* A message from a PE, by its first slot. */
struct wsh_stage_taken {
    uint64_t
        number; /* of the stream's operation, or of the item in the inbox; what is neither has the last one's */
    bool by_kernel;
    struct wsh_done answered;
    uint32_t answer; /* bytes, 0: none */
    uint16_t slots;
};

struct wsh_stage_peer {
    int pe;
    bool reached;
    bool gone;                    /* it has failed: what is for it completes and moves nothing */
    struct wsh_stage_target host; /* its host memory */
    size_t there;                 /* offset in it of that PE's box for messages of this one */
    char *box;                    /* this PE's box for messages of that one */

    /* Positions: messages are built up to head, sent, answered, and their slots free again up to tail. */
    uint64_t head, sent, answered, tail;
    struct wsh_stage_sent *out;        /* [slots]; NULL: none so far */
    struct wsh_stage_request deferred; /* the deferred operation: later ones to this PE come behind it */
    bool is_deferred;

    /* Positions: messages are taken up to `taken`, answered, freed; credit is given for those up to `credited`. */
    uint64_t taken, replied, freed, credited;
    struct wsh_stage_taken *in;
};

/* Who applies a message that has come. */
enum wsh_stage_dispatch { WSH_STAGE_BY_STREAM, WSH_STAGE_BY_KERNEL, WSH_STAGE_HELD };

/* The message behind an item in the inbox. */
struct wsh_stage_handed {
    struct wsh_stage_peer *peer;
    uint64_t pos;
};

/* Items are counted from 0: handed to kernels, pulled by them. */
struct wsh_stage_inbox {
    struct wsh_inbox *shared; /* NULL: there is none */
    uint64_t handed, pulled, taken_back;
    uint64_t polls; /* as last seen */
    bool awaited;   /* a kernel has polled since an item was last handed over or pulled */
    bool closed;    /* items that were not pulled go back to the stream */
    uint64_t back;  /* items up to this one have gone back */
    double since; /* when nothing was pulled, of what is there; 0: not asked yet. Seconds, as the next two */
    double held_since, alone_until;
    uint64_t long_issued;        /* the stream's operation for the last long message */
    uint64_t landed;             /* the stream's completed operations, as last seen */
    double landed_at, probed_at; /* when that was; when a probe was submitted, 0: none is in flight */
    struct wsh_stage_handed from[WSH_INBOX_ITEMS];
};

struct wsh_stage {
    struct wsh_tp tp;
    int my_pe, n_pes;
    const struct wsh_stage_context *context;
    unsigned slots;
    size_t lens[WSH_SEGS]; /* of this PE's memory */
    bool connected;
    pthread_mutex_t lock;
    struct wsh_stage_peer *peers; /* [n_pes] */

    struct wsh_stage_target
        here;                /* this PE's host heap, which has the staging memory, as the stream reaches it */
    struct wsh_tctx *gpu;    /* the stream; NULL until it is used */
    uint64_t issued, landed; /* operations submitted to the stream, and completed */
    uint64_t in_issued, in_applied; /* the last operation for a message that came; messages applied */
    struct wsh_stage_inbox inbox;
};

struct wsh_stage_ctx {
    struct wsh_tctx tctx;
    struct wsh_stage *stage;
    size_t n;        /* in flight: messages, and the deferred operation */
    size_t unread;   /* of these those whose source may not be written yet, or that bring something */
    uint32_t fences; /* so far */
    struct {
        uint32_t pending; /* in flight to this PE */
        uint32_t fences;  /* before what last went there */
    } to[];               /* [n_pes] */
};

/* stage/op.c: the contract's hot path. */
int wsh_stage_put(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src, size_t len,
                  struct wsh_done *done);
int wsh_stage_get(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, void *dst, size_t len,
                  struct wsh_done *done);
int wsh_stage_amo(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const struct wsh_amo *amo,
                  void *result, struct wsh_done *done);
int wsh_stage_put_signal(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                         size_t len, const struct wsh_sig *sig, struct wsh_done *done);
int wsh_stage_fence(struct wsh_tctx *tctx);
size_t wsh_stage_pending(struct wsh_tctx *tctx, int pe);
size_t wsh_stage_unread(struct wsh_tctx *tctx);
void wsh_stage_describe(struct wsh_tctx *tctx, char *text, size_t size);

/* All that follows: with the lock held. > 0: did something; 0: nothing to do; < 0: final. */

/* stage/op.c: messages to a PE, and those of the deferred operation, as far as there is room. */
int wsh_stage_op_progress(struct wsh_stage *stage, struct wsh_stage_peer *peer);

/*
 * stage/out.c: messages to a PE. add: the next `len` bytes of what is asked; 0, -EAGAIN: no room, or a final error.
 * send: those that are complete; progress: answers and free slots too.
 */
int wsh_stage_out_add(struct wsh_stage *stage, struct wsh_stage_peer *peer,
                      const struct wsh_stage_request *request, size_t len);
int wsh_stage_out_send(struct wsh_stage *stage, struct wsh_stage_peer *peer);
int wsh_stage_out_progress(struct wsh_stage *stage, struct wsh_stage_peer *peer);
/* The message just added, one without payload, stays until its `copied`, which this sets to 1, is 0; takes it back. */
struct wsh_done *wsh_stage_out_hold(struct wsh_stage *stage, struct wsh_stage_peer *peer,
                                    struct wsh_done *done);
void wsh_stage_out_drop(struct wsh_stage *stage, struct wsh_stage_peer *peer, struct wsh_done *held);

/* stage/in.c: messages from a PE. apply: by the stream, the one at `pos`; 0, -EAGAIN, or a final error. */
int wsh_stage_in_progress(struct wsh_stage *stage, struct wsh_stage_peer *peer);
typedef int wsh_stage_apply_fn(struct wsh_stage *stage, struct wsh_stage_peer *peer, uint64_t pos);
int wsh_stage_in_apply(struct wsh_stage *stage, struct wsh_stage_peer *peer, uint64_t pos);

/*
 * stage/inbox.c: messages that kernels apply. dispatch: of the next message, after wsh_stage_gpu_poll; a held one is
 * asked for again. queue: where a kernel is to apply it: the one at peer->taken, whose memory is `to`, and `signal`
 * where it brings one.
 */
enum wsh_stage_dispatch wsh_stage_inbox_dispatch(struct wsh_stage *stage, const struct wsh_stage_head *head);
void wsh_stage_inbox_queue(struct wsh_stage *stage, struct wsh_stage_peer *peer,
                           const struct wsh_stage_head *head, const struct wsh_rmem *to,
                           const struct wsh_rmem *signal, char *payload);

/* What was pulled, and what is to be taken back, which `apply` gives to the stream. */
int wsh_stage_inbox_progress(struct wsh_stage *stage, wsh_stage_apply_fn *apply);
void wsh_stage_inbox_say(const struct wsh_stage *stage);

/*
 * gpu.c: this PE's GPU. 0: `gpu` may be used, or a logged error. look: how far the stream is. probe: a copy that only
 * shows whether the stream makes progress.
 */
int wsh_stage_gpu(struct wsh_stage *stage);
void wsh_stage_gpu_poll(struct wsh_stage *stage);
int wsh_stage_gpu_probe(struct wsh_stage *stage);

static inline void wsh_stage_settle(struct wsh_stage_ctx *ctx, int pe)
{
    ctx->n--;
    ctx->to[pe].pending--;
}

static inline void wsh_stage_done(struct wsh_done *done)
{
    if (done)
        __atomic_fetch_sub(&done->left, 1, __ATOMIC_RELEASE); /* partner: wsh_done_is */
}

static inline void wsh_stage_owe(struct wsh_done *done)
{
    if (done)
        __atomic_fetch_add(&done->left, 1, __ATOMIC_RELAXED);
}

/* Acquire: what was put with the signal is here. Partner: the signal of the PE that sent or answered. */
static inline uint64_t wsh_stage_load(const char *word)
{
    uint64_t value = __atomic_load_n((const uint64_t *)(const void *)word, __ATOMIC_ACQUIRE);

    wsh_order_returns();
    return value;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the parts of an open efa transport and how its files share them. */
#ifndef WSH_EFA_H
#define WSH_EFA_H

#include "transports/efa/chan.h"
#include "transports/efa/order.h"
#include "transports/efa/provider.h"
#include "transports/efa/rail.h"
#include "transports/efa/req.h"
#include "transports/efa/wire.h"
#include "transports/transport.h"

#include <pthread.h>
#include <rdma/fi_rma.h>
#include <sys/types.h>

struct wsh_efa_peer {
    fi_addr_t addr;
    struct wsh_efa_chan chan;
    uint32_t posted;     /* requests that the provider has for this peer */
    uint32_t seen_acked; /* chan.acked at the last look after silent peers */
    double lost_since;   /* when the provider first found no connection any more, or 0 */
    bool heard;          /* something has come back from it */
    bool connected;
    bool owed;        /* is in tp->owing */
    uint16_t msg_max; /* bytes of the largest message it takes */
};

/* An operation in several parts, or with a part that waits for others. */
struct wsh_efa_op {
    struct wsh_efa_ctx *ctx;
    struct wsh_done *done;
    char *local;
    uint64_t addr, key; /* remote */
    size_t left;        /* bytes not yet given to the provider */
    uint32_t in_flight; /* parts given and not complete */
    int pe;
    enum wsh_efa_kind kind;      /* EFA_WRITE or EFA_READ */
    bool parked;                 /* counted in EFA_PARKED */
    bool signals;                /* `signal` is still to be sent … */
    struct wsh_efa_place signal; /* … to this word … */
    uint64_t value;              /* … with this operand */
    struct wsh_efa_op *next;     /* in tp->ops or tp->free_ops */
};

/* An answer to a fetch that found no room to be sent. */
struct wsh_efa_answer {
    uint64_t value;
    uint32_t seq;
    int pe;
    struct wsh_efa_answer *next;
};

struct wsh_efa_lmem {
    struct wsh_lmem base;
    struct fid_mr *mr;
};

struct wsh_efa_ctx {
    struct wsh_tctx base;
    uint64_t epoch; /* fences so far */
    uint32_t total; /* operations under way, to all PEs */
    struct wsh_efa_order peer[];
};

struct wsh_efa_tp {
    struct wsh_tp base;
    pthread_mutex_t lock; /* everything below that changes, and the whole domain; taken if `locking` */
    bool locking;
    int failed; /* the first final error, given by every call from then on */

    struct wsh_efa_rail rail;
    struct wsh_efa_native native;
    size_t inject_max;  /* bytes that a write or message may inject */
    size_t copy_always; /* bytes of a put whose source is reusable at once, even when nobody waits for that */
    size_t part_max;    /* bytes of one write or read */
    enum wsh_efa_put put; /* how small puts go */
    uint32_t n_writes;    /* under way, to all PEs */
    bool mr_local;        /* buffers given to the provider must be registered */
    bool by_sockets;      /* a dead peer shows as a connection that cannot be made again */
    bool virt_addr;       /* remote addresses are addresses, not offsets */

    int my_pe, n_pes;
    struct wsh_efa_peer *peers;
    uint32_t window;                       /* messages that a peer may have under way to this PE */
    size_t msg_max;                        /* bytes of the largest message */
    uint32_t n_tx, n_small, n_large, n_rx; /* requests in the pools below */

    struct wsh_efa_pool plain;    /* requests without a buffer */
    struct wsh_efa_pool small;    /* … with one of msg_max bytes: messages, copied puts */
    struct wsh_efa_pool large;    /* … for unregistered user buffers */
    struct wsh_efa_pool rx;       /* receives */
    struct fid_mr *slab_mr[4];    /* of the pools, where registered */
    struct wsh_efa_req *unposted; /* receives that the provider had no room for */

    struct wsh_efa_op *ops, **ops_end; /* with something to give to the provider */
    struct wsh_efa_op *free_ops, *op_slab;
    struct wsh_efa_answer *answers, **answers_end;
    uint32_t n_unanswered; /* numbered messages that are not known as applied */
    double lost_since;     /* when a peer was lost, or 0; everything ends some seconds later … */
    char lost_text[400];   /* … with this line */
    double next_look;      /* when silent peers are looked after again */
    int *owing;            /* PEs that are owed an acknowledgement */
    int n_owing;

    char *seg_base[WSH_SEGS]; /* registered segments of this PE */
    size_t seg_len[WSH_SEGS];
    struct wsh_efa_lmem *lmem[WSH_SEGS];

    struct wsh_efa_ctx *own; /* of the messages that belong to no context of the core */
    bool joined;             /* all peers are in the address vector: their messages may be read */
    int hello_next, hellos;  /* greetings sent up to that PE; received */
    char shm_name[64];       /* file of the endpoint that is to be unlinked, or "" */

    struct wsh_efa_lib lib;
    const struct wsh_env *env;
};

static inline void wsh_efa_lock(struct wsh_efa_tp *tp)
{
    if (tp->locking)
        pthread_mutex_lock(&tp->lock);
}

static inline bool wsh_efa_trylock(struct wsh_efa_tp *tp)
{
    return !tp->locking || !pthread_mutex_trylock(&tp->lock);
}

static inline void wsh_efa_unlock(struct wsh_efa_tp *tp)
{
    if (tp->locking)
        pthread_mutex_unlock(&tp->lock);
}

static inline struct wsh_efa_tp *wsh_efa_tp_of(struct wsh_tp *tp)
{
    return (struct wsh_efa_tp *)tp;
}

static inline void wsh_efa_begin(struct wsh_efa_ctx *ctx, int pe, enum wsh_efa_kind kind)
{
    wsh_efa_count_add(&ctx->peer[pe].out[kind]);
    wsh_efa_count_add(&ctx->total);
}

static inline void wsh_efa_end(struct wsh_efa_ctx *ctx, int pe, enum wsh_efa_kind kind)
{
    wsh_efa_count_sub(&ctx->peer[pe].out[kind]);
    wsh_efa_count_sub(&ctx->total);
}

/* The provider has taken a request for `pe`, and given it back. */
static inline void wsh_efa_took(struct wsh_efa_peer *peer)
{
    peer->posted++;
    peer->lost_since = 0;
}

static inline void wsh_efa_gave_back(struct wsh_efa_peer *peer)
{
    peer->posted--;
    peer->heard = true;
}

/* Partner of the acquire in wsh_done_is. */
static inline void wsh_efa_done_sub(struct wsh_done *done)
{
    if (done)
        __atomic_fetch_sub(&done->left, 1, __ATOMIC_RELEASE);
}

static inline void wsh_efa_done_add(struct wsh_done *done)
{
    if (done)
        __atomic_fetch_add(&done->left, 1, __ATOMIC_RELAXED);
}

/* Records the first final error and logs it in one line; returns the recorded one. */
int wsh_efa_fail(struct wsh_efa_tp *tp, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Translates what posting `what` to `pe` returned: 0, -EAGAIN, or a final error after its line. */
int wsh_efa_posted(struct wsh_efa_tp *tp, int pe, const char *what, ssize_t rc);

/* mem.c */
int wsh_efa_mem_register(struct wsh_tp *tp, const struct wsh_mem *mem, struct wsh_lmem **lmem, void *blob,
                         size_t *blob_len);
void wsh_efa_mem_release(struct wsh_tp *tp, struct wsh_lmem *lmem);
int wsh_efa_mem_attach(struct wsh_tp *tp, int pe, enum wsh_seg seg, const void *blob, size_t blob_len,
                       struct wsh_rmem *rmem);
/* Registers the pools where the provider wants local memory registered. */
int wsh_efa_mem_pools(struct wsh_efa_tp *tp);
bool wsh_efa_mem_find(const struct wsh_efa_tp *tp, const void *addr, size_t len, void **desc);

/* Descriptor for the provider of user memory; false: it must go through a buffer of ours. */
static inline bool wsh_efa_mem_desc(const struct wsh_efa_tp *tp, const void *addr, size_t len, void **desc)
{
    *desc = NULL;
    return !tp->mr_local || wsh_efa_mem_find(tp, addr, len, desc);
}

/* peers.c */
int wsh_efa_address(struct wsh_tp *tp, void *blob, size_t *len);
int wsh_efa_connect(struct wsh_tp *tp, const struct wsh_tp_peers *peers);
unsigned wsh_efa_reach(struct wsh_tp *tp, int pe, enum wsh_mem_kind kind);

/* rma.c */
int wsh_efa_put(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src, size_t len,
                struct wsh_done *done);
int wsh_efa_get(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, void *dst, size_t len,
                struct wsh_done *done);

/* op.c: operations in parts */
int wsh_efa_op_init(struct wsh_efa_tp *tp);
/* Starts `op` (copied); counts it in its context and done. -EAGAIN: nothing was started. */
int wsh_efa_op_start(struct wsh_efa_tp *tp, const struct wsh_efa_op *op);
void wsh_efa_op_part_done(struct wsh_efa_tp *tp, struct wsh_efa_op *op);
/* Gives waiting parts to the provider. > 0: some were; < 0: final. */
int wsh_efa_op_progress(struct wsh_efa_tp *tp);

/* amo.c */
int wsh_efa_amo(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const struct wsh_amo *amo,
                void *result, struct wsh_done *done);

/* signal.c */
int wsh_efa_put_signal(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                       size_t len, const struct wsh_sig *sig, struct wsh_done *done);
/* One message of data (len may be 0) and signal; -EAGAIN: no room. */
int wsh_efa_signal_send(struct wsh_efa_tp *tp, struct wsh_efa_ctx *ctx, int pe,
                        const struct wsh_efa_place *data, const void *src, size_t len,
                        const struct wsh_efa_place *signal, uint64_t value);

/* msg.c */
/* A request whose buffer takes a message to `pe`, or NULL: no room now. */
struct wsh_efa_req *wsh_efa_msg_new(struct wsh_efa_tp *tp, int pe);
/* Sends the numbered message in req->buf, whose body is filled; takes req back in any case. */
int wsh_efa_msg_send(struct wsh_efa_tp *tp, struct wsh_efa_req *req, enum wsh_efa_wire type, size_t len,
                     const struct wsh_efa_sent *sent);
/* One message that stores `len` bytes. */
int wsh_efa_msg_put(struct wsh_efa_tp *tp, struct wsh_efa_ctx *ctx, int pe, const struct wsh_efa_place *data,
                    const void *src, size_t len);
int wsh_efa_msg_answer(struct wsh_efa_tp *tp, int pe, uint32_t seq, uint64_t value);
/* Sends what is owed: answers, and (where `idle`, or much is owed) acknowledgements. > 0: some; < 0: final. */
int wsh_efa_msg_progress(struct wsh_efa_tp *tp, bool idle);
/* Gives a receive (back) to the provider. */
int wsh_efa_msg_post(struct wsh_efa_tp *tp, struct wsh_efa_req *req);
/* The message is applied here: acknowledge it some time. */
void wsh_efa_msg_owe(struct wsh_efa_tp *tp, int pe);

/* Sends something that only asks for the connection. */
int wsh_efa_msg_probe(struct wsh_efa_tp *tp, int pe);

/* alive.c */
/* The provider had no room for something to `pe`: -EAGAIN, or final when the peer is gone. */
int wsh_efa_no_room(struct wsh_efa_tp *tp, int pe);
/* A peer is gone: a final error in a while, with this line. The first one counts. */
void wsh_efa_lose(struct wsh_efa_tp *tp, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int wsh_efa_check_lost(struct wsh_efa_tp *tp);
/* Now and then: sends something to peers that owe answers and are silent. 0 or final. */
int wsh_efa_look_after(struct wsh_efa_tp *tp);

/* serve.c */
/* A message has arrived in req->buf. */
int wsh_efa_serve(struct wsh_efa_tp *tp, struct wsh_efa_req *req, size_t len);

/* describe.c */
void wsh_efa_describe(struct wsh_tctx *tctx, char *text, size_t size);

/* progress.c */
int wsh_efa_progress(struct wsh_tp *tp);
int wsh_efa_wait_fd(struct wsh_tp *tp);

extern const struct wsh_tp_ops wsh_efa_ops;

#endif

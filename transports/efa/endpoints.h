/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the parts of a endpoint set of the efa transport and how its files share them. */
#ifndef WSH_EFA_H
#define WSH_EFA_H

#include "transports/efa/choice.h"
#include "transports/efa/flow.h"
#include "transports/efa/efa.h"
#include "transports/efa/provider.h"
#include "transports/efa/rail.h"
#include "transports/efa/req.h"
#include "transports/efa/wire.h"
#include "transports/transport.h"

#include <pthread.h>
#include <rdma/fi_rma.h>
#include <sys/types.h>

/* From a rail of this PE to the one of a peer that works with it. */
struct wsh_efa_path {
    fi_addr_t addr;
    uint64_t key[WSH_SEGS]; /* of the peer's memory, there */
    uint32_t posted;        /* requests posted on this path that have not completed */
    double lost_since;      /* or 0 */
};

struct wsh_efa_peer {
    uint64_t tag_in, tag_out;  /* that its messages must carry, and those to it do */
    fi_addr_t addr;            /* with one rail; else … */
    struct wsh_efa_path *path; /* [eps->n_rails], or NULL */
    uint8_t paths;             /* bits of those that are not lost */
    uint8_t lost;              /* … of the lost ones */
    uint8_t unacked;           /* … of lost ones, while nothing has come back by another */
    uint8_t n_rails;           /* the peer's own */
    bool notice;               /* it does not know yet of a path that was lost */
    struct wsh_srd_link link;  /* what it granted */
    struct wsh_efa_inlet **inlet;
    uint32_t n_inlets;
    uint32_t window;    /* messages that a flow to it may have under way */
    uint32_t posted;    /* requests that the provider has for this peer */
    uint32_t acks;      /* acks from it that said something new … */
    uint32_t seen_acks; /* … at the last look after silent peers */
    double lost_since;  /* when the provider first found no connection any more, or 0 */
    bool heard;         /* something has come back from it */
    bool connected;
    uint16_t msg_max; /* bytes of the largest message it takes */
};

/* An operation of the engine's slow path. */
struct wsh_efa_op {
    struct wsh_srd_op srd; /* first */
    struct wsh_efa_flow *flow;
    struct wsh_done *done;
    char *local;
    void *desc;
    uint64_t addr, key; /* remote */
    size_t len, part;   /* bytes of the data, of one segment */
    bool bounce;        /* through buffers of ours */
    uint8_t what;       /* enum wsh_efa_what; EFA_WHATS: counted elsewhere */
    uint32_t in_flight; /* segments given to the provider and not complete */
    uint32_t reported;  /* natively: segments that the engine takes for complete */
    bool noted;         /* is in eps->noted */
    struct wsh_efa_req
        *msg; /* its message, or a PUT's copied data, until sent; SIGNAL with segments: made then, of … */
    struct wsh_efa_place signal; /* … this word and … */
    uint64_t value;              /* … operand */
    struct wsh_efa_op *next;     /* in eps->noted or eps->free_ops */
};

/* A question that a REPLY will answer. */
struct wsh_efa_fetch {
    struct wsh_efa_flow *flow; /* NULL: free */
    struct wsh_done *done;
    void *result;
    uint32_t len;        /* bytes of result */
    uint16_t generation; /* the upper half of the cookie, above the index */
    uint16_t next;       /* free */
    uint8_t what;
};

#define EFA_TEXT_MAX 600 /* of a line about a failure, with the words of the provider */
#define EFA_GET_MAX 1024 /* bytes of a get whose bytes come in an answer */
#define EFA_REPLY_ROOM (sizeof(struct wsh_efa_reply_msg) - sizeof(struct wsh_efa_head))

/* An answer that found no room to be sent: a REPLY behind its head. */
struct wsh_efa_answer {
    struct wsh_efa_answer *next;
    int pe;
    uint16_t ctx;
    size_t len;
    char body[EFA_REPLY_ROOM + EFA_GET_MAX];
};

/* One piece of memory, registered with every rail. */
struct wsh_efa_mr {
    struct fid_mr *mr[WSH_EFA_RAILS];
    void *desc[WSH_EFA_RAILS];
};

struct wsh_efa_lmem {
    struct wsh_lmem base;
    struct wsh_efa_mr mr;
};

struct wsh_efa_eps {
    struct wsh_tp base; /* of this endpoint set as a part of the transport */
    struct wsh_efa *efa;
    uint32_t number;      /* among them */
    pthread_mutex_t lock; /* everything below that changes, and the whole domain; taken if `locking` */
    bool locking;
    int failed; /* the first final error, given by every call from then on */

    struct wsh_efa_rail rail[WSH_EFA_RAILS];
    uint32_t n_rails;
    struct wsh_efa_choice choice; /* with several rails */
    bool doorbells;               /* the provider's device is told of every request */
    bool batching;                /* between wsh_efa_batch_begin and _end */
    bool aside;                   /* several rails, a batch, or something held: posts take the longer path */
    uint32_t n_held;              /* rails that hold a request */
    cpu_set_t near;               /* processors near the rails' NICs */
    int wait_fd;                  /* readable when one of the rails' is; -1: there is none */
    bool native;        /* the provider itself keeps writes, and messages behind writes, in order … */
    bool native_reads;  /* … and reads behind writes */
    bool imm;           /* writes can be counted at the target */
    bool imm_receives;  /* … and take a receive there */
    size_t inject_max;  /* bytes that a write or message may inject */
    size_t copy_always; /* bytes of a put whose source is reusable at once, even when nobody waits for that */
    size_t part_max;    /* bytes of one write or read */
    size_t whole_max;   /* … that is an operation of its own: longer ones are cut */
    enum wsh_efa_put put; /* how small puts go */
    bool asks;            /* small gets go by message */
    uint32_t n_writes;    /* under way, to all PEs */
    bool mr_local;        /* buffers given to the provider must be registered */
    bool by_sockets;      /* a dead peer shows as a connection that cannot be made again */
    bool virt_addr;       /* remote addresses are addresses, not offsets */
    bool hmem;            /* device memory may be registered */

    int my_pe, n_pes;
    struct wsh_efa_peer *peers;
    uint32_t window;                       /* messages that a peer may have under way to this PE … */
    uint32_t imms;                         /* … and counted writes */
    size_t msg_max;                        /* bytes of the largest message */
    uint32_t n_tx, n_small, n_large, n_rx; /* requests in the pools below */

    struct wsh_efa_pool plain;    /* requests without a buffer */
    struct wsh_efa_pool small;    /* … with one of msg_max bytes: messages, copied puts */
    struct wsh_efa_pool answer;   /* … for replies and acks, which nothing else may keep waiting */
    struct wsh_efa_pool large;    /* … for unregistered user buffers */
    struct wsh_efa_pool rx;       /* receives */
    struct wsh_efa_mr slab_mr[4]; /* of the pools, where registered */
    struct wsh_efa_req *unposted; /* receives that the provider had no room for */

    struct wsh_srd_io io;
    struct wsh_srd_sink sink;
    struct wsh_efa_flow *waiting; /* with something parked */
    bool starved;                 /* … that found no room at the provider, or no request */
    struct wsh_efa_op *noted;     /* to be looked after when the engine returns */
    struct wsh_efa_op *free_ops, *op_slab;
    uint32_t n_free_ops;
    struct wsh_efa_fetch *fetch;
    uint16_t free_fetch;
    struct wsh_efa_answer *answers, **answers_end;
    struct wsh_efa_inlet *ack_pending; /* whose source awaits an ack */
    uint64_t given;                    /* writes, reads and messages given to the provider by the engine */
    double lost_since;            /* when a peer was lost, or 0; everything ends some seconds later … */
    char lost_text[EFA_TEXT_MAX]; /* … with this line */
    bool deaf;        /* until then nothing is taken: what comes may follow data that are missing */
    double next_look; /* when silent peers are looked after again */
    struct wsh_efa_req *again, **again_end;      /* failed on a rail, to go by another */
    bool any_lost, any_notice;                   /* some path was; a notice to some peer is to be sent */
    char rail_text[WSH_EFA_RAILS][EFA_TEXT_MAX]; /* why */

    char *seg_base[WSH_SEGS]; /* registered segments of this PE's host memory: what messages are about */
    size_t seg_len[WSH_SEGS];
    struct wsh_efa_lmem *lmem[WSH_SEGS]; /* all that are registered … */
    uint32_t n_device;                   /* … and how many of them are device memory */

    struct wsh_efa_ctx **ctxs; /* [n_ctxs] by number, also closed ones */
    uint32_t n_ctxs;
    struct wsh_efa_ctx *free_ctxs;
    struct wsh_efa_ctx *own; /* of the messages that belong to no context of the core */
    double stop_by;          /* when closing waits no longer for what is under way, or 0 */
    bool joined;             /* all peers are in the address vector: their messages may be read */
    int hello_next, hellos;  /* greetings sent up to that PE; received */
    char shm_name[64];       /* file of the endpoint that is to be unlinked, or "" */

    struct wsh_efa_lib lib;
    const struct wsh_env *env;
};

static inline void wsh_efa_lock(struct wsh_efa_eps *eps)
{
    if (eps->locking)
        pthread_mutex_lock(&eps->lock);
}

static inline bool wsh_efa_trylock(struct wsh_efa_eps *eps)
{
    return !eps->locking || !pthread_mutex_trylock(&eps->lock);
}

static inline void wsh_efa_unlock(struct wsh_efa_eps *eps)
{
    if (eps->locking)
        pthread_mutex_unlock(&eps->lock);
}

static inline struct wsh_efa_eps *wsh_efa_eps_of(const struct wsh_tctx *tctx)
{
    return ((const struct wsh_efa_ctx *)tctx)->eps;
}

/* Where the memory is registered set by set, each has its key. */
static inline uint64_t wsh_efa_key(const struct wsh_efa_eps *eps, const struct wsh_rmem *rmem)
{
    return wsh_unlikely(rmem->priv) ? ((const uint64_t *)rmem->priv)[eps->number] : rmem->key;
}

/* The provider has taken a request, and given it back. */
static inline void wsh_efa_took(struct wsh_efa_eps *eps, const struct wsh_efa_req *req)
{
    struct wsh_efa_peer *peer = &eps->peers[req->pe];

    eps->rail[req->wr.rail].taken++;
    peer->posted++;
    peer->lost_since = 0;
}

static inline void wsh_efa_gave_back(struct wsh_efa_eps *eps, const struct wsh_efa_req *req)
{
    eps->rail[req->wr.rail].taken--;
    eps->peers[req->pe].posted--;
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
int wsh_efa_fail(struct wsh_efa_eps *eps, int err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/*
 * What posting to a rail returned, as it is meant: negative, and -FI_EAGAIN in place of -FI_ENOMEM, which the efa
 * provider of libfabric 1.17 says of a full queue, while something is under way there or has ended since the last such
 * refusal. The provider's own packets fill the queue too, and end unseen: so for a time also where neither is true.
 */
ssize_t wsh_efa_refusal(struct wsh_efa_eps *eps, unsigned rail, ssize_t rc);
/* Translates what posting `what` to `pe` on a rail returned: 0, -EAGAIN, or a final error after its line. */
int wsh_efa_posted(struct wsh_efa_eps *eps, unsigned rail, int pe, const char *what, ssize_t rc);
/* The error (positive) is that of a peer, or of a NIC, that has gone. */
bool wsh_efa_is_gone(int err);
/* Nobody needs the message, which could not be sent. */
bool wsh_efa_is_harmless(const struct wsh_efa_eps *eps, const struct wsh_efa_req *req);

/* endpoints.c: an endpoint set as a whole; opened halfway it is in efa->eps, to be closed all the same */
int wsh_efa_eps_open(struct wsh_efa *efa, uint32_t number, const struct wsh_tp_params *params,
                     struct wsh_tp_limits *limits);
/* 0, or -EAGAIN as wsh_tp_ops.stop. */
int wsh_efa_eps_stop(struct wsh_efa_eps *eps, bool at_once);
void wsh_efa_eps_close(struct wsh_efa_eps *eps);

/* peers.c */
int wsh_efa_address(struct wsh_efa_eps *eps, void *blob, size_t *len);
int wsh_efa_connect(struct wsh_efa_eps *eps, const struct wsh_tp_peers *peers);
unsigned wsh_efa_reach(struct wsh_efa_eps *eps, int pe, enum wsh_mem_kind kind);

/* rma.c */
int wsh_efa_put(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src, size_t len,
                struct wsh_done *done);
int wsh_efa_get(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, void *dst, size_t len,
                struct wsh_done *done);

/* strided.c */
int wsh_efa_put_strided(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                        const struct wsh_strided *shape, size_t *taken);
void wsh_efa_copy_strided(char *dst, const char *src, const struct wsh_strided *shape);

/* op.c: what goes through the engine */
int wsh_efa_op_init(struct wsh_efa_eps *eps);
/* An op of this kind, everything else zero; NULL: too many are under way. */
struct wsh_efa_op *wsh_efa_op_new(struct wsh_efa_eps *eps, struct wsh_efa_flow *flow, enum wsh_srd_kind kind,
                                  enum wsh_efa_what what);
/* Gives the op its data: local bytes and their remote place, in segments. */
void wsh_efa_op_data(struct wsh_efa_eps *eps, struct wsh_efa_op *op, const void *local, size_t len,
                     uint64_t addr, uint64_t key);
/* Starts or parks it, and counts it in `done`. -EAGAIN or final: it is gone. */
int wsh_efa_op_submit(struct wsh_efa_eps *eps, struct wsh_efa_op *op, struct wsh_done *done);
/* Gives back an op, and its message, of which nothing was started. */
void wsh_efa_op_refuse(struct wsh_efa_eps *eps, struct wsh_efa_op *op);
void wsh_efa_op_part_done(struct wsh_efa_eps *eps, struct wsh_efa_op *op);
/* The flow may have something parked. */
void wsh_efa_op_wait(struct wsh_efa_eps *eps, struct wsh_efa_flow *flow);
/* Starts what can be started of all that is parked. > 0: something was; < 0: final. */
int wsh_efa_op_progress(struct wsh_efa_eps *eps);

/* amo.c */
int wsh_efa_amo(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const struct wsh_amo *amo,
                void *result, struct wsh_done *done);

/* signal.c */
int wsh_efa_put_signal(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                       size_t len, const struct wsh_sig *sig, struct wsh_done *done);
/* A request with a message of data (len may be 0) and signal, or NULL: no room. */
struct wsh_efa_req *wsh_efa_signal_message(struct wsh_efa_eps *eps, struct wsh_efa_flow *flow,
                                           const struct wsh_efa_place *data, const void *src, size_t len,
                                           const struct wsh_efa_place *signal, uint64_t value);

/* fetch.c */
int wsh_efa_fetch_init(struct wsh_efa_eps *eps);
/* Submits the question `op`, whose message has its cookie at *cookie. */
int wsh_efa_fetch_submit(struct wsh_efa_eps *eps, struct wsh_efa_op *op, uint32_t *cookie,
                         const struct wsh_efa_fetch *fetch);
/* The `len` bytes that answer a question of this PE to `pe`. 0 or -EPROTO. */
int wsh_efa_fetch_answered(struct wsh_efa_eps *eps, int pe, uint32_t cookie, const void *bytes, size_t len);
/* A get in one message and its answer. */
int wsh_efa_fetch_get(struct wsh_efa_eps *eps, struct wsh_efa_flow *flow, const struct wsh_efa_place *data,
                      void *dst, size_t len, struct wsh_done *done);

/* msg.c */
/* A request whose buffer has the head of a message of `len` bytes, or NULL: no room now. */
struct wsh_efa_req *wsh_efa_msg_new(struct wsh_efa_eps *eps, const struct wsh_efa_flow *flow,
                                    enum wsh_efa_wire type, size_t len);
/* Gives it to the provider with that stamp. On an error the request stays the caller's. */
int wsh_efa_msg_send(struct wsh_efa_eps *eps, struct wsh_efa_req *req, const struct wsh_srd_stamp *stamp);
/* Submits an op that is the message in req; takes both back if that fails. */
int wsh_efa_msg_submit(struct wsh_efa_eps *eps, struct wsh_efa_flow *flow, struct wsh_efa_req *req,
                       enum wsh_efa_what what);
int wsh_efa_msg_answer(struct wsh_efa_eps *eps, int pe, uint16_t ctx, uint32_t cookie, const void *bytes,
                       size_t len);
/* Sends what is owed: answers, and (where `idle`, or much is owed) acks. > 0: some; < 0: final. */
int wsh_efa_msg_progress(struct wsh_efa_eps *eps, bool idle);
/* Gives a receive (back) to the provider. */
int wsh_efa_msg_post(struct wsh_efa_eps *eps, struct wsh_efa_req *req);
/* The inlet may owe its source something. */
void wsh_efa_msg_ack_later(struct wsh_efa_eps *eps, struct wsh_efa_inlet *inlet);
/* Sends something that only asks for the connection. */
int wsh_efa_msg_probe(struct wsh_efa_eps *eps, int pe);

/* alive.c */
double wsh_efa_now(void);
/* The provider had no room for something to `pe`: -EAGAIN, or final when the peer is gone. */
int wsh_efa_no_room(struct wsh_efa_eps *eps, int pe);
/* A peer is gone: a final error in a while, with this line. The first one counts. */
void wsh_efa_lose(struct wsh_efa_eps *eps, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int wsh_efa_check_lost(struct wsh_efa_eps *eps);
/* The provider could not send something of its own on a rail. */
void wsh_efa_note_event(struct wsh_efa_eps *eps, const struct wsh_efa_rail *rail, const char *text);
/* Now and then: looks after silent peers and the provider's events. 0 or final. */
int wsh_efa_look_after(struct wsh_efa_eps *eps);

/* serve.c */
/* A message has arrived in req->buf. */
int wsh_efa_serve(struct wsh_efa_eps *eps, struct wsh_efa_req *req, size_t len);
/* A counted write has arrived. */
int wsh_efa_serve_write(struct wsh_efa_eps *eps, uint64_t data);
/* Applies a message whose turn has come (struct wsh_srd_sink). */
int wsh_efa_serve_apply(void *eps, void *req);

/* stranger.c */
enum wsh_efa_strange { EFA_STRANGE_MESSAGE, EFA_STRANGE_WRITE };
/* Something came that is not of this job and was dropped: counts it, and says so once a minute at most. */
void wsh_efa_stranger_note(struct wsh_efa_eps *eps, enum wsh_efa_strange what);
/* How many there were in all, for who asks (SHMEM_DEBUG=info). */
void wsh_efa_stranger_sum(const struct wsh_efa *efa);

/* describe.c */
void wsh_efa_describe(struct wsh_tctx *tctx, char *text, size_t size);

/* progress.c */
int wsh_efa_progress(struct wsh_efa_eps *eps);
int wsh_efa_wait_fd(struct wsh_efa_eps *eps);

extern const struct wsh_tp_ops wsh_efa_ops;

#endif

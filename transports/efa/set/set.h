/* SPDX-License-Identifier: BSD-3-Clause */
/* The endpoint set: endpoints on every NIC of the PE under one lock, and all that its operations share. */
#ifndef WSH_EFA_SET_H
#define WSH_EFA_SET_H

#include "base/invariant.h"
#include "base/ranges.h"
#include "transports/efa/nic/choice.h"
#include "transports/efa/efa.h"
#include "transports/efa/ops/fetch.h"
#include "transports/efa/ops/op.h"
#include "transports/efa/ops/imm_count.h"
#include "transports/efa/set/alive.h"
#include "transports/efa/set/errors.h"
#include "transports/efa/set/flow.h"
#include "transports/efa/set/gone.h"
#include "transports/efa/set/hello.h"
#include "transports/efa/set/peers.h"
#include "transports/efa/nic/provider.h"
#include "transports/efa/nic/rail.h"
#include "transports/efa/wire/msg.h"
#include "transports/efa/wire/rail_loss.h"
#include "transports/efa/wire/req.h"
#include "transports/efa/wire/sizes.h"
#include "transports/efa/wire/wire.h"
#include "transports/transport.h"

#include <pthread.h>
#include <rdma/fi_rma.h>
#include <sys/types.h>

struct wsh_efa_counters;
struct wsh_efa_lmem;

struct wsh_efa_set {
    struct wsh_tp base; /* of this endpoint set as a part of the transport */
    struct wsh_efa *efa;
    uint32_t number;      /* among them */
    pthread_mutex_t lock; /* everything below that changes, and the whole domain; taken if `locking` */
    bool locking;
    bool joined; /* all peers are in the address vector: their messages may be read */
    bool deaf;   /* a peer is lost, and nothing is taken: what comes may follow data that are missing */
    int failed;  /* the first final error, given by every call from then on */

    /* What the provider does and asks for. */
    bool native;          /* it keeps writes, and messages behind writes, in order */
    bool native_reads;    /* it keeps reads behind writes too */
    bool imm;             /* writes can be counted at the target */
    bool imm_receives;    /* immediate data take a receive there */
    bool doorbells;       /* its device is told of every request */
    bool mr_local;        /* buffers given to it must be registered */
    bool by_sockets;      /* a dead peer shows as a connection that cannot be made again */
    bool virt_addr;       /* remote addresses are addresses, not offsets */
    bool hmem;            /* device memory may be registered */
    bool gets_by_message; /* small gets go by message */
    enum wsh_efa_put put; /* how small puts go */
    struct wsh_efa_limits limits;

    /* Posting. */
    bool aside;        /* several rails, a batch, or something held: posts take the longer path */
    bool batching;     /* between wsh_efa_batch_begin and _end */
    uint32_t batches;  /* of contexts, begun and not ended (wsh_tp_ops.batch_begin) */
    uint32_t n_held;   /* rails that hold a request */
    uint64_t shared;   /* requests so far that had no doorbell of their own */
    uint32_t n_writes; /* under way, to all PEs */
    uint32_t n_device; /* pieces of device memory in `device` */
    uint32_t n_rails;
    struct wsh_efa_choice choice; /* with several rails */
    struct wsh_efa_rail rail[WSH_EFA_RAILS];
    struct wsh_efa_pool plain; /* requests without a buffer */
    struct wsh_efa_pool small; /* with a buffer for a message or a copied put */
    struct wsh_efa_pool
        answer; /* of msg_max bytes for replies and acks, which nothing else may keep waiting */
    struct wsh_efa_pool large; /* for unregistered user buffers */
    struct wsh_efa_pool rx;    /* receives */

    int my_pe, n_pes;
    struct wsh_efa_peer *peers; /* [n_pes]; pages of those that are not connected stay untouched */
    int *known, n_known;        /* those that are, in the order of their first use */

    bool starved;                 /* something deferred found no room at the provider, or no request */
    struct wsh_efa_flow *waiting; /* with something deferred */
    struct wsh_srd_sink sink;
    struct wsh_efa_ops ops;
    struct wsh_efa_msgs msgs;
    struct wsh_efa_fetches fetches;
    struct wsh_efa_imm_counts imm_counts;
    struct wsh_efa_alive alive;

    char *seg_base[WSH_SEGS_HOST]; /* registered segments of this PE's host memory: what messages are about */
    size_t seg_len[WSH_SEGS_HOST];
    struct wsh_efa_lmem *lmem[WSH_SEGS_LOCAL]; /* all memory that is registered */
    struct wsh_ranges *device;                 /* device memory by address, with its segment */
    struct wsh_efa_mr slab_mr[4];              /* of the pools, where registered */

    struct wsh_efa_ctx **ctxs; /* [n_ctxs] by number, also closed ones */
    uint32_t n_ctxs;
    struct wsh_efa_ctx *free_ctxs;
    struct wsh_efa_ctx *own; /* of the messages that belong to no context of the core */

    struct wsh_efa_lib lib;
    const struct wsh_env *env;
    void *core;                           /* wsh_tp_params */
    bool (*has_left)(void *core, int pe); /* wsh_tp_params */
    double news_seconds;                  /* likewise */
    struct wsh_efa_counters *counters;    /* that its NICs keep; NULL: none, or not the first endpoint set */
    uint64_t n_counted;                   /* puts that their targets' NICs count */
    struct wsh_efa_connecting connecting;
    struct wsh_efa_hello hello;
    struct wsh_efa_loss loss;
    struct wsh_efa_gone gone;
    struct wsh_efa_rail_loss rail_loss;
    uint32_t n_nics, n_local; /* of this host: NICs of the rails' sort, and PEs */
    cpu_set_t near;           /* processors near the rails' NICs */
    int wait_fd;              /* readable when one of the rails' is; -1: there is none */
    double stop_by;           /* when closing waits no longer for what is under way, or 0 */
};

static inline void wsh_efa_set_lock(struct wsh_efa_set *set)
{
    if (set->locking)
        pthread_mutex_lock(&set->lock);
}

static inline bool wsh_efa_set_trylock(struct wsh_efa_set *set)
{
    return !set->locking || !pthread_mutex_trylock(&set->lock);
}

static inline void wsh_efa_set_unlock(struct wsh_efa_set *set)
{
    if (set->locking)
        pthread_mutex_unlock(&set->lock);
}

static inline struct wsh_efa_set *wsh_efa_set_of(const struct wsh_tctx *tctx)
{
    return ((const struct wsh_efa_ctx *)tctx)->set;
}

/* Where the memory is registered set by set, each has its key. */
static inline uint64_t wsh_efa_rmem_key(const struct wsh_efa_set *set, const struct wsh_rmem *rmem)
{
    return wsh_unlikely(rmem->priv) ? ((const uint64_t *)rmem->priv)[set->number] : rmem->key;
}

/*
 * By rail, the keys with the first endpoint set of all PEs, where queue pairs that count are; NULL: this is that set,
 * or there is no other.
 */
static inline const uint64_t *wsh_efa_rmem_first_keys(const struct wsh_efa_set *set,
                                                      const struct wsh_rmem *rmem)
{
    return set->number && rmem->priv ? (const uint64_t *)rmem->priv + set->efa->in_use : NULL;
}

/* Small puts had better be messages: writes are slower with this provider, or while some are under way. */
static inline bool wsh_efa_set_prefers_messages(const struct wsh_efa_set *set)
{
    return wsh_unlikely(set->put != WSH_EFA_PUT_WRITES) &&
           (set->put == WSH_EFA_PUT_MESSAGES || set->n_writes);
}

/* Where the request's peer has failed, takes the request, which ends at the next progress (gone.h). */
static inline bool wsh_efa_gone_take(struct wsh_efa_set *set, struct wsh_efa_req *req)
{
    if (wsh_likely(!set->gone.any) || !set->peers[req->pe].gone)
        return false;
    req->next = set->gone.taken;
    set->gone.taken = req;
    return true;
}

/* The provider has taken a request, and given it back. */
static inline void wsh_efa_req_begin(struct wsh_efa_set *set, const struct wsh_efa_req *req, size_t len)
{
    struct wsh_efa_peer *peer = &set->peers[req->pe];

    peer->operations++;
    peer->bytes += len;
    set->rail[req->wr.rail].taken++;
    peer->posted++;
    peer->lost_since = 0;
}

static inline void wsh_efa_req_end(struct wsh_efa_set *set, const struct wsh_efa_req *req)
{
    WSH_INVARIANT(set->rail[req->wr.rail].taken);
    WSH_INVARIANT(set->peers[req->pe].posted);
    set->rail[req->wr.rail].taken--;
    set->peers[req->pe].posted--;
}

/* Partner of the acquire in wsh_done_is. */
static inline void wsh_efa_done_sub(struct wsh_done *done)
{
    WSH_INVARIANT(!done || __atomic_load_n(&done->left, __ATOMIC_RELAXED) > 0);
    if (done)
        __atomic_fetch_sub(&done->left, 1, __ATOMIC_RELEASE);
}

static inline void wsh_efa_done_add(struct wsh_done *done)
{
    if (done)
        __atomic_fetch_add(&done->left, 1, __ATOMIC_RELAXED);
}

/* An endpoint set as a whole; opened halfway it is in efa->set, to be closed all the same. */
int wsh_efa_set_open(struct wsh_efa *efa, uint32_t number, const struct wsh_tp_params *params,
                     struct wsh_tp_limits *limits);
/* 0, or -EAGAIN as wsh_tp_ops.stop. */
int wsh_efa_set_stop(struct wsh_efa_set *set, bool at_once);
void wsh_efa_set_close(struct wsh_efa_set *set);

#endif

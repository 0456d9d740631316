/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests: what libfabric hands back when an operation completes. Every operation holds one from a bounded pool, so
 * the completion queue cannot overflow.
 */
#ifndef WSH_EFA_REQ_H
#define WSH_EFA_REQ_H

#include "base/invariant.h"

#include <rdma/fabric.h>

#include <stdint.h>

struct wsh_done;
struct wsh_efa_flow;
struct wsh_efa_op;

/* OVER: it is in its pool, or has failed. A provider may report one failure again, once for each packet. */
enum wsh_efa_req_kind {
    WSH_EFA_REQ_WRITE,
    WSH_EFA_REQ_READ,
    WSH_EFA_REQ_SEND,
    WSH_EFA_REQ_RECV,
    WSH_EFA_REQ_OVER
};

#define WSH_EFA_INJECTED_MAX 64

/* With several rails: where a request went, and all that it takes to go again by another. */
struct wsh_efa_wr {
    uint8_t rail, kind; /* kind: of one that waits to go again */
    uint16_t
        counter; /* 1 + number: to the queue pair of the peer that counts for it; 0: to the ordinary one */
    void *local, *desc;
    uint64_t addr, key;   /* key: segment of the peer */
    const uint64_t *keys; /* of a put with `counter`: by rail, in place of `key`; or NULL */
    size_t len;
    uint64_t flags;
    double due; /* when it may go again */
    char injected[WSH_EFA_INJECTED_MAX];
};

struct wsh_efa_req {
    struct fi_context2 fi; /* first: the provider's own room */
    uint8_t kind;          /* enum wsh_efa_req_kind */
    int pe;
    struct wsh_efa_flow *flow;
    struct wsh_efa_op *op; /* this is a part of it, or NULL */
    struct wsh_done *done; /* counts this request, or NULL */
    char *buf;             /* its own memory, registered where the provider wants that, or NULL */
    void *desc;            /* of buf */
    char *copy_to;         /* read through buf: where it goes */
    uint32_t len;          /* bytes that go there; message: bytes in buf */
    struct wsh_efa_pool *pool;
    struct wsh_efa_req *next;
    struct wsh_efa_wr wr;
};

struct wsh_efa_pool {
    struct wsh_efa_req *free;
    struct wsh_efa_req *all;
    uint32_t n, n_free;
    size_t buf_size;
    char *slab; /* the bufs, in one piece */
    size_t slab_len;
};

/* n requests with bufs of buf_size bytes each (0: none). */
int wsh_efa_pool_init(struct wsh_efa_pool *pool, uint32_t n, size_t buf_size);
void wsh_efa_pool_fini(struct wsh_efa_pool *pool);
/* The slab has been registered. */
void wsh_efa_pool_set_desc(struct wsh_efa_pool *pool, void *desc);

/* NULL: all are under way. Only kind, pe, buf and desc of it are defined; op, done and copy_to are NULL. */
static inline struct wsh_efa_req *wsh_efa_req_get(struct wsh_efa_pool *pool, enum wsh_efa_req_kind kind,
                                                  int pe)
{
    struct wsh_efa_req *req = pool->free;

    WSH_INVARIANT(!req == !pool->n_free);
    if (!req)
        return NULL;
    pool->free = req->next;
    pool->n_free--;
    req->kind = (uint8_t)kind;
    req->pe = pe;
    return req;
}

static inline void wsh_efa_req_put(struct wsh_efa_req *req)
{
    req->kind = WSH_EFA_REQ_OVER;
    req->op = NULL;
    req->done = NULL;
    req->copy_to = NULL;
    req->next = req->pool->free;
    req->pool->free = req;
    req->pool->n_free++;
    WSH_INVARIANT(req->pool->n_free <= req->pool->n);
}

#endif

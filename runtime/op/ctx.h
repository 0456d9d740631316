/* SPDX-License-Identifier: BSD-3-Clause */
/* Communication contexts: each transport's bookkeeping of one stream of ordered operations. */
#ifndef WSH_CTX_H
#define WSH_CTX_H

#include "runtime/route/route.h"
#include "runtime/op/session.h"

#include <pthread.h>

struct wsh_batch;
struct wsh_team;

/* Transports (bits) that a context has used for one PE; updated to the context's epoch when read. */
struct wsh_paths {
    uint32_t epoch;
    uint8_t used;   /* since the fence that began `epoch` */
    uint8_t before; /* before it, perhaps still in flight */
};

struct wsh_ctx {
    struct wsh_job *job;
    struct wsh_team *team;             /* in whose numbers PEs are given */
    int n_pes;                         /* PEs of the team; 0: the context is closed */
    bool world;                        /* the team's numbers are the global ones */
    bool locked;                       /* several threads may use it: take `lock` */
    long options;                      /* SHMEM_CTX_* as created */
    pthread_t owner;                   /* the thread that created it */
    bool user;                         /* made by shmem_ctx_create: closed with the job */
    bool proxy;                        /* used by one proxy thread alone */
    struct wsh_gda_snapshot *posted;   /* of a proxy thread: NIC requests for which its fences wait too */
    uint64_t drains;                   /* of a proxy thread: how often it waited for operations to complete */
    struct wsh_tctx *tctx[WSH_TP_MAX]; /* by index of the transport */
    struct wsh_paths *paths;           /* [global pe], only where some PE is reached by several transports */
    uint32_t epoch;                    /* fences so far */
    bool batching;                     /* between shmemx_batch_begin and _end */
    struct wsh_session session;
    struct wsh_batch *batch;      /* that takes small puts now, or NULL */
    struct wsh_batch *kept_batch; /* of this session or an earlier one */
    struct wsh_ctx *next, **link; /* in job->ctxs */
    pthread_mutex_t lock;
};

/* The default context; then further ones. All contexts of a job are in job->ctxs. */
int wsh_ctx_init(struct wsh_ctx *ctx, struct wsh_job *job, struct wsh_team *team, long options);
void wsh_ctx_fini(struct wsh_ctx *ctx); /* brings it to quiet first */
int wsh_ctx_open(struct wsh_job *job, struct wsh_team *team, long options, struct wsh_ctx **ctx);
void wsh_ctx_close(struct wsh_ctx *ctx);

/*
 * All contexts gain parts in the transports from `first_tp` on, opened since (0 or a negative errno), or lose them. No
 * other thread may use a context meanwhile.
 */
int wsh_ctx_extend(struct wsh_job *job, unsigned first_tp);
void wsh_ctx_shrink(struct wsh_job *job, unsigned first_tp);

/* `locked` though no two threads of the program use it, and back. */
void wsh_ctx_lock_always(struct wsh_ctx *ctx, bool always);
/* Contexts of one thread need no lock, nor does a job whose transports finish every operation at once. */
bool wsh_ctx_needs_lock(const struct wsh_ctx *ctx);

/* Acquire: partner of the release by which a session publishes its batch. */
static inline struct wsh_batch *wsh_ctx_batch(const struct wsh_ctx *ctx)
{
    return __atomic_load_n(&ctx->batch, __ATOMIC_ACQUIRE);
}

/* Where an operation goes: a segment of a PE as a transport reaches it, and the offset there. */
struct wsh_target {
    const struct wsh_rmem *rmem;
    size_t off;
};

static inline void wsh_ctx_lock(struct wsh_ctx *ctx)
{
    if (wsh_unlikely(ctx->locked))
        pthread_mutex_lock(&ctx->lock);
}

static inline void wsh_ctx_unlock(struct wsh_ctx *ctx)
{
    if (wsh_unlikely(ctx->locked))
        pthread_mutex_unlock(&ctx->lock);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How one operation finds its target, and what happens when it cannot start or finish at once. The fast half is in
 * line, so that a put is shell, core and transport on the stack.
 */
#ifndef WSH_OP_H
#define WSH_OP_H

#include "runtime/job/job.h"
#include "runtime/op/order.h"

/* The slow half of wsh_op_target_with, once the GPU is attached. */
int wsh_op_target_gpu(struct wsh_ctx *ctx, const void *sym, size_t len, int pe, const void *local,
                      struct wsh_target *to);

/*
 * Finds [sym, sym + len) at `pe` (of ctx's team) for an atomic or a signal, or for a transfer between host memory, and
 * keeps the order between transports. 0, -ERANGE (no such PE) or -EFAULT (not symmetric there).
 */
static inline int wsh_op_target(struct wsh_ctx *ctx, const void *sym, size_t len, int pe,
                                struct wsh_target *to)
{
    if (wsh_unlikely((unsigned)pe >= (unsigned)ctx->n_pes))
        return -ERANGE;
    to->rmem = wsh_job_rmem_first(ctx->job, sym, len, wsh_likely(ctx->world) ? pe : ctx->team->members[pe],
                                  &to->off);
    if (wsh_unlikely(!to->rmem))
        return -EFAULT;
    return wsh_likely(!ctx->paths) ? 0 : wsh_order_paths(ctx, to->rmem->pe, to->rmem->tp->index);
}

/*
 * The same for a transfer with `local` memory of this PE (NULL: host memory), which may be a GPU's at either end.
 * -ENOTSUP (logged): no transport copies between these two.
 */
static inline int wsh_op_target_with(struct wsh_ctx *ctx, const void *sym, size_t len, int pe,
                                     const void *local, struct wsh_target *to)
{
    return wsh_likely(!ctx->job->device.attached) ? wsh_op_target(ctx, sym, len, pe, to)
                                                  : wsh_op_target_gpu(ctx, sym, len, pe, local, to);
}

static inline const struct wsh_tp_ops *wsh_op_ops(const struct wsh_target *to)
{
    return to->rmem->tp->ops;
}

static inline struct wsh_tctx *wsh_op_tctx(const struct wsh_ctx *ctx, const struct wsh_target *to)
{
    return ctx->tctx[to->rmem->tp->index];
}

/* Nothing is left to wait for after a first try that returned `rc`. `done` is NULL for nonblocking operations. */
static inline bool wsh_op_ended(int rc, const struct wsh_done *done)
{
    return rc ? rc != -EAGAIN : !done || wsh_done_is(done);
}

/* An operation with all it needs to be tried again; begins the struct that holds the arguments. */
struct wsh_op {
    const char *routine;
    struct wsh_ctx *ctx;
    struct wsh_target to;
    struct wsh_done *done;
    int (*start)(struct wsh_op *op); /* calls the transport once, under the context's lock */
};

/* Waits for all parts that `done` counts. */
int wsh_op_wait(struct wsh_job *job, const struct wsh_done *done, const char *routine);

/* The slow half, after a first try that returned `rc` and has not ended. */
int wsh_op_finish(struct wsh_op *op, int rc);

#endif

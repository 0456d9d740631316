/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends data and the signal that announces it, also when they travel by different transports. */
#include "runtime/op/signal.h"

#include "runtime/op/amo.h"
#include "runtime/device_ops.h"
#include "runtime/op/op.h"
#include "runtime/op/rma.h"

struct put_signal {
    struct wsh_op op;
    const void *src;
    size_t len;
    struct wsh_sig sig;
    struct wsh_done *done; /* that counts it; op.done: that is waited for */
};

/*
 * If the transport's CPU may copy the data, `done` does not mean that they have arrived. CPUs never read device memory
 * that NICs access.
 */
static bool may_be_copied(const struct put_signal *ps, const struct wsh_rmem *data)
{
    const struct wsh_job *job = ps->op.ctx->job;

    return ps->len <= job->limits[data->tp->index].copy_max &&
           wsh_route_local(job, ps->src, data->pe, (int)data->seg) != WSH_LOCAL_REGISTERED;
}

/* Data by a NIC, and a signal that staging holds until they have arrived. -EXDEV: these transports cannot do that. */
static int put_signal_by_two_tps(struct put_signal *ps)
{
    const struct wsh_target *to = &ps->op.to;
    struct wsh_ctx *ctx = ps->op.ctx;
    const struct wsh_tp_limits *limits = &ctx->job->limits[to->rmem->tp->index];
    const struct wsh_tp *signals = ps->sig.rmem->tp;
    struct wsh_tctx *tctx = ctx->tctx[signals->index];
    const struct wsh_device_ops *device = wsh_device_ops();
    struct wsh_done *hold;
    int rc;

    if (signals->ops != device->stage || !limits->copy_max || may_be_copied(ps, to->rmem))
        return -EXDEV;
    rc = device->signal_hold(tctx, &ps->sig, ps->done, &hold);
    if (rc)
        return rc;
    rc = wsh_op_ops(to)->put(wsh_op_tctx(ctx, to), to->rmem, to->off, ps->src, ps->len, hold);
    device->signal_release(tctx, &ps->sig, hold, !rc);
    return rc;
}

static inline int put_signal_once(struct put_signal *ps)
{
    const struct wsh_target *to = &ps->op.to;
    int rc;

    wsh_ctx_lock(ps->op.ctx);
    if (wsh_unlikely(ps->sig.rmem->tp != to->rmem->tp))
        rc = put_signal_by_two_tps(ps);
    else
        rc = wsh_op_ops(to)->put_signal(wsh_op_tctx(ps->op.ctx, to), to->rmem, to->off, ps->src, ps->len,
                                        &ps->sig, ps->done);
    wsh_ctx_unlock(ps->op.ctx);
    return rc;
}

/* Data that a NIC could write: short data goes in one message with the signal, by the transport of atomics. */
static void join_signal(struct put_signal *ps)
{
    const struct wsh_job *job = ps->op.ctx->job;
    const struct wsh_rmem *data = ps->op.to.rmem, *whole = wsh_route_main(&job->routes, data->pe, data->seg);

    if (whole->tp == ps->sig.rmem->tp && may_be_copied(ps, data))
        ps->op.to.rmem = whole;
}

static inline void choose_entries(struct put_signal *ps, const struct wsh_target *at)
{
    ps->sig.rmem = at->rmem;
    ps->sig.off = at->off;
    if (wsh_unlikely(at->rmem->tp != ps->op.to.rmem->tp))
        join_signal(ps);
}

int wsh_put_signal_start(struct wsh_ctx *ctx, const struct wsh_target *to, const struct wsh_target *at,
                         const void *src, size_t len, const struct wsh_signal *signal, struct wsh_done *done)
{
    struct put_signal ps = {.op = {.ctx = ctx, .to = *to, .done = done},
                            .src = src,
                            .len = len,
                            .sig = {.op = signal->op, .counter = signal->counter, .value = signal->value},
                            .done = done};

    choose_entries(&ps, at);
    return put_signal_once(&ps);
}

static int put_signal_again(struct wsh_op *op)
{
    return put_signal_once((struct put_signal *)op);
}

WSH_NO_ARRAYS int wsh_signal_send(struct wsh_ctx *ctx, const struct wsh_signal *signal, int pe)
{
    const struct wsh_amo amo = {signal->op, 8, signal->value, 0};

    return wsh_amo(ctx, signal->sym, &amo, NULL, pe);
}

/* Data and signal by different transports: the data must have arrived before the signal is sent. */
static int put_then_signal(const struct put_signal *ps, void *sym, const struct wsh_signal *signal, int pe)
{
    struct wsh_ctx *ctx = ps->op.ctx;
    int rc = wsh_put_nbi(ctx, sym, ps->src, ps->len, pe);

    if (!rc)
        rc = wsh_order_drain(ctx, ps->op.to.rmem->pe, ps->op.to.rmem->tp->index, ps->op.routine);
    return rc ? rc : wsh_signal_send(ctx, signal, pe);
}

/* Data in the segment of their signal use the same entry: no second look-up. */
static inline __attribute__((always_inline)) int data_target(struct wsh_ctx *ctx, const struct wsh_rmem *rmem,
                                                             const void *sym, size_t len, const void *src,
                                                             int pe, struct wsh_target *to)
{
    const struct wsh_job *job = ctx->job;

    if (wsh_likely(!job->device.attached && !ctx->paths) &&
        wsh_likely(wsh_segment_holds(&job->heap.seg[rmem->seg], sym, len, &to->off))) {
        to->rmem = rmem;
        return 0;
    }
    return wsh_op_target_with(ctx, sym, len, pe, src, to);
}

/* A put with signal whose first try, if it had one, returned `rc`. */
struct asked {
    void *sym;
    struct wsh_target to, at;
    const struct wsh_signal *signal;
    int pe, rc;
    bool waits;
};

static __attribute__((cold, noinline)) int put_signal_slow(struct wsh_ctx *ctx, const struct asked *asked,
                                                           const void *src, size_t len, struct wsh_done *done)
{
    const struct wsh_signal *signal = asked->signal;
    struct put_signal ps = {.op = {asked->waits ? "shmem_put_signal" : "shmem_put_signal_nbi", ctx, asked->to,
                                   asked->waits ? done : NULL, put_signal_again},
                            .src = src,
                            .len = len,
                            .sig = {.op = signal->op, .counter = signal->counter, .value = signal->value},
                            .done = done};
    int rc = asked->rc;

    choose_entries(&ps, &asked->at);
    if (asked->at.rmem->tp != asked->to.rmem->tp)
        rc = put_signal_once(&ps);
    if (rc == -EXDEV)
        return put_then_signal(&ps, asked->sym, signal, asked->pe);
    return wsh_op_ended(rc, ps.op.done) ? rc : wsh_op_finish(&ps.op, rc);
}

/* What the usual case does not need is put together only where it is needed. */
static inline __attribute__((always_inline)) int put_signal_run(struct wsh_ctx *ctx, void *sym,
                                                                const void *src, size_t len,
                                                                const struct wsh_signal *signal, int pe,
                                                                struct wsh_done *done, bool waits)
{
    struct wsh_target at, to;
    int rc = wsh_op_target(ctx, signal->sym, 8, pe, &at);

    if (wsh_unlikely(rc || (at.off & 7)))
        return rc ? rc : -EFAULT;
    if (!len)
        return wsh_signal_send(ctx, signal, pe);
    rc = data_target(ctx, at.rmem, sym, len, src, pe, &to);
    if (wsh_unlikely(rc))
        return rc;
    if (wsh_likely(at.rmem->tp == to.rmem->tp)) {
        const struct wsh_sig sig = {at.rmem, at.off, signal->op, signal->value, signal->counter};

        wsh_ctx_lock(ctx);
        rc = wsh_op_ops(&to)->put_signal(wsh_op_tctx(ctx, &to), to.rmem, to.off, src, len, &sig, done);
        wsh_ctx_unlock(ctx);
        if (wsh_likely(wsh_op_ended(rc, waits ? done : NULL)))
            return rc;
    }
    return put_signal_slow(ctx, &(struct asked){sym, to, at, signal, pe, rc, waits}, src, len, done);
}

WSH_NO_ARRAYS int wsh_put_signal(struct wsh_ctx *ctx, void *sym, const void *src, size_t len,
                                 const struct wsh_signal *signal, int pe)
{
    struct wsh_done done = {0};

    return put_signal_run(ctx, sym, src, len, signal, pe, &done, true);
}

WSH_NO_ARRAYS int wsh_put_signal_nbi(struct wsh_ctx *ctx, void *sym, const void *src, size_t len,
                                     const struct wsh_signal *signal, int pe)
{
    return wsh_put_signal_counted(ctx, sym, src, len, signal, pe, NULL);
}

WSH_NO_ARRAYS int wsh_put_signal_counted(struct wsh_ctx *ctx, void *sym, const void *src, size_t len,
                                         const struct wsh_signal *signal, int pe, struct wsh_done *done)
{
    return put_signal_run(ctx, sym, src, len, signal, pe, done, false);
}

struct iput_signal {
    struct wsh_op op;
    const void *src;
    const struct wsh_strided *shape;
    struct wsh_sig sig;
};

static int iput_signal_once(struct wsh_op *op)
{
    struct iput_signal *is = (struct iput_signal *)op;
    size_t taken;
    int rc;

    wsh_ctx_lock(op->ctx);
    rc = wsh_op_ops(&op->to)->put_strided(wsh_op_tctx(op->ctx, &op->to), op->to.rmem, op->to.off, is->src,
                                          is->shape, &is->sig, &taken);
    wsh_ctx_unlock(op->ctx);
    return rc;
}

/* Blocks and signal in one message. -ENOTSUP: the transports cannot, or there are too many blocks. */
static int iput_signal_whole(struct wsh_ctx *ctx, void *sym, const void *src, const struct wsh_strided *shape,
                             const struct wsh_signal *signal, int pe)
{
    struct iput_signal is = {{"shmem_put_signal", ctx, {0}, NULL, iput_signal_once}, src, shape, {0}};
    struct wsh_target at;
    int rc = wsh_op_target(ctx, signal->sym, 8, pe, &at);

    if (!rc)
        rc = wsh_op_target_with(ctx, sym, wsh_strided_span(shape, shape->dst_stride), pe, src, &is.op.to);
    if (rc || at.rmem->tp != is.op.to.rmem->tp)
        return rc ? rc : -ENOTSUP;
    is.sig = (struct wsh_sig){.rmem = at.rmem, .off = at.off, .op = signal->op, .value = signal->value};
    rc = iput_signal_once(&is.op);
    return rc == -EAGAIN ? wsh_op_finish(&is.op, rc) : rc;
}

int wsh_iput_signal(struct wsh_ctx *ctx, void *sym, const void *src, const struct wsh_strided *shape,
                    const struct wsh_signal *signal, int pe)
{
    int rc;

    if (shape->nelems < 2)
        return wsh_put_signal(ctx, sym, src, shape->nelems * shape->block, signal, pe);
    rc = iput_signal_whole(ctx, sym, src, shape, signal, pe);
    if (rc != -ENOTSUP)
        return rc;
    rc = wsh_iput(ctx, sym, src, shape, pe);
    if (!rc)
        rc = wsh_fence(ctx);
    return rc ? rc : wsh_signal_send(ctx, signal, pe);
}

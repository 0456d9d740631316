/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how data and the signal that announces it are sent, also when they travel by different transports. */
#include "runtime/signal.h"

#include "runtime/amo.h"
#include "runtime/op.h"
#include "runtime/rma.h"

struct put_signal {
    struct wsh_op op;
    const void *src;
    size_t len;
    struct wsh_sig sig;
    struct wsh_done *done; /* that counts it; op.done: that is waited for */
};

static inline int put_signal_once(struct put_signal *ps)
{
    const struct wsh_route *route = ps->op.to.route;
    int rc;

    wsh_ctx_lock(ps->op.ctx);
    rc = route->ops->put_signal(wsh_op_tctx(ps->op.ctx, &ps->op.to), &route->rmem, ps->op.to.off, ps->src,
                                ps->len, &ps->sig, ps->done);
    wsh_ctx_unlock(ps->op.ctx);
    return rc;
}

int wsh_put_signal_start(struct wsh_ctx *ctx, const struct wsh_target *to, const struct wsh_target *at,
                         const void *src, size_t len, const struct wsh_signal *signal, struct wsh_done *done)
{
    struct put_signal ps = {.op = {.ctx = ctx, .to = *to, .done = done},
                            .src = src,
                            .len = len,
                            .sig = {&at->route->rmem, at->off, signal->op, signal->value},
                            .done = done};

    return at->route->tp == to->route->tp ? put_signal_once(&ps) : -EXDEV;
}

static int put_signal_again(struct wsh_op *op)
{
    return put_signal_once((struct put_signal *)op);
}

int wsh_signal_send(struct wsh_ctx *ctx, const struct wsh_signal *signal, int pe)
{
    const struct wsh_amo amo = {signal->op, 8, signal->value, 0};

    return wsh_amo(ctx, signal->sym, &amo, NULL, pe);
}

/* Data by one transport and signal by another: the data must be there before the signal leaves. */
static int put_then_signal(const struct put_signal *ps, void *sym, const struct wsh_signal *signal, int pe)
{
    struct wsh_ctx *ctx = ps->op.ctx;
    int rc = wsh_put_nbi(ctx, sym, ps->src, ps->len, pe);

    if (!rc)
        rc = wsh_order_drain(ctx, ps->op.to.pe, ps->op.to.route->tp, ps->op.routine);
    return rc ? rc : wsh_signal_send(ctx, signal, pe);
}

static inline int run(struct put_signal *ps, void *sym, const struct wsh_signal *signal, int pe)
{
    struct wsh_ctx *ctx = ps->op.ctx;
    struct wsh_target at;
    int rc = wsh_op_target(ctx, signal->sym, 8, pe, &at);

    if (wsh_unlikely(rc || (at.off & 7)))
        return rc ? rc : -EFAULT;
    if (!ps->len)
        return wsh_signal_send(ctx, signal, pe);
    rc = wsh_op_target_with(ctx, sym, ps->len, pe, ps->src, &ps->op.to);
    if (wsh_unlikely(rc))
        return rc;
    if (wsh_unlikely(at.route->tp != ps->op.to.route->tp))
        return put_then_signal(ps, sym, signal, pe);
    ps->sig = (struct wsh_sig){&at.route->rmem, at.off, signal->op, signal->value};
    rc = put_signal_once(ps);
    return wsh_likely(wsh_op_ended(rc, ps->op.done)) ? rc : wsh_op_finish(&ps->op, rc);
}

int wsh_put_signal(struct wsh_ctx *ctx, void *sym, const void *src, size_t len,
                   const struct wsh_signal *signal, int pe)
{
    struct wsh_done done = {0};
    struct put_signal ps = {{"shmem_put_signal", ctx, {0}, &done, put_signal_again}, src, len, {0}, &done};

    return run(&ps, sym, signal, pe);
}

int wsh_put_signal_nbi(struct wsh_ctx *ctx, void *sym, const void *src, size_t len,
                       const struct wsh_signal *signal, int pe)
{
    return wsh_put_signal_counted(ctx, sym, src, len, signal, pe, NULL);
}

int wsh_put_signal_counted(struct wsh_ctx *ctx, void *sym, const void *src, size_t len,
                           const struct wsh_signal *signal, int pe, struct wsh_done *done)
{
    struct put_signal ps = {{"shmem_put_signal_nbi", ctx, {0}, NULL, put_signal_again}, src, len, {0}, done};

    return run(&ps, sym, signal, pe);
}

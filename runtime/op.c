/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how an operation that could not start or finish at once is driven to its end. */
#include "runtime/op.h"

#include "runtime/gpu/hmem.h"
#include "runtime/wait.h"

#include <stdio.h>

struct driven {
    struct wsh_op *op;
    bool started;
};

static int try_op(void *arg)
{
    struct driven *driven = arg;
    int rc = driven->started ? 0 : driven->op->start(driven->op);

    if (rc)
        return rc;
    driven->started = true;
    return wsh_op_ended(0, driven->op->done) ? 0 : -EAGAIN;
}

static void describe_op(void *arg, char *text, size_t size)
{
    const struct driven *driven = arg;

    snprintf(text, size, "PE %d by %s: the operation %s", driven->op->to.pe, driven->op->to.route->ops->name,
             driven->started ? "is under way" : "finds no room to start");
}

static int try_done(void *arg)
{
    return wsh_done_is(arg) ? 0 : -EAGAIN;
}

int wsh_op_wait(struct wsh_job *job, const struct wsh_done *done, const char *routine)
{
    const struct wsh_wait_why why = {routine, NULL};

    return wsh_done_is(done) ? 0 : wsh_wait(job, &why, try_done, (void *)done);
}

int wsh_op_target_gpu(struct wsh_ctx *ctx, const void *sym, size_t len, int pe, const void *local,
                      struct wsh_target *to)
{
    int seg;

    if ((unsigned)pe >= (unsigned)ctx->n_pes)
        return -ERANGE;
    to->pe = ctx->world ? pe : ctx->team->members[pe];
    to->route = wsh_job_route(ctx->job, sym, len, to->pe, &to->off);
    if (!to->route || !to->route->ops)
        return -EFAULT;
    seg = (int)((size_t)(to->route - ctx->job->routes) % WSH_SEGS);
    if (seg >= WSH_SEG_DEVICE || wsh_device_holds(ctx->job, local)) {
        to->route = wsh_hmem_route(ctx->job, to->route, seg, local);
        if (!to->route)
            return -ENOTSUP;
    }
    return ctx->roads ? wsh_order_roads(ctx, to->pe, to->route->tp) : 0;
}

int wsh_op_finish(struct wsh_op *op, int rc)
{
    const struct wsh_wait_why why = {op->routine, describe_op};
    struct driven driven = {op, rc == 0};

    return wsh_wait(op->ctx->job, &why, try_op, &driven);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Drives to its end an operation that could not start or finish at once. */
#include "runtime/op/op.h"

#include "base/log.h"
#include "runtime/wait/wait.h"

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

    snprintf(text, size, "PE %d by %s: the operation %s", driven->op->to.rmem->pe,
             wsh_op_ops(&driven->op->to)->name, driven->started ? "is in flight" : "finds no room to start");
}

static int op_needs(void *arg, int pe)
{
    const struct wsh_op *op = ((const struct driven *)arg)->op;
    int its = op->to.rmem->pe;

    return pe < 0 ? its : its == pe && !wsh_failures_has(&op->ctx->job->failures, pe); /* ends by itself */
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

static int log_no_copy(int pe)
{
    wsh_error(
        "host memory of PE %d cannot be copied from or to device memory here, since SHMEM_TRANSPORTS leaves "
        "out local or, for PEs of other hosts, stage; leave the setting empty, or go through a host buffer",
        pe);
    return -ENOTSUP;
}

int wsh_op_target_gpu(struct wsh_ctx *ctx, const void *sym, size_t len, int pe, const void *local,
                      struct wsh_target *to)
{
    const struct wsh_job *job = ctx->job;
    int seg;

    if ((unsigned)pe >= (unsigned)ctx->n_pes)
        return -ERANGE;
    pe = ctx->world ? pe : ctx->team->members[pe];
    seg = wsh_heap_find(&job->heap, sym, len, &to->off);
    if (seg < 0 || !wsh_route_main(&job->routes, pe, seg))
        return -EFAULT;
    to->rmem = wsh_route(&job->routes, pe, seg, wsh_route_local(job, local, pe, seg), WSH_ROUTE_TRANSFER);
    if (!to->rmem)
        return log_no_copy(pe);
    return ctx->paths ? wsh_order_paths(ctx, pe, to->rmem->tp->index) : 0;
}

int wsh_op_finish(struct wsh_op *op, int rc)
{
    const struct wsh_wait_why why = {op->routine, describe_op, op_needs};
    struct driven driven = {op, rc == 0};

    return wsh_wait(op->ctx->job, &why, try_op, &driven);
}

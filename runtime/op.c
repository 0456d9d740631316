/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how an operation that could not start or finish at once is driven to its end. */
#include "runtime/op.h"

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

int wsh_op_finish(struct wsh_op *op, int rc)
{
    const struct wsh_wait_why why = {op->routine, describe_op};
    struct driven driven = {op, rc == 0};

    return wsh_wait(op->ctx->job, &why, try_op, &driven);
}

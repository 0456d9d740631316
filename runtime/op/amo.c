/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts atomic operations on a peer's words and waits for their results. */
#include "runtime/op/amo.h"

#include "runtime/op/op.h"

struct amo {
    struct wsh_op op;
    const struct wsh_amo *amo;
    void *result;
};

static inline int amo_once(struct wsh_ctx *ctx, const struct wsh_target *to, const struct wsh_amo *amo,
                           void *result, struct wsh_done *done)
{
    int rc;

    wsh_ctx_lock(ctx);
    rc = wsh_op_ops(to)->amo(wsh_op_tctx(ctx, to), to->rmem, to->off, amo, result, done);
    wsh_ctx_unlock(ctx);
    return rc;
}

int wsh_amo_start(struct wsh_ctx *ctx, const struct wsh_target *to, const struct wsh_amo *amo, void *result,
                  struct wsh_done *done)
{
    return amo_once(ctx, to, amo, result, done);
}

static int amo_again(struct wsh_op *op)
{
    struct amo *amo = (struct amo *)op;

    return amo_once(op->ctx, &op->to, amo->amo, amo->result, op->done);
}

static __attribute__((noinline)) int finish_amo(struct wsh_ctx *ctx, const struct wsh_target *to,
                                                const struct wsh_amo *amo, void *result,
                                                struct wsh_done *done, int rc)
{
    struct amo again = {{"shmem_atomic", ctx, *to, done, amo_again}, amo, result};

    return wsh_op_finish(&again.op, rc);
}

static inline int run_amo(struct wsh_ctx *ctx, void *sym, const struct wsh_amo *amo, void *result, int pe,
                          struct wsh_done *done)
{
    struct wsh_target to;
    int rc = wsh_op_target(ctx, sym, amo->width, pe, &to);

    if (wsh_unlikely(rc || (to.off & (amo->width - 1))))
        return rc ? rc : -EFAULT;
    rc = amo_once(ctx, &to, amo, result, done);
    return wsh_likely(wsh_op_ended(rc, done)) ? rc : finish_amo(ctx, &to, amo, result, done, rc);
}

WSH_NO_ARRAYS int wsh_amo(struct wsh_ctx *ctx, void *sym, const struct wsh_amo *amo, void *result, int pe)
{
    struct wsh_done done = {0};

    return run_amo(ctx, sym, amo, result, pe, &done);
}

WSH_NO_ARRAYS int wsh_amo_nbi(struct wsh_ctx *ctx, void *sym, const struct wsh_amo *amo, void *result, int pe)
{
    return run_amo(ctx, sym, amo, result, pe, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* One call of a transport under the context's lock: a put or get of bytes is started, if there is room. */
#ifndef WSH_START_H
#define WSH_START_H

#include "runtime/op/op.h"

static inline int wsh_put_once(struct wsh_ctx *ctx, const struct wsh_target *to, const void *src, size_t len,
                               struct wsh_done *done)
{
    int rc;

    wsh_ctx_lock(ctx);
    rc = wsh_op_ops(to)->put(wsh_op_tctx(ctx, to), to->rmem, to->off, src, len, done);
    wsh_ctx_unlock(ctx);
    return rc;
}

static inline int wsh_get_once(struct wsh_ctx *ctx, const struct wsh_target *to, void *dst, size_t len,
                               struct wsh_done *done)
{
    int rc;

    wsh_ctx_lock(ctx);
    rc = wsh_op_ops(to)->get(wsh_op_tctx(ctx, to), to->rmem, to->off, dst, len, done);
    wsh_ctx_unlock(ctx);
    return rc;
}

/* One try to start a put to a known target: 0, -EAGAIN or a final error; `done` as in transport.h. */
int wsh_put_start(struct wsh_ctx *ctx, const struct wsh_target *to, const void *src, size_t len,
                  struct wsh_done *done);

/* The same for a get. */
int wsh_get_start(struct wsh_ctx *ctx, const struct wsh_target *to, void *dst, size_t len,
                  struct wsh_done *done);

#endif

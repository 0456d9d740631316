/* SPDX-License-Identifier: BSD-3-Clause */
/* The same as functions, for whoever does not need them in line. */
#include "runtime/op/start.h"

int wsh_put_start(struct wsh_ctx *ctx, const struct wsh_target *to, const void *src, size_t len,
                  struct wsh_done *done)
{
    return wsh_put_once(ctx, to, src, len, done);
}

int wsh_get_start(struct wsh_ctx *ctx, const struct wsh_target *to, void *dst, size_t len,
                  struct wsh_done *done)
{
    return wsh_get_once(ctx, to, dst, len, done);
}

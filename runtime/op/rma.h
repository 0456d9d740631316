/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote memory access on bytes. Common to all: `sym` is a symmetric address of this PE that names the same object at
 * `pe` (numbered in ctx's team); lengths are bytes. Returns 0; -ERANGE: no such PE; -EFAULT: [sym, sym + len) is not
 * symmetric memory (neither logged: wsh_route_explain has the text); other errors were logged.
 */
#ifndef WSH_RMA_H
#define WSH_RMA_H

#include "runtime/op/ctx.h"

/* Blocking: `src` may be reused on return. */
int wsh_put(struct wsh_ctx *ctx, void *sym, const void *src, size_t len, int pe);
/* Blocking: `dst` holds the data on return. */
int wsh_get(struct wsh_ctx *ctx, void *dst, const void *sym, size_t len, int pe);

/*
 * One try to start all blocks of a strided copy behind the first *taken, which counts up: 0, -EAGAIN or a final error;
 * `done` counts the parts in flight of all tries.
 */
int wsh_iput_start(struct wsh_ctx *ctx, const struct wsh_target *to, const void *src,
                   const struct wsh_strided *shape, size_t *taken, struct wsh_done *done);
int wsh_iget_start(struct wsh_ctx *ctx, const struct wsh_target *to, void *dst,
                   const struct wsh_strided *shape, size_t *taken, struct wsh_done *done);

/* Nonblocking: complete after wsh_quiet. */
int wsh_put_nbi(struct wsh_ctx *ctx, void *sym, const void *src, size_t len, int pe);
int wsh_get_nbi(struct wsh_ctx *ctx, void *dst, const void *sym, size_t len, int pe);

/* Nonblocking and counted: when wsh_op_wait(done) returns `src` may be reused, and `dst` is there. */
int wsh_put_counted(struct wsh_ctx *ctx, void *sym, const void *src, size_t len, int pe,
                    struct wsh_done *done);
int wsh_get_counted(struct wsh_ctx *ctx, void *dst, const void *sym, size_t len, int pe,
                    struct wsh_done *done);

/* The same if the job is not special (job.h): only the target is looked up. */
int wsh_put_plain(struct wsh_ctx *ctx, void *sym, const void *src, size_t len, int pe);
int wsh_get_plain(struct wsh_ctx *ctx, void *dst, const void *sym, size_t len, int pe);
int wsh_put_nbi_plain(struct wsh_ctx *ctx, void *sym, const void *src, size_t len, int pe);
int wsh_get_nbi_plain(struct wsh_ctx *ctx, void *dst, const void *sym, size_t len, int pe);

/* Bytes from the first block's start to the last one's end, seen at the symmetric side. */
static inline size_t wsh_strided_span(const struct wsh_strided *shape, ptrdiff_t stride)
{
    return (size_t)stride * (shape->nelems - 1) + shape->block;
}

/* Blocking strided copies. */
int wsh_iput(struct wsh_ctx *ctx, void *sym, const void *src, const struct wsh_strided *shape, int pe);
int wsh_iget(struct wsh_ctx *ctx, void *dst, const void *sym, const struct wsh_strided *shape, int pe);

#endif

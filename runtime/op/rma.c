/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts and gets of bytes: contiguous, nonblocking and strided. */
#include "runtime/op/rma.h"

#include "runtime/op/batch.h"
#include "runtime/op/op.h"
#include "runtime/op/start.h"

struct rma {
    struct wsh_op op;
    void *local;
    size_t len;
};

static int put_again(struct wsh_op *op)
{
    struct rma *put = (struct rma *)op;

    return wsh_put_once(op->ctx, &op->to, put->local, put->len, op->done);
}

static int get_again(struct wsh_op *op)
{
    struct rma *get = (struct rma *)op;

    return wsh_get_once(op->ctx, &op->to, get->local, get->len, op->done);
}

static __attribute__((noinline)) int finish_put(struct wsh_ctx *ctx, const struct wsh_target *to,
                                                const void *src, size_t len, struct wsh_done *done, int rc)
{
    struct rma put = {{"shmem_put", ctx, *to, done, put_again}, (void *)src, len};

    return wsh_op_finish(&put.op, rc);
}

static __attribute__((noinline)) int finish_get(struct wsh_ctx *ctx, const struct wsh_target *to, void *dst,
                                                size_t len, struct wsh_done *done, int rc)
{
    struct rma get = {{"shmem_get", ctx, *to, done, get_again}, dst, len};

    return wsh_op_finish(&get.op, rc);
}

/* Starts, and waits for what `done` asks. */
static inline int run_put(struct wsh_ctx *ctx, const struct wsh_target *to, const void *src, size_t len,
                          struct wsh_done *done)
{
    int rc = wsh_put_once(ctx, to, src, len, done);

    return wsh_likely(wsh_op_ended(rc, done)) ? rc : finish_put(ctx, to, src, len, done, rc);
}

static inline int run_get(struct wsh_ctx *ctx, const struct wsh_target *to, void *dst, size_t len,
                          struct wsh_done *done)
{
    int rc = wsh_get_once(ctx, to, dst, len, done);

    return wsh_likely(wsh_op_ended(rc, done)) ? rc : finish_get(ctx, to, dst, len, done, rc);
}

/* A session's batch may gather the put. */
static __attribute__((noinline)) int offer_put(struct wsh_ctx *ctx, const struct wsh_target *to,
                                               const void *src, size_t len, struct wsh_done *done)
{
    struct wsh_batch *batch = wsh_ctx_batch(ctx);

    return batch && wsh_batch_takes(batch, to, len) ? wsh_batch_put(batch, to, src, len)
                                                    : run_put(ctx, to, src, len, done);
}

WSH_NO_ARRAYS int wsh_put(struct wsh_ctx *ctx, void *sym, const void *src, size_t len, int pe)
{
    struct wsh_done done = {0};
    struct wsh_target to;
    int rc = wsh_op_target_with(ctx, sym, len, pe, src, &to);

    if (wsh_unlikely(rc))
        return rc;
    return wsh_unlikely(wsh_ctx_batch(ctx) != NULL) ? offer_put(ctx, &to, src, len, &done)
                                                    : run_put(ctx, &to, src, len, &done);
}

WSH_NO_ARRAYS int wsh_get(struct wsh_ctx *ctx, void *dst, const void *sym, size_t len, int pe)
{
    struct wsh_done done = {0};
    struct wsh_target to;
    int rc = wsh_op_target_with(ctx, sym, len, pe, dst, &to);

    return wsh_unlikely(rc) ? rc : run_get(ctx, &to, dst, len, &done);
}

WSH_NO_ARRAYS int wsh_put_nbi(struct wsh_ctx *ctx, void *sym, const void *src, size_t len, int pe)
{
    struct wsh_target to;
    int rc = wsh_op_target_with(ctx, sym, len, pe, src, &to);

    if (wsh_unlikely(rc))
        return rc;
    return wsh_unlikely(wsh_ctx_batch(ctx) != NULL) ? offer_put(ctx, &to, src, len, NULL)
                                                    : run_put(ctx, &to, src, len, NULL);
}

WSH_NO_ARRAYS int wsh_get_nbi(struct wsh_ctx *ctx, void *dst, const void *sym, size_t len, int pe)
{
    struct wsh_target to;
    int rc = wsh_op_target_with(ctx, sym, len, pe, dst, &to);

    return wsh_unlikely(rc) ? rc : run_get(ctx, &to, dst, len, NULL);
}

/* Only started: `done` is waited for later, with others. */
struct counted {
    struct rma rma;
    struct wsh_done *done;
};

static int put_counted_again(struct wsh_op *op)
{
    struct counted *put = (struct counted *)op;

    return wsh_put_once(op->ctx, &op->to, put->rma.local, put->rma.len, put->done);
}

static int get_counted_again(struct wsh_op *op)
{
    struct counted *get = (struct counted *)op;

    return wsh_get_once(op->ctx, &op->to, get->rma.local, get->rma.len, get->done);
}

static int counted_start(struct counted *op, const void *sym, int pe)
{
    int rc = wsh_op_target_with(op->rma.op.ctx, sym, op->rma.len, pe, op->rma.local, &op->rma.op.to);

    if (!rc)
        rc = op->rma.op.start(&op->rma.op);
    return rc == -EAGAIN ? wsh_op_finish(&op->rma.op, rc) : rc;
}

int wsh_put_counted(struct wsh_ctx *ctx, void *sym, const void *src, size_t len, int pe,
                    struct wsh_done *done)
{
    struct counted put = {{{"shmem_put_nbi", ctx, {0}, NULL, put_counted_again}, (void *)src, len}, done};

    return counted_start(&put, sym, pe);
}

int wsh_get_counted(struct wsh_ctx *ctx, void *dst, const void *sym, size_t len, int pe,
                    struct wsh_done *done)
{
    struct counted get = {{{"shmem_get_nbi", ctx, {0}, NULL, get_counted_again}, dst, len}, done};

    return counted_start(&get, sym, pe);
}

WSH_NO_ARRAYS int wsh_put_plain(struct wsh_ctx *ctx, void *sym, const void *src, size_t len, int pe)
{
    struct wsh_done done = {0};
    struct wsh_target to;
    int rc = wsh_op_target(ctx, sym, len, pe, &to);

    return wsh_unlikely(rc) ? rc : run_put(ctx, &to, src, len, &done);
}

WSH_NO_ARRAYS int wsh_get_plain(struct wsh_ctx *ctx, void *dst, const void *sym, size_t len, int pe)
{
    struct wsh_done done = {0};
    struct wsh_target to;
    int rc = wsh_op_target(ctx, sym, len, pe, &to);

    return wsh_unlikely(rc) ? rc : run_get(ctx, &to, dst, len, &done);
}

WSH_NO_ARRAYS int wsh_put_nbi_plain(struct wsh_ctx *ctx, void *sym, const void *src, size_t len, int pe)
{
    struct wsh_target to;
    int rc = wsh_op_target(ctx, sym, len, pe, &to);

    return wsh_unlikely(rc) ? rc : run_put(ctx, &to, src, len, NULL);
}

WSH_NO_ARRAYS int wsh_get_nbi_plain(struct wsh_ctx *ctx, void *dst, const void *sym, size_t len, int pe)
{
    struct wsh_target to;
    int rc = wsh_op_target(ctx, sym, len, pe, &to);

    return wsh_unlikely(rc) ? rc : run_get(ctx, &to, dst, len, NULL);
}

/* What is left of a strided copy. */
struct blocks {
    struct wsh_target to;
    char *local;
    struct wsh_strided shape;
    ptrdiff_t there, here; /* strides at the PE and in local memory */
};

static inline void blocks_advance(struct blocks *blocks, size_t n)
{
    blocks->to.off += n * (size_t)blocks->there;
    blocks->local += (ptrdiff_t)n * blocks->here;
    blocks->shape.nelems -= n;
}

/* Several at a time, where the transport can do that. */
static int put_pieces(struct wsh_ctx *ctx, struct blocks *blocks)
{
    int rc = 0;

    while (blocks->shape.nelems > 1 && !rc) {
        size_t taken = 0;

        wsh_ctx_lock(ctx);
        rc = wsh_op_ops(&blocks->to)
                 ->put_strided(wsh_op_tctx(ctx, &blocks->to), blocks->to.rmem, blocks->to.off, blocks->local,
                               &blocks->shape, NULL, &taken);
        wsh_ctx_unlock(ctx);
        if (!rc)
            blocks_advance(blocks, taken);
    }
    return rc == -ENOTSUP ? 0 : rc;
}

int wsh_iput_start(struct wsh_ctx *ctx, const struct wsh_target *to, const void *src,
                   const struct wsh_strided *shape, size_t *taken, struct wsh_done *done)
{
    struct blocks blocks = {*to, (char *)src, *shape, shape->dst_stride, shape->src_stride};
    int rc;

    blocks_advance(&blocks, *taken);
    rc = put_pieces(ctx, &blocks);
    while (blocks.shape.nelems && !rc) {
        rc = wsh_put_once(ctx, &blocks.to, blocks.local, shape->block, done);
        if (!rc)
            blocks_advance(&blocks, 1);
    }
    *taken = shape->nelems - blocks.shape.nelems;
    return rc;
}

int wsh_iget_start(struct wsh_ctx *ctx, const struct wsh_target *to, void *dst,
                   const struct wsh_strided *shape, size_t *taken, struct wsh_done *done)
{
    struct blocks blocks = {*to, dst, *shape, shape->src_stride, shape->dst_stride};
    int rc = 0;

    blocks_advance(&blocks, *taken);
    while (blocks.shape.nelems && !rc) {
        rc = wsh_get_once(ctx, &blocks.to, blocks.local, shape->block, done);
        if (!rc)
            blocks_advance(&blocks, 1);
    }
    *taken = shape->nelems - blocks.shape.nelems;
    return rc;
}

struct strided {
    struct wsh_op op;
    void *local;
    struct wsh_strided shape;
    size_t taken;
};

static int iput_again(struct wsh_op *op)
{
    struct strided *iput = (struct strided *)op;

    return wsh_iput_start(op->ctx, &op->to, iput->local, &iput->shape, &iput->taken, op->done);
}

static int iget_again(struct wsh_op *op)
{
    struct strided *iget = (struct strided *)op;

    return wsh_iget_start(op->ctx, &op->to, iget->local, &iget->shape, &iget->taken, op->done);
}

/* All blocks are started before any is waited for. */
static int run_strided(struct strided *strided)
{
    int rc = strided->op.start(&strided->op);

    return wsh_op_ended(rc, strided->op.done) ? rc : wsh_op_finish(&strided->op, rc);
}

int wsh_iput(struct wsh_ctx *ctx, void *sym, const void *src, const struct wsh_strided *shape, int pe)
{
    struct wsh_done done = {0};
    struct strided iput = {{"shmem_iput", ctx, {0}, &done, iput_again}, (void *)src, *shape, 0};
    int rc;

    if (!shape->nelems || !shape->block)
        return 0;
    rc = wsh_op_target_with(ctx, sym, wsh_strided_span(shape, shape->dst_stride), pe, src, &iput.op.to);
    return rc ? rc : run_strided(&iput);
}

int wsh_iget(struct wsh_ctx *ctx, void *dst, const void *sym, const struct wsh_strided *shape, int pe)
{
    struct wsh_done done = {0};
    struct strided iget = {{"shmem_iget", ctx, {0}, &done, iget_again}, dst, *shape, 0};
    int rc;

    if (!shape->nelems || !shape->block)
        return 0;
    rc = wsh_op_target_with(ctx, sym, wsh_strided_span(shape, shape->src_stride), pe, dst, &iget.op.to);
    return rc ? rc : run_strided(&iget);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Issues copies, signal words and atomics on a context's stream. A stream keeps their order, so that a fence costs
 * nothing and a signal follows its data.
 */
#include "transports/nvlink/agent.h"
#include "transports/nvlink/stream.h"

#include "base/cuda/call.h"
#include "base/err.h"
#include "base/log.h"

/* The address for this GPU: in its own or a peer's device memory, or in host memory that is mapped here. */
static inline wsh_cu_ptr remote_ptr(const struct wsh_rmem *rmem, size_t off)
{
    return (wsh_cu_ptr)(uintptr_t)((rmem->gpu ? rmem->gpu : rmem->map) + off);
}

static inline wsh_cu_ptr local_ptr(const void *addr)
{
    return (wsh_cu_ptr)(uintptr_t)addr;
}

static inline bool is_aligned(wsh_cu_ptr at, size_t to)
{
    return !(at & (to - 1));
}

/* Whether the value may travel in the stream's command. Its source is then read at once, so it must be host memory. */
static bool is_word(const struct wsh_rmem *rmem, wsh_cu_ptr dst, const void *src, size_t len)
{
    return (len == 8 || len == 4) && is_aligned(dst, len) && rmem->gpu && !wsh_gpu_holds(src);
}

static int word_write(struct nvlink_ctx *ctx, wsh_cu_ptr dst, const void *src, size_t len)
{
    uint64_t v64;
    uint32_t v32;

    if (len == 8) {
        memcpy(&v64, src, 8);
        return wsh_cuda_call(stream_write64, ctx->stream, dst, v64, 0);
    }
    memcpy(&v32, src, 4);
    return wsh_cuda_call(stream_write32, ctx->stream, dst, v32, 0);
}

int nvlink_put(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src, size_t len,
               struct wsh_done *done)
{
    struct nvlink_ctx *ctx = (struct nvlink_ctx *)tctx;
    wsh_cu_ptr dst = remote_ptr(rmem, off);
    struct nvlink_op op = {rmem->pe, NVLINK_PUT, done, NULL, 0};
    int rc = len ? nvlink_stream_begin(ctx) : 0;

    if (rc || !len)
        return rc;
    if (is_word(rmem, dst, src, len)) {
        op.done = NULL; /* the source has been read */
        return nvlink_stream_end(ctx, &op, word_write(ctx, dst, src, len));
    }
    return nvlink_stream_end(ctx, &op, wsh_cuda_call(copy, dst, local_ptr(src), len, ctx->stream));
}

int nvlink_get(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, void *dst, size_t len,
               struct wsh_done *done)
{
    struct nvlink_ctx *ctx = (struct nvlink_ctx *)tctx;
    const struct nvlink_op op = {rmem->pe, NVLINK_GET, done, NULL, 0};
    int rc = len ? nvlink_stream_begin(ctx) : 0;

    if (rc || !len)
        return rc;
    return nvlink_stream_end(ctx, &op,
                             wsh_cuda_call(copy, local_ptr(dst), remote_ptr(rmem, off), len, ctx->stream));
}

static int agent_launch(struct nvlink_ctx *ctx, struct nvlink_atomic *atomic)
{
    void *args[] = {atomic};

    return wsh_cuda_call(launch, ctx->nv->agent, 1, 1, 1, 1, 1, 1, 0, ctx->stream, args, NULL);
}

static int agent_check(const struct nvlink *nv, const struct wsh_rmem *rmem)
{
    if (nv->agent && rmem->gpu)
        return 0;
    wsh_error("an atomic on device memory of PE %d needs the library's kernel, which %s", rmem->pe,
              nvlink_agent_size ? "the driver does not load: see SHMEM_DEBUG=info"
                                : "was not built; configure the library where nvcc is");
    return -ENOTSUP;
}

/* To set a word needs no kernel, and so no room on the GPU. */
int nvlink_amo(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const struct wsh_amo *amo,
               void *result, struct wsh_done *done)
{
    struct nvlink_ctx *ctx = (struct nvlink_ctx *)tctx;
    struct nvlink_op op = {rmem->pe, NVLINK_ATOMIC, result ? done : NULL, result, amo->width};
    struct nvlink_atomic atomic = {remote_ptr(rmem, off), amo->operand, amo->compare, 0, amo->op, amo->width};
    bool set = amo->op == WSH_AMO_SET && !result;
    int rc = set ? 0 : agent_check(ctx->nv, rmem);

    rc = rc ? rc : nvlink_stream_begin(ctx);
    if (rc)
        return rc;
    if (set)
        return nvlink_stream_end(ctx, &op, word_write(ctx, atomic.word, &amo->operand, amo->width));
    if (result)
        atomic.old = local_ptr(&ctx->words->old[nvlink_stream_index(ctx)]);
    return nvlink_stream_end(ctx, &op, agent_launch(ctx, &atomic));
}

static int signal_issue(struct nvlink_ctx *ctx, const struct wsh_sig *sig)
{
    struct nvlink_atomic atomic = {remote_ptr(sig->rmem, sig->off), sig->value, 0, 0, sig->op, 8};

    return sig->op == WSH_AMO_SET ? word_write(ctx, atomic.word, &sig->value, 8) : agent_launch(ctx, &atomic);
}

int nvlink_put_signal(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                      size_t len, const struct wsh_sig *sig, struct wsh_done *done)
{
    struct nvlink_ctx *ctx = (struct nvlink_ctx *)tctx;
    const struct nvlink_op op = {rmem->pe, NVLINK_SIGNAL, done, NULL, 0};
    int rc = sig->op == WSH_AMO_SET ? 0 : agent_check(ctx->nv, sig->rmem);
    int status;

    if (!rc)
        rc = nvlink_stream_begin(ctx);
    if (rc)
        return rc;
    status = len ? wsh_cuda_call(copy, remote_ptr(rmem, off), local_ptr(src), len, ctx->stream) : 0;
    return nvlink_stream_end(ctx, &op, status ? status : signal_issue(ctx, sig));
}

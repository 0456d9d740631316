/* SPDX-License-Identifier: BSD-3-Clause */
/* Strided puts: the blocks are packed into messages, and the target stores each in its place, then the signal's. */
#include "transports/efa/ops/op.h"
#include "transports/efa/set/set.h"
#include "transports/efa/set/memory.h"
#include "transports/efa/wire/msg.h"
#include "transports/efa/ops/signal.h"
#include "transports/efa/ops/slots.h"

#include <string.h>

static inline __attribute__((always_inline)) void copy(char *dst, const char *src,
                                                       const struct wsh_strided *shape, size_t block)
{
    for (size_t i = 0; i < shape->nelems; i++, dst += shape->dst_stride, src += shape->src_stride)
        memcpy(dst, src, block);
}

/* A length that the compiler knows is one load and one store. */
void wsh_efa_strided_copy(char *dst, const char *src, const struct wsh_strided *shape)
{
    switch (shape->block) {
    case 4: copy(dst, src, shape, 4); break;
    case 8: copy(dst, src, shape, 8); break;
    case 16: copy(dst, src, shape, 16); break;
    default: copy(dst, src, shape, shape->block);
    }
}

/* Blocks that a message to the PE takes. */
static size_t count_fitting(const struct wsh_efa_set *set, int pe, const struct wsh_strided *shape)
{
    size_t n = (set->peers[pe].msg_max - sizeof(struct wsh_efa_strided_msg)) / shape->block;

    return n < shape->nelems ? n : shape->nelems;
}

static int send_locked(struct wsh_efa_set *set, struct wsh_efa_ctx *ctx, const struct wsh_rmem *rmem,
                       size_t off, const void *src, const struct wsh_strided *shape,
                       const struct wsh_sig *sig)
{
    size_t len = sizeof(struct wsh_efa_strided_msg) + shape->nelems * shape->block;
    const struct wsh_strided packed = {(ptrdiff_t)shape->block, shape->src_stride, shape->block,
                                       shape->nelems};
    struct wsh_efa_flow *flow = wsh_efa_flow_of(ctx, rmem->pe);
    struct wsh_efa_strided_msg *msg;
    struct wsh_efa_req *req;

    if (wsh_unlikely(set->failed || !flow))
        return flow ? set->failed : -ENOMEM;
    if (wsh_unlikely(!wsh_efa_mem_is_host(set, rmem, src)))
        return -ENOTSUP;
    req = wsh_efa_msg_new(set, flow, WSH_EFA_WIRE_STRIDED, len);
    if (!req)
        return -EAGAIN;
    msg = (struct wsh_efa_strided_msg *)req->buf;
    msg->data = (struct wsh_efa_target){.seg = (uint8_t)rmem->seg, .off = off};
    msg->stride = (uint64_t)shape->dst_stride;
    msg->block = (uint32_t)shape->block;
    msg->zero = 0;
    msg->signal = sig ? wsh_efa_signal_target(sig) : (struct wsh_efa_target){.width = 0};
    msg->value = sig ? sig->value : 0;
    wsh_efa_strided_copy(msg->bytes, src, &packed);
    return wsh_efa_op_message(set, flow, req, sig ? WSH_EFA_SIGNALS : WSH_EFA_PUTS);
}

int wsh_efa_put_strided(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                        const struct wsh_strided *shape, const struct wsh_sig *sig, size_t *taken)
{
    struct wsh_efa_set *set = wsh_efa_set_of(tctx);
    struct wsh_strided piece = *shape;
    int rc = 0;

    if (!rmem->map)
        piece.nelems = count_fitting(set, rmem->pe, shape);
    if (piece.nelems < 2 || (uint64_t)shape->dst_stride > WSH_EFA_STRIDE_MAX ||
        (sig && piece.nelems < shape->nelems))
        return -ENOTSUP;
    *taken = piece.nelems;
    if (rmem->map) {
        wsh_efa_strided_copy(rmem->map + off, src, shape);
        if (sig)
            wsh_amo_apply64(sig->rmem->map + sig->off, sig->op, sig->value, 0);
        return 0;
    }
    wsh_efa_set_lock(set);
    rc = send_locked(set, (struct wsh_efa_ctx *)tctx, rmem, off, src, &piece, sig);
    wsh_efa_set_unlock(set);
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how an atomic travels: a message to the target's CPU, so that all roads are one atomicity domain. */
#include "transports/efa/efa.h"

static int amo_locked(struct wsh_efa_tp *tp, struct wsh_efa_ctx *ctx, const struct wsh_rmem *rmem, size_t off,
                      const struct wsh_amo *amo, void *result, struct wsh_done *done)
{
    enum wsh_efa_wire type = result ? EFA_WIRE_FETCH : EFA_WIRE_AMO;
    const struct wsh_efa_sent sent = {.owner = ctx,
                                      .result = result,
                                      .done = result ? done : NULL,
                                      .type = (uint8_t)type,
                                      .width = (uint8_t)amo->width,
                                      .fetch = result != NULL};
    struct wsh_efa_req *req;
    struct wsh_efa_amo_msg *msg;
    int pe = rmem->pe, rc;

    if (wsh_unlikely(tp->failed))
        return tp->failed;
    if (!wsh_efa_order_may(&ctx->peer[pe], ctx->epoch, &tp->native, EFA_MSG))
        return -EAGAIN;
    req = wsh_efa_msg_new(tp, pe);
    if (!req)
        return -EAGAIN;
    msg = (struct wsh_efa_amo_msg *)req->buf;
    msg->word = (struct wsh_efa_place){
        .seg = (uint8_t)rmem->seg, .op = (uint8_t)amo->op, .width = (uint8_t)amo->width, .off = off};
    msg->operand = amo->operand;
    msg->compare = amo->compare;
    rc = wsh_efa_msg_send(tp, req, type, sizeof *msg, &sent);
    if (!rc)
        wsh_efa_done_add(sent.done);
    return rc;
}

static void amo_here(void *word, const struct wsh_amo *amo, void *result)
{
    uint64_t old = wsh_amo_apply(word, amo->op, amo->width, amo->operand, amo->compare);

    if (result)
        wsh_amo_store_result(result, amo->width, old);
}

int wsh_efa_amo(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const struct wsh_amo *amo,
                void *result, struct wsh_done *done)
{
    struct wsh_efa_tp *tp = wsh_efa_tp_of(tctx->tp);
    int rc;

    if (rmem->map) {
        amo_here(rmem->map + off, amo, result);
        return 0;
    }
    wsh_efa_lock(tp);
    rc = amo_locked(tp, (struct wsh_efa_ctx *)tctx, rmem, off, amo, result, done);
    wsh_efa_unlock(tp);
    return rc;
}

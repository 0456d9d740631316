/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomics: a message to the target's CPU, which executes them, so that all paths are one atomicity domain. */
#include "transports/efa/set/set.h"
#include "transports/efa/ops/fetch.h"
#include "transports/efa/wire/msg.h"
#include "transports/efa/ops/op.h"
#include "transports/efa/ops/slots.h"

static int amo_locked(struct wsh_efa_set *set, struct wsh_efa_ctx *ctx, const struct wsh_rmem *rmem,
                      size_t off, const struct wsh_amo *amo, void *result, struct wsh_done *done)
{
    struct wsh_efa_flow *flow = wsh_efa_flow_of(ctx, rmem->pe);
    const struct wsh_efa_fetch fetch = {
        .flow = flow, .done = done, .result = result, .len = amo->width, .what = WSH_EFA_AMOS};
    struct wsh_efa_amo_msg *msg;
    struct wsh_efa_req *req;
    struct wsh_efa_op *op;

    if (wsh_unlikely(set->failed || !flow))
        return flow ? set->failed : -ENOMEM;
    req = wsh_efa_msg_new(set, flow, result ? WSH_EFA_WIRE_FETCH : WSH_EFA_WIRE_AMO, sizeof *msg);
    if (!req)
        return -EAGAIN;
    msg = (struct wsh_efa_amo_msg *)req->buf;
    msg->word = (struct wsh_efa_target){
        .seg = (uint8_t)rmem->seg, .op = (uint8_t)amo->op, .width = (uint8_t)amo->width, .off = off};
    msg->operand = amo->operand;
    msg->compare = amo->compare;
    msg->cookie = msg->zero = 0;
    if (!result)
        return wsh_efa_op_message(set, flow, req, WSH_EFA_AMOS);
    op = wsh_efa_op_new(set, flow, WSH_SRD_FETCH, WSH_EFA_WHATS);
    if (!op) {
        wsh_efa_req_put(req);
        return -EAGAIN;
    }
    op->msg = req;
    return wsh_efa_fetch_submit(set, op, &msg->cookie, &fetch);
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
    struct wsh_efa_set *set = wsh_efa_set_of(tctx);
    int rc;

    if (rmem->map) {
        amo_here(rmem->map + off, amo, result);
        return 0;
    }
    wsh_efa_set_lock(set);
    rc = amo_locked(set, (struct wsh_efa_ctx *)tctx, rmem, off, amo, result, done);
    wsh_efa_set_unlock(set);
    return rc;
}

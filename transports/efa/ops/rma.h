/* SPDX-License-Identifier: BSD-3-Clause */
/* Posts one write or read to the provider. */
#ifndef WSH_EFA_RMA_H
#define WSH_EFA_RMA_H

#include "transports/efa/wire/batch.h"
#include "transports/efa/set/errors.h"
#include "transports/efa/wire/rails.h"

/*
 * Posts the write or read (req->kind) to req->pe; `flags` besides those that every write has; `imm` goes with
 * FI_REMOTE_CQ_DATA. -EAGAIN: no room. In line, so that a put is shell, core and transport on the stack.
 */
static inline __attribute__((always_inline)) int wsh_efa_rma_post(struct wsh_efa_set *set,
                                                                  struct wsh_efa_req *req,
                                                                  const struct wsh_efa_span *span,
                                                                  uint64_t flags, uint64_t imm)
{
    struct iovec iov = {span->local, span->len};
    struct fi_rma_iov remote = {span->addr, span->len, span->key};
    void *desc = span->desc;
    struct fi_msg_rma msg = {.msg_iov = &iov,
                             .desc = &desc,
                             .iov_count = 1,
                             .addr = set->peers[req->pe].addr,
                             .rma_iov = &remote,
                             .rma_iov_count = 1,
                             .context = req,
                             .data = imm};
    ssize_t rc;

    if (wsh_unlikely(set->aside))
        return set->n_rails > 1 ? wsh_efa_rails_post(set, req, span, flags, imm)
                                : wsh_efa_batch_rma(set, req, span, flags, imm);
    if (req->kind == WSH_EFA_REQ_WRITE)
        rc = fi_writemsg(set->rail[0].ep, &msg, wsh_efa_rma_flags(flags));
    else
        rc = fi_readmsg(set->rail[0].ep, &msg, flags | FI_COMPLETION);
    if (wsh_likely(!rc)) {
        set->n_writes += req->kind == WSH_EFA_REQ_WRITE;
        wsh_efa_req_begin(set, req, span->len);
        return 0;
    }
    return wsh_efa_post_check(set, 0, req->pe, req->kind == WSH_EFA_REQ_WRITE ? "put" : "get", rc);
}

/*
 * A write or read that is an operation of its own, which may start now. In line for the same reason as
 * wsh_efa_rma_post.
 */
static inline __attribute__((always_inline)) int
wsh_efa_rma_start(struct wsh_efa_set *set, struct wsh_efa_flow *flow, struct wsh_efa_req *req,
                  const struct wsh_efa_span *span, struct wsh_done *done, uint64_t flags, uint64_t imm)
{
    int rc;

    if (!req)
        return -EAGAIN;
    rc = wsh_efa_rma_post(set, req, span, flags, imm);
    if (rc) {
        wsh_efa_req_put(req);
        return rc;
    }
    req->flow = flow;
    req->done = done;
    wsh_efa_done_add(done);
    return 0;
}

#endif

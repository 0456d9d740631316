/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how one write or read is given to the provider. */
#ifndef WSH_EFA_RMA_H
#define WSH_EFA_RMA_H

#include "transports/efa/rails.h"
#include "transports/efa/run.h"

/*
 * Posts the write or read (req->kind) to req->pe; `flags` besides those that every write has; `imm` goes with
 * FI_REMOTE_CQ_DATA. -EAGAIN: no room. In line, so that a put is shell, core and transport on the stack.
 */
static inline __attribute__((always_inline)) int wsh_efa_post(struct wsh_efa_tp *tp, struct wsh_efa_req *req,
                                                              const struct wsh_efa_span *span, uint64_t flags,
                                                              uint64_t imm)
{
    struct iovec iov = {span->local, span->len};
    struct fi_rma_iov remote = {span->addr, span->len, span->key};
    void *desc = span->desc;
    struct fi_msg_rma msg = {.msg_iov = &iov,
                             .desc = &desc,
                             .iov_count = 1,
                             .addr = tp->peers[req->pe].addr,
                             .rma_iov = &remote,
                             .rma_iov_count = 1,
                             .context = req,
                             .data = imm};
    ssize_t rc;

    if (wsh_unlikely(tp->aside))
        return tp->n_rails > 1 ? wsh_efa_rails_post(tp, req, span, flags, imm)
                               : wsh_efa_run_post(tp, req, span, flags, imm);
    if (req->kind == EFA_REQ_WRITE)
        rc = fi_writemsg(tp->rail[0].ep, &msg, flags | FI_COMPLETION | FI_DELIVERY_COMPLETE);
    else
        rc = fi_readmsg(tp->rail[0].ep, &msg, flags | FI_COMPLETION);
    if (wsh_likely(!rc)) {
        tp->n_writes += req->kind == EFA_REQ_WRITE;
        wsh_efa_took(tp, req);
        return 0;
    }
    return wsh_efa_posted(tp, 0, req->pe, req->kind == EFA_REQ_WRITE ? "put" : "get", rc);
}

#endif

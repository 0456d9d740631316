/* SPDX-License-Identifier: BSD-3-Clause */
/* Posts requests to the provider in batches, several for one doorbell; see batch.c. */
#ifndef WSH_EFA_BATCH_H
#define WSH_EFA_BATCH_H

#include "transports/efa/set/set.h"

/*
 * What one write or read moves: local bytes with their descriptor (wsh_efa_mr_desc), and their remote place. `key` is
 * the provider's with one rail; with several it is the segment, whose keys each path has.
 */
struct wsh_efa_span {
    void *local, *desc;
    size_t len;
    uint64_t addr, key;
};

/* Of a write, which is complete at the target; with FI_INJECT_COMPLETE once its source may be reused. */
static inline uint64_t wsh_efa_rma_flags(uint64_t flags)
{
    return flags | FI_COMPLETION | (flags & FI_INJECT_COMPLETE ? 0 : FI_DELIVERY_COMPLETE);
}

/* Notes in req->wr what a write or read moves; bytes to be injected are copied there. */
void wsh_efa_wr_fill(struct wsh_efa_req *req, const struct wsh_efa_span *span, uint64_t flags);

/*
 * Posts a message, or a write or read whose work request is filled, to that rail, or holds it. As the provider answers;
 * also -FI_EAGAIN where something held goes first.
 */
ssize_t wsh_efa_batch_post(struct wsh_efa_set *set, struct wsh_efa_req *req, unsigned rail, uint64_t imm);
/* With one rail: as wsh_efa_rma_post, and for a message. */
int wsh_efa_batch_rma(struct wsh_efa_set *set, struct wsh_efa_req *req, const struct wsh_efa_span *span,
                      uint64_t flags, uint64_t imm);
/* The same, of a write or read that is filled. */
int wsh_efa_batch_start(struct wsh_efa_set *set, struct wsh_efa_req *req, uint64_t imm);
int wsh_efa_batch_send(struct wsh_efa_set *set, struct wsh_efa_req *req);
int wsh_efa_batch_finish(struct wsh_efa_set *set);

/* Of a context, over several calls (wsh_tp_ops). */
void wsh_efa_ctx_batch_begin(struct wsh_tctx *tctx);
int wsh_efa_ctx_batch_end(struct wsh_tctx *tctx);

/* Begin and end stand in one call under the lock, with no fi_cq_read between. 0 or final. */
static inline void wsh_efa_batch_begin(struct wsh_efa_set *set)
{
    if (set->doorbells)
        set->batching = set->aside = true;
}

static inline int wsh_efa_batch_end(struct wsh_efa_set *set)
{
    return set->doorbells ? wsh_efa_batch_finish(set) : 0;
}

#endif

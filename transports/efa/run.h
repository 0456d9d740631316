/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how requests are given to the provider in runs: several for one doorbell. See run.c. */
#ifndef WSH_EFA_RUN_H
#define WSH_EFA_RUN_H

#include "transports/efa/efa.h"

/*
 * What one write or read moves: local bytes with their descriptor (wsh_efa_desc), and their remote place. `key` is the
 * provider's with one rail; with several it is the segment, whose keys each path has.
 */
struct wsh_efa_span {
    void *local, *desc;
    size_t len;
    uint64_t addr, key;
};

/* Notes in req->way what a write or read moves; bytes to be injected are copied there. */
void wsh_efa_way_fill(struct wsh_efa_req *req, const struct wsh_efa_span *span, uint64_t flags);

/*
 * Gives a message, or a write or read whose way is filled, to that rail, or holds it. As the provider answers; also
 * -FI_EAGAIN where something held goes first.
 */
ssize_t wsh_efa_run_give(struct wsh_efa_tp *tp, struct wsh_efa_req *req, unsigned rail, uint64_t imm);
/* With one rail: as wsh_efa_post, and for a message. */
int wsh_efa_run_post(struct wsh_efa_tp *tp, struct wsh_efa_req *req, const struct wsh_efa_span *span,
                     uint64_t flags, uint64_t imm);
int wsh_efa_run_send(struct wsh_efa_tp *tp, struct wsh_efa_req *req);
int wsh_efa_run_finish(struct wsh_efa_tp *tp);

/* Begin and end stand in one call under the lock, with no fi_cq_read between. 0 or final. */
static inline void wsh_efa_run_begin(struct wsh_efa_tp *tp)
{
    if (tp->doorbells)
        tp->running = tp->aside = true;
}

static inline int wsh_efa_run_end(struct wsh_efa_tp *tp)
{
    return tp->doorbells ? wsh_efa_run_finish(tp) : 0;
}

#endif

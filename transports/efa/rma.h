/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how one write or read is given to the provider. */
#ifndef WSH_EFA_RMA_H
#define WSH_EFA_RMA_H

#include "transports/efa/efa.h"

/* What one write or read moves: local bytes with their descriptor, and their remote place. */
struct wsh_efa_span {
    void *local, *desc;
    size_t len;
    uint64_t addr, key;
};

/* Posts the write or read (req->kind) to req->pe; `flags` besides those that every write has. -EAGAIN: no room. */
int wsh_efa_post(struct wsh_efa_tp *tp, struct wsh_efa_req *req, const struct wsh_efa_span *span,
                 uint64_t flags);

#endif

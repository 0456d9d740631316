/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that a REPLY answers: fetching atomics, and gets in one message. */
#ifndef WSH_EFA_FETCH_H
#define WSH_EFA_FETCH_H

#include "transports/efa/ops/op.h"

#define WSH_EFA_FETCHES 1024u /* under way at a time, to all PEs */

/* A request that a REPLY will answer. */
struct wsh_efa_fetch {
    struct wsh_efa_flow *flow; /* NULL: free */
    struct wsh_done *done;
    void *result;
    uint32_t len;        /* bytes of result */
    uint16_t generation; /* the upper half of the cookie, above the index */
    uint16_t next;       /* free */
    uint8_t what;
};

/* Those of an endpoint set. */
struct wsh_efa_fetches {
    struct wsh_efa_fetch *all;
    uint16_t free;
};

int wsh_efa_fetch_init(struct wsh_efa_set *set);
/* Submits the request `op`, whose message has its cookie at *cookie. */
int wsh_efa_fetch_submit(struct wsh_efa_set *set, struct wsh_efa_op *op, uint32_t *cookie,
                         const struct wsh_efa_fetch *fetch);
/* The `len` bytes that answer a request of this PE to `pe`. 0 or -EPROTO. */
int wsh_efa_fetch_answered(struct wsh_efa_set *set, int pe, uint32_t cookie, const void *bytes, size_t len);
/* The peer has failed, and the message has gone: ends with the value 0; a get leaves its memory as it was. */
void wsh_efa_fetch_give_up(struct wsh_efa_set *set, struct wsh_efa_fetch *fetch);
/* A get in one message and its answer. */
int wsh_efa_fetch_get(struct wsh_efa_set *set, struct wsh_efa_flow *flow, const struct wsh_efa_target *data,
                      void *dst, size_t len, struct wsh_done *done);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows, for every (PE, segment), the transport that reaches it. Built once at set-up, then read-only. */
#ifndef WSH_ROUTE_H
#define WSH_ROUTE_H

#include "transports/transport.h"

#define WSH_TP_MAX 8 /* transports open at the same time: as many as struct wsh_roads has bits */

struct wsh_job;
struct wsh_peer_blob;

struct wsh_route {
    const struct wsh_tp_ops *ops; /* NULL = not reachable */
    unsigned tp;                  /* index into job->tp and ctx->tctx */
    struct wsh_rmem rmem;
};

/* Opens the transports that the settings allow; `network` = some peer may be on another host. */
int wsh_route_open(struct wsh_job *job, bool network);
void wsh_route_close(struct wsh_job *job);

/* Collective: connects all transports to the peers, attaches their memory and fills the table. */
int wsh_route_connect(struct wsh_job *job, const struct wsh_peer_blob *peers);

/*
 * Device memory, at its attach. open: opens the transports that reach it, registers the device heap; close: undoes that
 * and forgets the routes. connect: collective, as above; PEs of other hosts stay without a route.
 */
int wsh_route_open_device(struct wsh_job *job);
void wsh_route_close_device(struct wsh_job *job, unsigned first_tp);
int wsh_route_connect_device(struct wsh_job *job, const struct wsh_peer_blob *peers);

/* One further segment of device memory, by the transports from `first_tp` on: registered, found at peers, forgotten. */
int wsh_route_register(struct wsh_job *job, unsigned first_tp, const struct wsh_mem *mem);
int wsh_route_connect_segment(struct wsh_job *job, int seg, const struct wsh_peer_blob *peers);
void wsh_route_withdraw(struct wsh_job *job, unsigned first_tp, int seg);

/* One line to `text` that says why (addr, len, pe) is no valid target: for the caller's error message. */
void wsh_route_explain(const struct wsh_job *job, const void *addr, size_t len, int pe, char *text,
                       size_t size);

/* The settings name transports that there are. 0, or -EINVAL (logged). */
int wsh_route_check_lists(const struct wsh_job *job);

/* May `ops` serve `seg` by the settings? */
bool wsh_route_allows(const struct wsh_job *job, const struct wsh_tp_ops *ops, int seg);

/* Registers memory with transport `tp`, and notes what peers need of it. */
int wsh_route_register_with(struct wsh_job *job, unsigned tp, const struct wsh_mem *mem);

/* Whether the settings let PEs of one host share the memory of their heaps. */
bool wsh_route_shares_memory(const struct wsh_job *job);

/* "local", "efa" …: the transport that reaches the host heap of `pe`. */
const char *wsh_route_name(const struct wsh_job *job, int pe);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges among the PEs of a unique id's world, at its root. */
#ifndef WSH_BOOTSTRAP_UID_GATHER_H
#define WSH_BOOTSTRAP_UID_GATHER_H

#include "bootstrap/uid/world.h"

/* Member `at` of the exchange has sent conn's message. 0, -EPROTO (it does not fit to the others') or -ENOMEM. */
int wsh_uid_gather_take(struct wsh_uid_gather *gather, int at, struct wsh_uid_conn *conn);

/* Of a message, in words. */
const char *wsh_uid_gather_name(uint32_t type);

/* Forgets what member `at` has sent. */
void wsh_uid_gather_drop(struct wsh_uid_gather *gather, int at);

/*
 * The answer once all have come; the exchange is empty again. host[rank], of n_hosts: blobs of all are packed by host.
 * NULL: that was not possible; a line says why, or there is no memory.
 */
struct wsh_uid_buf *wsh_uid_gather_finish(struct wsh_uid_gather *gather, const int *host, int n_hosts);

int wsh_uid_gather_init(struct wsh_uid_gather *gather, int n);
void wsh_uid_gather_fini(struct wsh_uid_gather *gather);

/* Writes to `text` which ranks `have` not, as "1, 3, 5 to 9". have(context, rank). Returns how many. */
int wsh_uid_missing(char *text, size_t size, int n, bool (*have)(const void *context, int rank),
                    const void *context);

#endif

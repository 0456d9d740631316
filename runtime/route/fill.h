/* SPDX-License-Identifier: BSD-3-Clause */
/* The entries of the routing object: made, filled from what a PE has published, and given up. */
#ifndef WSH_ROUTE_FILL_H
#define WSH_ROUTE_FILL_H

#include "runtime/route/blob.h"
#include "runtime/route/route.h"

/* The entry of one PE; its memory is there. */
struct wsh_rmem *wsh_entry_of(const struct wsh_job *job, int pe, int seg, enum wsh_route_entry entry);

/* Memory for the entries of a segment. 0 or -ENOMEM. Close gives up what peers' memory they hold. */
int wsh_entry_open(struct wsh_job *job, int seg, enum wsh_route_entry entry);
void wsh_entry_close(struct wsh_job *job, int seg, enum wsh_route_entry entry);

/* Fills one entry from the PE's blob. 0 or a negative errno. */
typedef int wsh_entry_fill(struct wsh_job *job, int pe, int seg, const struct wsh_peer_blob *peer);

/* The first transport that reaches it for everything; other hosts' device memory may have none. Logs. */
wsh_entry_fill wsh_entry_fill_main;
/*
 * Host memory: the transport that copies between it and device memory here, from its mapping or from what the peer
 * published.
 */
wsh_entry_fill wsh_entry_fill_copies;
/* Device memory of a PE on another host: by a NIC that reaches it. */
wsh_entry_fill wsh_entry_fill_nics;

/* The entries of all PEs that have the segment. */
int wsh_entry_fill_segment(struct wsh_job *job, int seg, enum wsh_route_entry entry, wsh_entry_fill *fill,
                           const struct wsh_peer_blob *peers);

#endif

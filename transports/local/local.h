/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the local transport: the peers of this host and the mappings of their memory. */
#ifndef WSH_LOCAL_H
#define WSH_LOCAL_H

#include "transports/fds.h"

/* One segment, mine or a peer's. */
struct local_seg {
    char *map; /* where it is mapped here */
    uint64_t len;
    int fd; /* mine only */
};

struct local_peer {
    bool received; /* it has given its memory */
    struct local_seg seg[WSH_SEGS_HOST];
};

struct local {
    struct wsh_tp tp;
    int my_pe, n_pes;
    bool dumped; /* core dumps hold the memory of peers */
    struct wsh_fds fds;
    struct local_seg mine[WSH_SEGS_HOST];
    struct local_peer *peers; /* [n_pes] */
};

/* exchange.c: the mappings of the peers. */
int local_connect(struct wsh_tp *tp, const struct wsh_tp_peers *peers);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows the state of the local transport: peers of this host and the mappings of their memory. */
#ifndef WSH_LOCAL_H
#define WSH_LOCAL_H

#include "transports/transport.h"

#include <sys/socket.h>
#include <sys/un.h>

/* What a PE tells its peers: where its socket is, and whose it is. */
struct local_address {
    uint32_t version;
    uint32_t uid;
    uint32_t name_len; /* bytes of `name` in use; it is in the abstract name space */
    char name[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

/* One segment, mine or a peer's. */
struct local_seg {
    char *map; /* where it is mapped here */
    uint64_t len;
    int fd; /* mine only */
};

struct local_peer {
    bool wanted; /* on this host: descriptors are exchanged with it */
    bool sent, received;
    uint32_t uid;
    struct local_seg seg[WSH_SEGS];
};

struct local {
    struct wsh_tp tp;
    int my_pe, n_pes;
    int sock; /* -1 once all descriptors are exchanged */
    struct local_seg mine[WSH_SEGS];
    struct local_peer *peers; /* [n_pes], after connect began */
};

/* exchange.c: descriptors between the PEs of a host. */
int local_socket_open(struct local *local);
int local_address(struct wsh_tp *tp, void *blob, size_t *len);
int local_connect(struct wsh_tp *tp, const struct wsh_tp_peers *peers);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange of memory descriptors among the PEs of one host: by datagrams between sockets of the abstract name
 * space, which leave nothing behind. Each PE asks every other, and sends with that a socket into which the gift goes: a
 * name may have passed to another process since its PE told it, and whoever has it now gets an empty socket, no memory.
 */
#ifndef WSH_TRANSPORT_FDS_H
#define WSH_TRANSPORT_FDS_H

#include "transports/transport.h"

#include <sys/socket.h>
#include <sys/un.h>

/* The address blob of a PE: its socket and its user. */
struct wsh_fds_address {
    uint32_t version;
    uint32_t uid;
    uint32_t name_len; /* bytes of `name` in use; it is in the abstract name space */
    char name[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

#define WSH_FDS_MAX 240 /* a gift has no more: one datagram carries 253 */

/* Descriptors, each of a segment or of the next part of one. */
struct wsh_fds_gift {
    uint32_t n;
    uint32_t seg[WSH_FDS_MAX];
    uint64_t len[WSH_FDS_MAX];
    int fd[WSH_FDS_MAX];
};

struct wsh_fds_peer {
    bool wanted; /* on this host: descriptors are exchanged with it */
    bool asked, given, received;
    int to; /* where it wants its gift; -1 before it has asked and after it was given */
    uint32_t uid;
};

struct wsh_fds {
    const char *name; /* of the transport, for messages */
    int my_pe, n_pes;
    uint32_t round; /* of exchanges */
    int sock;       /* where peers ask; -1 after wsh_fds_end */
    int inbox[2];   /* where their gifts come out, and the end that they are sent; -1 between rounds */
    struct wsh_fds_peer *peers; /* [n_pes], after the exchange began */
    unsigned foreign;           /* datagrams from others */
};

/* 0 or a logged error. */
int wsh_fds_open(struct wsh_fds *fds, const char *name, int my_pe, int n_pes);
void wsh_fds_close(struct wsh_fds *fds);

/* Writes a struct wsh_fds_address. 0 or a negative errno. */
int wsh_fds_address(const struct wsh_fds *fds, void *blob, size_t *len);

/* Notes which peers take part, and checks their addresses; the first exchange does so too. 0 or a logged error. */
int wsh_fds_begin(struct wsh_fds *fds, const struct wsh_tp_peers *peers);

/*
 * One round, the same on all PEs of this host: gives `mine` to every peer of this host and calls `take` once for each
 * peer's gift; the descriptors in it are closed afterwards. 0: done; -EAGAIN: not all peers have come, call again;
 * else a logged error, or what `take` returned.
 */
int wsh_fds_exchange(struct wsh_fds *fds, const struct wsh_tp_peers *peers, const struct wsh_fds_gift *mine,
                     int (*take)(void *arg, int pe, const struct wsh_fds_gift *gift), void *arg);

/* There will be no further round. */
void wsh_fds_end(struct wsh_fds *fds);

#endif

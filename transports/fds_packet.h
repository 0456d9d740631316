/* SPDX-License-Identifier: BSD-3-Clause */
/* One datagram of the exchange of descriptors (fds.h) as it is received: bytes, what came along, who sent it. */
#ifndef WSH_TRANSPORT_FDS_PACKET_H
#define WSH_TRANSPORT_FDS_PACKET_H

#include "transports/fds.h"

#include <sys/resource.h>

/* Every datagram begins so. */
struct wsh_fds_head {
    uint32_t version, kind;
    int32_t pe; /* its source */
    uint32_t round;
    uint64_t tag; /* of the job's secret */
};

struct wsh_fds_offer {
    struct wsh_fds_head head;
    uint64_t n;                /* descriptors that follow */
    uint64_t len[WSH_FDS_MAX]; /* length of each */
    uint32_t seg[WSH_FDS_MAX]; /* segment of each */
};

struct wsh_fds_packet {
    struct wsh_fds_offer bytes; /* of a question only the head */
    ssize_t size;
    int n, fd[WSH_FDS_MAX];
    bool cut; /* descriptors did not come along, since this PE may have no more files open */
    bool has_creds;
    uid_t uid;
    struct rlimit files; /* as it was before; wsh_fds_packet_drop sets it again */
    bool raised;
};

/* Raises the soft limit of open files as far as may be; the caller sets *before again. False: that is no more. */
bool wsh_fds_files_raise(struct rlimit *before);

/*
 * Takes the next one from `sock`; false where there is none. Descriptors beyond WSH_FDS_MAX are closed at once. Where
 * the soft limit of open files is in the way it is raised, until wsh_fds_packet_drop.
 */
bool wsh_fds_packet_take(int sock, struct wsh_fds_packet *got);

/* Closes the descriptors that are left. */
void wsh_fds_packet_drop(struct wsh_fds_packet *got);

/* Sends `bytes` with n descriptors to `to` or, NULL, to the peer of `sock`. 1: sent; 0: not now; else -errno. */
int wsh_fds_packet_send(int sock, const struct wsh_fds_address *to, const void *bytes, size_t len,
                        const int *fd, size_t n);

#endif

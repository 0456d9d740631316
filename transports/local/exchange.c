/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows how PEs of one host give each other their memory: descriptors in datagrams between sockets of the abstract
 * name space, which leave nothing behind. A datagram counts only if the kernel says that its sender runs as the
 * user that the bootstrap named for that PE.
 */
#define _GNU_SOURCE
#include "transports/local/local.h"

#include "runtime/base/log.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCAL_VERSION 1

struct offer {
    uint32_t version;
    int32_t pe;
    uint32_t n;             /* descriptors that follow */
    uint32_t seg[WSH_SEGS]; /* which segment each is */
    uint64_t len[WSH_SEGS];
};

union control {
    struct cmsghdr head;
    char space[CMSG_SPACE(WSH_SEGS * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
};

int local_socket_open(struct local *local)
{
    const struct sockaddr_un any = {.sun_family = AF_UNIX};
    int on = 1;

    local->sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (local->sock < 0 || bind(local->sock, (const struct sockaddr *)&any, sizeof any.sun_family) ||
        setsockopt(local->sock, SOL_SOCKET, SO_PASSCRED, &on, sizeof on)) {
        int err = errno;

        wsh_error("no socket for the PEs of this host: %s; raise the limit of open files (ulimit -n)",
                  wsh_strerror(err));
        return -err;
    }
    return 0;
}

int local_address(struct wsh_tp *tp, void *blob, size_t *len)
{
    struct local *local = (struct local *)tp;
    struct local_address *address = blob;
    struct sockaddr_un name;
    socklen_t size = sizeof name;

    if (getsockname(local->sock, (struct sockaddr *)&name, &size))
        return -errno;
    *address = (struct local_address){LOCAL_VERSION, getuid(), size - (socklen_t)sizeof name.sun_family, ""};
    memcpy(address->name, name.sun_path, address->name_len);
    *len = sizeof *address;
    return 0;
}

static bool is_valid(const struct local_address *address, size_t len)
{
    return len == sizeof *address && address->version == LOCAL_VERSION &&
           address->name_len <= sizeof address->name;
}

static int begin(struct local *local, const struct wsh_tp_peers *peers)
{
    local->peers = calloc((size_t)local->n_pes, sizeof *local->peers);
    if (!local->peers)
        return -ENOMEM;
    for (int pe = 0; pe < local->n_pes; pe++) {
        struct local_peer *peer = &local->peers[pe];

        if (pe == local->my_pe || !peers->same_host[pe] || !peers->len[pe])
            continue;
        if (!is_valid(peers->address[pe], peers->len[pe])) {
            wsh_error("PE %d speaks another version of the local transport; use one warpshmem for all PEs",
                      pe);
            return -EPROTO;
        }
        peer->wanted = true;
        peer->uid = ((const struct local_address *)peers->address[pe])->uid;
    }
    return 0;
}

/* 1: sent; 0: not now; < 0: final. */
static int send_offer(struct local *local, const struct local_address *to, int pe)
{
    struct offer offer = {.version = LOCAL_VERSION, .pe = local->my_pe};
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    union control control = {0};
    struct iovec iov = {&offer, sizeof offer};
    struct msghdr msg = {.msg_name = &name, .msg_iov = &iov, .msg_iovlen = 1};
    int fds[WSH_SEGS];

    for (uint32_t seg = 0; seg < WSH_SEGS; seg++) {
        if (local->mine[seg].fd < 0)
            continue;
        fds[offer.n] = local->mine[seg].fd;
        offer.seg[offer.n] = seg;
        offer.len[offer.n++] = local->mine[seg].len;
    }
    memcpy(name.sun_path, to->name, to->name_len);
    msg.msg_namelen = (socklen_t)(sizeof name.sun_family + to->name_len);
    if (offer.n) {
        msg.msg_control = &control;
        msg.msg_controllen = CMSG_SPACE(offer.n * sizeof(int));
        control.head = (struct cmsghdr){CMSG_LEN(offer.n * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.head), fds, offer.n * sizeof(int));
    }
    if (sendmsg(local->sock, &msg, MSG_NOSIGNAL) == (ssize_t)sizeof offer)
        return 1;
    if (errno == EAGAIN || errno == ENOBUFS || errno == EINTR || errno == ETOOMANYREFS)
        return 0;
    wsh_error("cannot give memory to PE %d on this host: %s; it has ended, or the PEs are in different "
              "containers (then set SHMEM_TRANSPORTS=efa)",
              pe, wsh_strerror(errno));
    return -errno;
}

/* What the control messages of a datagram hold. */
struct received {
    int n, fds[WSH_SEGS];
    bool has_creds;
    uid_t uid;
};

static void read_control(struct msghdr *msg, struct received *got)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
            got->n = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
            memcpy(got->fds, CMSG_DATA(c), (size_t)got->n * sizeof(int));
        } else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS) {
            struct ucred creds;

            memcpy(&creds, CMSG_DATA(c), sizeof creds);
            got->has_creds = true;
            got->uid = creds.uid;
        }
    }
}

static bool is_from_peer(const struct local *local, const struct offer *offer, ssize_t size,
                         const struct received *got)
{
    const struct local_peer *peer;

    if (size != (ssize_t)sizeof *offer || offer->version != LOCAL_VERSION || offer->pe < 0 ||
        offer->pe >= local->n_pes || offer->n != (uint32_t)got->n)
        return false;
    peer = &local->peers[offer->pe];
    return peer->wanted && !peer->received && got->has_creds && got->uid == peer->uid;
}

static int map_seg(struct local_peer *peer, uint32_t seg, uint64_t len, int fd)
{
    struct stat st;
    char *map;

    if (seg >= WSH_SEGS || peer->seg[seg].map || fstat(fd, &st) || (uint64_t)st.st_size < len)
        return -EPROTO;
    map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return -errno;
    madvise(map, len, MADV_HUGEPAGE);
    peer->seg[seg].map = map;
    peer->seg[seg].len = len;
    return 0;
}

/* Maps what the offer holds; the descriptors are closed in any case. */
static int take_offer(struct local *local, const struct offer *offer, const struct received *got)
{
    struct local_peer *peer = &local->peers[offer->pe];
    int rc = 0;

    for (int i = 0; i < got->n && !rc; i++)
        rc = map_seg(peer, offer->seg[i], offer->len[i], got->fds[i]);
    if (rc)
        wsh_error("cannot map the memory of PE %d: %s; lower SHMEM_SYMMETRIC_SIZE or raise the limit of "
                  "address space (ulimit -v)",
                  offer->pe, wsh_strerror(rc));
    peer->received = true;
    return rc;
}

/* 1: took one; 0: nothing there; < 0: final. */
static int receive_offer(struct local *local)
{
    struct offer offer;
    union control control;
    struct iovec iov = {&offer, sizeof offer};
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct received got = {0};
    ssize_t size = recvmsg(local->sock, &msg, MSG_CMSG_CLOEXEC);
    int rc = 1;

    if (size < 0)
        return 0;
    read_control(&msg, &got);
    if (is_from_peer(local, &offer, size, &got))
        rc = take_offer(local, &offer, &got) ?: 1;
    else
        wsh_warn("ignored a datagram that is not from a PE of this job (user %d)",
                 got.has_creds ? (int)got.uid : -1);
    for (int i = 0; i < got.n; i++)
        close(got.fds[i]);
    return rc;
}

static int exchange(struct local *local, const struct wsh_tp_peers *peers)
{
    bool all = true;
    int rc;

    do {
        rc = receive_offer(local);
    } while (rc > 0);
    for (int k = 1; k < local->n_pes && rc >= 0; k++) {
        int pe = (local->my_pe + k) % local->n_pes;
        struct local_peer *peer = &local->peers[pe];

        if (peer->wanted && !peer->sent) {
            rc = send_offer(local, peers->address[pe], pe);
            peer->sent = rc > 0;
        }
        all &= !peer->wanted || (peer->sent && peer->received);
    }
    if (rc < 0)
        return rc;
    return all ? 0 : -EAGAIN;
}

int local_connect(struct wsh_tp *tp, const struct wsh_tp_peers *peers)
{
    struct local *local = (struct local *)tp;
    int rc = local->peers ? 0 : begin(local, peers);

    if (!rc)
        rc = exchange(local, peers);
    if (rc)
        return rc;
    close(local->sock);
    local->sock = -1;
    return 0;
}

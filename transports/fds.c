/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends and receives the datagrams that carry descriptors. A datagram is accepted only if the kernel says that its
 * sender runs as the user that the bootstrap named for that PE.
 */
#define _GNU_SOURCE
#include "transports/fds.h"

#include "base/log.h"

#include <stdlib.h>
#include <unistd.h>

#define FDS_VERSION 2

struct offer {
    uint32_t version;
    int32_t pe;
    uint32_t n;                /* descriptors that follow */
    uint32_t round;            /* of this exchange */
    uint32_t seg[WSH_FDS_MAX]; /* which segment each is */
    uint64_t len[WSH_FDS_MAX];
};

/* Datagrams received, beyond one a PE, before sending again: a flood from strangers must not stop the exchange. */
#define RECEIVES 64

/*
 * All descriptors that one datagram may carry (the kernel's SCM_MAX_FD) have room: what the kernel itself would have to
 * cut off is not closed everywhere (qemu's user mode leaves it open).
 */
#define MAX_SENT_FDS 253

union control {
    struct cmsghdr head;
    char space[CMSG_SPACE(MAX_SENT_FDS * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
};

int wsh_fds_open(struct wsh_fds *fds, const char *name, int my_pe, int n_pes)
{
    const struct sockaddr_un any = {.sun_family = AF_UNIX};
    int on = 1;

    *fds = (struct wsh_fds){.name = name, .my_pe = my_pe, .n_pes = n_pes};
    fds->sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fds->sock < 0 || bind(fds->sock, (const struct sockaddr *)&any, sizeof any.sun_family) ||
        setsockopt(fds->sock, SOL_SOCKET, SO_PASSCRED, &on, sizeof on)) {
        int err = errno;

        wsh_error("no socket for the PEs of this host: %s; raise the limit of open files (ulimit -n)",
                  wsh_strerror(err));
        return -err;
    }
    return 0;
}

void wsh_fds_close(struct wsh_fds *fds)
{
    if (fds->sock >= 0)
        close(fds->sock);
    free(fds->peers);
    *fds = (struct wsh_fds){.sock = -1};
}

int wsh_fds_address(const struct wsh_fds *fds, void *blob, size_t *len)
{
    struct wsh_fds_address *address = blob;
    struct sockaddr_un name;
    socklen_t size = sizeof name;

    if (getsockname(fds->sock, (struct sockaddr *)&name, &size))
        return -errno;
    *address = (struct wsh_fds_address){FDS_VERSION, getuid(), size - (socklen_t)sizeof name.sun_family, ""};
    memcpy(address->name, name.sun_path, address->name_len);
    *len = sizeof *address;
    return 0;
}

static bool is_valid(const struct wsh_fds_address *address, size_t len)
{
    return len == sizeof *address && address->version == FDS_VERSION &&
           address->name_len <= sizeof address->name;
}

int wsh_fds_begin(struct wsh_fds *fds, const struct wsh_tp_peers *peers)
{
    fds->peers = calloc((size_t)fds->n_pes, sizeof *fds->peers);
    if (!fds->peers)
        return -ENOMEM;
    for (int pe = 0; pe < fds->n_pes; pe++) {
        struct wsh_fds_peer *peer = &fds->peers[pe];

        if (pe == fds->my_pe || !peers->same_host[pe] || !peers->len[pe])
            continue;
        if (!is_valid(peers->address[pe], peers->len[pe])) {
            wsh_error("PE %d speaks another version of the %s transport; use one warpshmem for all PEs", pe,
                      fds->name);
            return -EPROTO;
        }
        peer->wanted = true;
        peer->uid = ((const struct wsh_fds_address *)peers->address[pe])->uid;
    }
    return 0;
}

static void attach_descriptors(struct msghdr *msg, union control *control, const struct wsh_fds_gift *mine)
{
    if (!mine->n)
        return;
    msg->msg_control = control;
    msg->msg_controllen = CMSG_SPACE(mine->n * sizeof(int));
    control->head = (struct cmsghdr){CMSG_LEN(mine->n * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(&control->head), mine->fd, mine->n * sizeof(int));
}

/* 1: sent; 0: not now; < 0: final. */
static int send_offer(struct wsh_fds *fds, const struct wsh_fds_address *to, int pe,
                      const struct wsh_fds_gift *mine)
{
    struct offer offer = {.version = FDS_VERSION, .pe = fds->my_pe, .n = mine->n, .round = fds->round};
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    union control control = {0};
    struct iovec iov = {&offer, sizeof offer};
    struct msghdr msg = {.msg_name = &name, .msg_iov = &iov, .msg_iovlen = 1};

    memcpy(offer.seg, mine->seg, sizeof offer.seg);
    memcpy(offer.len, mine->len, sizeof offer.len);
    memcpy(name.sun_path, to->name, to->name_len);
    msg.msg_namelen = (socklen_t)(sizeof name.sun_family + to->name_len);
    attach_descriptors(&msg, &control, mine);
    if (sendmsg(fds->sock, &msg, MSG_NOSIGNAL) == (ssize_t)sizeof offer)
        return 1;
    if (errno == EAGAIN || errno == ENOBUFS || errno == EINTR || errno == ETOOMANYREFS)
        return 0;
    wsh_error("cannot give memory to PE %d on this host: %s; it has ended, or the PEs are in different "
              "containers (then set SHMEM_TRANSPORTS=efa)",
              pe, wsh_strerror(errno));
    return -errno;
}

/* What the control messages of a datagram hold; descriptors beyond those that a PE may give are closed at once. */
struct received {
    int n, fds[WSH_FDS_MAX];
    bool has_creds;
    uid_t uid;
};

static void read_descriptors(const struct cmsghdr *control, struct received *got)
{
    size_t n = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);

    for (size_t i = 0; i < n; i++) {
        int fd;

        memcpy(&fd, CMSG_DATA(control) + i * sizeof fd, sizeof fd);
        if (got->n < WSH_FDS_MAX)
            got->fds[got->n++] = fd;
        else
            close(fd);
    }
}

static void read_control(struct msghdr *msg, struct received *got)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
            read_descriptors(c, got);
        } else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS) {
            struct ucred creds;

            memcpy(&creds, CMSG_DATA(c), sizeof creds);
            got->has_creds = true;
            got->uid = creds.uid;
        }
    }
}

static bool is_from_peer(const struct wsh_fds *fds, const struct offer *offer, ssize_t size,
                         const struct received *got)
{
    const struct wsh_fds_peer *peer;

    if (size != (ssize_t)sizeof *offer || offer->version != FDS_VERSION || offer->pe < 0 ||
        offer->pe >= fds->n_pes || offer->n != (uint32_t)got->n)
        return false;
    peer = &fds->peers[offer->pe];
    return peer->wanted && !peer->received && got->has_creds && got->uid == peer->uid &&
           offer->round == fds->round;
}

static struct wsh_fds_gift gift_of(const struct offer *offer, const struct received *got)
{
    struct wsh_fds_gift gift = {.n = offer->n};

    memcpy(gift.seg, offer->seg, sizeof gift.seg);
    memcpy(gift.len, offer->len, sizeof gift.len);
    memcpy(gift.fd, got->fds, sizeof gift.fd);
    return gift;
}

/* The caller's function that receives a peer's descriptors. */
struct taker {
    int (*take)(void *arg, int pe, const struct wsh_fds_gift *gift);
    void *arg;
};

/* 1: took one; 0: nothing there; < 0: final. */
static int receive_offer(struct wsh_fds *fds, const struct taker *taker)
{
    struct offer offer;
    union control control;
    struct iovec iov = {&offer, sizeof offer};
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct received got = {0};
    ssize_t size = recvmsg(fds->sock, &msg, MSG_CMSG_CLOEXEC);
    int rc = 1;

    if (size < 0)
        return 0;
    read_control(&msg, &got);
    if (is_from_peer(fds, &offer, size, &got)) {
        struct wsh_fds_gift gift = gift_of(&offer, &got);

        fds->peers[offer.pe].received = true;
        rc = taker->take(taker->arg, offer.pe, &gift) ?: 1;
    } else if (!fds->strangers++) { /* anybody on this host may send them: one line, however many come */
        wsh_warn("ignored a datagram that is not from a PE of this job (user %d), and will any others",
                 got.has_creds ? (int)got.uid : -1);
    }
    for (int i = 0; i < got.n; i++)
        close(got.fds[i]);
    return rc;
}

static int offers_exchange(struct wsh_fds *fds, const struct wsh_tp_peers *peers,
                           const struct wsh_fds_gift *mine, const struct taker *taker)
{
    bool all = true;
    int rc = 1;

    for (int i = 0; i < fds->n_pes + RECEIVES && rc > 0; i++)
        rc = receive_offer(fds, taker);
    rc = rc < 0 ? rc : 0;
    for (int k = 1; k < fds->n_pes && rc >= 0; k++) {
        int pe = (fds->my_pe + k) % fds->n_pes;
        struct wsh_fds_peer *peer = &fds->peers[pe];

        if (peer->wanted && !peer->sent) {
            rc = send_offer(fds, peers->address[pe], pe, mine);
            peer->sent = rc > 0;
        }
        all &= !peer->wanted || (peer->sent && peer->received);
    }
    if (rc < 0)
        return rc;
    return all ? 0 : -EAGAIN;
}

int wsh_fds_exchange(struct wsh_fds *fds, const struct wsh_tp_peers *peers, const struct wsh_fds_gift *mine,
                     int (*take)(void *arg, int pe, const struct wsh_fds_gift *gift), void *arg)
{
    const struct taker taker = {take, arg};
    int rc = fds->peers ? 0 : wsh_fds_begin(fds, peers);

    if (!rc)
        rc = offers_exchange(fds, peers, mine, &taker);
    if (rc)
        return rc;
    for (int pe = 0; pe < fds->n_pes; pe++)
        if (fds->peers[pe].wanted) /* the pages of others stay untouched */
            fds->peers[pe].sent = fds->peers[pe].received = false;
    fds->round++;
    return 0;
}

void wsh_fds_end(struct wsh_fds *fds)
{
    close(fds->sock);
    fds->sock = -1;
}

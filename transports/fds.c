/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The course of an exchange. A datagram is accepted only if its tag shows that its sender knows the job's secret, and
 * if the kernel says that the sender runs as the user that the bootstrap named for that PE.
 */
#define _GNU_SOURCE
#include "transports/fds.h"

#include "base/log.h"
#include "transports/fds_packet.h"

#include <stdlib.h>
#include <unistd.h>

#define FDS_VERSION 3

enum kind { REQUEST = 1, GIFT = 2 };

/* Datagrams received, beyond one a PE, before sending again: a flood from strangers must not stop the exchange. */
#define RECEIVES 64

static int log_no_files(const char *what)
{
    struct rlimit files = {0};

    getrlimit(RLIMIT_NOFILE, &files);
    wsh_error(
        "no descriptor for %s: this PE may have %lu files open, and has; raise that (ulimit -n), or open "
        "fewer before shmem_init",
        what, (unsigned long)files.rlim_cur);
    return -EMFILE;
}

static int name_try(struct wsh_fds *fds)
{
    const struct sockaddr_un any = {.sun_family = AF_UNIX};
    int on = 1;

    fds->sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fds->sock < 0 || bind(fds->sock, (const struct sockaddr *)&any, sizeof any.sun_family) ||
        setsockopt(fds->sock, SOL_SOCKET, SO_PASSCRED, &on, sizeof on))
        return -errno;
    return 0;
}

static int inbox_try(struct wsh_fds *fds)
{
    int on = 1;

    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds->inbox) ||
        setsockopt(fds->inbox[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on))
        return -errno;
    return 0;
}

/* Where the soft limit is in the way it is raised for as long as that takes. */
static int socket_open(struct wsh_fds *fds, int (*try)(struct wsh_fds *))
{
    int rc = try(fds);
    struct rlimit files;

    if (rc == -EMFILE && wsh_fds_files_raise(&files)) {
        rc = try(fds);
        setrlimit(RLIMIT_NOFILE, &files);
    }
    if (rc == -EMFILE)
        return log_no_files("a socket to the PEs of this host");
    if (rc)
        wsh_error("no socket for the PEs of this host: %s; raise the limit of open files (ulimit -n)",
                  wsh_strerror(rc));
    return rc;
}

int wsh_fds_open(struct wsh_fds *fds, const char *name, int my_pe, int n_pes)
{
    *fds = (struct wsh_fds){.name = name, .my_pe = my_pe, .n_pes = n_pes, .inbox = {-1, -1}};
    return socket_open(fds, name_try);
}

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void inbox_close(struct wsh_fds *fds)
{
    close_one(&fds->inbox[0]);
    close_one(&fds->inbox[1]);
}

void wsh_fds_close(struct wsh_fds *fds)
{
    close_one(&fds->sock);
    inbox_close(fds);
    for (int pe = 0; pe < fds->n_pes && fds->peers; pe++)
        if (fds->peers[pe].wanted)
            close_one(&fds->peers[pe].to);
    free(fds->peers);
    *fds = (struct wsh_fds){.sock = -1, .inbox = {-1, -1}};
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
        peer->to = -1;
        peer->uid = ((const struct wsh_fds_address *)peers->address[pe])->uid;
    }
    return 0;
}

static struct wsh_fds_head head_make(const struct wsh_fds *fds, const struct wsh_tp_peers *peers,
                                     enum kind kind, int source, int target)
{
    const uint32_t words[] = {FDS_VERSION,      kind,       (uint32_t)source,
                              (uint32_t)target, fds->round, peers->generation};

    return (struct wsh_fds_head){FDS_VERSION, kind, source, fds->round,
                                 wsh_siphash(peers->secret.key, words, sizeof words)};
}

static int sent(int rc, int pe)
{
    if (rc < 0)
        wsh_error("cannot give memory to PE %d on this host: %s; it has ended, or the PEs are in different "
                  "containers (then set SHMEM_TRANSPORTS=efa)",
                  pe, wsh_strerror(rc));
    return rc;
}

/* To whoever has the peer's name now. 1: sent; 0: not now; < 0: final. */
static int send_request(const struct wsh_fds *fds, const struct wsh_tp_peers *peers, int pe)
{
    struct wsh_fds_head request = head_make(fds, peers, REQUEST, fds->my_pe, pe);

    return sent(
        wsh_fds_packet_send(fds->sock, peers->address[pe], &request, sizeof request, &fds->inbox[1], 1), pe);
}

/* Into the socket of the peer, which has asked. As send_ask. */
static int send_gift(const struct wsh_fds *fds, const struct wsh_tp_peers *peers, int pe,
                     const struct wsh_fds_gift *mine)
{
    struct wsh_fds_offer offer = {.head = head_make(fds, peers, GIFT, fds->my_pe, pe), .n = mine->n};

    memcpy(offer.seg, mine->seg, sizeof offer.seg);
    memcpy(offer.len, mine->len, sizeof offer.len);
    return sent(wsh_fds_packet_send(fds->peers[pe].to, NULL, &offer, sizeof offer, mine->fd, mine->n), pe);
}

/* The tag is right and the user is not: what the kernel says of users is another thing in another name space. */
static int log_other_user(const struct wsh_fds *fds, int pe, const struct wsh_fds_packet *got)
{
    wsh_error(
        "cannot give memory to PE %d on this host: to the kernel it is user %d here, by its own word %d, as "
        "in another user namespace; set SHMEM_TRANSPORTS=efa, or start all PEs of a host in one container",
        pe, (int)got->uid, (int)fds->peers[pe].uid);
    return -EPERM;
}

/* 1: it is what a PE of this host sends now; 0: it comes from elsewhere; < 0: final. */
static int packet_judge(struct wsh_fds *fds, const struct wsh_tp_peers *peers, enum kind kind,
                        const struct wsh_fds_packet *got)
{
    const struct wsh_fds_head *head = &got->bytes.head;
    size_t size = kind == REQUEST ? sizeof *head : sizeof got->bytes;
    uint64_t n = kind == REQUEST ? 1 : got->bytes.n;
    struct wsh_fds_head right;

    if (got->size != (ssize_t)size || head->pe < 0 || head->pe >= fds->n_pes || !fds->peers[head->pe].wanted)
        return 0;
    right = head_make(fds, peers, kind, head->pe, fds->my_pe);
    if (memcmp(head, &right, sizeof right))
        return 0;
    if (!got->has_creds || got->uid != fds->peers[head->pe].uid)
        return log_other_user(fds, head->pe, got);
    if (got->cut)
        return log_no_files("the memory of a PE of this host");
    return n == (uint64_t)got->n;
}

/* Anybody on this host may send them: one line, however many come. */
static void count_foreign(struct wsh_fds *fds, const struct wsh_fds_packet *got)
{
    if (!fds->foreign++)
        wsh_warn("ignored a datagram that is not from a PE of this job (user %d), and will any others",
                 got->has_creds ? (int)got->uid : -1);
}

/* To the peer that has asked. 0 or final. */
static int peer_give(struct wsh_fds *fds, const struct wsh_tp_peers *peers, int pe,
                     const struct wsh_fds_gift *mine)
{
    struct wsh_fds_peer *peer = &fds->peers[pe];
    int rc = send_gift(fds, peers, pe, mine);

    peer->given = rc > 0;
    if (rc)
        close_one(&peer->to);
    return rc < 0 ? rc : 0;
}

/* 1: took one, and gave at once, if that could be: it costs a descriptor until then; 0: nothing there; < 0: final. */
static int receive_request(struct wsh_fds *fds, const struct wsh_tp_peers *peers,
                           const struct wsh_fds_gift *mine)
{
    struct wsh_fds_packet got;
    int rc, pe;

    if (!wsh_fds_packet_take(fds->sock, &got))
        return 0;
    rc = packet_judge(fds, peers, REQUEST, &got);
    pe = got.bytes.head.pe;
    if (rc > 0 && fds->peers[pe].to < 0 && !fds->peers[pe].given) {
        fds->peers[pe].to = got.fd[0];
        got.fd[0] = -1;
        rc = peer_give(fds, peers, pe, mine);
    } else if (!rc) {
        count_foreign(fds, &got);
    }
    wsh_fds_packet_drop(&got);
    return rc < 0 ? rc : 1;
}

/* The caller's function that receives a peer's descriptors. */
struct taker {
    int (*take)(void *arg, int pe, const struct wsh_fds_gift *gift);
    void *arg;
};

static int gift_take(const struct taker *taker, const struct wsh_fds_packet *got)
{
    const struct wsh_fds_offer *offer = &got->bytes;
    struct wsh_fds_gift gift = {.n = (uint32_t)offer->n};

    memcpy(gift.seg, offer->seg, sizeof gift.seg);
    memcpy(gift.len, offer->len, sizeof gift.len);
    memcpy(gift.fd, got->fd, sizeof gift.fd);
    return taker->take(taker->arg, offer->head.pe, &gift);
}

/* As receive_ask. */
static int receive_gift(struct wsh_fds *fds, const struct wsh_tp_peers *peers, const struct taker *taker)
{
    struct wsh_fds_packet got;
    int rc;

    if (!wsh_fds_packet_take(fds->inbox[0], &got))
        return 0;
    rc = packet_judge(fds, peers, GIFT, &got);
    if (rc > 0 && !fds->peers[got.bytes.head.pe].received) {
        fds->peers[got.bytes.head.pe].received = true;
        rc = gift_take(taker, &got);
    } else if (!rc) {
        count_foreign(fds, &got);
    }
    wsh_fds_packet_drop(&got);
    return rc < 0 ? rc : 1;
}

/* 0 or final. */
static int peer_serve(struct wsh_fds *fds, const struct wsh_tp_peers *peers, int pe,
                      const struct wsh_fds_gift *mine)
{
    struct wsh_fds_peer *peer = &fds->peers[pe];
    int rc = 0;

    if (!peer->asked) {
        rc = send_request(fds, peers, pe);
        peer->asked = rc > 0;
    }
    return rc >= 0 && peer->to >= 0 ? peer_give(fds, peers, pe, mine) : rc < 0 ? rc : 0;
}

static int offers_exchange(struct wsh_fds *fds, const struct wsh_tp_peers *peers,
                           const struct wsh_fds_gift *mine, const struct taker *taker)
{
    bool all = true;
    int rc = 1;

    for (int i = 0; i < fds->n_pes + RECEIVES && rc > 0; i++)
        rc = receive_request(fds, peers, mine);
    rc = rc < 0 ? rc : 1;
    for (int i = 0; i < fds->n_pes + RECEIVES && rc > 0; i++)
        rc = receive_gift(fds, peers, taker);
    rc = rc < 0 ? rc : 0;
    for (int k = 1; k < fds->n_pes && !rc; k++) {
        int pe = (fds->my_pe + k) % fds->n_pes;
        const struct wsh_fds_peer *peer = &fds->peers[pe];

        if (!peer->wanted)
            continue;
        rc = peer_serve(fds, peers, pe, mine);
        all &= peer->given && peer->received;
    }
    if (rc)
        return rc;
    return all ? 0 : -EAGAIN;
}

int wsh_fds_exchange(struct wsh_fds *fds, const struct wsh_tp_peers *peers, const struct wsh_fds_gift *mine,
                     int (*take)(void *arg, int pe, const struct wsh_fds_gift *gift), void *arg)
{
    const struct taker taker = {take, arg};
    int rc = fds->peers ? 0 : wsh_fds_begin(fds, peers);

    if (!rc && fds->inbox[0] < 0)
        rc = socket_open(fds, inbox_try);
    if (!rc)
        rc = offers_exchange(fds, peers, mine, &taker);
    if (rc)
        return rc;
    inbox_close(fds);
    for (int pe = 0; pe < fds->n_pes; pe++)
        if (fds->peers[pe].wanted) /* the pages of others stay untouched */
            fds->peers[pe].asked = fds->peers[pe].given = fds->peers[pe].received = false;
    fds->round++;
    return 0;
}

void wsh_fds_end(struct wsh_fds *fds)
{
    close_one(&fds->sock);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The control messages of datagrams: descriptors and credentials. */
#define _GNU_SOURCE
#include "transports/fds_packet.h"

#include <unistd.h>

/*
 * All descriptors that one datagram may carry (the kernel's SCM_MAX_FD) have room: what the kernel itself would have to
 * cut off is not closed everywhere (qemu's user mode leaves it open).
 */
#define MAX_SENT_FDS 253

union control {
    struct cmsghdr head;
    char space[CMSG_SPACE(MAX_SENT_FDS * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
};

static void read_descriptors(const struct cmsghdr *control, struct wsh_fds_packet *got)
{
    size_t n = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);

    for (size_t i = 0; i < n; i++) {
        int fd;

        memcpy(&fd, CMSG_DATA(control) + i * sizeof fd, sizeof fd);
        if (got->n < WSH_FDS_MAX)
            got->fd[got->n++] = fd;
        else
            close(fd);
    }
}

static void read_control(struct msghdr *msg, struct wsh_fds_packet *got)
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

static bool packet_read(int sock, int flags, struct wsh_fds_packet *got)
{
    union control control;
    struct iovec iov = {&got->bytes, sizeof got->bytes};
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};

    got->n = 0;
    got->cut = got->has_creds = false;
    got->size = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT | flags);
    if (got->size < 0)
        return false;
    read_control(&msg, got);
    got->cut = msg.msg_flags & MSG_CTRUNC;
    return true;
}

static void close_all(struct wsh_fds_packet *got)
{
    for (int i = 0; i < got->n; i++)
        if (got->fd[i] >= 0)
            close(got->fd[i]);
    got->n = 0;
}

bool wsh_fds_files_raise(struct rlimit *before)
{
    struct rlimit all;

    if (getrlimit(RLIMIT_NOFILE, before) || before->rlim_cur >= before->rlim_max)
        return false;
    all = *before;
    all.rlim_cur = all.rlim_max;
    return !setrlimit(RLIMIT_NOFILE, &all);
}

/* What is taken off the queue without its descriptors has lost them for good, so the first look leaves it there. */
bool wsh_fds_packet_take(int sock, struct wsh_fds_packet *got)
{
    got->raised = false;
    if (!packet_read(sock, MSG_PEEK, got))
        return false;
    close_all(got);
    if (got->cut)
        got->raised = wsh_fds_files_raise(&got->files);
    if (packet_read(sock, 0, got))
        return true;
    wsh_fds_packet_drop(got);
    return false;
}

void wsh_fds_packet_drop(struct wsh_fds_packet *got)
{
    close_all(got);
    if (got->raised)
        setrlimit(RLIMIT_NOFILE, &got->files);
    got->raised = false;
}

int wsh_fds_packet_send(int sock, const struct wsh_fds_address *to, const void *bytes, size_t len,
                        const int *fd, size_t n)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    union control control = {0};
    struct iovec iov = {(void *)bytes, len};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

    if (to) {
        memcpy(name.sun_path, to->name, to->name_len);
        msg.msg_name = &name;
        msg.msg_namelen = (socklen_t)(sizeof name.sun_family + to->name_len);
    }
    if (n) {
        msg.msg_control = &control;
        msg.msg_controllen = CMSG_SPACE(n * sizeof *fd);
        control.head = (struct cmsghdr){CMSG_LEN(n * sizeof *fd), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.head), fd, n * sizeof *fd);
    }
    if (sendmsg(sock, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
        return 1;
    if (errno == EAGAIN || errno == ENOBUFS || errno == EINTR || errno == ETOOMANYREFS)
        return 0;
    return -errno;
}

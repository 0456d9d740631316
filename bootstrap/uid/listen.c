/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens listening sockets on the addresses that uid/addr.c chooses. */
#define _GNU_SOURCE
#include "bootstrap/uid/listen.h"

#include "base/err.h"
#include "base/log.h"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 4096

void wsh_uid_listen_close(const struct wsh_uid_listen *at)
{
    for (int i = 0; i < at->n; i++)
        close(at->listener[i]);
    if (at->epoll >= 0)
        close(at->epoll);
}

bool wsh_uid_listen_is(const struct wsh_uid_listen *at, const void *what)
{
    return (const int *)what >= at->listener && (const int *)what < at->listener + WSH_UID_ADDRESSES;
}

static int listen_on(struct wsh_uid_listen *at, struct wsh_uid_address *address)
{
    struct sockaddr_storage sa;
    socklen_t len = wsh_uid_address_to_socket(address, &sa);
    int fd = socket(sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &at->listener[at->n]};

    if (fd < 0)
        return -errno;
    if (address->family == 6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&sa, len) || listen(fd, BACKLOG) ||
        getsockname(fd, (struct sockaddr *)&sa, &len) || epoll_ctl(at->epoll, EPOLL_CTL_ADD, fd, &event)) {
        int err = errno;

        close(fd);
        return -err;
    }
    wsh_uid_address_from_socket(address, (struct sockaddr *)&sa);
    at->listener[at->n++] = fd;
    return 0;
}

/* An address that cannot be had is left out; none at all is an error. */
int wsh_uid_listen_open(struct wsh_uid_listen *at, struct wsh_uid *uid, const struct wsh_env *env)
{
    struct wsh_uid_address found[WSH_UID_ADDRESSES];
    int n = wsh_uid_addr_find(env, found), rc = 0;
    char text[WSH_UID_ADDRESS_TEXT];

    if (n < 0)
        return n;
    at->epoll = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < n; i++) {
        int err = at->epoll < 0 ? -EMFILE : listen_on(at, &found[i]);

        if (err)
            rc = err;
        else
            uid->address[uid->n_addresses++] = found[i];
        wsh_uid_address_print(&found[i], text);
        wsh_info(WSH_SUB_BOOTSTRAP, "root of a unique id at %s: %s", text,
                 err ? wsh_strerror(err) : "listens");
    }
    if (uid->n_addresses)
        return 0;
    wsh_error("the root of a unique id cannot listen at %s: %s; %s", text, wsh_strerror(rc),
              rc == -EMFILE || rc == -ENFILE ? "raise the limit of open files (ulimit -n)"
                                             : "set SHMEM_BOOTSTRAP_UID_IFNAME to another interface");
    return rc;
}

bool wsh_uid_listen_can(void)
{
    int fd[WSH_UID_ADDRESSES + 1], n = 0;

    while (n <= WSH_UID_ADDRESSES && (fd[n] = epoll_create1(EPOLL_CLOEXEC)) >= 0)
        n++;
    for (int i = 0; i < n; i++)
        close(fd[i]);
    return n > WSH_UID_ADDRESSES;
}

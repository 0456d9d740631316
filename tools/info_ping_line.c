/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection by which the two ends of a ping agree. */
#define _GNU_SOURCE
#include "tools/info_ping_line.h"

#include "base/err.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

double wsh_ping_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Whether the descriptor is ready before `until`. */
static bool ready_until(int fd, short events, double until)
{
    struct pollfd set = {fd, events, 0};
    double left;
    int rc;

    do {
        left = until - wsh_ping_now();
        rc = poll(&set, 1, left > 0 ? (int)(left * 1000) + 1 : 0);
    } while (rc < 0 && errno == EINTR);
    return rc > 0;
}

/* Both families by one socket, where the machine has IPv6. */
static int socket_bind(int family, in_port_t port)
{
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = port, .sin6_addr = IN6ADDR_ANY_INIT};
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = port, .sin_addr = {htonl(INADDR_ANY)}};
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1, no = 0, rc;

    if (fd < 0)
        return -errno;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    rc = family == AF_INET6 ? bind(fd, (void *)&in6, sizeof in6) : bind(fd, (void *)&in, sizeof in);
    if (!rc && !listen(fd, 8))
        return fd;
    rc = -errno;
    close(fd);
    return rc;
}

int wsh_ping_listen(const char *port)
{
    in_port_t number = htons((in_port_t)strtoul(port, NULL, 10));
    int fd = socket_bind(AF_INET6, number);

    if (fd == -EAFNOSUPPORT || fd == -EADDRNOTAVAIL)
        fd = socket_bind(AF_INET, number);
    if (fd < 0)
        fprintf(
            stderr,
            "warpshmem-info: --ping: cannot listen at port %s: %s; choose another by --port, on both ends\n",
            port, wsh_strerror(fd));
    return fd;
}

static void peer_print(const struct sockaddr *address, socklen_t len, struct wsh_ping_line *line)
{
    if (getnameinfo(address, len, line->peer, sizeof line->peer, NULL, 0, NI_NUMERICHOST))
        snprintf(line->peer, sizeof line->peer, "the other end");
}

int wsh_ping_accept(int listener, double until, struct wsh_ping_line *line)
{
    struct sockaddr_storage address;
    socklen_t len = sizeof address;

    *line = (struct wsh_ping_line){.fd = -1};
    while (ready_until(listener, POLLIN, until)) {
        line->fd = accept4(listener, (struct sockaddr *)&address, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (line->fd >= 0) {
            peer_print((struct sockaddr *)&address, len, line);
            return 0;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
            return -errno;
    }
    return -ETIMEDOUT;
}

/* The error of the last address that was tried. */
static int connect_any(const struct addrinfo *list, double until, struct wsh_ping_line *line)
{
    int rc = -EHOSTUNREACH;

    for (const struct addrinfo *at = list; at && rc; at = at->ai_next) {
        socklen_t len = sizeof rc;
        int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        rc = fd < 0 || (connect(fd, at->ai_addr, at->ai_addrlen) && errno != EINPROGRESS) ? -errno : 0;
        if (!rc && !ready_until(fd, POLLOUT, until))
            rc = -ETIMEDOUT;
        if (!rc && getsockopt(fd, SOL_SOCKET, SO_ERROR, &rc, &len))
            rc = errno;
        rc = rc > 0 ? -rc : rc;
        line->fd = fd;
        peer_print(at->ai_addr, at->ai_addrlen, line);
        if (rc)
            wsh_ping_hang_up(line);
    }
    return rc;
}

/* Takes `where` apart; a bare IPv6 address has several colons. */
static void host_split(const char *where, char *host, size_t size, const char **port)
{
    const char *end = *where == '[' ? strchr(where, ']') : NULL, *colon = strchr(where, ':');

    if (end) {
        snprintf(host, size, "%.*s", (int)(end - where - 1), where + 1);
        if (end[1] == ':')
            *port = end + 2;
        return;
    }
    if (!colon || strchr(colon + 1, ':')) {
        snprintf(host, size, "%s", where);
        return;
    }
    snprintf(host, size, "%.*s", (int)(colon - where), where);
    *port = colon + 1;
}

int wsh_ping_connect(const char *where, const char *port, double until, struct wsh_ping_line *line)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;
    char host[256];
    int rc;

    *line = (struct wsh_ping_line){.fd = -1};
    host_split(where, host, sizeof host, &port);
    rc = getaddrinfo(host, port, &hints, &list);
    if (rc) {
        fprintf(stderr, "warpshmem-info: --ping: host '%s', port %s: %s; name a host that this one knows\n",
                host, port, gai_strerror(rc));
        return -EINVAL;
    }
    rc = connect_any(list, until, line);
    freeaddrinfo(list);
    if (rc)
        fprintf(stderr,
                "warpshmem-info: --ping: %s, port %s: %s; start `warpshmem-info --ping` there first, and let "
                "the port "
                "through the firewall\n",
                host, port, wsh_strerror(rc));
    return rc;
}

int wsh_ping_say(struct wsh_ping_line *line, const char *fmt, ...)
{
    char text[WSH_PING_LINE];
    va_list args;
    int len;

    va_start(args, fmt);
    len = vsnprintf(text, sizeof text - 1, fmt, args);
    va_end(args);
    if (len < 0 || len >= (int)sizeof text - 1)
        return -EMSGSIZE;
    text[len++] = '\n';
    /* What is said fits into the socket's buffer: an end that reads nothing is given up. */
    return send(line->fd, text, (size_t)len, MSG_NOSIGNAL) == len ? 0 : -EPIPE;
}

/* The first line of what has come: 1, 0 or -EPROTO. */
static int line_take(struct wsh_ping_line *line, char text[WSH_PING_LINE])
{
    char *end = memchr(line->in, '\n', line->used);
    size_t len = end ? (size_t)(end - line->in) : line->used;

    for (size_t i = 0; i < len; i++)
        if (line->in[i] < ' ' || line->in[i] > '~')
            return -EPROTO;
    if (!end)
        return line->used == sizeof line->in ? -EPROTO : 0;
    memcpy(text, line->in, len);
    text[len] = '\0';
    line->used -= len + 1;
    memmove(line->in, end + 1, line->used);
    return 1;
}

int wsh_ping_hear(struct wsh_ping_line *line, double until, char text[WSH_PING_LINE])
{
    for (;;) {
        int rc = line_take(line, text);
        ssize_t got;

        if (rc || !ready_until(line->fd, POLLIN, until))
            return rc;
        got = recv(line->fd, line->in + line->used, sizeof line->in - line->used, 0);
        if (!got || (got < 0 && errno != EAGAIN && errno != EINTR))
            return -EPIPE;
        line->used += got > 0 ? (size_t)got : 0;
    }
}

void wsh_ping_hang_up(struct wsh_ping_line *line)
{
    if (line->fd >= 0)
        close(line->fd);
    line->fd = -1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends and receives over one connection of the root of a unique id, as far as is possible without waiting. */
#define _GNU_SOURCE
#include "bootstrap/uid/conn.h"

#include "base/invariant.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static struct wsh_uid_buf *buf_new(size_t len)
{
    struct wsh_uid_buf *buf = malloc(sizeof *buf + len);

    if (buf) {
        buf->refs = 1;
        buf->len = len;
    }
    return buf;
}

struct wsh_uid_buf *wsh_uid_buf_make(enum wsh_uid_type type, uint32_t arg, size_t len, char **at)
{
    struct wsh_uid_head head = wsh_uid_head_make(type, arg, len);
    struct wsh_uid_buf *buf = buf_new(sizeof head + len);

    if (!buf)
        return NULL;
    memcpy(buf->bytes, &head, sizeof head);
    *at = buf->bytes + sizeof head;
    return buf;
}

void wsh_uid_buf_release(struct wsh_uid_buf *buf)
{
    WSH_INVARIANT(!buf || buf->refs > 0);
    if (buf && !--buf->refs)
        free(buf);
}

static void watch(struct wsh_uid_conn *conn, int op, bool writes)
{
    struct epoll_event event = {.events = EPOLLIN | (writes ? (unsigned)EPOLLOUT : 0), .data.ptr = conn};

    conn->writes = writes;
    if (epoll_ctl(conn->epoll, op, conn->fd, &event))
        conn->broken = true;
}

struct wsh_uid_conn *wsh_uid_conn_open(int fd, int epoll)
{
    struct wsh_uid_conn *conn = calloc(1, sizeof *conn);

    if (!conn || wsh_uid_challenge_make(&conn->challenge)) {
        close(fd);
        free(conn);
        return NULL;
    }
    conn->fd = fd;
    conn->epoll = epoll;
    conn->rank = -1;
    conn->came = conn->heard = wsh_uid_now();
    watch(conn, EPOLL_CTL_ADD, false);
    wsh_uid_conn_send_bytes(conn, &conn->challenge, sizeof conn->challenge);
    return conn;
}

static void drop_first(struct wsh_uid_conn *conn)
{
    struct wsh_uid_out *out = conn->first;

    conn->first = out->next;
    if (!conn->first)
        conn->last = NULL;
    wsh_uid_buf_release(out->buf);
    free(out);
}

void wsh_uid_conn_close(struct wsh_uid_conn *conn)
{
    while (conn->first)
        drop_first(conn);
    close(conn->fd);
    free(conn->body);
    free(conn);
}

void wsh_uid_conn_flush(struct wsh_uid_conn *conn)
{
    while (conn->first && !conn->broken) {
        struct wsh_uid_out *out = conn->first;
        ssize_t n = send(conn->fd, out->buf->bytes + out->sent, out->buf->len - out->sent,
                         MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0)
            conn->broken = true;
        else if ((out->sent += (size_t)n) == out->buf->len)
            drop_first(conn);
    }
    if (!conn->broken && conn->writes != (conn->first != NULL))
        watch(conn, EPOLL_CTL_MOD, conn->first != NULL);
}

void wsh_uid_conn_send(struct wsh_uid_conn *conn, struct wsh_uid_buf *buf)
{
    struct wsh_uid_out *out = buf ? malloc(sizeof *out) : NULL;

    if (!out) {
        conn->broken = true;
        return;
    }
    *out = (struct wsh_uid_out){buf, 0, NULL};
    buf->refs++;
    if (conn->last)
        conn->last->next = out;
    else
        conn->first = out;
    conn->last = out;
    wsh_uid_conn_flush(conn);
}

void wsh_uid_conn_send_bytes(struct wsh_uid_conn *conn, const void *bytes, size_t len)
{
    struct wsh_uid_buf *buf = buf_new(len);

    if (buf)
        memcpy(buf->bytes, bytes, len);
    wsh_uid_conn_send(conn, buf);
    wsh_uid_buf_release(buf);
}

/* Bytes [conn->have, end) of what begins at `to` as byte `begin`. True: all are there. */
static bool read_until(struct wsh_uid_conn *conn, char *to, size_t begin, size_t end)
{
    while (conn->have < end) {
        ssize_t n = recv(conn->fd, to + (conn->have - begin), end - conn->have, MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            conn->broken |= !n || errno != EAGAIN;
            return false;
        }
        conn->have += (size_t)n;
    }
    return true;
}

/* A body is allocated only for a head that was checked. */
static bool body_make(struct wsh_uid_conn *conn)
{
    if (!wsh_uid_head_is_valid(&conn->head, 1) || !(conn->body = malloc(conn->head.len + 1)))
        conn->broken = true;
    else
        conn->body[conn->head.len] = '\0';
    return !conn->broken;
}

bool wsh_uid_conn_read(struct wsh_uid_conn *conn)
{
    size_t head = sizeof conn->head;

    if (conn->broken)
        return false;
    if (!conn->known)
        return read_until(conn, (char *)&conn->hello, 0, sizeof conn->hello);
    if (!read_until(conn, (char *)&conn->head, 0, conn->have < head ? head : conn->have))
        return false;
    if (!conn->body && !body_make(conn))
        return false;
    return read_until(conn, conn->body, head, head + conn->head.len);
}

void wsh_uid_conn_next(struct wsh_uid_conn *conn)
{
    free(conn->body);
    conn->body = NULL;
    conn->have = 0;
    conn->heard = wsh_uid_now();
}

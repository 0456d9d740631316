/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection of the root of a unique id: never blocks, so that no peer holds up the others. */
#ifndef WSH_BOOTSTRAP_UID_CONN_H
#define WSH_BOOTSTRAP_UID_CONN_H

#include "bootstrap/uid/wire.h"

/* Bytes on their path to one or more PEs. */
struct wsh_uid_buf {
    int refs;
    size_t len;
    char bytes[];
};

struct wsh_uid_out {
    struct wsh_uid_buf *buf;
    size_t sent;
    struct wsh_uid_out *next;
};

struct wsh_uid_conn {
    int fd, epoll;
    int rank;           /* -1: not in the world */
    bool known;         /* has shown that it knows the secret */
    bool broken;        /* to be closed */
    bool writes;        /* epoll says when there is room */
    double came, heard; /* heard: when its last message was complete */
    bool silent;        /* closed because that is long ago */
    struct wsh_uid_challenge challenge;
    struct wsh_uid_hello hello;
    struct wsh_uid_head head;
    char *body;
    size_t have; /* bytes of the hello, or of head and body */
    struct wsh_uid_out *first, *last;
    struct wsh_uid_conn *next;
};

/* A message; *at is where its body goes. NULL: no memory. The caller has one reference. */
struct wsh_uid_buf *wsh_uid_buf_make(enum wsh_uid_type type, uint32_t arg, size_t len, char **at);
void wsh_uid_buf_release(struct wsh_uid_buf *buf);

/* Takes over fd, and sends the challenge. NULL: fd is closed. */
struct wsh_uid_conn *wsh_uid_conn_open(int fd, int epoll);
void wsh_uid_conn_close(struct wsh_uid_conn *conn);

/* Queues a reference of its own. What fails is seen in `broken`. */
void wsh_uid_conn_send(struct wsh_uid_conn *conn, struct wsh_uid_buf *buf);
void wsh_uid_conn_send_bytes(struct wsh_uid_conn *conn, const void *bytes, size_t len);
void wsh_uid_conn_flush(struct wsh_uid_conn *conn);

/* Reads what is there. True: a hello, or a message of a known peer, is complete, until wsh_uid_conn_next. */
bool wsh_uid_conn_read(struct wsh_uid_conn *conn);
void wsh_uid_conn_next(struct wsh_uid_conn *conn);

#endif

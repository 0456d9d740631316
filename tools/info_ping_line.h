/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection by which the two ends of a ping agree: lines of printable text, of at most so many bytes. */
#ifndef WSH_INFO_PING_LINE_H
#define WSH_INFO_PING_LINE_H

#include <stddef.h>

#define WSH_PING_PORT "7117"
#define WSH_PING_LINE 1024

struct wsh_ping_line {
    int fd;
    char in[WSH_PING_LINE];
    size_t used;
    char peer[80]; /* its address, for lines to the user */
};

/* Seconds of the monotonic clock. */
double wsh_ping_now(void);

/* A socket that listens at `port` on all interfaces, or an error after one line. */
int wsh_ping_listen(const char *port);

/* The next connection until then: 0, -ETIMEDOUT, or another error after one line. */
int wsh_ping_accept(int listener, double until, struct wsh_ping_line *line);

/* "HOST", "HOST:PORT" or "[ADDRESS]:PORT". 0, or an error after one line. */
int wsh_ping_connect(const char *where, const char *port, double until, struct wsh_ping_line *line);

/* 0, or an error: the other end takes no more. */
int wsh_ping_say(struct wsh_ping_line *line, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* 1: a line, without its end; 0: none until `until`; -EPROTO: what comes is no line of text; -EPIPE: no more comes. */
int wsh_ping_hear(struct wsh_ping_line *line, double until, char text[WSH_PING_LINE]);

void wsh_ping_hang_up(struct wsh_ping_line *line);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What both ends of a ping say to each other first, and of a NIC; and what has to be alike. */
#ifndef WSH_INFO_PING_PAIR_H
#define WSH_INFO_PING_PAIR_H

#include "tools/info_ping.h"
#include "tools/info_ping_line.h"
#include "transports/efa/nic/ping.h"

#define WSH_PING_STEP_SECONDS 10.0 /* that one answer may take */
#define WSH_PING_POLLS 64 /* empty turns before a processor is given up, and the connection is looked at */

struct wsh_ping_pair {
    const struct wsh_ping_job *job;
    struct wsh_ping *ping;
    struct wsh_ping_words own, other;
    struct wsh_ping_line line;
    char other_host[64], other_version[32], other_nic[64];
    double until;
};

/* Prints one line, and returns 1: this has failed. */
int wsh_ping_report(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Until when an answer has to come. */
double wsh_ping_step(const struct wsh_ping_pair *end);

/* Who this end is; who the other one is: 0, or -EPROTO: whoever is there does not ping. */
int wsh_ping_greet(struct wsh_ping_pair *end);
int wsh_ping_greeted(struct wsh_ping_pair *end, double until);

/* 0, or 1 after one line: no byte would go over. */
int wsh_ping_alike(const struct wsh_ping_pair *end);

/* A NIC of this end; one of the other's, whose line is `text`: 0, or -EPROTO: it makes no sense. */
int wsh_ping_nic_say(struct wsh_ping_pair *end, int i, const struct wsh_ping_end *own);
int wsh_ping_nic_read(struct wsh_ping_pair *end, const char *text, int *i, struct wsh_ping_end *other);

/* The end that measures. 0, or 1 after a line for each thing that fails. */
int wsh_ping_call(struct wsh_ping_pair *end);

#endif

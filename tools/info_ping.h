/* SPDX-License-Identifier: BSD-3-Clause */
/* warpshmem-info --ping: latency and bandwidth between the NICs of two hosts, without a launcher. */
#ifndef WSH_INFO_PING_H
#define WSH_INFO_PING_H

#include <stdbool.h>

#define WSH_PING_SECONDS 60

struct wsh_ping_job {
    const char *host; /* of the other end, where it listens; NULL: this end does */
    const char *port;
    long seconds; /* after which it ends at the latest */
    bool parsable;
};

/* 0, or 1 after one line for each thing that fails. */
int wsh_info_ping(const struct wsh_ping_job *job);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The threads that kernels depend on, as wsh_proxy_watch (runtime/gpu/proxy/proxy.h) watches them. */
#ifndef WSH_PROXY_WATCH_H
#define WSH_PROXY_WATCH_H

#include "runtime/wait/wait.h"

struct wsh_proxy;

/* One of them; its owner gives the heartbeat to wsh_wait_run. */
struct wsh_proxy_life {
    struct wsh_wait_heartbeat heartbeat;
    uint64_t seen_beats; /* the heartbeat at the last check */
    double silent;       /* since when it has not changed, in seconds */
};

/* Whose threads are watched from now on; NULL: nobody's. */
void wsh_proxy_watch_set(struct wsh_proxy *proxy);

/* Beside them the one that takes completions of what kernels post themselves; NULL: none. */
void wsh_proxy_watch_gda(struct wsh_proxy_life *life);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The sockets on which the root of a unique id listens. */
#ifndef WSH_BOOTSTRAP_UID_LISTEN_H
#define WSH_BOOTSTRAP_UID_LISTEN_H

#include "bootstrap/uid/addr.h"

/* A root's; events of `epoll` for listener i have its address. */
struct wsh_uid_listen {
    int epoll, listener[WSH_UID_ADDRESSES], n;
};

/* Listens on all addresses that can be had, and writes them into *uid. 0, or a negative errno after one line. */
int wsh_uid_listen_open(struct wsh_uid_listen *at, struct wsh_uid *uid, const struct wsh_env *env);
void wsh_uid_listen_close(const struct wsh_uid_listen *at);

/* Is `what`, of an event, one of the listeners? */
bool wsh_uid_listen_is(const struct wsh_uid_listen *at, const void *what);

/* May this process open as many files as that takes? */
bool wsh_uid_listen_can(void);

#endif
